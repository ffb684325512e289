//! Controllers: PX4's for a multirotor (P on position, PID on velocity, P on attitude, limits),
//! and simplified ones for a fixed wing.
use super::parameters::px4_parameters;
use super::rigid::{ControlOutput, MAX_THRUST, RigidState};
use crate::emulator::world::{GRAVITY, Kinematics, Quat, Vec3};
use nalgebra::{Matrix3, Rotation3};

/// Minimum thrust of PX4's position controller, as share of the maximum (MPC_THR_MIN).
const MIN_THRUST: f64 = 0.12;

px4_parameters! {
    /// Limits and gains of the controllers.
    pub Gains {
        xy_p: f64 = number("MPC_XY_P"), " in 1/s";
        z_p: f64 = number("MPC_Z_P"), " in 1/s";
        xy_vel_p: f64 = number("MPC_XY_VEL_P_ACC"), " in 1/s";
        xy_vel_i: f64 = number("MPC_XY_VEL_I_ACC"), " in 1/s²";
        z_vel_p: f64 = number("MPC_Z_VEL_P_ACC"), " in 1/s";
        z_vel_i: f64 = number("MPC_Z_VEL_I_ACC"), " in 1/s²";
        xy_vel_max: f64 = number("MPC_XY_VEL_MAX"), " in m/s";
        up_max: f64 = number("MPC_Z_VEL_MAX_UP"), " in m/s";
        down_max: f64 = number("MPC_Z_VEL_MAX_DN"), " in m/s";
        tilt_max: f64 = radians("MPC_TILTMAX_AIR"), " in rad";
        tilt_p: f64 = number("MC_ROLL_P"), " and MC_PITCH_P in 1/s";
        yaw_p: f64 = number("MC_YAW_P"), " in 1/s";
        tilt_rate_max: f64 = radians("MC_ROLLRATE_MAX"), " and MC_PITCHRATE_MAX in rad/s";
        yaw_rate_max: f64 = radians("MC_YAWRATE_MAX"), " in rad/s";
    }
}

/// Setpoint of the position controller; NaN leaves a component free, as in PX4's trajectory setpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrajectorySetpoint {
    /// Position in m, NED.
    pub position: Vec3,
    /// Velocity in m/s, NED.
    pub velocity: Vec3,
    /// Acceleration in m/s², NED.
    pub acceleration: Vec3,
    /// Yaw in rad.
    pub yaw: f64,
    /// Yaw rate in rad/s.
    pub yaw_rate: f64,
}

const NAN: Vec3 = Vec3::new(f64::NAN, f64::NAN, f64::NAN);
/// A setpoint that leaves every component free.
#[rustfmt::skip]
pub(super) const FREE: TrajectorySetpoint = TrajectorySetpoint {
    position: NAN, velocity: NAN, acceleration: NAN, yaw: f64::NAN, yaw_rate: f64::NAN,
};

impl TrajectorySetpoint {
    /// This setpoint, or a stop if PX4's position controller rejects it: each axis needs a value, x and y in pairs.
    pub fn or_stop(self) -> Self {
        let vectors = [self.position, self.velocity, self.acceleration];
        let is_complete = (0..3).all(|axis| vectors.iter().any(|v| v[axis].is_finite()));
        let are_paired = vectors.iter().all(|v| v.x.is_finite() == v.y.is_finite());
        if is_complete && are_paired {
            return self;
        }
        Self { velocity: Vec3::zeros(), ..FREE }
    }
}

/// Setpoint of the vehicle for one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ControlTarget {
    /// Motors stopped or idling.
    Idle,
    /// Follow a trajectory, climbing no faster than the second value in m/s (negative: PX4's take-off ramp).
    Track(TrajectorySetpoint, f64),
    /// Hold an attitude with a thrust, 0 to 1, turning at a yaw rate in rad/s.
    Attitude(Quat, f64, f64),
    /// Turn at body rates in rad/s with a thrust, 0 to 1.
    Rates(Vec3, f64),
    /// Fly as a fixed wing.
    Wing(Wing),
}

