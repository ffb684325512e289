//! What a vehicle was last told to do, in the map and in double precision.
use super::body::Body;
use crate::frames::{Geodetic, Ned, Vector};
use crate::wire::SimpleCommand;

/// The throttle to hover.
const HOVER: f64 = 0.5;

/// What to do about the heading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turn {
    /// Nothing.
    Hold,
    /// Face an angle from north, clockwise.
    To(f64),
    /// Turn at a rate in rad/s.
    At(f64),
}

/// What to do; a coordinate that is NaN is not controlled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    /// Stay where it is.
    Stay,
    /// Be at a position of the map.
    Position([f64; 3], Turn),
    /// Move with a velocity, NED.
    Velocity([f64; 3], Turn),
    /// Move with an acceleration, NED.
    Acceleration([f64; 3], Turn),
    /// Roll, pitch, yaw; throttle 0 to 1.
    Attitude([f64; 3], f64),
    /// Fly with a speed, to a down coordinate of the map, with a heading.
    Cruise { speed: f64, down: f64, heading: f64 },
}

/// A command as it came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wish {
    Nothing,
    Arm(bool),
    /// Speed in m/s and radius in m; 0: as it is.
    Limits(f64, f64),
    Do(Order),
    /// As [`Self::Do`], and arms.
    TakeOff(Order),
    /// The model cannot do it.
    Unable,
}

/// Reads a command, where `now` is followed. Positions count from `home`, which is at `origin` of the map.
pub(super) fn wish(
    command: SimpleCommand,
    now: Option<&Order>,
    body: &Body,
    origin: Vector<Ned>,
    home: Geodetic,
) -> Wish {
    use SimpleCommand as C;
    let wide = |v: [f32; 3]| v.map(f64::from);
    let in_map = |v: [f32; 3]| (origin + Vector::from(v)).to_array();
    let to = |yaw: f32| match yaw.is_finite() {
        true => Turn::To(yaw.into()),
        false => Turn::Hold,
    };
    let at = |rate: f32| match rate.is_finite() {
        true => Turn::At(rate.into()),
        false => Turn::Hold,
    };
    // Axes of the body, but level.
    let level = |v: [f32; 3]| {
        let v = v.map(f64::from);
        let (sin, cos) = body.yaw.sin_cos();
        let turned: Vector<Ned> =
            Vector::new(cos * v[0] - sin * v[1], sin * v[0] + cos * v[1], v[2]);
        turned
    };
    let place = |latitude: f32, longitude: f32, altitude: f32| {
        let place = Geodetic::new(latitude.into(), longitude.into(), altitude.into());
        (origin + place.to_ned(home)).to_array()
    };
    match command {
        C::Nothing => Wish::Nothing,
        C::Arm(armed) => Wish::Arm(armed),
        C::Cruise { speed, radius } => Wish::Limits(speed.into(), radius.into()),
        C::VelocityNed { velocity, yaw_rate } => {
            Wish::Do(Order::Velocity(wide(velocity), at(yaw_rate)))
        }
        C::VelocityFrd { velocity, yaw_rate } => {
            Wish::Do(Order::Velocity(level(velocity).to_array(), at(yaw_rate)))
        }
        C::PositionNed { position, yaw } => Wish::Do(Order::Position(in_map(position), to(yaw))),
        C::PositionFrd { position, yaw } => {
            let position = body.position + level(position);
            Wish::Do(Order::Position(position.to_array(), to(yaw + body.yaw as f32)))
        }
        C::Attitude { euler, throttle } => Wish::Do(Order::Attitude(
            wide(euler),
            match throttle.is_finite() {
                true => f64::from(throttle).clamp(0.0, 1.0),
                false => HOVER,
            },
        )),
        C::AttitudeStep { euler, throttle_step } => {
            let throttle = match now {
                Some(Order::Attitude(_, throttle)) => *throttle,
                _ => HOVER,
            };
            let step = f64::from(throttle_step);
            let step = if step.is_finite() { step } else { 0.0 };
            Wish::Do(Order::Attitude(wide(euler), (throttle + step).clamp(0.0, 1.0)))
        }
        C::AccelerationYaw { acceleration, yaw } => {
            Wish::Do(Order::Acceleration(wide(acceleration), to(yaw)))
        }
        C::AccelerationYawRate { acceleration, yaw_rate } => {
            Wish::Do(Order::Acceleration(wide(acceleration), at(yaw_rate)))
        }
        C::TakeOff { position } => Wish::TakeOff(Order::Position(in_map(position), Turn::Hold)),
        C::TakeOffGlobal { latitude, longitude, altitude } => {
            Wish::TakeOff(Order::Position(place(latitude, longitude, altitude), Turn::Hold))
        }
        C::PositionGlobal { latitude, longitude, altitude, yaw } => {
            Wish::Do(Order::Position(place(latitude, longitude, altitude), to(yaw)))
        }
        C::SpeedAltitudeHeading { speed, down, heading } => Wish::Do(Order::Cruise {
            speed: speed.into(),
            down: origin.z() + f64::from(down),
            heading: heading.into(),
        }),
        C::AccelerationDisputed { .. } | C::VtolTransition { .. } => Wish::Unable,
    }
}
