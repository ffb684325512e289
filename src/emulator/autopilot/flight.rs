//! PX4's flight tasks: the controllers' targets in each mode.
use super::carrot::{Carrot, Speeds};
use super::dynamics::{ControlTarget, FREE, TrajectorySetpoint, VehicleBody};
use super::modes::{Landed, Modes};
use super::queues::{CRITICAL, INFO, Texts};
use super::{mission::Mission, mode::Mode, orbit::Orbit};
use crate::emulator::world::{Quat, Vec3};

/// Time in s that motors need to spin up (COM_SPOOLUP_TIME).
const SPOOL_UP: f64 = 1.0;
/// Time in s that a precision landing looks for its beacon, which is not emulated (PLD_SRCH_TOUT).
const SEARCH: f64 = 10.0;
/// Duration of the take-off ramp in s (MPC_TKO_RAMP_T).
const RAMP: f64 = 3.0;
/// Climb rate in m/s at the start of the ramp; this one makes the thrust zero.
const RAMP_START: f64 = -2.45;
/// Time on the ramp in s after which the land detector reports a take-off.
const LIFT: f64 = 1.0;

/// Sticks of MANUAL_CONTROL, each -1 to 1; thrust 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sticks {
    /// Forward.
    pub(super) pitch: f64,
    /// To the right.
    pub(super) roll: f64,
    /// Clockwise.
    pub(super) yaw: f64,
    /// Up, 0 to 1.
    pub(super) thrust: f64,
}

