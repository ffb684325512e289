//! A vehicle with an autopilot that behaves as PX4 does, without I/O and without a clock: its inputs are the time, the
//! received datagrams and the scripted path, its output is an [`Outbox`].
//!
//! Where PX4 was measured, answers and times match the measurement; docs/emulator_autopilot.md lists the
//! differences.
pub mod carrot;
mod commands;
mod damage;
pub mod dynamics;
pub mod failsafe;
pub mod fence;
mod fields;
pub mod flight;
pub mod geo;
mod inbox;
pub mod mission;
mod mission_items;
pub mod modes;
pub mod orbit;
mod outbox;
pub mod parameters;
pub mod rigid;
pub mod setpoints;
mod setup;
mod steer;
pub mod telemetry;
mod udp;

pub use damage::Damage;
pub use mission_items::Leg;
pub use modes::{Landed, Mode};
pub use outbox::{Outbox, Texts};
pub use setup::{ControlMode, Setup};

use crate::emulator::world::{Kinematics, Vec3};
use crate::wire::mavlink::dialect::{MavSeverity, STATUSTEXT_DATA};
use crate::wire::mavlink::{Encoder, MavMessage, Outbound};
use carrot::Speeds;
use dynamics::{Body, Gains};
use failsafe::Breach;
use fence::Limits;
use flight::{Flight, Situation, Sticks};
use geo::Geo;
use mavlink::types::CharArray;
use mission::Mission;
use modes::{Modes, REJECTED, Rules, Seen};
use parameters::Parameters;
use rigid::Segment;
use setpoints::Wish;
use telemetry::STREAMS;

/// Length of a step in s; streams and controllers run at multiples of it.
pub const STEP: f64 = 0.005;
/// Time in s from the start until the estimator has a position.
const START_TIME: f64 = 1.0;
/// Time in s until a ground station's HEARTBEAT or sticks expire.
const STATION_TIMEOUT: f64 = 5.0;
const STICKS_TIMEOUT: f64 = 0.5;

/// A stream with its next due time.
#[derive(Clone, Copy, Debug)]
struct Due {
    id: u32,
    period: f64,
    due: f64,
}

impl Due {
    fn usual(&self, control: ControlMode) -> f64 {
        let stream = STREAMS.iter().find(|s| s.id == self.id);
        let rate = |s: &telemetry::Stream| match control {
            ControlMode::MavlinkSimple => s.simple,
            ControlMode::UdpFull | ControlMode::UdpSimple => 0.0,
            // Sent only by CopterSim.
            ControlMode::Direct if s.id == telemetry::COPTERSIM => 0.0,
            _ => s.full,
        };
        1.0 / stream.map_or(0.0, rate)
    }
}

/// A scripted vehicle higher above the ground, in m, flies.
const AIRBORNE: f64 = 0.5;
/// Share of the thrust that hovering takes (MPC_THR_HOVER).
const HOVER: f64 = 0.5;

/// A vehicle's autopilot.
#[derive(Clone, Debug)]
pub struct Autopilot {
    setup: Setup,
    geo: Geo,
    encoder: Encoder,
    boot: f64,
    /// Simulation time in s of the last step.
    now: f64,
    /// Simulation time in s of the last step or datagram.
    clock: f64,
    motion: Kinematics,
    body: Option<Body>,
    modes: Modes,
    flight: Flight,
    mission: Mission,
    parameters: Parameters,
    known_version: u64,
    gains: Gains,
    speeds: Speeds,
    rules: Rules,
    streams: Vec<Due>,
    texts: Texts,
    text_id: u16,
    replies: Vec<Outbound>,
    wish: Option<Wish>,
    setpoint_at: Option<f64>,
    sticks: Option<(Sticks, f64)>,
    station_at: Option<f64>,
    vision_at: Option<f64>,
    origin: Vec3,
    home: Vec3,
    home_yaw: f64,
    home_known: bool,
    battery: f64,
    /// Overrides the reported battery level.
    pretended: Option<f64>,
    breach: Option<Breach>,
    damage: Damage,
    /// A model without an autopilot holds its command.
    steered: bool,
    /// Inputs of the model in the autopilot, which CopterSim forwards.
    outputs: Option<[f32; 8]>,
    sent: u32,
    received: u32,
    lines: udp::Line,
}

