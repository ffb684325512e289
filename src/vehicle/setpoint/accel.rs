//! `setpoint_accel/accel`: an acceleration.
use super::geometry::{stamp_ms, vector};
use super::subscriptions::subscriptions;
use super::target::{
    FORCE, LocalSetpoint, POSITION, SetpointRules, SetpointTarget, VELOCITY, YAW, YAW_RATE,
};
use crate::msgs::geometry_msgs::msg::Vector3Stamped;
use crate::vehicle::SetpointFrame;

subscriptions! {
    Vector3Stamped("setpoint_accel/accel", "acceleration")
        => |autopilot, topic, message| {
            let force = autopilot.fcu.settings.send_force;
            let checked = convert(message, force, &SetpointRules::of(&autopilot.fcu));
            autopilot.setpoint(topic, checked);
        };
}

fn convert(message: &Vector3Stamped, force: bool, rules: &SetpointRules) -> LocalSetpoint {
    SetpointTarget {
        stamp_ms: stamp_ms(&message.header.stamp),
        frame: SetpointFrame::LocalNed.number(),
        mask: POSITION | VELOCITY | YAW | YAW_RATE | if force { FORCE } else { 0 },
        acceleration: vector(&message.vector),
        ..SetpointTarget::default()
    }
    .local(rules)
}
