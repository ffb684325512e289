//! Positions relative to the body (frame 8). PX4 ignores them, so the bridge converts them to local positions on links that
//! pass setpoints on to PX4.
//!
//! OFFBOARD needs a stream, so a controller repeats its setpoint. Equal setpoints are one step from the pose at which the
//! vehicle began to follow them; if each were relative to the current pose, the vehicle would never arrive.
use super::geometry::{single, wrap};
use super::reject::{Checked, Reject};
use super::target::{
    ACCELERATION, LocalSetpoint, SetpointRules, SetpointTarget, VELOCITY, YAW, check_distance,
    px4_local,
};
use crate::vehicle::mode::OFFBOARD;
use crate::vehicle::{Autopilot, Fcu};
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::SetPositionTargetLocalNed;
use std::time::Duration;

/// After a longer pause an equal setpoint is another step.
const PAUSE: Duration = Duration::from_secs(1);

/// A step under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyStep {
    target: SetPositionTargetLocalNed,
    checked: Checked<SetPositionTargetLocalNed>,
    /// When the controller last sent it.
    at: Duration,
}

impl Autopilot {
    /// Sends a setpoint that may be a position relative to the body, or reports its refusal.
    pub(super) fn send_local_setpoint(&mut self, topic: &'static str, target: &SetpointTarget) {
        let rules = SetpointRules::of(&self.fcu);
        let is_left_to_link = self.fcu.abilities().body_position || !rules.px4_checks;
        match target.local(&rules) {
            Ok(Checked { message, .. }) if !is_left_to_link && is_step(&message) => {
                let step = self.find_step(message, &rules);
                self.send_setpoint(topic, step.map(|step| step.checked));
                self.setpoints.step = step.ok();
            }
            checked => self.send_setpoint(topic, checked),
        }
    }

    /// Returns the step under way, or a new one from the vehicle's pose.
    fn find_step(
        &self,
        target: SetPositionTargetLocalNed,
        rules: &SetpointRules,
    ) -> Result<BodyStep, Reject> {
        let fcu = &self.fcu;
        let at = fcu.now.mono;
        let is_under_way = |step: &BodyStep| {
            is_following(fcu) && at.saturating_sub(step.at) <= PAUSE && equal(&step.target, &target)
        };
        if let Some(step) = self.setpoints.step.filter(is_under_way) {
            return Ok(BodyStep { at, ..step });
        }
        let here = self.setpoints.reported.local(fcu)?.position;
        let heading = fcu.recent_orientation().ok_or(Reject::NoPose)?.attitude.euler().yaw;
        let checked = to_local(here, heading, &target, rules)?;
        Ok(BodyStep { target, checked, at })
    }
}

fn is_step(message: &SetPositionTargetLocalNed) -> bool {
    let others = VELOCITY | ACCELERATION;
    message.coordinate_frame == MAV_FRAME_BODY_NED && message.type_mask & others == others
}

/// Whether the vehicle follows setpoints. Otherwise it may have moved, and an old step would lead it back.
fn is_following(fcu: &Fcu) -> bool {
    fcu.is_armed() && fcu.heartbeat.is_some_and(|h| h.custom_mode == OFFBOARD)
}

fn equal(a: &SetPositionTargetLocalNed, b: &SetPositionTargetLocalNed) -> bool {
    let bits = |m: &SetPositionTargetLocalNed| {
        let [x, y, z] = m.position;
        [x, y, z, m.yaw, m.yaw_rate].map(f32::to_bits)
    };
    a.type_mask == b.type_mask && bits(a) == bits(b)
}

/// The local position, and the yaw from north, of a step from `here`.
fn to_local(
    here: [f64; 3],
    heading: f64,
    target: &SetPositionTargetLocalNed,
    rules: &SetpointRules,
) -> LocalSetpoint {
    let mask = target.type_mask;
    if matches!(mask & 0b11, 0b01 | 0b10) {
        return Err(Reject::Unbalanced(mask));
    }
    let ([x, y, z], (sin, cos)) = (target.position.map(f64::from), heading.sin_cos());
    let [north, east, down] = here;
    let position = [north + cos * x - sin * y, east + sin * x + cos * y, down + z];
    check_distance(position, mask, rules)?;
    let yaw = match mask & YAW {
        0 => wrap(heading + f64::from(target.yaw)) as f32,
        _ => target.yaw,
    };
    let message = SetPositionTargetLocalNed {
        position: single(position),
        yaw,
        coordinate_frame: MAV_FRAME_LOCAL_NED,
        ..*target
    };
    let warning = px4_local(MAV_FRAME_LOCAL_NED, mask)?;
    Ok(Checked { message, warning })
}
