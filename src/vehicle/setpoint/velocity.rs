//! `setpoint_velocity/*`: velocity and yaw rate.
use super::geometry::{stamp_ms, vector};
use super::reject::{Checked, Reject};
use super::target::{ACCELERATION, POSITION, Rules, Target, YAW};
use crate::msgs::geometry_msgs::msg::{Twist, TwistStamped};
use crate::ros::RosError;
use crate::vehicle::{Autopilot, Open};
use crate::wire::mavlink::raw::SetPositionTargetLocalNed;

const STAMPED: &str = "setpoint_velocity/cmd_vel";
const UNSTAMPED: &str = "setpoint_velocity/cmd_vel_unstamped";

pub(super) fn open(open: &Open<'_>) -> Result<(), RosError> {
    open.subscribe(STAMPED, |autopilot, message: TwistStamped| {
        let stamp = stamp_ms(&message.header.stamp);
        send(autopilot, STAMPED, stamp, &message.twist);
    })?;
    open.subscribe(UNSTAMPED, |autopilot, message: Twist| {
        let stamp = stamp_ms(&autopilot.fcu.now.ros.to_msg());
        send(autopilot, UNSTAMPED, stamp, &message);
    })
}

fn send(autopilot: &mut Autopilot, topic: &'static str, stamp_ms: u32, twist: &Twist) {
    let fcu = &autopilot.fcu;
    let frame = fcu.settings.velocity_frame.number();
    let checked = convert(stamp_ms, twist, frame, &Rules::of(fcu));
    autopilot.setpoint(topic, checked);
}

fn convert(
    stamp_ms: u32,
    twist: &Twist,
    frame: u8,
    rules: &Rules,
) -> Result<Checked<SetPositionTargetLocalNed>, Reject> {
    Target {
        stamp_ms,
        frame,
        mask: POSITION | ACCELERATION | YAW,
        velocity: vector(&twist.linear),
        yaw_rate: twist.angular.z,
        ..Target::default()
    }
    .local(rules)
}
