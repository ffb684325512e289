//! How each airframe follows an order.
use super::body::{Body, GRAVITY, approach, limited, wrap};
use super::order::{Order, Turn};
use crate::frames::{Ned, Vector};
use std::f64::consts::FRAC_PI_2;

/// Kind of a model.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Airframe {
    /// Goes anywhere with limited speed and acceleration, and leans as a multirotor does.
    PointMass,
    /// Keeps its speed, turns by banking, circles around a position.
    FixedWing,
}

/// What a user may change in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// m/s.
    pub(super) speed: f64,
    /// Of circles, in m.
    pub(super) radius: f64,
}

/// m/s up and down, of a point mass.
const CLIMB: f64 = 3.0;
/// m/s².
const THRUST: f64 = 5.0;
/// rad/s.
const YAW_RATE: f64 = 1.5;
/// Seconds in which a velocity, and an acceleration, is taken on.
const VELOCITY_LAG: f64 = 0.4;
const THRUST_LAG: f64 = 0.1;
/// 1/s: velocity per distance to a position near by.
const NEAR: f64 = 1.0;
/// Of a fixed wing: bank in rad, its rate in rad/s, climb in m/s, m/s², share of the speed that lifts off.
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
    pub(super) fn step(self, body: &mut Body, order: Option<&Order>, limits: &Limits, dt: f64) {
        match (self, order) {
            (_, None) => rest(body, dt),
            (Self::PointMass, Some(order)) => point_mass(body, order, limits, dt),
            (Self::FixedWing, Some(order)) => fixed_wing(body, order, limits, dt),
        }
    }
}

/// Without power: falls, and comes to rest on the ground.
fn rest(body: &mut Body, dt: f64) {
    let drag = if body.on_ground() { 3.0 } else { 0.2 };
    let [north, east, _] = body.velocity.to_array();
    body.move_by(Vector::new(-drag * north, -drag * east, GRAVITY), dt);
    let level = |angle| approach(angle, 0.0, dt);
    body.turn_to(level(body.roll), level(body.pitch), body.yaw, dt);
}

