//! A vehicle with an autopilot that behaves as PX4 does, without I/O and without a clock: its inputs are the time, the
//! received datagrams and the scripted path, its output is a [`DatagramQueue`].
//!
//! Where PX4 was measured, answers and times match the measurement; docs/emulator_autopilot.md lists the
//! differences.
mod carrot;
mod commands;
mod damage;
pub mod dynamics;
mod failsafe;
pub mod fence;
mod flight;
pub mod geo;
mod inbox;
mod messages;
mod mission;
mod mission_items;
mod mode;
mod modes;
mod orbit;
mod output;
pub mod parameters;
mod queues;
pub mod rigid;
mod setpoints;
mod steer;
mod telemetry;
mod udp;
mod vehicle_setup;

pub use damage::Damage;
pub use mode::Mode;
pub use modes::Landed;
pub use queues::DatagramQueue;
pub use vehicle_setup::{ControlMode, VehicleSetup};

use crate::emulator::world::{Kinematics, Vec3};
use crate::wire::mavlink::dialect::{
    GPS_GLOBAL_ORIGIN_DATA, GpsFixType, HEARTBEAT_DATA, HOME_POSITION_DATA, MavResult,
};
use crate::wire::mavlink::{Encoder, MessageData as _, Outbound};
use carrot::Speeds;
use dynamics::{ControlTarget, Gains, VehicleBody};
use failsafe::{ChargeLevel, FailsafeParameters, FenceBreach};
use fence::FenceLimits;
use flight::{FlightTask, Sticks, TaskInputs};
use geo::Geo;
use mission::Mission;
use modes::{ModeInputs, ModeParameters, Modes, REJECTED};
use output::StreamTimer;
use parameters::Parameters;
use queues::Texts;
use rigid::MotionSegment;
use telemetry::STREAMS;

/// Length of a step in s; streams and controllers run at multiples of it.
pub const STEP: f64 = 0.005;
/// Time in s from the start until the estimator has a position.
const START_TIME: f64 = 1.0;
/// Time in s until sticks expire.
const STICKS_TIMEOUT: f64 = 0.5;

/// Height above the ground in m from which a scripted vehicle counts as flying.
const AIRBORNE: f64 = 0.5;
/// Share of the maximum thrust that hovering needs (MPC_THR_HOVER).
const HOVER: f64 = 0.5;

/// A vehicle's autopilot.
#[derive(Clone, Debug)]
pub struct Autopilot {
    setup: VehicleSetup,
    geo: Geo,
    encoder: Encoder,
    boot: f64,
    /// Simulation time in s of the last step.
    now: f64,
    /// Simulation time in s of the last step or datagram.
    clock: f64,
    motion: Kinematics,
    body: Option<VehicleBody>,
    modes: Modes,
    flight: FlightTask,
    mission: Mission,
    parameters: Parameters,
    known_version: u64,
    gains: Gains,
    speeds: Speeds,
    mode_parameters: ModeParameters,
    failsafe_parameters: FailsafeParameters,
    streams: Vec<StreamTimer>,
    texts: Texts,
    text_id: u16,
    replies: Vec<Outbound>,
    setpoint: Option<ControlTarget>,
    setpoint_at: Option<f64>,
    sticks: Option<(Sticks, f64)>,
    station_at: Option<f64>,
    vision_at: Option<f64>,
    origin: Vec3,
    home: Vec3,
    home_yaw: f64,
    is_home_set: bool,
    battery: f64,
    battery_override: Option<f64>,
    breach: Option<FenceBreach>,
    damage: Damage,
    /// Whether the vehicle follows the command of a model without an autopilot.
    is_steered: bool,
    /// Outputs of the model in the autopilot, which returns its inputs; CopterSim forwards them.
    outputs: Option<[f32; 8]>,
    sent: u32,
    received: u32,
    struct_link: udp::StructLink,
}

