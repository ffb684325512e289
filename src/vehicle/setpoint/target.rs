//! Position, velocity, acceleration, yaw and yaw rate, each optional: the content of most setpoints.
use super::geometry::{frd, ned, ned_yaw, single, wrap};
use super::reject::{Checked, Reject};
use crate::vehicle::Fcu;
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::{SetPositionTargetGlobalInt, SetPositionTargetLocalNed};

/// Bits of `type_mask` (POSITION_TARGET_TYPEMASK). Each ignores fields, except FORCE, which makes the acceleration a force.
pub(super) const POSITION: u16 = 0x007;
pub(super) const VELOCITY: u16 = 0x038;
pub(super) const ACCELERATION: u16 = 0x1c0;
pub(super) const FORCE: u16 = 0x200;
pub(super) const YAW: u16 = 0x400;
pub(super) const YAW_RATE: u16 = 0x800;

/// Global frames that PX4 accepts.
const GLOBAL: [u8; 3] =
    [MAV_FRAME_GLOBAL_INT, MAV_FRAME_GLOBAL_RELATIVE_ALT_INT, MAV_FRAME_GLOBAL_TERRAIN_ALT_INT];
/// Minimum height in m of home above the local origin that causes a warning; a smaller one is noise of the estimate. In the
/// frame of relative altitudes PX4 subtracts the height of home where it should add it.
const MIN_HOME_OFFSET: f64 = 2.0;

/// A checked local setpoint, or why it is refused.
pub(super) type LocalSetpoint = Result<Checked<SetPositionTargetLocalNed>, Reject>;

/// Settings for the check and conversion of setpoints.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetpointRules {
    /// System and component of the autopilot.
    pub(super) target: (u8, u8),
    pub(super) quirks: bool,
    /// Refuse what PX4 would ignore or misunderstand.
    pub(super) px4_checks: bool,
    pub(super) max_position: f64,
    pub(super) max_speed: f64,
    /// Height of home above the origin of the local frame in m; 0 if unknown.
    pub(super) home_height: f64,
}

impl SetpointRules {
    pub(super) fn of(fcu: &Fcu) -> Self {
        let settings = &fcu.settings;
        Self {
            target: (fcu.system, fcu.component),
            quirks: settings.quirks,
            px4_checks: settings.px4_checks && fcu.may_be_px4(),
            max_position: settings.max_position,
            max_speed: settings.max_speed,
            home_height: fcu.home_height,
        }
    }
}

/// A setpoint in ROS axes: FLU in frames 8 and 9, else ENU. In [`Self::global`] the position is latitude and longitude in
/// degrees, and altitude in m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SetpointTarget {
    pub(super) stamp_ms: u32,
    /// MAV_FRAME.
    pub(super) frame: u8,
    pub(super) mask: u16,
    pub(super) position: [f64; 3],
    pub(super) velocity: [f64; 3],
    pub(super) acceleration: [f64; 3],
    /// `None` if the message has no yaw.
    pub(super) yaw: Option<f64>,
    pub(super) yaw_rate: f64,
}

impl SetpointTarget {
    /// SET_POSITION_TARGET_LOCAL_NED.
    pub(super) fn local(&self, rules: &SetpointRules) -> LocalSetpoint {
        let position = self.axes()(self.position);
        let message = self.convert(position, rules)?;
        let mask = message.type_mask;
        check_distance(position, mask, rules)?;
        let warning = if rules.px4_checks { px4_local(self.frame, mask)? } else { None };
        Ok(Checked { message, warning })
    }

