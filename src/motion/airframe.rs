//! How each airframe follows a setpoint.
use super::body_state::{BodyState, GRAVITY, approach, limited, wrap};
use super::setpoint::{Setpoint, Turn};
use crate::frames::{Ned, Vector};
use std::f64::consts::FRAC_PI_2;

/// Kind of a simulated vehicle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Airframe {
    /// Moves in all directions with limited speed and acceleration, and tilts as a multirotor.
    PointMass,
    /// Keeps its speed, turns by banking, circles around a position.
    FixedWing,
}

/// Limits that a user may change in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// m/s.
    pub(super) speed: f64,
    /// Radius of circles in m.
    pub(super) radius: f64,
}

/// Climb and sink rate of a point mass in m/s.
const CLIMB: f64 = 3.0;
/// Largest acceleration of a point mass in m/s².
const THRUST: f64 = 5.0;
/// rad/s.
const YAW_RATE: f64 = 1.5;
/// Time constants of velocity and acceleration in s.
const VELOCITY_LAG: f64 = 0.4;
const THRUST_LAG: f64 = 0.1;
/// Velocity per distance to a near position in 1/s.
const NEAR: f64 = 1.0;
/// Fixed wing: bank in rad, its rate in rad/s, climb rate in m/s, acceleration in m/s², share of the speed at take-off.
const BANK: f64 = 0.8;
const BANK_RATE: f64 = 1.0;
const WING_CLIMB: f64 = 4.0;
const WING_THRUST: f64 = 3.0;
const LIFT_OFF: f64 = 0.8;

impl Airframe {
    /// Class of the renderer's model.
    pub fn class(self) -> i32 {
        match self {
            Self::PointMass => 3,
            Self::FixedWing => 100,
        }
    }

    pub(super) fn limits(self) -> Limits {
        match self {
            Self::PointMass => Limits { speed: 8.0, radius: 0.0 },
            Self::FixedWing => Limits { speed: 18.0, radius: 60.0 },
        }
    }

    /// Moves the body for `dt` seconds.
    pub(super) fn step(
        self,
        body: &mut BodyState,
        setpoint: Option<&Setpoint>,
        limits: &Limits,
        dt: f64,
    ) {
        match (self, setpoint) {
            (_, None) => rest(body, dt),
            (Self::PointMass, Some(setpoint)) => point_mass(body, setpoint, limits, dt),
            (Self::FixedWing, Some(setpoint)) => fixed_wing(body, setpoint, limits, dt),
        }
    }
}

/// Moves a vehicle without power: it falls, and comes to rest on the ground.
fn rest(body: &mut BodyState, dt: f64) {
    let drag = if body.on_ground() { 3.0 } else { 0.2 };
    let [north, east, _] = body.velocity.to_array();
    body.move_by(Vector::new(-drag * north, -drag * east, GRAVITY), dt);
    let level = |angle| approach(angle, 0.0, dt);
    body.turn_to(level(body.euler.roll), level(body.euler.pitch), body.euler.yaw, dt);
}

fn point_mass(body: &mut BodyState, setpoint: &Setpoint, limits: &Limits, dt: f64) {
    if let Setpoint::Attitude([roll, pitch, yaw], throttle) = *setpoint {
        // Thrust along the body's axis, so that level at 0.5 hovers.
        body.turn_to(
            approach(body.euler.roll, or_zero(roll), 4.0 * dt),
            approach(body.euler.pitch, or_zero(pitch), 4.0 * dt),
            body.euler.yaw + wrap(yaw - body.euler.yaw).clamp(-YAW_RATE * dt, YAW_RATE * dt),
            dt,
        );
        let thrust = Vector::new(0.0, 0.0, -2.0 * throttle * GRAVITY);
        let pushed: Vector<Ned> = body.attitude().rotate(thrust);
        let drag = body.velocity * -0.25;
        body.move_by(pushed + Vector::new(0.0, 0.0, GRAVITY) + drag, dt);
        return;
    }
    let wanted = match *setpoint {
        Setpoint::Acceleration(acceleration, _) => Vector::from(acceleration.map(or_zero)),
        _ => {
            let velocity = wanted_velocity(body, setpoint, limits);
            (velocity - body.velocity) * (1.0 / VELOCITY_LAG)
        }
    };
    let wanted = limited(wanted, THRUST);
    let lag = (dt / THRUST_LAG).min(1.0);
    let acceleration = body.acceleration + (wanted - body.acceleration) * lag;
    body.move_by(acceleration, dt);
    let yaw = match *setpoint {
        Setpoint::Position(_, turn)
        | Setpoint::Velocity(_, turn)
        | Setpoint::Acceleration(_, turn) => turned(body.euler.yaw, turn, dt),
        Setpoint::Cruise { heading, .. } => turned(body.euler.yaw, Turn::To(heading), dt),
        Setpoint::Stay | Setpoint::Attitude(..) => body.euler.yaw,
    };
    // A multirotor tilts in the direction of its acceleration; on the ground it is level.
    let leaning = if body.on_ground() { Vector::zero() } else { body.acceleration };
    let (sin, cos) = yaw.sin_cos();
    let forward = cos * leaning.x() + sin * leaning.y();
    let right = cos * leaning.y() - sin * leaning.x();
    let up = (GRAVITY - leaning.z()).max(1.0);
    let pitch = -(forward / up).atan();
    let roll = (right * pitch.cos() / up).atan();
    body.turn_to(roll, pitch, yaw, dt);
}

