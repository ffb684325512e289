//! Motion of each airframe towards its setpoint.
use super::body_state::{BodyState, GRAVITY, approach, limit_length, wrap};
use super::setpoint::{Setpoint, Turn};
use crate::frames::{Ned, Vector};
use std::f64::consts::FRAC_PI_2;

/// Kind of a simulated vehicle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Airframe {
    /// Moves in all directions, and tilts as a multirotor.
    PointMass,
    /// Keeps its speed, turns by banking, circles around a position.
    FixedWing,
}

/// Limits that a user may change in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Largest horizontal speed of a point mass for setpoints of position and velocity, cruise speed of a fixed wing, in m/s.
    pub(super) speed: f64,
    /// Radius of a fixed wing's circles in m.
    pub(super) radius: f64,
}

/// Largest climb and sink rate of a point mass in m/s, for setpoints of position and velocity.
const MAX_CLIMB: f64 = 3.0;
/// Largest acceleration of a point mass in m/s², for all setpoints but attitudes.
const MAX_ACCELERATION: f64 = 5.0;
/// Largest yaw rate of a point mass in rad/s.
const MAX_YAW_RATE: f64 = 1.5;
/// Time constant of velocity and heading in s.
const VELOCITY_LAG: f64 = 0.4;
/// Time constant of acceleration in s.
const ACCELERATION_LAG: f64 = 0.1;
/// Gain from distance to velocity near a position in 1/s.
const POSITION_GAIN: f64 = 1.0;
/// Fixed wing: largest bank in rad, its rate in rad/s, climb rate in m/s, acceleration in m/s², and
/// lift-off speed as a share of the cruise speed.
const MAX_BANK: f64 = 0.8;
const BANK_RATE: f64 = 1.0;
const WING_CLIMB: f64 = 4.0;
const WING_ACCELERATION: f64 = 3.0;
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

    /// Moves the body for `dt` seconds; without a setpoint it falls.
    pub(super) fn step(self, body: &mut BodyState, goal: Option<&Setpoint>, max: &Limits, dt: f64) {
        match (self, goal) {
            (_, None) => fall(body, dt),
            (Self::PointMass, Some(goal)) => step_point_mass(body, goal, max, dt),
            (Self::FixedWing, Some(goal)) => step_fixed_wing(body, goal, max, dt),
        }
    }
}

/// Moves a vehicle without power: it falls, and comes to rest on the ground.
fn fall(body: &mut BodyState, dt: f64) {
    let drag = if body.is_on_ground() { 3.0 } else { 0.2 };
    let [north, east, _] = body.velocity.to_array();
    body.accelerate(Vector::new(-drag * north, -drag * east, GRAVITY), dt);
    let level = |angle| approach(angle, 0.0, dt);
    body.turn_to(level(body.euler.roll), level(body.euler.pitch), body.euler.yaw, dt);
}

fn step_point_mass(body: &mut BodyState, setpoint: &Setpoint, limits: &Limits, dt: f64) {
    if let Setpoint::Attitude([roll, pitch, yaw], throttle) = *setpoint {
        // Thrust along the body's axis: a level vehicle hovers at throttle 0.5.
        body.turn_to(
            approach(body.euler.roll, or_zero(roll), 4.0 * dt),
            approach(body.euler.pitch, or_zero(pitch), 4.0 * dt),
            body.euler.yaw
                + wrap(yaw - body.euler.yaw).clamp(-MAX_YAW_RATE * dt, MAX_YAW_RATE * dt),
            dt,
        );
        let thrust = Vector::new(0.0, 0.0, -2.0 * throttle * GRAVITY);
        let thrust: Vector<Ned> = body.attitude().rotate(thrust);
        let drag = body.velocity * -0.25;
        body.accelerate(thrust + Vector::new(0.0, 0.0, GRAVITY) + drag, dt);
        return;
    }
    let wanted = match *setpoint {
        Setpoint::Acceleration(acceleration, _) => Vector::from(acceleration.map(or_zero)),
        _ => {
            let velocity = wanted_velocity(body, setpoint, limits);
            (velocity - body.velocity) * (1.0 / VELOCITY_LAG)
        }
    };
    let wanted = limit_length(wanted, MAX_ACCELERATION);
    let lag = (dt / ACCELERATION_LAG).min(1.0);
    let acceleration = body.acceleration + (wanted - body.acceleration) * lag;
    body.accelerate(acceleration, dt);
    let yaw = match *setpoint {
        Setpoint::Position(_, turn)
        | Setpoint::Velocity(_, turn)
        | Setpoint::Acceleration(_, turn) => turn_yaw(body.euler.yaw, turn, dt),
        Setpoint::Cruise { heading, .. } => turn_yaw(body.euler.yaw, Turn::To(heading), dt),
        Setpoint::Stay | Setpoint::Attitude(..) => body.euler.yaw,
    };
    // A multirotor tilts in the direction of its acceleration; on the ground it is level.
    let tilting = if body.is_on_ground() { Vector::zero() } else { body.acceleration };
    let (sin, cos) = yaw.sin_cos();
    let forward = cos * tilting.x() + sin * tilting.y();
    let right = cos * tilting.y() - sin * tilting.x();
    let up = (GRAVITY - tilting.z()).max(1.0);
    let pitch = -(forward / up).atan();
    let roll = (right * pitch.cos() / up).atan();
    body.turn_to(roll, pitch, yaw, dt);
}