impl Autopilot {
    /// Starts a vehicle at simulation time `now` in s with the given motion.
    pub fn new(setup: VehicleSetup, now: f64, motion: &Kinematics) -> Self {
        let mut parameters = Parameters::default();
        setup.fence.store(&mut parameters);
        // Phases spread over the period and over the vehicles, so that a fleet does not send in bursts.
        let streams = STREAMS.iter().zip(0u32..).map(|(stream, i)| {
            let mut timer = StreamTimer { id: stream.id, period: f64::INFINITY, due: now };
            timer.period = timer.default_period(setup.control);
            let phase = f64::from((i * 7 + u32::from(setup.id) * 13) % 32) / 32.0;
            if timer.period.is_finite() && stream.id != HEARTBEAT_DATA::ID {
                timer.due += timer.period * phase;
            }
            timer
        });
        let mut origin = motion.pose.position;
        origin.z = setup.ground;
        Self {
            geo: setup.geo,
            encoder: Encoder::new(setup.id, 1),
            boot: now,
            now,
            clock: now,
            motion: *motion,
            body: None,
            modes: Modes::new(now),
            flight: FlightTask::default(),
            mission: Mission::new(origin, setup.geo),
            known_version: 0,
            gains: Gains::of(&parameters),
            speeds: Speeds::of(&parameters),
            mode_parameters: ModeParameters::of(&parameters),
            failsafe_parameters: FailsafeParameters::of(&parameters),
            parameters,
            streams: streams.collect(),
            texts: Texts::default(),
            // 0 means that a text has no further chunks.
            text_id: 1,
            replies: Vec::new(),
            setpoint: None,
            setpoint_at: None,
            sticks: None,
            station_at: None,
            vision_at: None,
            origin,
            home: origin,
            home_yaw: motion.pose.roll_pitch_yaw()[2],
            is_home_set: false,
            battery: 100.0,
            battery_override: setup.battery,
            breach: None,
            damage: Damage::default(),
            is_steered: false,
            outputs: None,
            sent: 0,
            received: 0,
            struct_link: udp::StructLink::default(),
            setup,
        }
    }

    /// Time since the vehicle started, in s.
    pub fn uptime(&self) -> f64 {
        self.now - self.boot
    }

    fn boot_ns(&self) -> i64 {
        ((self.clock - self.boot) * 1e9).round() as i64
    }

    /// Sets the clock to simulation time `now` in s, between two steps: TIMESYNC answers with the time at which the request
    /// arrives, whatever the length of a step.
    pub fn set_clock(&mut self, now: f64) {
        self.clock = now.max(self.now);
    }

    /// Position in m, NED from the local origin. The origin is where the vehicle started, unless a message has moved it.
    pub fn local(&self) -> Vec3 {
        self.motion.pose.position - self.origin
    }

    /// Simulated motion; `None` if the vehicle was never armed and follows its script.
    pub fn flown(&self) -> Option<Kinematics> {
        self.body.as_ref().map(VehicleBody::kinematics)
    }

    /// Simulated motion until the next step.
    pub fn segment(&self) -> Option<MotionSegment> {
        self.body.as_ref().map(|body| MotionSegment {
            time: self.now,
            state: body.state,
            drive: body.drive,
        })
    }

    /// Whether the vehicle flies its script: in the air, without a command so far. It reports the mode Mission.
    fn is_on_script(&self) -> bool {
        self.body.is_none() && self.motion.pose.position.z < self.setup.ground - AIRBORNE
    }

    /// Whether motors may turn.
    pub fn is_armed(&self) -> bool {
        self.modes.is_armed || self.is_on_script()
    }

    /// The active mode.
    pub fn mode(&self) -> Mode {
        if self.is_on_script() {
            return Mode::Mission;
        }
        self.modes.active
    }

    /// State of the land detector.
    pub fn landed(&self) -> Landed {
        if self.is_on_script() {
            return Landed::Air;
        }
        self.modes.landed
    }