impl Autopilot {
    /// Starts a vehicle at simulation time `now` in s with the given motion.
    pub fn new(setup: Setup, now: f64, motion: &Kinematics) -> Self {
        let mut parameters = Parameters::default();
        parameters.set_fence(setup.fence);
        // Phases spread over the period and over the vehicles, so that a fleet does not send in bursts.
        let streams = STREAMS.iter().zip(0u32..).map(|(stream, i)| {
            let mut due = Due { id: stream.id, period: f64::INFINITY, due: now };
            due.period = due.usual(setup.control);
            let share = f64::from((i * 7 + u32::from(setup.id) * 13) % 32) / 32.0;
            if due.period.is_finite() && stream.id != 0 {
                due.due += due.period * share;
            }
            due
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
            flight: Flight::default(),
            mission: Mission::new(origin, setup.geo),
            known_version: 0,
            gains: parameters.gains(),
            speeds: parameters.speeds(),
            rules: parameters.rules(),
            parameters,
            streams: streams.collect(),
            texts: Texts::default(),
            // 0 means that a text has no further chunks.
            text_id: 1,
            replies: Vec::new(),
            wish: None,
            setpoint_at: None,
            sticks: None,
            station_at: None,
            vision_at: None,
            origin,
            home: origin,
            home_yaw: motion.pose.roll_pitch_yaw()[2],
            home_known: false,
            battery: 100.0,
            pretended: setup.battery,
            breach: None,
            damage: Damage::default(),
            steered: false,
            outputs: None,
            sent: 0,
            received: 0,
            lines: udp::Line::default(),
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

    /// Position in m, NED from where the vehicle started.
    pub fn local(&self) -> Vec3 {
        self.motion.pose.position - self.origin
    }

    /// Simulated motion; `None` if the vehicle was never armed and follows its script.
    pub fn flown(&self) -> Option<Kinematics> {
        self.body.as_ref().map(Body::kinematics)
    }

    /// Simulated motion until the next step.
    pub fn segment(&self) -> Option<Segment> {
        self.body.as_ref().map(|body| Segment {
            time: self.now,
            state: body.state,
            drive: body.drive,
        })
    }

    /// Whether it flies its script: in the air, and nobody has commanded it yet. It tells of itself as of a vehicle that flies a
    /// mission.
    fn on_lap(&self) -> bool {
        self.body.is_none() && self.motion.pose.position.z < self.setup.ground - AIRBORNE
    }

    /// Whether motors may turn.
    pub fn armed(&self) -> bool {
        self.modes.armed || self.on_lap()
    }

    /// The active mode.
    pub fn mode(&self) -> Mode {
        if self.on_lap() {
            return Mode::Mission;
        }
        self.modes.active
    }

    /// State of the land detector.
    pub fn landed(&self) -> Landed {
        if self.on_lap() {
            return Landed::Air;
        }
        self.modes.landed
    }

    fn has_gps(&self) -> bool {
        self.setup.control != ControlMode::MavlinkNoGps && self.damage.gps[0] >= 3
    }

    /// Whether the estimator has a position.
    fn located(&self) -> bool {
        let seen = self.vision_at.is_some_and(|at| self.now - at < 1.0);
        self.uptime() >= START_TIME && (self.has_gps() || seen)
    }

    fn ground(&self) -> f64 {
        self.setup.ground
    }

    /// Arms; from then on the motion is simulated.
    fn arm(&mut self, text: &str) -> u8 {
        let was = self.modes.armed;
        let result = self.modes.arm(text, &mut self.texts);
        if result != REJECTED && !was {
            self.spin_up();
        }
        result
    }

    /// Starts the motors and the simulated motion.
    fn spin_up(&mut self) {
        let ground = self.setup.ground;
        let body = self.body.get_or_insert_with(|| Body::new(&self.motion, ground));
        body.state.wind = self.damage.wind;
        if !body.state.grounded {
            self.modes.landed = Landed::Air;
        }
        self.flight.renew(body, self.now);
        self.home = self.motion.pose.position;
        self.home.z = self.home.z.max(ground);
        self.home_yaw = body.state.yaw();
        self.announce_home();
    }

    fn announce_home(&mut self) {
        self.mission.home = self.home;
        self.home_known = true;
        let home = self.message(242);
        self.replies.extend(home);
    }

    /// PX4 sets home on arming, at take-off, and after landing.
    fn home_is_here(&mut self) {
        self.home = self.motion.pose.position;
        self.home_yaw = self.motion.pose.roll_pitch_yaw()[2];
        self.announce_home();
    }

    /// Advances to simulation time `now` in s; `scripted` is the motion until the first arming.
    pub fn step(&mut self, now: f64, scripted: &Kinematics, out: &mut Outbox) {
        let dt = (now - self.now).clamp(0.0, 0.1);
        (self.now, self.clock) = (now, now);
        if self.known_version != self.parameters.version {
            self.known_version = self.parameters.version;
            self.gains = self.parameters.gains();
            self.speeds = self.parameters.speeds();
            self.rules = self.parameters.rules();
        }
        if let Some(body) = &mut self.body {
            body.advance(dt);
        }
        if self.steered {
            self.setpoint_at = Some(now);
        }
        self.fly(dt);
        self.motion = self.flown().unwrap_or(*scripted);
        if !self.home_known && self.located() {
            self.home_known = true;
            self.home_yaw = self.motion.pose.roll_pitch_yaw()[2];
            for id in [242, 49] {
                let message = self.message(id);
                self.replies.extend(message);
            }
        }
        self.discharge(dt);
        self.watch_fence();
        self.parameters.step(now, &mut self.replies);
        self.mission.step(now, &mut self.replies, &mut self.texts);
        self.answer(out);
        self.speak(out);
        self.tell_structs(out);
    }

    /// PX4's simulated battery: full until armed.
    fn discharge(&mut self, dt: f64) {
        // Measured on PX4: 90 % in 60 s of flight.
        let rate = 90.0 / self.parameters.number("SIM_BAT_DRAIN", 60.0).max(1.0);
        let least = self.parameters.number("SIM_BAT_MIN_PCT", 50.0);
        let damaged = self.damage.charge.map(|charge| charge * 100.0);
        self.battery = match self.pretended.or(damaged) {
            Some(percent) => percent,
            None if self.modes.armed => (self.battery.min(100.0) - rate * dt).max(least),
            None => 100.0,
        };
    }

    /// Overrides the reported battery level in percent; `None`: the simulated level.
    pub fn pretend_battery(&mut self, percent: Option<f64>) {
        self.pretended = percent;
    }

    /// Changes PX4's maximum distances from home.
    pub fn set_fence(&mut self, limits: Limits) {
        self.parameters.set_fence(limits);
    }

    /// Damages the vehicle, or repairs it.
    pub fn set_damage(&mut self, damage: Damage) {
        self.damage = damage;
        if let Some(body) = &mut self.body {
            body.state.wind = damage.wind;
        }
    }

    /// Gives values to the model in the autopilot.
    pub fn set_outputs(&mut self, outputs: [f32; 8]) {
        self.outputs = Some(outputs);
    }

    /// Returns new outputs of the model in the autopilot: its inputs.
    pub fn take_outputs(&mut self) -> Option<[f32; 8]> {
        self.outputs.take()
    }

    fn watch_fence(&mut self) {
        let limits = self.parameters.fence();
        let (position, areas) = (&self.motion.pose.position, self.mission.fence());
        self.breach = fence::breach(position, &self.home, &limits, areas, self.geo);
    }

    fn fly(&mut self, dt: f64) {
        let sticks = self.sticks.filter(|(_, at)| self.now - at < STICKS_TIMEOUT);
        let (lifted, resting) = match &self.body {
            Some(body) => {
                let down = body.velocity_target.z > 0.05
                    || (body.velocity_target.z.is_nan() && body.drive.thrust() < 0.3);
                (self.flight.lifted(body, self.now), body.state.grounded && down)
            }
            None => (false, true),
        };
        let seen = Seen {
            setpoint: self.setpoint_at,
            sticks: sticks.is_some(),
            position: self.located(),
            ready: self.uptime() >= START_TIME,
            mission: self.mission.is_ready(),
            lifted,
            resting,
            airborne: self.body.as_ref().is_some_and(|b| !b.state.grounded),
            landing: self.flight.landing_now,
            taking_off: self.flight.taking_off,
            attitude: matches!(
                self.wish,
                Some(Wish::Follow(_) | Wish::Attitude(..) | Wish::Wing(_))
            ),
            charge: self.parameters.charge(self.battery),
            breach: self.breach,
        };
        let before = (self.modes.armed, self.modes.landed);
        self.modes.step(self.now, seen, &self.rules, &mut self.texts);
        let took_off = before.1 == Landed::Ground && self.modes.landed != Landed::Ground;
        if (took_off && self.modes.armed) || (before.0 && !self.modes.armed) {
            self.home_is_here();
        }
        if !self.modes.armed {
            self.mission.rest();
        }
        let Some(body) = &mut self.body else { return };
        let mut situation = Situation {
            modes: &mut self.modes,
            mission: &mut self.mission,
            wish: self.wish,
            sticks: sticks.map(|(s, _)| s),
            home: self.home,
            speeds: self.speeds,
            now: self.now,
            dt,
            texts: &mut self.texts,
            takeoff_height: self.parameters.number("MIS_TAKEOFF_ALT", 2.5),
            datum: self.geo.centre[2],
        };
        let target = self.flight.target(body, &mut situation);
        body.control(&target, &self.gains, dt);
        body.drive = self.damage.applied(body.drive);
        if self.mission.wants_return && self.modes.active == Mode::Loiter && self.modes.armed {
            self.mission.wants_return = false;
            let _ = self.change(Mode::Return);
        }
    }

    /// Sends queued replies and due texts.
    fn answer(&mut self, out: &mut Outbox) {
        let mut replies = std::mem::take(&mut self.replies);
        for reply in replies.drain(..) {
            self.send(&reply, out);
        }
        self.replies = replies;
        while let Some((severity, text)) = self.texts.next(self.now) {
            // PX4 sends no texts on a link without a ground station.
            if self.station_at.is_some_and(|at| self.now - at < STATION_TIMEOUT) {
                self.status_text(severity, &text, out);
            }
        }
    }

    fn status_text(&mut self, severity: u8, text: &str, out: &mut Outbox) {
        const PIECE: usize = 50;
        let severity = match severity {
            outbox::EMERGENCY => MavSeverity::MAV_SEVERITY_EMERGENCY,
            outbox::CRITICAL => MavSeverity::MAV_SEVERITY_CRITICAL,
            outbox::WARNING => MavSeverity::MAV_SEVERITY_WARNING,
            _ => MavSeverity::MAV_SEVERITY_INFO,
        };
        for (piece, chunk_seq) in text.as_bytes().chunks(PIECE).zip(0u8..) {
            let mut bytes = [0; PIECE];
            bytes[..piece.len()].copy_from_slice(piece);
            let said = STATUSTEXT_DATA {
                severity,
                text: CharArray::from(bytes),
                id: self.text_id,
                chunk_seq,
            };
            self.send(&MavMessage::STATUSTEXT(said).into(), out);
        }
        self.text_id = self.text_id.checked_add(1).unwrap_or(1);
    }

    fn send(&mut self, message: &Outbound, out: &mut Outbox) {
        if self.setup.control == ControlMode::MavlinkNoSend {
            return;
        }
        self.sent = self.sent.wrapping_add(1);
        out.push(self.encoder.encode(message).as_bytes());
    }

    /// Sends the streams that are due.
    fn speak(&mut self, out: &mut Outbox) {
        for i in 0..self.streams.len() {
            let Some(stream) = self.streams.get_mut(i).filter(|s| s.due <= self.now) else {
                continue;
            };
            let id = stream.id;
            stream.due += stream.period;
            if stream.due < self.now {
                stream.due = self.now + stream.period; // skips missed periods, to avoid a burst
            }
            if stream.period.is_finite()
                && let Some(message) = self.message(id)
            {
                self.send(&message, out);
            }
        }
    }
}
