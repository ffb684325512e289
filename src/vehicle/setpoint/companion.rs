//! `companion_process/status`: sends the HEARTBEAT of a process of the companion computer.
use super::{reject::Reject, subscriptions::subscriptions};
use crate::vehicle::Autopilot;
use crate::wire::mavlink::numbers::*;
use crate::{msgs::mavros_msgs::msg::CompanionProcessStatus, wire::mavlink::raw::Heartbeat};

subscriptions! {
    CompanionProcessStatus("companion_process/status", "HEARTBEAT of a process of the companion computer")
        => companion;
}

fn companion(autopilot: &mut Autopilot, topic: &'static str, message: &CompanionProcessStatus) {
    let fcu = &mut autopilot.fcu;
    // A heartbeat with the autopilot's id would keep a dead autopilot connected.
    if message.component == 0 || message.component == fcu.component {
        return fcu.refuse(topic, &Reject::Component(message.component));
    }
    // As in mavros.
    let heartbeat = Heartbeat {
        custom_mode: 0,
        kind: MAV_TYPE_ONBOARD_CONTROLLER,
        autopilot: MAV_AUTOPILOT_PX4,
        base_mode: MAV_MODE_FLAG_CUSTOM_MODE_ENABLED,
        system_status: message.state,
        mavlink_version: 3,
    };
    let (system, _) = fcu.own_ids();
    // A failure is counted.
    let _counted = fcu.send_as(&heartbeat.into(), system, message.component);
}
