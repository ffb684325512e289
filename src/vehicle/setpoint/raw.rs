//! `setpoint_raw/*`: masks and frames as in MAVLink.
use super::geometry::{frd, point, single, stamp_ms, vector, wxyz};
use super::reject::{Checked, Reject};
use super::subscriptions::subscriptions;
use super::target::{SetpointRules, SetpointTarget};
use crate::frames::raw_enu_ned;
use crate::msgs::mavros_msgs::msg::{AttitudeTarget, GlobalPositionTarget, PositionTarget};
use crate::wire::mavlink::raw::SetAttitudeTarget;

/// Ignore bits of `type_mask` in attitude setpoints.
pub(super) const NO_RATES: u8 = 0x07;
const NO_ROLL_AND_PITCH_RATE: u8 = 0x03;
const NO_THRUST: u8 = 0x40;
pub(super) const NO_ATTITUDE: u8 = 0x80;
/// A larger thrust must be in another unit.
const MAX_PLAUSIBLE_THRUST: f64 = 10.0;

subscriptions! {
    PositionTarget("setpoint_raw/local", "position, velocity, acceleration, yaw by mask; ENU in frame 1, FLU from the body in frame 8")
        => |autopilot, topic, message| autopilot.send_local_setpoint(topic, &SetpointTarget {
            stamp_ms: stamp_ms(&message.header.stamp),
            frame: message.coordinate_frame,
            mask: message.type_mask,
            position: point(&message.position),
            velocity: vector(&message.velocity),
            acceleration: vector(&message.acceleration_or_force),
            yaw: Some(message.yaw.into()),
            yaw_rate: message.yaw_rate.into(),
        });
    GlobalPositionTarget("setpoint_raw/global", "as `local`, with latitude, longitude, altitude")
        => |autopilot, topic, message| autopilot.send_global_setpoint(topic, &SetpointTarget {
            stamp_ms: stamp_ms(&message.header.stamp),
            frame: message.coordinate_frame,
            mask: message.type_mask,
            position: [message.latitude, message.longitude, message.altitude.into()],
            velocity: vector(&message.velocity),
            acceleration: vector(&message.acceleration_or_force),
            yaw: Some(message.yaw.into()),
            yaw_rate: message.yaw_rate.into(),
        });
    AttitudeTarget("setpoint_raw/attitude", "attitude (FLU in ENU), body rates (FLU), thrust 0 to 1")
        => |autopilot, topic, message| {
            let scaling = autopilot.fcu.settings.thrust_scaling;
            let checked = attitude(message, scaling, &SetpointRules::of(&autopilot.fcu));
            autopilot.send_setpoint(topic, checked);
        };
    AttitudeTarget("setpoint_raw/throttle_step", "attitude, and a *change* of the throttle in `thrust`, -1 to 1; UDP_Simple and UDP_UltraSimple only, no topic of mavros")
        => |autopilot, topic, message| {
            let checked = throttle_step(message, &SetpointRules::of(&autopilot.fcu));
            autopilot.send_throttle(topic, checked);
        };
}

fn attitude(
    message: &AttitudeTarget,
    scaling: f64,
    rules: &SetpointRules,
) -> Result<Checked<SetAttitudeTarget>, Reject> {
    let mask = message.type_mask;
    let thrust = f64::from(message.thrust) * scaling;
    let mut warning = None;
    if mask & NO_THRUST == 0 {
        if thrust.is_nan() || thrust.abs() > MAX_PLAUSIBLE_THRUST {
            return Err(Reject::Thrust(thrust));
        }
        if !(0.0..=1.0).contains(&thrust) {
            // Clamped and sent as in mavros: a controller may rely on it, and a refusal would drop the vehicle.
            warning = Some(Reject::Thrust(thrust));
        }
    }
    // PX4 follows roll and pitch rate also without a yaw rate, so only those two are required.
    if rules.px4_checks && mask & NO_ATTITUDE != 0 && mask & NO_ROLL_AND_PITCH_RATE != 0 {
        return Err(Reject::Nothing(mask.into()));
    }
    attitude_target(
        stamp_ms(&message.header.stamp),
        mask,
        raw_enu_ned(wxyz(&message.orientation)),
        frd(vector(&message.body_rate)),
        // The thrust is NaN only if the mask ignores it.
        thrust.clamp(0.0, 1.0),
        rules,
    )
    .map(|message| Checked { message, warning })
}

/// Converts an attitude whose thrust is a change of the throttle.
fn throttle_step(m: &AttitudeTarget, rules: &SetpointRules) -> Result<SetAttitudeTarget, Reject> {
    let step = f64::from(m.thrust);
    if m.type_mask & (NO_ATTITUDE | NO_THRUST) != 0 {
        return Err(Reject::Nothing(m.type_mask.into()));
    }
    if !(-1.0..=1.0).contains(&step) {
        return Err(Reject::ThrottleStep(step));
    }
    attitude_target(
        stamp_ms(&m.header.stamp),
        NO_RATES,
        raw_enu_ned(wxyz(&m.orientation)),
        [0.0; 3],
        step,
        rules,
    )
}

/// SET_ATTITUDE_TARGET, from the attitude of FRD in NED and rates in FRD.
pub(super) fn attitude_target(
    time_boot_ms: u32,
    mask: u8,
    mut q: [f64; 4],
    rates: [f64; 3],
    thrust: f64,
    rules: &SetpointRules,
) -> Result<SetAttitudeTarget, Reject> {
    if mask & NO_ATTITUDE == 0 {
        let norm = q.into_iter().fold(0.0, f64::hypot);
        if norm.is_nan() {
            return Err(Reject::NotANumber("orientation"));
        }
        if norm.is_infinite() {
            return Err(Reject::Infinite("orientation"));
        }
        if norm < 1e-6 {
            return Err(Reject::Orientation);
        }
        if !rules.quirks {
            q = q.map(|component| component / norm);
        }
    }
    for (axis, rate) in rates.into_iter().enumerate() {
        if mask & 1 << axis == 0 && rate.is_nan() {
            return Err(Reject::NotANumber("body_rate"));
        }
        if mask & 1 << axis == 0 && rate.is_infinite() {
            return Err(Reject::Infinite("body_rate"));
        }
    }
    Ok(SetAttitudeTarget {
        time_boot_ms,
        q: single(q),
        body_rates: single(rates),
        thrust: thrust as f32,
        type_mask: mask,
        target_system: rules.target.0,
        target_component: rules.target.1,
    })
}
