//! Motion of a vehicle between two steps of its controllers: a function of time. The IMU measures the derivatives of this
//! function, so that pose and IMU agree.
//! A multirotor is a point mass on which gravity, drag and a thrust along the upward body axis act; rates and thrust follow
//! their setpoints with a lag.
use crate::emulator::world::{GRAVITY, Kinematics, Pose, Quat, Vec3};
use std::collections::VecDeque;

/// Maximum thrust in m/s²: hovering needs half of it (MPC_THR_HOVER).
pub const MAX_THRUST: f64 = 2.0 * GRAVITY;
/// Drag in m/s² per m/s, that of PX4's built-in simulator (SIH_KDV over SIH_MASS).
const DRAG: f64 = 1.0;
/// Lag of the body rates in s: motors tilt a multirotor quickly, and yaw it slowly.
const RATE_LAG: Vec3 = Vec3::new(0.04, 0.04, 0.38);
/// Lag of the thrust in s, that of PX4's built-in simulator (SIH_T_TAU).
const THRUST_LAG: f64 = 0.05;

/// Controller output until the next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ControlOutput {
    /// For a multirotor.
    Rotors {
        /// Share of the maximum thrust, 0 to 1.
        thrust: f64,
        /// Body rates in rad/s.
        rate: Vec3,
    },
    /// For a fixed wing, which flies in the direction of its nose.
    Wing {
        /// Body rates in rad/s.
        rate: Vec3,
        /// Change of the speed over ground in m/s².
        push: f64,
        /// Change of the climb rate in m/s².
        lift: f64,
    },
}

impl ControlOutput {
    /// Body rates in rad/s.
    pub fn rate(&self) -> Vec3 {
        match *self {
            Self::Rotors { rate, .. } | Self::Wing { rate, .. } => rate,
        }
    }

    /// Share of the maximum thrust; a nominal value for a fixed wing.
    pub fn thrust(&self) -> f64 {
        match *self {
            Self::Rotors { thrust, .. } => thrust,
            Self::Wing { .. } => 0.6,
        }
    }
}

/// State of a vehicle at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidState {
    /// Position in m, NED.
    pub position: Vec3,
    /// Velocity in m/s, NED.
    pub velocity: Vec3,
    /// From body FRD to NED.
    pub attitude: Quat,
    /// Body rates in rad/s.
    pub rate: Vec3,
    /// Share of the maximum thrust, 0 to 1.
    pub thrust: f64,
    /// Whether the vehicle stands on the ground.
    pub is_grounded: bool,
    /// NED z (down) in m of the vehicle's centre when it rests on the ground.
    pub ground: f64,
    /// Wind in m/s, NED.
    pub wind: Vec3,
}

impl RigidState {
    /// Yaw in rad.
    pub fn yaw(&self) -> f64 {
        self.attitude.euler_angles().2
    }

    /// Returns the state `dt` s later; `dt` is at most a few steps of the controllers.
    #[must_use]
    pub fn after(&self, drive: &ControlOutput, dt: f64) -> Self {
        if self.is_resting(drive) {
            let thrust = self.thrust_after(drive, dt);
            return Self { thrust, ..self.at_rest() };
        }
        let mut end = self.turned(drive, dt);
        match drive {
            ControlOutput::Rotors { .. } => self.integrate(drive, dt, &mut end),
            ControlOutput::Wing { .. } => {
                let middle = self.turned(drive, dt / 2.0);
                let sum = self.velocity + middle.velocity * 4.0 + end.velocity;
                end.position += sum * (dt / 6.0);
                end.is_grounded = end.position.z >= self.ground;
            }
        }
        if end.position.z > self.ground {
            end.position.z = self.ground;
            end.is_grounded = true;
            match drive {
                ControlOutput::Rotors { .. } => end.velocity = Vec3::zeros(),
                ControlOutput::Wing { .. } => end.velocity.z = end.velocity.z.min(0.0),
            }
        }
        end
    }

    /// Whether the vehicle stands and does not lift off.
    fn is_resting(&self, drive: &ControlOutput) -> bool {
        let up = (self.attitude * Vec3::z()).z * self.thrust * MAX_THRUST;
        matches!(drive, ControlOutput::Rotors { .. })
            && self.position.z >= self.ground
            && up < GRAVITY
    }

    /// Returns the state on the ground, without speed and tilt.
    fn at_rest(&self) -> Self {
        let mut position = self.position;
        position.z = self.ground;
        Self {
            position,
            velocity: Vec3::zeros(),
            attitude: Quat::from_euler_angles(0.0, 0.0, self.yaw()),
            rate: Vec3::zeros(),
            is_grounded: true,
            ..*self
        }
    }

    fn thrust_after(&self, drive: &ControlOutput, dt: f64) -> f64 {
        let setpoint = drive.thrust();
        setpoint + (self.thrust - setpoint) * (-dt / THRUST_LAG).exp()
    }