fn or_zero(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

fn turn_yaw(yaw: f64, turn: Turn, dt: f64) -> f64 {
    let rate = match turn {
        Turn::Hold => 0.0,
        Turn::At(rate) => rate.clamp(-MAX_YAW_RATE, MAX_YAW_RATE),
        Turn::To(angle) => (wrap(angle - yaw) / VELOCITY_LAG).clamp(-MAX_YAW_RATE, MAX_YAW_RATE),
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
            let speed = |distance: f64| {
                (POSITION_GAIN * distance).min((MAX_ACCELERATION * distance).sqrt())
            };
            let share = if distance > 0.0 { speed(distance) / distance } else { 0.0 };
            let sink = speed(error[2].abs()) * error[2].signum();
            [error[0] * share, error[1] * share, sink]
        }
        Setpoint::Cruise { speed, down, heading } => {
            let sink = POSITION_GAIN * (down - body.position.z());
            [speed * heading.cos(), speed * heading.sin(), sink].map(or_zero)
        }
        Setpoint::Stay | Setpoint::Acceleration(..) | Setpoint::Attitude(..) => [0.0; 3],
    };
    let [north, east, down] = velocity;
    let horizontal = limit_length(Vector::new(north, east, 0.0), limits.speed);
    horizontal + Vector::new(0.0, 0.0, down.clamp(-MAX_CLIMB, MAX_CLIMB))
}

fn step_fixed_wing(body: &mut BodyState, setpoint: &Setpoint, limits: &Limits, dt: f64) {
    let here = body.position;
    // The bank of a circle or an attitude; the heading's correction is added to it.
    let mut steady_bank = 0.0;
    let (speed, down, heading) = match *setpoint {
        Setpoint::Cruise { speed, down, heading } => (speed, down, heading),
        Setpoint::Velocity([north, east, down], _) => {
            let target_down = here.z() + or_zero(down) * 2.0;
            (or_zero(north.hypot(east)), target_down, or_zero(east).atan2(or_zero(north)))
        }
        Setpoint::Position([north, east, down], _) => {
            // Without a position to circle around, the aircraft flies straight on.
            let (heading, share) = match [north, east].iter().all(|x| x.is_finite()) {
                true => circle_heading([north, east], &here, limits.radius),
                false => (body.euler.yaw, 0.0),
            };
            let speed = body.ground_speed();
            steady_bank = share * (speed * speed / (GRAVITY * limits.radius.max(1.0))).atan();
            (limits.speed, down, heading)
        }
        Setpoint::Acceleration([north, east, down], _) => {
            let speed = body.ground_speed() + or_zero(north).hypot(or_zero(east));
            (speed, here.z() + or_zero(down), or_zero(east).atan2(or_zero(north)))
        }
        Setpoint::Attitude([roll, pitch, _], throttle) => {
            steady_bank = or_zero(roll);
            (2.0 * throttle * limits.speed, here.z() - 10.0 * pitch, body.euler.yaw)
        }
        Setpoint::Stay => (limits.speed, here.z(), body.euler.yaw),
    };
    let range = (0.6 * limits.speed, 1.5 * limits.speed);
    let speed = if speed > 0.0 { speed.clamp(range.0, range.1) } else { limits.speed };
    let ground_speed = body.ground_speed();
    let is_flying = ground_speed >= LIFT_OFF * limits.speed || !body.is_on_ground();
    let next_speed = approach(ground_speed, speed, WING_ACCELERATION * dt);
    // On the ground the aircraft rolls straight on.
    let (mut bank, mut sink) = (0.0, 0.0);
    if is_flying {
        bank = (steady_bank + 2.0 * wrap(heading - body.euler.yaw)).clamp(-MAX_BANK, MAX_BANK);
        sink = (0.5 * or_zero(down - here.z())).clamp(-WING_CLIMB, WING_CLIMB);
    }
    let roll = approach(body.euler.roll, bank, BANK_RATE * dt);
    let turn = if is_flying { GRAVITY * roll.tan() / next_speed.max(1.0) * dt } else { 0.0 };
    let yaw = body.euler.yaw + turn;
    let sink = approach(body.velocity.z(), sink, WING_ACCELERATION * dt);
    let velocity = Vector::new(next_speed * yaw.cos(), next_speed * yaw.sin(), sink);
    body.accelerate((velocity - body.velocity) * (1.0 / dt), dt);
    body.turn_to(roll, -(sink.atan2(next_speed.max(1.0))), yaw, dt);
}

/// Returns the heading onto a clockwise circle around a position, and the share of the circle's bank that it needs.
fn circle_heading([north, east]: [f64; 2], here: &Vector<Ned>, radius: f64) -> (f64, f64) {
    let (dn, de) = (here.x() - north, here.y() - east);
    let distance = dn.hypot(de);
    let angle = de.atan2(dn);
    let excess = (distance - radius) / radius.max(1.0);
    let inwards = (2.0 * excess).atan();
    (wrap(angle + FRAC_PI_2 + inwards), inwards.cos())
}