/// Setpoint of a fixed wing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wing {
    /// Speed over ground in m/s: wind has no effect on a fixed wing.
    pub speed: f64,
    /// Height in m, NED.
    pub height: f64,
    /// Course.
    pub course: WingCourse,
}

/// Course of a fixed wing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WingCourse {
    /// Straight, along a heading in rad.
    Heading(f64),
    /// Circle around a position in m, NED, with a radius in m, clockwise.
    Around(Vec3, f64),
}

/// A vehicle and its controllers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VehicleBody {
    /// Kinematic state.
    pub state: RigidState,
    /// Output of the controllers until their next step.
    pub drive: ControlOutput,
    /// Setpoint of the attitude controller.
    pub attitude_target: Quat,
    /// Setpoint of the velocity controller, m/s; NaN where unused.
    pub velocity_target: Vec3,
    /// Output of the velocity controller, m/s².
    pub acceleration_target: Vec3,
    integral: Vec3,
    yaw_target: f64,
}

impl VehicleBody {
    /// A vehicle with the given motion, above ground at `ground`.
    pub fn new(motion: &Kinematics, ground: f64) -> Self {
        let attitude = motion.pose.attitude;
        let position = motion.pose.position;
        let is_grounded = position.z >= ground - 0.05;
        let thrust_share = motion.specific_force.norm() / MAX_THRUST;
        let thrust = if is_grounded { 0.0 } else { thrust_share.min(1.0) };
        let state = RigidState {
            position,
            velocity: motion.velocity,
            attitude,
            rate: motion.rate,
            thrust,
            is_grounded,
            ground,
            wind: Vec3::zeros(),
        };
        Self {
            state,
            drive: ControlOutput::Rotors { thrust, rate: motion.rate },
            attitude_target: attitude,
            velocity_target: Vec3::repeat(f64::NAN),
            acceleration_target: Vec3::zeros(),
            integral: Vec3::zeros(),
            yaw_target: state.yaw(),
        }
    }

    /// Height above the ground in m.
    pub fn height(&self) -> f64 {
        self.state.ground - self.state.position.z
    }

    /// Returns position, attitude and the measurements of inertial sensors.
    pub fn kinematics(&self) -> Kinematics {
        self.state.kinematics(&self.drive)
    }

    /// Advances by `dt` seconds with the last output of the controllers.
    pub fn advance(&mut self, dt: f64) {
        self.state = self.state.after(&self.drive, dt);
    }

    /// Runs the controllers; `dt` is the time in s since their last run.
    pub fn control(&mut self, target: &ControlTarget, gains: &Gains, dt: f64) {
        self.drive = match *target {
            ControlTarget::Idle => {
                self.reset_controllers();
                ControlOutput::Rotors { thrust: 0.0, rate: Vec3::zeros() }
            }
            ControlTarget::Track(trajectory, climb) => self.track(&trajectory, climb, gains, dt),
            ControlTarget::Attitude(attitude, thrust, yaw_rate) => {
                self.attitude_target = attitude;
                self.yaw_target = attitude.euler_angles().2;
                self.reset_velocity_control();
                ControlOutput::Rotors {
                    thrust: thrust.clamp(0.0, 1.0),
                    rate: self.aim(yaw_rate, gains),
                }
            }
            ControlTarget::Rates(rate, thrust) => {
                self.attitude_target = self.state.attitude;
                self.yaw_target = self.state.yaw();
                self.reset_velocity_control();
                ControlOutput::Rotors { thrust: thrust.clamp(0.0, 1.0), rate: limited(rate, gains) }
            }
            ControlTarget::Wing(wing) => self.fly_wing(&wing),
        };
    }