    /// SET_POSITION_TARGET_GLOBAL_INT.
    pub(super) fn global(
        &self,
        rules: &SetpointRules,
    ) -> Result<Checked<SetPositionTargetGlobalInt>, Reject> {
        let converted = self.convert(self.position, rules)?;
        let mask = converted.type_mask;
        let [latitude, longitude, altitude] = self.position;
        if mask & 0b11 == 0 && !(latitude.abs() <= 90.0 && longitude.abs() <= 180.0) {
            return Err(Reject::NotOnEarth { latitude, longitude });
        }
        if mask & 0b100 == 0 && altitude.abs() > rules.max_position {
            return Err(Reject::TooHigh { height: altitude.abs(), limit: rules.max_position });
        }
        let mut warning = None;
        if rules.px4_checks {
            px4_global(self.frame, mask)?;
            let relative = self.frame == MAV_FRAME_GLOBAL_RELATIVE_ALT_INT && mask & POSITION == 0;
            warning = Some(rules.home_height)
                .filter(|height| relative && height.abs() > MIN_HOME_OFFSET)
                .map(Reject::HomeOffset);
        }
        let integer = |degrees: f64| {
            let value = degrees * 1e7;
            // mavros truncates, an error of up to a centimetre.
            (if rules.quirks { value } else { value.round() }) as i32
        };
        let message = SetPositionTargetGlobalInt {
            time_boot_ms: self.stamp_ms,
            latitude: integer(latitude),
            longitude: integer(longitude),
            altitude: altitude as f32,
            velocity: converted.velocity,
            acceleration: converted.acceleration,
            yaw: converted.yaw,
            yaw_rate: converted.yaw_rate,
            type_mask: mask,
            coordinate_frame: self.frame,
            target_system: rules.target.0,
            target_component: rules.target.1,
        };
        Ok(Checked { message, warning })
    }

    fn is_body(&self) -> bool {
        matches!(self.frame, MAV_FRAME_BODY_NED | MAV_FRAME_BODY_OFFSET_NED)
    }

    fn axes(&self) -> fn([f64; 3]) -> [f64; 3] {
        if self.is_body() { frd } else { ned }
    }

    /// Converts to the axes to send; `position` is converted already. A bit of the mask applies to the converted axis,
    /// north for x, as in mavros.
    fn convert(
        &self,
        position: [f64; 3],
        rules: &SetpointRules,
    ) -> Result<SetPositionTargetLocalNed, Reject> {
        let axes = self.axes();
        let (velocity, acceleration) = (axes(self.velocity), axes(self.acceleration));
        let mask = self.mask_nan(position, velocity, acceleration)?;
        let speed = length(velocity, mask >> 3);
        if speed > rules.max_speed {
            let limit = rules.max_speed;
            return Err(Reject::TooFast { speed, limit });
        }
        let yaw =
            self.yaw.map_or(0.0, |yaw| if self.is_body() { wrap(-yaw) } else { ned_yaw(yaw) });
        Ok(SetPositionTargetLocalNed {
            time_boot_ms: self.stamp_ms,
            position: single(position),
            velocity: single(velocity),
            acceleration: single(acceleration),
            yaw: yaw as f32,
            yaw_rate: -self.yaw_rate as f32,
            type_mask: mask,
            coordinate_frame: self.frame,
            target_system: rules.target.0,
            target_component: rules.target.1,
        })
    }

    /// Adds the bits of NaN axes to the mask: PX4 treats a NaN as an ignored axis, and the vendor's client relies on it. Refuses
    /// infinity, and a NaN in a setpoint that then has an axis without any value, or x without y.
    fn mask_nan(
        &self,
        position: [f64; 3],
        velocity: [f64; 3],
        acceleration: [f64; 3],
    ) -> Result<u16, Reject> {
        const NAMES: [&str; 3] = ["position", "velocity", "acceleration_or_force"];
        let mut mask = self.mask;
        let mut nan = None;
        for (group, values) in [position, velocity, acceleration].into_iter().enumerate() {
            for (axis, value) in values.into_iter().enumerate() {
                let bit = 1 << (3 * group + axis);
                if self.mask & bit != 0 || value.is_finite() {
                    continue;
                }
                if value.is_infinite() {
                    return Err(Reject::Infinite(NAMES[group]));
                }
                mask |= bit;
                nan = nan.or(Some(NAMES[group]));
            }
        }
        for (bit, name, value) in
            [(YAW, "yaw", self.yaw.unwrap_or(0.0)), (YAW_RATE, "yaw_rate", self.yaw_rate)]
        {
            if mask & bit == 0 && value.is_infinite() {
                return Err(Reject::Infinite(name));
            }
            if value.is_nan() {
                mask |= bit;
            }
        }
        match nan {
            Some(name) if is_unbalanced(mask) => Err(Reject::NotANumber(name)),
            _ => Ok(mask),
        }
    }
}