fn or_zero(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

fn turned(yaw: f64, turn: Turn, dt: f64) -> f64 {
    let rate = match turn {
        Turn::Hold => 0.0,
        Turn::At(rate) => rate.clamp(-YAW_RATE, YAW_RATE),
        Turn::To(angle) => (wrap(angle - yaw) / VELOCITY_LAG).clamp(-YAW_RATE, YAW_RATE),
    };
    yaw + rate * dt
}

/// Returns the velocity towards a setpoint.
fn wanted_velocity(body: &BodyState, setpoint: &Setpoint, limits: &Limits) -> Vector<Ned> {
    let velocity = match *setpoint {
        Setpoint::Velocity(velocity, _) => velocity.map(or_zero),
        Setpoint::Position(position, _) => {
            let here = body.position.to_array();
            let error: [f64; 3] = std::array::from_fn(|i| or_zero(position[i] - here[i]));
            let distance = error[0].hypot(error[1]);
            // Slow enough to stop at the position.
            let speed = |distance: f64| (NEAR * distance).min((THRUST * distance).sqrt());
            let share = if distance > 0.0 { speed(distance) / distance } else { 0.0 };
            let climb = speed(error[2].abs()) * error[2].signum();
            [error[0] * share, error[1] * share, climb]
        }
        Setpoint::Cruise { speed, down, heading } => {
            let climb = NEAR * (down - body.position.z());
            [speed * heading.cos(), speed * heading.sin(), climb].map(or_zero)
        }
        Setpoint::Stay | Setpoint::Acceleration(..) | Setpoint::Attitude(..) => [0.0; 3],
    };
    let [north, east, down] = velocity;
    let level = limited(Vector::new(north, east, 0.0), limits.speed);
    level + Vector::new(0.0, 0.0, down.clamp(-CLIMB, CLIMB))
}

fn fixed_wing(body: &mut BodyState, setpoint: &Setpoint, limits: &Limits, dt: f64) {
    let here = body.position;
    let mut circle = 0.0;
    let (speed, down, heading) = match *setpoint {
        Setpoint::Cruise { speed, down, heading } => (speed, down, heading),
        Setpoint::Velocity([north, east, down], _) => {
            let climb = here.z() + or_zero(down) * 2.0;
            (or_zero(north.hypot(east)), climb, or_zero(east).atan2(or_zero(north)))
        }
        Setpoint::Position([north, east, down], _) => {
            let (heading, share) = around([north, east], &here, limits.radius);
            let speed = body.ground_speed();
            circle = share * (speed * speed / (GRAVITY * limits.radius.max(1.0))).atan();
            (limits.speed, down, heading)
        }
        Setpoint::Acceleration([north, east, down], _) => {
            let speed = body.ground_speed() + or_zero(north).hypot(or_zero(east));
            (speed, here.z() + or_zero(down), or_zero(east).atan2(or_zero(north)))
        }
        Setpoint::Attitude([roll, pitch, _], throttle) => {
            let turn = GRAVITY * roll.tan() / limits.speed;
            (2.0 * throttle * limits.speed, here.z() - 10.0 * pitch, body.euler.yaw + turn)
        }
        Setpoint::Stay => (limits.speed, here.z(), body.euler.yaw),
    };
    let range = (0.6 * limits.speed, 1.5 * limits.speed);
    let speed = if speed > 0.0 { speed.clamp(range.0, range.1) } else { limits.speed };
    let moving = body.ground_speed();
    let flies = moving >= LIFT_OFF * limits.speed || !body.on_ground();
    let faster = approach(moving, speed, WING_THRUST * dt);
    // On the ground it rolls straight along the runway.
    let (mut bank, mut sink) = (0.0, 0.0);
    if flies {
        bank = (circle + 2.0 * wrap(heading - body.euler.yaw)).clamp(-BANK, BANK);
        sink = (0.5 * or_zero(down - here.z())).clamp(-WING_CLIMB, WING_CLIMB);
    }
    let roll = approach(body.euler.roll, bank, BANK_RATE * dt);
    let turn = if flies { GRAVITY * roll.tan() / faster.max(1.0) * dt } else { 0.0 };
    let yaw = body.euler.yaw + turn;
    let sink = approach(body.velocity.z(), sink, WING_THRUST * dt);
    let velocity = Vector::new(faster * yaw.cos(), faster * yaw.sin(), sink);
    body.move_by((velocity - body.velocity) * (1.0 / dt), dt);
    body.turn_to(roll, -(sink.atan2(faster.max(1.0))), yaw, dt);
}

/// Returns the heading onto a circle around a position, clockwise seen from above, and the share of the circle's bank.
fn around([north, east]: [f64; 2], here: &Vector<Ned>, radius: f64) -> (f64, f64) {
    let (dn, de) = (here.x() - or_zero(north), here.y() - or_zero(east));
    let distance = dn.hypot(de);
    let angle = de.atan2(dn);
    let off = (distance - radius) / radius.max(1.0);
    let inwards = (2.0 * off).atan();
    (wrap(angle + FRAC_PI_2 + inwards), inwards.cos())
}