    /// Flies as a fixed wing: rolls on the ground until it is fast enough, banks into turns, climbs within its limits.
    fn fly_wing(&mut self, wing: &Wing) -> ControlOutput {
        const BANK: f64 = std::f64::consts::FRAC_PI_4;
        const LIFT_OFF: f64 = 6.0;
        const CLIMB: f64 = 3.0;
        let RigidState { position, velocity, attitude, is_grounded, .. } = self.state;
        let speed = velocity.xy().norm();
        let course = match wing.course {
            WingCourse::Heading(heading) => heading,
            WingCourse::Around(centre, radius) => {
                let offset = position - centre;
                let (distance, radius) = (offset.xy().norm(), radius.max(1.0));
                let inwards = (2.0 * (distance - radius) / radius).atan();
                offset.y.atan2(offset.x) + std::f64::consts::FRAC_PI_2 + inwards
            }
        };
        let (roll, pitch, yaw) = attitude.euler_angles();
        let error = (course - yaw + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU)
            - std::f64::consts::PI;
        let turn = match wing.course {
            WingCourse::Around(centre, radius) => {
                let away = (position - centre).xy().norm();
                let is_near = away < 2.0 * radius.max(1.0);
                1.5 * error + if is_near { speed / radius.max(1.0) } else { 0.0 }
            }
            WingCourse::Heading(_) => 1.5 * error,
        };
        let is_flying = speed > LIFT_OFF || !is_grounded;
        let bank = (turn * speed / GRAVITY).atan().clamp(-BANK, BANK);
        let bank = if is_flying { bank } else { 0.0 };
        let climb = (0.6 * (position.z - wing.height)).clamp(-CLIMB, CLIMB);
        let climb = if is_flying { climb } else { 0.0 };
        // Rates of roll, pitch and yaw; the turn rate follows from the bank.
        let roll_rate = (4.0 * (bank - roll)).clamp(-1.5, 1.5);
        let pitch_rate = 3.0 * ((-velocity.z).atan2(speed.max(3.0)) - pitch);
        let turn_rate = GRAVITY * roll.tan() / speed.max(3.0);
        let rate = Vec3::new(
            roll_rate - turn_rate * pitch.sin(),
            pitch_rate * roll.cos() + turn_rate * pitch.cos() * roll.sin(),
            turn_rate * pitch.cos() * roll.cos() - pitch_rate * roll.sin(),
        );
        self.attitude_target = attitude;
        self.velocity_target = velocity;
        ControlOutput::Wing {
            rate,
            push: (2.0 * (wing.speed - speed)).clamp(-3.0, 3.0),
            lift: (4.0 * (climb + velocity.z)).clamp(-2.0, 2.0),
        }
    }

    /// Resets the controllers, as PX4 does on the ground.
    fn reset_controllers(&mut self) {
        self.reset_velocity_control();
        self.yaw_target = self.state.yaw();
        self.attitude_target = Quat::from_euler_angles(0.0, 0.0, self.yaw_target);
    }

    fn reset_velocity_control(&mut self) {
        self.integral = Vec3::zeros();
        self.velocity_target = Vec3::repeat(f64::NAN);
    }

