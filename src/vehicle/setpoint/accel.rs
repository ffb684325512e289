//! `setpoint_accel/accel`: an acceleration.
use super::geometry::{stamp_ms, vector};
use super::reject::{Checked, Reject};
use super::target::{FORCE, POSITION, Rules, Target, VELOCITY, YAW, YAW_RATE};
use crate::msgs::geometry_msgs::msg::Vector3Stamped;
use crate::ros::RosError;
use crate::vehicle::{Open, SetpointFrame};
use crate::wire::mavlink::raw::SetPositionTargetLocalNed;

const ACCEL: &str = "setpoint_accel/accel";

pub(super) fn open(open: &Open<'_>) -> Result<(), RosError> {
    open.subscribe(ACCEL, |autopilot, message: Vector3Stamped| {
        let force = autopilot.fcu.settings.send_force;
        let checked = convert(&message, force, &Rules::of(&autopilot.fcu));
        autopilot.setpoint(ACCEL, checked);
    })
}

fn convert(
    message: &Vector3Stamped,
    force: bool,
    rules: &Rules,
) -> Result<Checked<SetPositionTargetLocalNed>, Reject> {
    Target {
        stamp_ms: stamp_ms(&message.header.stamp),
        frame: SetpointFrame::LocalNed.number(),
        mask: POSITION | VELOCITY | YAW | YAW_RATE | if force { FORCE } else { 0 },
        acceleration: vector(&message.vector),
        ..Target::default()
    }
    .local(rules)
}
