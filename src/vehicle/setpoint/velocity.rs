//! `setpoint_velocity/*`: velocity and yaw rate.
use super::geometry::{stamp_ms, vector};
use super::subscriptions::subscriptions;
use super::target::{ACCELERATION, POSITION, SetpointTarget, YAW};
use crate::msgs::geometry_msgs::msg::{Twist, TwistStamped};
use crate::vehicle::Autopilot;

subscriptions! {
    TwistStamped("setpoint_velocity/cmd_vel", "velocity and yaw rate")
        => |autopilot, topic, message| send(autopilot, topic, stamp_ms(&message.header.stamp), &message.twist);
    Twist("setpoint_velocity/cmd_vel_unstamped", "velocity and yaw rate") => |autopilot, topic, message| {
        let stamp = stamp_ms(&autopilot.fcu.now.ros.to_msg());
        send(autopilot, topic, stamp, message);
    };
}

fn send(autopilot: &mut Autopilot, topic: &'static str, stamp_ms: u32, twist: &Twist) {
    let target = SetpointTarget {
        stamp_ms,
        frame: autopilot.fcu.settings.velocity_frame.number(),
        mask: POSITION | ACCELERATION | YAW,
        velocity: vector(&twist.linear),
        yaw_rate: twist.angular.z,
        ..SetpointTarget::default()
    };
    autopilot.send_local_setpoint(topic, &target);
}