    fn has_gps(&self) -> bool {
        self.setup.control != ControlMode::MavlinkNoGps
            && self.damage.gps[0] >= GpsFixType::GPS_FIX_TYPE_3D_FIX as u8
    }

    fn has_position(&self) -> bool {
        let has_vision = self.vision_at.is_some_and(|at| self.now - at < 1.0);
        self.uptime() >= START_TIME && (self.has_gps() || has_vision)
    }

    /// Arms; from then on the motion is simulated.
    fn arm(&mut self, text: &str) -> MavResult {
        let was_armed = self.modes.is_armed;
        let result = self.modes.arm(text, &mut self.texts);
        if result != REJECTED && !was_armed {
            self.spin_up();
        }
        result
    }

    /// Starts the motors and the simulated motion, and sets home.
    fn spin_up(&mut self) {
        let ground = self.setup.ground;
        let body = self.body.get_or_insert_with(|| VehicleBody::new(&self.motion, ground));
        body.state.wind = self.damage.wind;
        if !body.state.is_grounded {
            self.modes.landed = Landed::Air;
        }
        self.flight.restart(body, self.now);
        self.home = self.motion.pose.position;
        self.home.z = self.home.z.max(ground);
        self.home_yaw = body.state.yaw();
        self.send_home();
    }

    fn send_home(&mut self) {
        self.mission.home = self.home;
        self.is_home_set = true;
        let home = self.message(HOME_POSITION_DATA::ID);
        self.replies.extend(home);
    }

    /// Sets home to the present position, as PX4 does at take-off and on disarming.
    fn set_home_here(&mut self) {
        self.home = self.motion.pose.position;
        self.home_yaw = self.motion.pose.roll_pitch_yaw()[2];
        self.send_home();
    }

    /// Advances to simulation time `now` in s; `scripted` is the motion until the first arming.
    pub fn step(&mut self, now: f64, scripted: &Kinematics, out: &mut DatagramQueue) {
        let dt = (now - self.now).clamp(0.0, 0.1);
        (self.now, self.clock) = (now, now);
        if self.known_version != self.parameters.version {
            self.known_version = self.parameters.version;
            self.gains = Gains::of(&self.parameters);
            self.speeds = Speeds::of(&self.parameters);
            self.mode_parameters = ModeParameters::of(&self.parameters);
            self.failsafe_parameters = FailsafeParameters::of(&self.parameters);
        }
        if let Some(body) = &mut self.body {
            body.advance(dt);
        }
        if self.is_steered {
            self.setpoint_at = Some(now);
        }
        self.fly(dt);
        self.motion = self.flown().unwrap_or(*scripted);
        if !self.is_home_set && self.has_position() {
            self.is_home_set = true;
            self.home_yaw = self.motion.pose.roll_pitch_yaw()[2];
            for id in [HOME_POSITION_DATA::ID, GPS_GLOBAL_ORIGIN_DATA::ID] {
                let message = self.message(id);
                self.replies.extend(message);
            }
        }
        self.update_battery(dt);
        self.check_fence();
        self.parameters.step(now, &mut self.replies);
        self.mission.step(now, &mut self.replies, &mut self.texts);
        self.send_replies(out);
        self.send_streams(out);
        self.send_structs(out);
    }

    /// Updates PX4's simulated battery, which is full while disarmed, unless its level is overridden.
    fn update_battery(&mut self, dt: f64) {
        // Measured on PX4: a flight of 60 s, the default of SIM_BAT_DRAIN, drains 90 %.
        let rate = 90.0 / self.parameters.number("SIM_BAT_DRAIN").max(1.0);
        let least = self.parameters.number("SIM_BAT_MIN_PCT");
        let damaged = self.damage.charge.map(|charge| charge * 100.0);
        self.battery = match self.battery_override.or(damaged) {
            Some(percent) => percent,
            None if self.modes.is_armed => (self.battery.min(100.0) - rate * dt).max(least),
            None => 100.0,
        };
    }

