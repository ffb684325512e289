//! The state of a vehicle, and the motion that all airframes share.
use crate::frames::{Attitude, Euler, Frd, Ned, Vector};
use std::f64::consts::{PI, TAU};

/// Standard gravity in m/s².
pub(super) const GRAVITY: f64 = 9.806_65;
/// Terminal velocity of a falling body in m/s.
const TERMINAL_VELOCITY: f64 = 30.0;

/// Position, motion and attitude; NED from the origin of the map, angles in rad.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyState {
    pub(super) position: Vector<Ned>,
    pub(super) velocity: Vector<Ned>,
    /// Acceleration of the motion, without gravity.
    pub(super) acceleration: Vector<Ned>,
    pub(super) euler: Euler,
    /// FRD, in rad/s.
    pub(super) rate: Vector<Frd>,
    /// Down coordinate of the ground.
    pub(super) ground: f64,
}

impl BodyState {
    /// Creates a body at rest.
    pub(super) fn at_rest(position: Vector<Ned>, yaw: f64, ground: f64) -> Self {
        Self {
            position,
            velocity: Vector::zero(),
            acceleration: Vector::zero(),
            euler: Euler::new(0.0, 0.0, yaw),
            rate: Vector::zero(),
            ground,
        }
    }

    pub(super) fn attitude(&self) -> Attitude<Frd, Ned> {
        Attitude::from_euler(self.euler)
    }

    /// Returns the specific force, as an accelerometer measures it, FRD.
    pub(super) fn specific_force(&self) -> Vector<Frd> {
        let force = self.acceleration - Vector::new(0.0, 0.0, GRAVITY);
        self.attitude().inverse().rotate(force)
    }

    pub(super) fn is_on_ground(&self) -> bool {
        self.position.z() >= self.ground
    }

    /// Horizontal speed in m/s.
    pub(super) fn ground_speed(&self) -> f64 {
        self.velocity.x().hypot(self.velocity.y())
    }

    /// Moves with an acceleration; the ground stops the body.
    pub(super) fn accelerate(&mut self, acceleration: Vector<Ned>, dt: f64) {
        let before = self.velocity;
        self.velocity = before + acceleration * dt;
        let [north, east, down] = self.velocity.to_array();
        self.velocity = Vector::new(north, east, down.min(TERMINAL_VELOCITY));
        self.position = self.position + (before + self.velocity) * (dt / 2.0);
        let is_stopped = self.position.z() >= self.ground;
        if is_stopped {
            let [north, east, _] = self.position.to_array();
            self.position = Vector::new(north, east, self.ground);
            let [north, east, down] = self.velocity.to_array();
            self.velocity = Vector::new(north, east, down.min(0.0));
        }
        let [north, east, down] = ((self.velocity - before) * (1.0 / dt)).to_array();
        // The deceleration of an impact is not reported: a controller that uses it would bounce.
        let down = if is_stopped { 0.0 } else { down };
        self.acceleration = Vector::new(north, east, down);
    }

    /// Turns to these angles; the rate follows from the change of attitude.
    pub(super) fn turn_to(&mut self, roll: f64, pitch: f64, yaw: f64, dt: f64) {
        let before = self.attitude();
        self.euler = Euler::new(roll, pitch, wrap(yaw));
        // The rotation within one step is small: x, y, z are half its angles.
        let [w, x, y, z] = before.inverse().then(self.attitude()).wxyz();
        let sign = if w < 0.0 { -2.0 } else { 2.0 };
        self.rate = Vector::new(x, y, z) * (sign / dt);
    }
}

/// Wraps an angle to -π..π; 0 if it is not finite.
pub(super) fn wrap(angle: f64) -> f64 {
    let wrapped = (angle + PI).rem_euclid(TAU) - PI;
    if wrapped.is_finite() { wrapped } else { 0.0 }
}

/// Moves a value towards `target` by at most `step`.
pub(super) fn approach(value: f64, target: f64, step: f64) -> f64 {
    value + (target - value).clamp(-step, step)
}

/// Shortens a vector to at most `max`.
pub(super) fn limit_length(v: Vector<Ned>, max: f64) -> Vector<Ned> {
    let length = v.norm();
    if length > max { v * (max / length) } else { v }
}
