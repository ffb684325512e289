//! Commands and setpoints of a vehicle, in the map and in double precision.
use super::body_state::BodyState;
use crate::frames::{Geodetic, Ned, Vector};
use crate::wire::SimpleCommand;

/// Throttle at hover.
const HOVER: f64 = 0.5;

/// Setpoint of the heading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turn {
    /// Keep the heading.
    Hold,
    /// Angle from north, clockwise, in rad.
    To(f64),
    /// Rate in rad/s.
    At(f64),
}

/// A setpoint. A NaN position or yaw keeps the present one; another NaN component counts as 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Setpoint {
    /// The present position.
    Stay,
    /// Position in the map, NED, in m.
    Position([f64; 3], Turn),
    /// Velocity, NED, in m/s.
    Velocity([f64; 3], Turn),
    /// Acceleration, NED, in m/s².
    Acceleration([f64; 3], Turn),
    /// Roll, pitch, yaw in rad; throttle 0 to 1.
    Attitude([f64; 3], f64),
    /// Speed in m/s, down coordinate in the map in m, heading in rad.
    Cruise { speed: f64, down: f64, heading: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum MotionCommand {
    Nothing,
    Arm(bool),
    /// Speed in m/s and radius in m; 0 keeps the present value.
    Limits(f64, f64),
    Do(Setpoint),
    /// As [`Self::Do`]; also arms a vehicle that a command disarmed.
    TakeOff(Setpoint),
    /// The model cannot do it.
    Unable,
}

/// Decodes a command; `current` is the present setpoint. Local positions are relative to home (`origin` in the
/// map, `home` on earth).
pub(super) fn to_command(
    command: SimpleCommand,
    current: Option<&Setpoint>,
    body: &BodyState,
    origin: Vector<Ned>,
    home: Geodetic,
) -> MotionCommand {
    use SimpleCommand as C;
    let wide = |v: [f32; 3]| v.map(f64::from);
    let in_map = |v: [f32; 3]| (origin + Vector::from(v)).to_array();
    let to = |yaw: f32| if yaw.is_finite() { Turn::To(yaw.into()) } else { Turn::Hold };
    let at = |rate: f32| if rate.is_finite() { Turn::At(rate.into()) } else { Turn::Hold };
    // Converts from axes with the body's yaw and the z axis down.
    let level = |v: [f32; 3]| -> Vector<Ned> {
        let [x, y, z] = v.map(f64::from);
        let (sin, cos) = body.euler.yaw.sin_cos();
        Vector::new(cos * x - sin * y, sin * x + cos * y, z)
    };
    let global = |latitude: f32, longitude: f32, altitude: f32| {
        let position = Geodetic::new(latitude.into(), longitude.into(), altitude.into());
        (origin + position.to_ned(home)).to_array()
    };
    let setpoint = match command {
        C::Nothing => return MotionCommand::Nothing,
        C::Arm(armed) => return MotionCommand::Arm(armed),
        C::Cruise { speed, radius } => return MotionCommand::Limits(speed.into(), radius.into()),
        C::TakeOff { position } => {
            return MotionCommand::TakeOff(Setpoint::Position(in_map(position), Turn::Hold));
        }
        C::TakeOffGlobal { latitude, longitude, altitude } => {
            let position = global(latitude, longitude, altitude);
            return MotionCommand::TakeOff(Setpoint::Position(position, Turn::Hold));
        }
        C::AccelerationDisputed { .. } | C::VtolTransition { .. } => return MotionCommand::Unable,
        C::VelocityNed { velocity, yaw_rate } => Setpoint::Velocity(wide(velocity), at(yaw_rate)),
        C::VelocityFrd { velocity, yaw_rate } => {
            Setpoint::Velocity(level(velocity).to_array(), at(yaw_rate))
        }
        C::PositionNed { position, yaw } => Setpoint::Position(in_map(position), to(yaw)),
        C::PositionFrd { position, yaw } => {
            let position = body.position + level(position);
            Setpoint::Position(position.to_array(), to(yaw + body.euler.yaw as f32))
        }
        C::PositionGlobal { latitude, longitude, altitude, yaw } => {
            Setpoint::Position(global(latitude, longitude, altitude), to(yaw))
        }
        C::Attitude { euler, throttle } => {
            let throttle = if throttle.is_finite() { f64::from(throttle) } else { HOVER };
            Setpoint::Attitude(wide(euler), throttle.clamp(0.0, 1.0))
        }
        C::AttitudeStep { euler, throttle_step } => {
            let throttle = match current {
                Some(Setpoint::Attitude(_, throttle)) => *throttle,
                _ => HOVER,
            };
            let step = if throttle_step.is_finite() { f64::from(throttle_step) } else { 0.0 };
            Setpoint::Attitude(wide(euler), (throttle + step).clamp(0.0, 1.0))
        }
        C::AccelerationYaw { acceleration, yaw } => {
            Setpoint::Acceleration(wide(acceleration), to(yaw))
        }
        C::AccelerationYawRate { acceleration, yaw_rate } => {
            Setpoint::Acceleration(wide(acceleration), at(yaw_rate))
        }
        C::SpeedAltitudeHeading { speed, down, heading } => Setpoint::Cruise {
            speed: speed.into(),
            down: origin.z() + f64::from(down),
            heading: heading.into(),
        },
    };
    MotionCommand::Do(setpoint)
}