    fn track(
        &mut self,
        goal: &TrajectorySetpoint,
        climb: f64,
        gains: &Gains,
        dt: f64,
    ) -> ControlOutput {
        let mut velocity = Vec3::repeat(f64::NAN);
        for i in 0..3 {
            let p = if i == 2 { gains.z_p } else { gains.xy_p };
            let by_position = p * (goal.position[i] - self.state.position[i]);
            velocity[i] = match (by_position.is_finite(), goal.velocity[i].is_finite()) {
                (true, true) => by_position + goal.velocity[i],
                (true, false) => by_position,
                (false, true) => goal.velocity[i],
                (false, false) => f64::NAN,
            };
        }
        let speed = velocity.x.hypot(velocity.y);
        if speed > gains.xy_vel_max {
            velocity.x *= gains.xy_vel_max / speed;
            velocity.y *= gains.xy_vel_max / speed;
        }
        let up = climb.min(gains.up_max);
        if velocity.z.is_finite() {
            velocity.z = velocity.z.clamp((-up).min(gains.down_max), gains.down_max.max(-up));
        }
        self.velocity_target = velocity;
        let mut acceleration = Vec3::zeros();
        let (mut errors, mut limits) = (Vec3::zeros(), Vec3::zeros());
        for i in 0..3 {
            let (p, integral_gain) = if i == 2 {
                (gains.z_vel_p, gains.z_vel_i)
            } else {
                (gains.xy_vel_p, gains.xy_vel_i)
            };
            let error = velocity[i] - self.state.velocity[i];
            let feedforward = Some(goal.acceleration[i]).filter(|a| a.is_finite());
            acceleration[i] = feedforward.unwrap_or(0.0);
            if error.is_finite() {
                acceleration[i] += p * error + self.integral[i];
                let limit = if i == 2 { GRAVITY } else { GRAVITY / 2.0 };
                errors[i] = integral_gain * error;
                limits[i] = limit;
            }
        }
        self.acceleration_target = acceleration;
        self.yaw_target = match (goal.yaw.is_finite(), goal.yaw_rate.is_finite()) {
            (true, _) => goal.yaw,
            // PX4 uses the rate alone: a lag of the angle is never corrected.
            (false, true) => self.state.yaw(),
            (false, false) => self.yaw_target,
        };
        let yaw_rate = Some(goal.yaw_rate).filter(|r| r.is_finite());
        let (attained, thrust) = self.point(acceleration, gains);
        let missing = acceleration - attained;
        if !self.state.is_grounded {
            // Unattainable thrust must not wind up the integrators: PX4's tracking anti-windup.
            for i in 0..2 {
                let error = errors[i] - gains.xy_vel_i * 2.0 / gains.xy_vel_p * missing[i];
                self.integral[i] = (self.integral[i] + error * dt).clamp(-limits[i], limits[i]);
            }
        }
        // The vertical integrator also runs on the ground: it delays the take-off, and presses the vehicle down after landing.
        if missing.z.abs() < 1e-9 {
            self.integral.z = (self.integral.z + errors.z * dt).clamp(-limits.z, limits.z);
        }
        ControlOutput::Rotors { thrust, rate: self.aim(yaw_rate.unwrap_or(0.0), gains) }
    }

    /// Chooses attitude and thrust for an acceleration; returns the resulting acceleration and the thrust.
    fn point(&mut self, acceleration: Vec3, gains: &Gains) -> (Vec3, f64) {
        let vertical = (GRAVITY - acceleration.z).clamp(MIN_THRUST * MAX_THRUST, MAX_THRUST);
        let horizontal = acceleration.x.hypot(acceleration.y);
        let max_horizontal = (gains.tilt_max.tan() * vertical)
            .min((MAX_THRUST * MAX_THRUST - vertical * vertical).max(0.0).sqrt())
            .max(0.0);
        let scale = if horizontal > max_horizontal { max_horizontal / horizontal } else { 1.0 };
        let force = Vec3::new(acceleration.x * scale, acceleration.y * scale, -vertical);
        let down = -force.normalize();
        let (s, c) = self.yaw_target.sin_cos();
        let forward = Vec3::new(-s, c, 0.0).cross(&down).normalize();
        let right = down.cross(&forward);
        let axes = Matrix3::from_columns(&[forward, right, down]);
        self.attitude_target = Quat::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
        let along = (self.state.attitude * Vec3::z()).dot(&down).max(0.7);
        let thrust = (force.norm() / MAX_THRUST / along).clamp(0.0, 1.0);
        (force + Vec3::new(0.0, 0.0, GRAVITY), thrust)
    }

    /// Controls the attitude; returns body rates in rad/s.
    fn aim(&self, yaw_rate: f64, gains: &Gains) -> Vec3 {
        let to_body = self.state.attitude.inverse();
        let error = (to_body * self.attitude_target).scaled_axis();
        let turn = to_body * Vec3::new(0.0, 0.0, yaw_rate);
        let rate = Vec3::new(gains.tilt_p * error.x, gains.tilt_p * error.y, gains.yaw_p * error.z);
        limited(rate + turn, gains)
    }
}

fn limited(rate: Vec3, gains: &Gains) -> Vec3 {
    let (tilt, yaw) = (gains.tilt_rate_max, gains.yaw_rate_max);
    Vec3::new(rate.x.clamp(-tilt, tilt), rate.y.clamp(-tilt, tilt), rate.z.clamp(-yaw, yaw))
}