    /// Overrides the reported battery level in percent; `None`: the simulated level.
    pub fn override_battery(&mut self, percent: Option<f64>) {
        self.battery_override = percent;
    }

    /// Changes PX4's maximum distances from home.
    pub fn set_fence(&mut self, limits: FenceLimits) {
        limits.store(&mut self.parameters);
    }

    /// Damages the vehicle, or repairs it.
    pub fn set_damage(&mut self, damage: Damage) {
        self.damage = damage;
        if let Some(body) = &mut self.body {
            body.state.wind = damage.wind;
        }
    }

    /// Passes values to the model in the autopilot.
    pub fn set_outputs(&mut self, outputs: [f32; 8]) {
        self.outputs = Some(outputs);
    }

    /// Returns new outputs of the model in the autopilot.
    pub fn take_outputs(&mut self) -> Option<[f32; 8]> {
        self.outputs.take()
    }

    fn check_fence(&mut self) {
        let limits = FenceLimits::of(&self.parameters);
        let (position, areas) = (&self.motion.pose.position, self.mission.fence());
        self.breach = fence::breach(position, &self.home, &limits, areas, self.geo);
    }

    fn fly(&mut self, dt: f64) {
        let sticks = self.sticks.filter(|(_, at)| self.now - at < STICKS_TIMEOUT);
        let (is_lifted, is_resting) = match &self.body {
            Some(body) => {
                let is_sinking = body.velocity_target.z > 0.05
                    || (body.velocity_target.z.is_nan() && body.drive.thrust() < 0.3);
                (self.flight.is_lifted(body, self.now), body.state.is_grounded && is_sinking)
            }
            None => (false, true),
        };
        let inputs = ModeInputs {
            setpoint: self.setpoint_at,
            has_sticks: sticks.is_some(),
            has_position: self.has_position(),
            is_ready: self.uptime() >= START_TIME,
            has_mission: self.mission.is_ready(),
            is_lifted,
            is_resting,
            is_airborne: self.body.as_ref().is_some_and(|b| !b.state.is_grounded),
            is_landing: self.flight.is_landing,
            is_taking_off: self.flight.is_taking_off,
            uses_attitude: self.setpoint.is_some_and(|s| !matches!(s, ControlTarget::Rates(..))),
            charge: ChargeLevel::of(self.battery, &self.parameters),
            breach: self.breach,
        };
        let (was_armed, landed_before) = (self.modes.is_armed, self.modes.landed);
        let parameters = (&self.mode_parameters, &self.failsafe_parameters);
        self.modes.step(self.now, inputs, parameters, &mut self.texts);
        let has_taken_off = landed_before == Landed::Ground && self.modes.landed != Landed::Ground;
        if (has_taken_off && self.modes.is_armed) || (was_armed && !self.modes.is_armed) {
            self.set_home_here();
        }
        if !self.modes.is_armed {
            self.mission.stop_reporting();
        }
        let Some(body) = &mut self.body else { return };
        let mut inputs = TaskInputs {
            modes: &mut self.modes,
            mission: &mut self.mission,
            setpoint: self.setpoint,
            sticks: sticks.map(|(s, _)| s),
            home: self.home,
            speeds: self.speeds,
            now: self.now,
            dt,
            texts: &mut self.texts,
            takeoff_height: self.parameters.number("MIS_TAKEOFF_ALT"),
            datum: self.geo.centre[2],
        };
        let target = self.flight.target(body, &mut inputs);
        body.control(&target, &self.gains, dt);
        body.drive = self.damage.apply(body.drive);
        if self.mission.is_return_due && self.modes.active == Mode::Loiter && self.modes.is_armed {
            self.mission.is_return_due = false;
            let _ = self.change(Mode::Return); // a rejection sends a text
        }
    }
}