    /// Returns the state with attitude, rates and thrust after `dt`; of a fixed wing also the velocity, along its new heading.
    fn turned(&self, drive: &ControlOutput, dt: f64) -> Self {
        let setpoint = drive.rate();
        let lag = match drive {
            ControlOutput::Rotors { .. } => RATE_LAG,
            ControlOutput::Wing { .. } => Vec3::repeat(RATE_LAG.x),
        };
        let decay = lag.map(|lag| (-dt / lag).exp());
        let error = self.rate - setpoint;
        let decay_integral = lag.component_mul(&decay.map(|decay| 1.0 - decay));
        let rate = setpoint + error.component_mul(&decay);
        // Rotations about a moving axis do not simply add: the second term of the Magnus expansion.
        let coning = self.rate.cross(&rate) * (dt * dt / 12.0);
        let rotation = setpoint * dt + error.component_mul(&decay_integral) + coning;
        let attitude = self.attitude * Quat::from_scaled_axis(rotation);
        let mut end = Self {
            attitude: Quat::new_normalize(attitude.into_inner()),
            rate,
            thrust: self.thrust_after(drive, dt),
            is_grounded: false,
            ..*self
        };
        if let ControlOutput::Wing { push, lift, .. } = *drive {
            let speed = (self.velocity.xy().norm() + push * dt).max(0.0);
            let (s, c) = end.yaw().sin_cos();
            end.velocity = Vec3::new(speed * c, speed * s, self.velocity.z - lift * dt);
        }
        end
    }

    /// Integrates a multirotor under thrust, gravity and drag to `end`, whose attitude is known (Runge-Kutta, 4th order).
    fn integrate(&self, drive: &ControlOutput, dt: f64, end: &mut Self) {
        let middle = self.turned(drive, dt / 2.0);
        let (v0, a) = (self.velocity, |at: &Self, v: Vec3| at.drag_free() - (v - self.wind) * DRAG);
        let a1 = a(self, v0);
        let a2 = a(&middle, v0 + a1 * (dt / 2.0));
        let a3 = a(&middle, v0 + a2 * (dt / 2.0));
        let a4 = a(end, v0 + a3 * dt);
        end.position = self.position + v0 * dt + (a1 + a2 + a3) * (dt * dt / 6.0);
        end.velocity = v0 + (a1 + a2 * 2.0 + a3 * 2.0 + a4) * (dt / 6.0);
    }

    /// Acceleration in m/s² without drag.
    fn drag_free(&self) -> Vec3 {
        self.attitude * Vec3::new(0.0, 0.0, -self.thrust * MAX_THRUST)
            + Vec3::new(0.0, 0.0, GRAVITY)
    }

    /// Acceleration in m/s², NED.
    fn acceleration(&self, drive: &ControlOutput) -> Vec3 {
        match *drive {
            ControlOutput::Rotors { .. } if self.is_resting(drive) => Vec3::zeros(),
            ControlOutput::Rotors { .. } => self.drag_free() - (self.velocity - self.wind) * DRAG,
            ControlOutput::Wing { push, lift, .. } => {
                let (roll, pitch, yaw) = self.attitude.euler_angles();
                let turn = (self.rate.y * roll.sin() + self.rate.z * roll.cos()) / pitch.cos();
                let (s, c) = yaw.sin_cos();
                let sideways = self.velocity.xy().norm() * turn;
                Vec3::new(push * c - sideways * s, push * s + sideways * c, -lift)
            }
        }
    }

    /// Position, attitude and the measurements of inertial sensors at this instant.
    pub fn kinematics(&self, drive: &ControlOutput) -> Kinematics {
        let acceleration = self.acceleration(drive);
        let force = acceleration - Vec3::new(0.0, 0.0, GRAVITY);
        Kinematics {
            pose: Pose { position: self.position, attitude: self.attitude },
            velocity: self.velocity,
            acceleration,
            rate: self.rate,
            specific_force: self.attitude.inverse() * force,
        }
    }
}

/// Motion of a vehicle from one step of its controllers on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionSegment {
    /// Simulation time in s of its start.
    pub time: f64,
    /// The vehicle at that time.
    pub state: RigidState,
    /// Controller output from then on.
    pub drive: ControlOutput,
}

impl MotionSegment {
    /// State at simulation time `time` in s, not before the segment's start.
    fn at(&self, time: f64) -> RigidState {
        self.state.after(&self.drive, time - self.time)
    }
}

/// Recent motion of a vehicle; readers with different delays sample the same history.
#[derive(Clone, Debug, Default)]
pub struct RecentMotion {
    segments: VecDeque<MotionSegment>,
}

impl RecentMotion {
    /// Maximum delay of a reader in steps.
    const MAX_SEGMENTS: usize = 256;

    /// Appends a segment.
    pub fn push(&mut self, segment: MotionSegment) {
        if self.segments.len() == Self::MAX_SEGMENTS {
            self.segments.pop_front();
        }
        self.segments.push_back(segment);
    }

    fn find(&self, time: f64) -> Option<&MotionSegment> {
        // The times of ticks and steps are computed differently, so they differ by rounding.
        let begun = self.segments.partition_point(|s| s.time <= time + 1e-9);
        self.segments.get(begun.checked_sub(1)?)
    }

    /// Motion at simulation time `time` in s; `None` before the first stored step.
    pub fn at(&self, time: f64) -> Option<Kinematics> {
        let segment = self.find(time)?;
        Some(segment.at(time).kinematics(&segment.drive))
    }

    /// Share of the maximum thrust at simulation time `time` in s.
    pub fn thrust(&self, time: f64) -> Option<f64> {
        Some(self.find(time)?.at(time).thrust)
    }
}
