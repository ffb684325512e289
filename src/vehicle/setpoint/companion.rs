//! `companion_process/status`: sends the HEARTBEAT of a process of the companion computer.
use super::reject::Reject;
use crate::msgs::mavros_msgs::msg::CompanionProcessStatus;
use crate::ros::RosError;
use crate::vehicle::{Autopilot, Open};
use crate::wire::mavlink::raw::Heartbeat;

const STATUS: &str = "companion_process/status";
/// MAV_TYPE_ONBOARD_CONTROLLER, MAV_AUTOPILOT_PX4 and MAV_MODE_FLAG_CUSTOM_MODE_ENABLED, as mavros sends them.
const KIND: u8 = 18;
const AUTOPILOT: u8 = 12;
const BASE_MODE: u8 = 1;

pub(super) fn open(open: &Open<'_>) -> Result<(), RosError> {
    open.subscribe(STATUS, |autopilot, message: CompanionProcessStatus| {
        autopilot.companion(&message);
    })
}

impl Autopilot {
    fn companion(&mut self, message: &CompanionProcessStatus) {
        let fcu = &mut self.fcu;
        // With the autopilot's own id it would keep a dead autopilot connected.
        if message.component == 0 || message.component == fcu.component {
            return fcu.refuse(STATUS, &Reject::Component(message.component));
        }
        let heartbeat = Heartbeat {
            custom_mode: 0,
            kind: KIND,
            autopilot: AUTOPILOT,
            base_mode: BASE_MODE,
            system_status: message.state,
            mavlink_version: 3,
        };
        let (system, _) = fcu.own();
        // A failure is counted.
        let _counted = fcu.send_as(heartbeat, system, message.component);
    }
}