/// Length of the vector of the axes that the mask does not ignore.
fn length(vector: [f64; 3], mask: u16) -> f64 {
    let used = (0..3).filter(|axis| mask & 1 << axis == 0);
    used.map(|axis| vector[axis]).fold(0.0, f64::hypot)
}

/// Refuses a position beyond the limit.
pub(super) fn check_distance(at: [f64; 3], mask: u16, rules: &SetpointRules) -> Result<(), Reject> {
    let (distance, limit) = (length(at, mask), rules.max_position);
    if distance > limit { Err(Reject::TooFar { distance, limit }) } else { Ok(()) }
}

/// Whether an axis has neither position, velocity nor acceleration, or x and y have different ones: PX4's position controller
/// needs x and y in pairs.
fn is_unbalanced(mask: u16) -> bool {
    let has_empty_axis = mask & (mask >> 3) & (mask >> 6) & 0b111 != 0;
    // x bits of position, velocity and acceleration.
    has_empty_axis || (mask ^ (mask >> 1)) & 0b001_001_001 != 0
}

/// Checks a setpoint against PX4's mavlink_receiver.cpp; returns a warning for one that PX4 accepts, but not as
/// the sender probably means it.
pub(super) fn px4_local(frame: u8, mask: u16) -> Result<Option<Reject>, Reject> {
    let is_complete = |bits| mask & bits == 0;
    let is_absent = |bits| mask & bits == bits;
    if !is_absent(ACCELERATION) && mask & FORCE != 0 {
        return Err(Reject::Force(mask));
    }
    match frame {
        MAV_FRAME_LOCAL_NED if is_absent(POSITION | VELOCITY | ACCELERATION) => {
            Err(Reject::Nothing(mask))
        }
        MAV_FRAME_LOCAL_NED if is_unbalanced(mask) => Ok(Some(Reject::Unbalanced(mask))),
        MAV_FRAME_LOCAL_NED => Ok(None),
        MAV_FRAME_BODY_NED => {
            for (bits, what) in [(VELOCITY, "velocity"), (ACCELERATION, "acceleration")] {
                if !is_complete(bits) && !is_absent(bits) {
                    return Err(Reject::Partial { mask, what, frame });
                }
            }
            if is_absent(VELOCITY | ACCELERATION) {
                // `body.rs` converts it to a local position.
                return if is_absent(POSITION) { Err(Reject::Nothing(mask)) } else { Ok(None) };
            }
            Ok(if !is_absent(POSITION) {
                Some(Reject::BodyPosition)
            } else {
                is_complete(YAW).then_some(Reject::BodyYaw)
            })
        }
        _ => Err(Reject::Frame { frame, remedy: "1 (LOCAL_NED) or 8 (BODY_NED)" }),
    }
}

fn px4_global(frame: u8, mask: u16) -> Result<(), Reject> {
    if !GLOBAL.contains(&frame) {
        return Err(Reject::Frame {
            frame,
            remedy: "5 (GLOBAL_INT), 6 (GLOBAL_RELATIVE_ALT_INT) or 11 (GLOBAL_TERRAIN_ALT_INT)",
        });
    }
    if mask & ACCELERATION != ACCELERATION && mask & FORCE != 0 {
        return Err(Reject::Force(mask));
    }
    if mask & POSITION != 0 && mask & POSITION != POSITION {
        return Err(Reject::Partial { mask, what: "position", frame });
    }
    let all = POSITION | VELOCITY | ACCELERATION;
    if mask & all == all {
        return Err(Reject::Nothing(mask));
    }
    Ok(())
}
