//! `setpoint_accel/accel`: an acceleration.
use super::geometry::{stamp_ms, vector};
use super::subscriptions::subscriptions;
use super::target::{FORCE, POSITION, SetpointTarget, VELOCITY, YAW, YAW_RATE};
use crate::msgs::geometry_msgs::msg::Vector3Stamped;
use crate::wire::mavlink::numbers::MAV_FRAME_LOCAL_NED;

subscriptions! {
    Vector3Stamped("setpoint_accel/accel", "acceleration") => |autopilot, topic, message| {
        let force = if autopilot.fcu.settings.send_force { FORCE } else { 0 };
        autopilot.send_local_setpoint(topic, &SetpointTarget {
            stamp_ms: stamp_ms(&message.header.stamp),
            frame: MAV_FRAME_LOCAL_NED,
            mask: POSITION | VELOCITY | YAW | YAW_RATE | force,
            acceleration: vector(&message.vector),
            ..SetpointTarget::default()
        });
    };
}