pub(super) struct TaskInputs<'a> {
    pub(super) modes: &'a mut Modes,
    pub(super) mission: &'a mut Mission,
    /// The last valid setpoint.
    pub(super) setpoint: Option<ControlTarget>,
    pub(super) sticks: Option<Sticks>,
    /// Home in m, NED from the map centre.
    pub(super) home: Vec3,
    pub(super) speeds: Speeds,
    pub(super) now: f64,
    /// Length of the step in s.
    pub(super) dt: f64,
    pub(super) texts: &'a mut Texts,
    /// MIS_TAKEOFF_ALT in m.
    pub(super) takeoff_height: f64,
    /// Altitude in m above sea level of height 0 of the map.
    pub(super) datum: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Reposition {
    /// In m, NED from the map centre.
    pub(super) goal: Vec3,
    /// In rad; NaN: the vehicle faces the goal.
    pub(super) yaw: f64,
    /// In m/s, instead of MPC_XY_CRUISE.
    pub(super) speed: Option<f64>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct FlightTask {
    mode: Mode,
    started: f64,
    start: Vec3,
    yaw: f64,
    carrot: Carrot,
    ramp_since: Option<f64>,
    /// Goal of a take-off in m, NED from the map centre, if set by a command; NaN: the vehicle stays on the ground.
    pub(super) takeoff: Option<Vec3>,
    /// Goal of a hover, if set by a command.
    pub(super) reposition: Option<Reposition>,
    /// Circle to fly, if set by a command.
    pub(super) orbit: Option<Orbit>,
    /// Speed in m/s of DO_CHANGE_SPEED, until the mode changes.
    pub(super) cruise: Option<f64>,
    /// Goal of an autonomous task.
    pub(super) destination: Option<Vec3>,
    /// Current trajectory, for POSITION_TARGET_LOCAL_NED.
    pub(super) goal: Option<TrajectorySetpoint>,
    pub(super) is_landing: bool,
    pub(super) is_taking_off: bool,
    stage: u8,
}

impl FlightTask {
    /// Restarts the task from the vehicle's present state.
    pub(super) fn restart(&mut self, body: &VehicleBody, now: f64) {
        self.started = now;
        self.start = body.state.position;
        self.yaw = body.state.yaw();
        self.carrot = Carrot { position: body.state.position, velocity: body.state.velocity };
        self.stage = 0;
        self.cruise = None;
        self.destination = None;
    }

    /// Whether the vehicle is in the air, or the ramp has reached the land detector's threshold.
    pub(super) fn is_lifted(&self, body: &VehicleBody, now: f64) -> bool {
        !body.state.is_grounded || self.ramp_since.is_some_and(|since| now - since >= LIFT)
    }

    pub(super) fn target(
        &mut self,
        body: &VehicleBody,
        inputs: &mut TaskInputs<'_>,
    ) -> ControlTarget {
        if !inputs.modes.is_armed {
            self.ramp_since = None;
            self.goal = None;
            self.is_landing = false;
            self.mode = Mode::Descend; // so that arming restarts the task
            return ControlTarget::Idle;
        }
        if self.mode != inputs.modes.active {
            self.mode = inputs.modes.active;
            self.restart(body, inputs.now);
        }
        self.is_landing = match self.mode {
            Mode::PrecisionLand => inputs.now - self.started >= SEARCH,
            mode => mode == Mode::Land,
        };
        self.is_taking_off = false;
        inputs.speeds.set_cruise(self.cruise);
        let target = self.task_target(body, inputs);
        self.goal = if let ControlTarget::Track(goal, _) = target { Some(goal) } else { None };
        self.leave_ground(target, body, inputs)
    }

    /// Keeps a vehicle on the ground until its motors have spun up and the task climbs, then runs the ramp.
    fn leave_ground(
        &mut self,
        target: ControlTarget,
        body: &VehicleBody,
        inputs: &TaskInputs<'_>,
    ) -> ControlTarget {
        if inputs.now - inputs.modes.armed_at < SPOOL_UP {
            self.goal = None;
            self.ramp_since = None;
            return if body.state.is_grounded { ControlTarget::Idle } else { target };
        }
        let ControlTarget::Track(goal, climb) = target else {
            // Attitude and rate setpoints have no ramp; their thrust applies directly.
            let thrust = match target {
                ControlTarget::Attitude(_, thrust, _) | ControlTarget::Rates(_, thrust) => thrust,
                _ => 0.0,
            };
            self.ramp_since = (thrust > 0.5).then(|| self.ramp_since.unwrap_or(inputs.now));
            return target;
        };
        if inputs.modes.landed == Landed::Ground && body.state.is_grounded {
            let is_climbing = goal.position.z < body.state.position.z - 0.01
                || goal.velocity.z < 0.0
                || goal.acceleration.z < 0.0;
            if !is_climbing || inputs.modes.has_flown {
                self.ramp_since = None;
                return ControlTarget::Idle;
            }
        }
        let start = if body.state.is_grounded { inputs.now } else { inputs.now - RAMP };
        let progress = (inputs.now - *self.ramp_since.get_or_insert(start)) / RAMP;
        let limit =
            if progress < 1.0 { RAMP_START + progress * (climb - RAMP_START) } else { climb };
        ControlTarget::Track(goal, limit)
    }

    fn task_target(&mut self, body: &VehicleBody, inputs: &mut TaskInputs<'_>) -> ControlTarget {
        match self.mode {
            Mode::Offboard => match inputs.setpoint {
                Some(ControlTarget::Track(goal, _)) => {
                    ControlTarget::Track(goal, inputs.speeds.up_max)
                }
                Some(target) => target,
                None => self.hover(body, inputs),
            },
            Mode::Takeoff | Mode::VtolTakeoff => self.take_off(body, inputs),
            Mode::Termination => ControlTarget::Idle,
            Mode::PrecisionLand if !self.is_landing => self.hover(body, inputs),
            Mode::Land | Mode::PrecisionLand => self.land(body, inputs),
            Mode::Descend => self.sink(inputs.speeds.land),
            Mode::Return => self.go_home(body, inputs),
            Mode::Mission => self.fly_mission(body, inputs),
            Mode::Orbit => self.circle(body, inputs),
            Mode::Loiter | Mode::Follow | Mode::External(_) => self.hover(body, inputs),
            Mode::Position | Mode::PositionSlow | Mode::Altitude => {
                self.fly_by_sticks(body, inputs)
            }
            Mode::Manual | Mode::Stabilized => {
                // Sticks released: level, with hover thrust.
                let released = Sticks { thrust: 0.5, ..Sticks::default() };
                let sticks = inputs.sticks.unwrap_or(released);
                let tilt = 35f64.to_radians();
                self.yaw += sticks.yaw * 2.6 * inputs.dt;
                let (roll, pitch) = (sticks.roll * tilt, -sticks.pitch * tilt);
                let attitude = Quat::from_euler_angles(roll, pitch, self.yaw);
                ControlTarget::Attitude(attitude, sticks.thrust, 0.0)
            }
            Mode::Acro => {
                let sticks = inputs.sticks.unwrap_or_default();
                let rate = Vec3::new(sticks.roll, -sticks.pitch, sticks.yaw) * 1.7;
                ControlTarget::Rates(rate, sticks.thrust)
            }
        }
    }

    /// Moves the point that the vehicle follows; `up` is the climb rate in m/s.
    fn approach(&mut self, goal: Vec3, body: &VehicleBody, speeds: &Speeds, up: f64, dt: f64) {
        self.destination = Some(goal);
        self.carrot.approach(&goal, &body.state.position, speeds, up, dt);
    }

    /// Turns to a yaw in rad; NaN: to the goal, until it is near (MPC_YAW_MODE 0).
    fn look(&mut self, yaw: f64, goal: &Vec3, body: &VehicleBody, speeds: &Speeds) {
        let way = goal - body.state.position;
        if yaw.is_finite() {
            self.yaw = yaw;
        } else if way.xy().norm() > speeds.acceptance {
            self.yaw = way.y.atan2(way.x);
        }
    }

    fn follow(&self, climb: f64) -> ControlTarget {
        let goal = TrajectorySetpoint {
            position: self.carrot.position,
            velocity: self.carrot.velocity,
            yaw: self.yaw,
            ..FREE
        };
        ControlTarget::Track(goal, climb)
    }

    fn sink(&self, speed: f64) -> ControlTarget {
        let goal = TrajectorySetpoint {
            position: Vec3::new(self.start.x, self.start.y, f64::NAN),
            velocity: Vec3::new(f64::NAN, f64::NAN, speed),
            yaw: self.yaw,
            ..FREE
        };
        ControlTarget::Track(goal, 0.0)
    }

    fn hover(&mut self, body: &VehicleBody, inputs: &TaskInputs<'_>) -> ControlTarget {
        if inputs.modes.landed == Landed::Ground
            && body.state.is_grounded
            && self.reposition.is_none()
        {
            return ControlTarget::Idle;
        }
        if self.stage == 0 {
            self.stage = 1;
            self.start = inputs.speeds.stopping_point(self.carrot.position, self.carrot.velocity);
        }
        let mut speeds = inputs.speeds;
        let goal = match self.reposition {
            Some(Reposition { goal, yaw, speed }) => {
                self.look(yaw, &goal, body, &speeds);
                speeds.set_cruise(speed);
                goal
            }
            None => self.start,
        };
        self.approach(goal, body, &speeds, speeds.up, inputs.dt);
        self.follow(inputs.speeds.up_max)
    }

    fn circle(&mut self, body: &VehicleBody, inputs: &TaskInputs<'_>) -> ControlTarget {
        let Some(orbit) = self.orbit else { return self.hover(body, inputs) };
        let position = &body.state.position;
        let yaw = orbit.yaw(position);
        self.yaw = if yaw.is_finite() { yaw } else { self.yaw };
        if let Some(entry) = orbit.entry(position) {
            self.approach(entry, body, &inputs.speeds, inputs.speeds.up, inputs.dt);
            return self.follow(inputs.speeds.up_max);
        }
        let around = TrajectorySetpoint { yaw: self.yaw, ..orbit.around(position) };
        ControlTarget::Track(around, inputs.speeds.up_max)
    }

    fn take_off(&mut self, body: &VehicleBody, inputs: &mut TaskInputs<'_>) -> ControlTarget {
        let height = inputs.takeoff_height;
        let start = self.start;
        let goal = *self.takeoff.get_or_insert_with(|| {
            inputs.texts.push(INFO, format!("Using default takeoff altitude: {height:.1} m\t"));
            start - Vec3::new(0.0, 0.0, height)
        });
        if goal.z.is_nan() {
            return ControlTarget::Idle;
        }
        self.look(f64::NAN, &goal, body, &inputs.speeds);
        if self.ramp_since.is_some_and(|since| inputs.now - since > RAMP / 2.0) {
            self.approach(goal, body, &inputs.speeds, inputs.speeds.takeoff, inputs.dt);
        } else {
            self.carrot.position.z = self.carrot.position.z.min(self.start.z - 0.05);
        }
        // Checks the vehicle, not the point it follows, because the next task hovers at the vehicle's position.
        let offset = goal - body.state.position;
        let has_arrived = offset.z.abs() < 0.2 && offset.xy().norm() < inputs.speeds.acceptance;
        if has_arrived && inputs.modes.landed != Landed::Ground && self.mode == Mode::Takeoff {
            self.start = goal;
            self.takeoff = None;
            self.stage = 1;
            inputs.modes.complete(Mode::Takeoff);
        }
        self.follow(inputs.speeds.takeoff)
    }

    fn land(&self, body: &VehicleBody, inputs: &TaskInputs<'_>) -> ControlTarget {
        let height = inputs.home.z - body.state.position.z;
        let fraction = ((height - 5.0) / 5.0).clamp(0.0, 1.0);
        self.sink(inputs.speeds.land + fraction * (inputs.speeds.down - inputs.speeds.land))
    }

    fn go_home(&mut self, body: &VehicleBody, inputs: &mut TaskInputs<'_>) -> ControlTarget {
        const NEAR: f64 = 10.0; // RTL_MIN_DIST
        let away = (inputs.home - self.start).xy().norm();
        // Near home there is no climb; farther away the cone of RTL_CONE_ANG has no effect.
        let high =
            if away < NEAR { self.start.z } else { inputs.home.z - inputs.speeds.return_altitude };
        let top = self.start.z.min(high);
        if self.stage == 0 {
            self.stage = 1;
            let text = format!(
                "RTL: start return at {:.0} m ({:.0} m above destination)\t",
                inputs.datum - top,
                inputs.home.z - top
            );
            inputs.texts.push(INFO, text);
        }
        let goal = match self.stage {
            1 => Vec3::new(self.start.x, self.start.y, top),
            2 => Vec3::new(inputs.home.x, inputs.home.y, top),
            _ => {
                self.start.x = inputs.home.x;
                self.start.y = inputs.home.y;
                self.is_landing = true;
                return self.land(body, inputs);
            }
        };
        self.approach(goal, body, &inputs.speeds, inputs.speeds.up, inputs.dt);
        // PX4 needs this time to find that there is no mission to fly.
        let has_checked = inputs.now - self.started > 1.5;
        let has_arrived = (self.carrot.position - goal).norm() < 0.3;
        if has_checked && has_arrived && (body.state.position - goal).norm() < 1.0 {
            self.stage += 1;
            if self.stage == 3 {
                inputs.texts.push(INFO, "RTL: land at destination\t");
            }
        }
        self.follow(inputs.speeds.up_max)
    }

    fn fly_mission(&mut self, body: &VehicleBody, inputs: &mut TaskInputs<'_>) -> ControlTarget {
        let Some(leg) = inputs.mission.leg(inputs.now) else {
            if std::mem::take(&mut inputs.mission.was_cleared) {
                inputs.texts.push(CRITICAL, "No valid mission available, loitering\t");
            }
            inputs.modes.complete(Mode::Mission);
            return self.hover(body, inputs);
        };
        if self.stage == 0 {
            self.stage = 1;
            inputs.mission.was_cleared = false;
            inputs.texts.push(INFO, "Executing Mission\t");
            if let Some(height) = inputs.mission.first_height().filter(|_| body.state.is_grounded) {
                inputs.texts.push(INFO, format!("Climb to {height:.1} meters above home\t"));
            }
        }
        self.is_taking_off = leg.is_takeoff;
        if leg.is_landing {
            self.start.x = leg.position.x;
            self.start.y = leg.position.y;
            let distance = (leg.position - body.state.position).xy().norm();
            if distance < 1.0 {
                inputs.mission.note_arrival(inputs.now);
                self.is_landing = true;
                return self.land(body, inputs);
            }
        }
        self.look(leg.yaw, &leg.position, body, &inputs.speeds);
        let goal = if leg.is_landing {
            Vec3::new(leg.position.x, leg.position.y, self.carrot.position.z)
        } else {
            leg.position
        };
        let up = if leg.is_takeoff { inputs.speeds.takeoff } else { inputs.speeds.up };
        let mut speeds = inputs.speeds;
        speeds.set_cruise(leg.speed);
        if inputs.modes.landed != Landed::Ground || self.ramp_since.is_some() {
            self.approach(goal, body, &speeds, up, inputs.dt);
        } else {
            self.carrot.position.z -= 0.05;
        }
        let offset = goal - body.state.position;
        if offset.xy().norm() < leg.radius && offset.z.abs() < 0.8 {
            inputs.mission.note_arrival(inputs.now);
        }
        self.follow(up)
    }

    /// Sticks command velocities; without sticks the vehicle stays level and sinks, as PX4 does after losing its
    /// setpoints.
    fn fly_by_sticks(&mut self, body: &VehicleBody, inputs: &TaskInputs<'_>) -> ControlTarget {
        let Some(sticks) = inputs.sticks else {
            let goal = TrajectorySetpoint {
                velocity: Vec3::new(f64::NAN, f64::NAN, inputs.speeds.land),
                acceleration: Vec3::new(0.0, 0.0, f64::NAN),
                yaw: self.yaw,
                ..FREE
            };
            return ControlTarget::Track(goal, 0.0);
        };
        self.start = body.state.position;
        self.yaw += sticks.yaw * 2.6 * inputs.dt;
        let heading = Quat::from_euler_angles(0.0, 0.0, self.yaw);
        let ahead = heading * Vec3::new(sticks.pitch, sticks.roll, 0.0) * 10.0;
        let lift = 2.0 * (sticks.thrust - 0.5);
        let climb =
            if lift > 0.0 { lift * inputs.speeds.up_max } else { lift * inputs.speeds.down };
        let goal = TrajectorySetpoint {
            velocity: Vec3::new(ahead.x, ahead.y, -climb),
            yaw: self.yaw,
            ..FREE
        };
        ControlTarget::Track(goal, inputs.speeds.up_max)
    }
}