fn point_mass(body: &mut Body, order: &Order, limits: &Limits, dt: f64) {
    if let Order::Attitude([roll, pitch, yaw], throttle) = *order {
        // Thrust along the body's axis, so that level at 0.5 hovers.
        body.turn_to(
            approach(body.roll, or_zero(roll), 4.0 * dt),
            approach(body.pitch, or_zero(pitch), 4.0 * dt),
            body.yaw + wrap(yaw - body.yaw).clamp(-YAW_RATE * dt, YAW_RATE * dt),
            dt,
        );
        let thrust = Vector::new(0.0, 0.0, -2.0 * throttle * GRAVITY);
        let pushed: Vector<Ned> = body.attitude().rotate(thrust);
        let drag = body.velocity * -0.25;
        body.move_by(pushed + Vector::new(0.0, 0.0, GRAVITY) + drag, dt);
        return;
    }
    let wanted = match *order {
        Order::Acceleration(acceleration, _) => Vector::from(acceleration.map(or_zero)),
        _ => {
            let velocity = wanted_velocity(body, order, limits);
            (velocity - body.velocity) * (1.0 / VELOCITY_LAG)
        }
    };
    let wanted = limited(wanted, THRUST);
    let lag = (dt / THRUST_LAG).min(1.0);
    let acceleration = body.acceleration + (wanted - body.acceleration) * lag;
    body.move_by(acceleration, dt);
    let yaw = match *order {
        Order::Position(_, turn) | Order::Velocity(_, turn) | Order::Acceleration(_, turn) => {
            turned(body.yaw, turn, dt)
        }
        Order::Cruise { heading, .. } => turned(body.yaw, Turn::To(heading), dt),
        Order::Stay | Order::Attitude(..) => body.yaw,
    };
    // A multirotor leans towards where it accelerates; on the ground it stands.
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

/// The velocity that leads to what was ordered.
fn wanted_velocity(body: &Body, order: &Order, limits: &Limits) -> Vector<Ned> {
    let velocity = match *order {
        Order::Velocity(velocity, _) => velocity.map(or_zero),
        Order::Position(position, _) => {
            let [north, east, down] = body.position.to_array();
            let here = [north, east, down];
            let error: [f64; 3] = std::array::from_fn(|i| or_zero(position[i] - here[i]));
            let distance = error[0].hypot(error[1]);
            // So that it comes to rest there.
            let speed = |distance: f64| (NEAR * distance).min((THRUST * distance).sqrt());
            let share = match distance > 0.0 {
                true => speed(distance) / distance,
                false => 0.0,
            };
            let climb = speed(error[2].abs()) * error[2].signum();
            [error[0] * share, error[1] * share, climb]
        }
        Order::Cruise { speed, down, heading } => {
            let climb = NEAR * (down - body.position.z());
            [speed * heading.cos(), speed * heading.sin(), climb].map(or_zero)
        }
        Order::Stay | Order::Acceleration(..) | Order::Attitude(..) => [0.0; 3],
    };
    let [north, east, down] = velocity;
    let level = limited(Vector::new(north, east, 0.0), limits.speed);
    level + Vector::new(0.0, 0.0, down.clamp(-CLIMB, CLIMB))
}

fn fixed_wing(body: &mut Body, order: &Order, limits: &Limits, dt: f64) {
    let here = body.position;
    let mut circle = 0.0;
    let (speed, down, heading) = match *order {
        Order::Cruise { speed, down, heading } => (speed, down, heading),
        Order::Velocity([north, east, down], _) => {
            let climb = here.z() + or_zero(down) * 2.0;
            (or_zero(north.hypot(east)), climb, or_zero(east).atan2(or_zero(north)))
        }
        Order::Position([north, east, down], _) => {
            let (heading, share) = around([north, east], &here, limits.radius);
            let speed = body.ground_speed();
            circle = share * (speed * speed / (GRAVITY * limits.radius.max(1.0))).atan();
            (limits.speed, down, heading)
        }
        Order::Acceleration([north, east, down], _) => {
            let speed = body.ground_speed() + or_zero(north).hypot(or_zero(east));
            (speed, here.z() + or_zero(down), or_zero(east).atan2(or_zero(north)))
        }
        Order::Attitude([roll, pitch, _], throttle) => {
            let turn = GRAVITY * roll.tan() / limits.speed;
            (2.0 * throttle * limits.speed, here.z() - 10.0 * pitch, body.yaw + turn)
        }
        Order::Stay => (limits.speed, here.z(), body.yaw),
    };
    let speed = match speed > 0.0 {
        true => speed.clamp(0.6 * limits.speed, 1.5 * limits.speed),
        false => limits.speed,
    };
    let moving = body.ground_speed();
    let flies = moving >= LIFT_OFF * limits.speed || !body.on_ground();
    let faster = approach(moving, speed, WING_THRUST * dt);
    let bank = match flies {
        true => (circle + 2.0 * wrap(heading - body.yaw)).clamp(-BANK, BANK),
        false => 0.0,
    };
    let roll = approach(body.roll, bank, BANK_RATE * dt);
    let yaw = match flies {
        true => body.yaw + GRAVITY * roll.tan() / faster.max(1.0) * dt,
        // It rolls along the runway that it stands on.
        false => body.yaw,
    };
    let sink = match flies {
        true => (0.5 * or_zero(down - here.z())).clamp(-WING_CLIMB, WING_CLIMB),
        false => 0.0,
    };
    let sink = approach(body.velocity.z(), sink, WING_THRUST * dt);
    let velocity = Vector::new(faster * yaw.cos(), faster * yaw.sin(), sink);
    body.move_by((velocity - body.velocity) * (1.0 / dt), dt);
    body.turn_to(roll, -(sink.atan2(faster.max(1.0))), yaw, dt);
}

/// The heading that leads onto a circle around a place, clockwise as seen from above, and how much of the circle's own bank it
/// takes.
fn around([north, east]: [f64; 2], here: &Vector<Ned>, radius: f64) -> (f64, f64) {
    let (dn, de) = (here.x() - or_zero(north), here.y() - or_zero(east));
    let distance = dn.hypot(de);
    let angle = de.atan2(dn);
    let off = (distance - radius) / radius.max(1.0);
    let inwards = (2.0 * off).atan();
    (wrap(angle + FRAC_PI_2 + inwards), inwards.cos())
}
