//! A vehicle with an autopilot that behaves as PX4 does, without I/O and without a clock: it is told the time, the
//! datagrams that arrive and where the scripted path leads, and fills an [`Outbox`].
//!
//! Where PX4 was measured, its answers and times are those of the measurement; docs/emulator_autopilot.md lists what is
//! different.
#![expect(deprecated, reason = "PX4 still answers PING")]
mod commands;
pub mod dynamics;
mod fields;
pub mod flight;
pub mod geo;
pub mod mission;
pub mod modes;
mod parameter_table;
pub mod parameters;
pub mod setpoints;
pub mod telemetry;

pub use modes::{Landed, Mode};

use crate::emulator::world::{Kinematics, Vec3};
use crate::wire::mavlink::dialect::{MavSeverity, STATUSTEXT_DATA, TIMESYNC_DATA};
use crate::wire::mavlink::{Encoder, Frame, MavMessage, Outbound, frames};
use dynamics::{Body, Gains};
use flight::{Flight, Situation, Speeds, Sticks};
use geo::Geo;
use mavlink::types::CharArray;
use mission::Mission;
use modes::{Modes, REJECTED, Rules, Seen};
use parameters::Parameters;
use setpoints::{Here, Wish};
use telemetry::STREAMS;

/// Length of a step in s: each stream and each controller is due at a multiple of it.
pub const STEP: f64 = 0.005;
/// Texts that wait for being sent.
const MOST_TEXTS: usize = 32;
/// How long a ground station's HEARTBEAT and sticks are good for, in s.
const STATION_TIMEOUT: f64 = 5.0;
const STICKS_TIMEOUT: f64 = 0.5;

/// What is said in STATUSTEXT, in order.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    waiting: Vec<(u8, String)>,
}

impl Texts {
    /// Says something with a severity (MAV_SEVERITY).
    pub fn say(&mut self, severity: u8, text: &str) {
        if self.waiting.len() < MOST_TEXTS {
            self.waiting.push((severity, text.to_owned()));
        }
    }
}

/// Datagrams that are to be sent, one behind the other.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Outbox {
    /// Adds a datagram.
    pub fn push(&mut self, datagram: &[u8]) {
        self.bytes.extend_from_slice(datagram);
        self.ends.push(self.bytes.len());
    }

    /// Returns the datagrams.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins
            .zip(&self.ends)
            .filter_map(|(begin, end)| self.bytes.get(begin..*end))
    }

    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Whether nothing is to be sent.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// How `CopterSim` connects the vehicle with the controlling host (UDPSIMMODE).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ControlMode {
    /// Structs of 120 bytes.
    UdpFull,
    /// Structs of 24 and 52 bytes.
    UdpSimple,
    /// MAVLink with everything.
    #[default]
    MavlinkFull,
    /// MAVLink, filtered and decimated.
    MavlinkSimple,
    /// MAVLink is taken and never sent.
    MavlinkNoSend,
    /// MAVLink of a vehicle without GPS.
    MavlinkNoGps,
}

impl ControlMode {
    /// By the vendor's number; `None` for what needs a server or is not known.
    pub fn from_number(number: i32) -> Option<Self> {
        Some(match number {
            0 => Self::UdpFull,
            1 => Self::UdpSimple,
            2 => Self::MavlinkFull,
            3 => Self::MavlinkSimple,
            4 => Self::MavlinkNoSend,
            5 | 6 => Self::MavlinkNoGps,
            _ => return None,
        })
    }

    /// Whether structs and not MAVLink travel.
    pub fn is_udp(self) -> bool {
        matches!(self, Self::UdpFull | Self::UdpSimple)
    }
}

/// What a vehicle is from its start on.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// System id, which is the vehicle's id.
    pub id: u8,
    /// Wall clock at simulation time 0 in µs since 1970.
    pub unix_us: u64,
    /// Where the map is.
    pub geo: Geo,
    /// Height in m, NED, at which the vehicle's centre comes to rest.
    pub ground: f64,
    /// How it is connected.
    pub control: ControlMode,
    /// Sends the streams of MAVLink_Simple.
    simple: bool,
}

impl Setup {
    /// A vehicle on flat ground at the documented map centre.
    pub fn new(id: u8, unix_us: u64, control: ControlMode) -> Self {
        Self {
            id,
            unix_us,
            geo: Geo::default(),
            ground: -crate::emulator::world::VEHICLE_HALF.z,
            control,
            simple: control == ControlMode::MavlinkSimple,
        }
    }
}

/// A stream and when it is due next.
#[derive(Clone, Copy, Debug)]
struct Due {
    id: u32,
    period: f64,
    due: f64,
}

impl Due {
    fn usual(&self, simple: bool) -> f64 {
        let stream = STREAMS.iter().find(|s| s.id == self.id);
        let rate = stream.map_or(0.0, |s| if simple { s.simple } else { s.full });
        1.0 / rate
    }
}

/// A vehicle's autopilot.
#[derive(Debug)]
pub struct Autopilot {
    setup: Setup,
    geo: Geo,
    encoder: Encoder,
    boot: f64,
    now: f64,
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
    sent: u32,
    received: u32,
    reboot_wanted: bool,
}

/// Time in s that a vehicle needs after its start until its estimator knows where it is.
const START_TIME: f64 = 1.0;

impl Autopilot {
    /// Switches a vehicle on at simulation time `now` in s, where it stands or flies.
    pub fn new(setup: Setup, now: f64, motion: &Kinematics) -> Self {
        let parameters = Parameters::default();
        // Spread over their periods and over the vehicles, so that a fleet does not speak in chorus.
        let streams = STREAMS.iter().zip(0u32..).map(|(stream, i)| {
            let mut due = Due {
                id: stream.id,
                period: f64::INFINITY,
                due: now,
            };
            due.period = due.usual(setup.simple);
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
            text_id: 0,
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
            sent: 0,
            received: 0,
            reboot_wanted: false,
            setup,
        }
    }

    /// Time since the vehicle was switched on, in s.
    pub fn uptime(&self) -> f64 {
        self.now - self.boot
    }

    fn boot_ns(&self) -> i64 {
        (self.uptime() * 1e9) as i64
    }

    /// Position in m, NED from where the vehicle was switched on.
    pub fn local(&self) -> Vec3 {
        self.motion.pose.position - self.origin
    }

    /// How the vehicle moves by itself; `None` as long as it was never armed, and follows its script.
    pub fn flown(&self) -> Option<Kinematics> {
        self.body.as_ref().map(Body::kinematics)
    }

    /// Whether motors may turn.
    pub fn armed(&self) -> bool {
        self.modes.armed
    }

    /// The mode that is flown.
    pub fn mode(&self) -> Mode {
        self.modes.active
    }

    /// Where the land detector believes the vehicle to be.
    pub fn landed(&self) -> Landed {
        self.modes.landed
    }

    fn has_gps(&self) -> bool {
        self.setup.control != ControlMode::MavlinkNoGps
    }

    /// Whether the estimator knows where the vehicle is.
    fn located(&self) -> bool {
        let seen = self.vision_at.is_some_and(|at| self.now - at < 1.0);
        self.uptime() >= START_TIME && (self.has_gps() || seen)
    }

    fn ground(&self) -> f64 {
        self.setup.ground
    }

    /// Takes a datagram of the controlling host.
    pub fn receive(&mut self, datagram: &[u8], out: &mut Outbox) {
        for frame in frames(datagram).flatten() {
            self.received = self.received.wrapping_add(1);
            // What claims to come from this very autopilot is an echo.
            if (frame.system, frame.component) != (self.setup.id, 1) {
                self.take(&frame);
            }
        }
        self.answer(out);
    }

    fn take(&mut self, frame: &Frame<'_>) {
        let meant = |at: usize| {
            let (system, component) = (fields::u8(frame, at), fields::u8(frame, at + 1));
            matches!(system, 0) || system == self.setup.id && matches!(component, 0 | 1)
        };
        match frame.id {
            0 => {
                if fields::u8(frame, 4) == 6 {
                    self.station_at = Some(self.now);
                }
            }
            11 | 75 | 76 => {
                let _ = self.command(frame);
            }
            20 if meant(2) => self.parameter(frame),
            21 if meant(0) => self.parameter(frame),
            23 if meant(4) => self.parameter(frame),
            44 if meant(2) => self.plan(frame),
            73 | 39 if meant(32) => self.plan(frame),
            43 | 45 if meant(0) => self.plan(frame),
            40 | 41 | 51 if meant(2) => self.plan(frame),
            69 => self.take_sticks(frame),
            82 if meant(36) => self.wish(setpoints::attitude(frame)),
            84 if meant(50) => {
                let here = Here {
                    origin: self.origin,
                    attitude: self.motion.pose.attitude,
                };
                let wish = setpoints::local(frame, &here, &mut self.texts);
                self.wish(wish);
            }
            86 if meant(50) => {
                let (geo, home) = (self.geo, self.home);
                let place = |latitude: f64, longitude: f64, altitude: f64, kind: u8| {
                    let above = match kind {
                        0 | 5 => 0.0,
                        3 | 6 => geo.to_degrees(&home)[2],
                        _ => return None,
                    };
                    Some(geo.to_ned([latitude, longitude, altitude + above]))
                };
                let wish = setpoints::global(frame, place, &mut self.texts);
                self.wish(wish);
            }
            4 => self.echo(frame),
            102 | 138 | 331 | 113 => self.vision_at = Some(self.now),
            111 => {
                if fields::i64(frame, 0) == 0 {
                    let answer = TIMESYNC_DATA {
                        tc1: self.boot_ns(),
                        ts1: fields::i64(frame, 8),
                        ..Default::default()
                    };
                    self.replies.push(MavMessage::TIMESYNC(answer).into());
                }
            }
            _ => {}
        }
    }

    fn parameter(&mut self, frame: &Frame<'_>) {
        let (replies, texts) = (&mut self.replies, &mut self.texts);
        self.parameters.receive(frame, self.now, replies, texts);
    }

    fn plan(&mut self, frame: &Frame<'_>) {
        let (replies, texts) = (&mut self.replies, &mut self.texts);
        self.mission.receive(frame, self.now, replies, texts);
    }

    /// PING: a request goes back to who sent it.
    fn echo(&mut self, frame: &Frame<'_>) {
        if (fields::u8(frame, 12), fields::u8(frame, 13)) == (0, 0) {
            let answer = crate::wire::mavlink::dialect::PING_DATA {
                time_usec: fields::i64(frame, 0).cast_unsigned(),
                seq: fields::u32(frame, 8),
                target_system: frame.system,
                target_component: frame.component,
            };
            self.replies.push(MavMessage::PING(answer).into());
        }
    }

    fn wish(&mut self, wish: Option<Wish>) {
        if let Some(wish) = wish {
            self.wish = Some(wish);
            self.setpoint_at = Some(self.now);
        }
    }

    /// Arms; from then on the vehicle's motion is its own.
    fn arm(&mut self) -> u8 {
        let was = self.modes.armed;
        let result = self.modes.arm(&mut self.texts);
        if result == REJECTED || was {
            return result;
        }
        let ground = self.setup.ground;
        let body = self
            .body
            .get_or_insert_with(|| Body::new(&self.motion, ground));
        if !body.grounded {
            self.modes.landed = Landed::Air;
        }
        self.flight.renew(body, self.now);
        self.home = self.motion.pose.position;
        self.home.z = self.home.z.max(ground);
        self.home_yaw = body.yaw();
        self.mission.home = self.home;
        self.home_known = true;
        let home = self.message(242);
        self.replies.extend(home);
        result
    }

    /// Moves on to simulation time `now` in s; `scripted` is where the vehicle is as long as nobody has armed it.
    pub fn step(&mut self, now: f64, scripted: &Kinematics, out: &mut Outbox) {
        let dt = (now - self.now).clamp(0.0, 0.1);
        self.now = now;
        if self.known_version != self.parameters.version {
            self.known_version = self.parameters.version;
            self.gains = self.parameters.gains();
            self.speeds = self.parameters.speeds();
            self.rules = self.parameters.rules();
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
        if self.modes.armed {
            self.battery = (self.battery - 0.8 * dt).max(50.0);
        }
        self.parameters.step(now, &mut self.replies);
        self.mission.step(now, &mut self.replies);
        self.mission.tell_reached(&mut self.replies);
        self.answer(out);
        self.speak(out);
    }

    fn fly(&mut self, dt: f64) {
        let sticks = self.sticks.filter(|(_, at)| self.now - at < STICKS_TIMEOUT);
        let (lifted, resting) = match &self.body {
            Some(body) => {
                let down = body.velocity_target.z > 0.05
                    || (body.velocity_target.z.is_nan() && body.thrust < 0.3);
                (self.flight.lifted(body, self.now), body.grounded && down)
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
        };
        self.modes
            .step(self.now, seen, &self.rules, &mut self.texts);
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
        };
        let target = self.flight.target(body, &mut situation);
        body.step(&target, &self.gains, dt);
        if self.mission.wants_return && self.modes.active == Mode::Loiter && self.modes.armed {
            self.mission.wants_return = false;
            let _ = self.change(Mode::Return);
        }
    }

    /// Sends what was asked for, and what there is to say.
    fn answer(&mut self, out: &mut Outbox) {
        let mut replies = std::mem::take(&mut self.replies);
        for reply in replies.drain(..) {
            self.send(&reply, out);
        }
        self.replies = replies;
        for (severity, text) in std::mem::take(&mut self.texts.waiting) {
            // PX4 says nothing on a link without a ground station.
            if self
                .station_at
                .is_some_and(|at| self.now - at < STATION_TIMEOUT)
            {
                self.status_text(severity, &text, out);
            }
        }
    }

    fn status_text(&mut self, severity: u8, text: &str, out: &mut Outbox) {
        const PIECE: usize = 50;
        let severity = match severity {
            modes::CRITICAL => MavSeverity::MAV_SEVERITY_CRITICAL,
            modes::WARNING => MavSeverity::MAV_SEVERITY_WARNING,
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
        self.text_id = self.text_id.wrapping_add(1);
    }

    fn send(&mut self, message: &Outbound, out: &mut Outbox) {
        if self.setup.control == ControlMode::MavlinkNoSend {
            return;
        }
        self.sent = self.sent.wrapping_add(1);
        out.push(self.encoder.encode(message).as_bytes());
    }

    /// Sends what is due of the streams.
    fn speak(&mut self, out: &mut Outbox) {
        for i in 0..self.streams.len() {
            let Some(stream) = self.streams.get_mut(i).filter(|s| s.due <= self.now) else {
                continue;
            };
            let id = stream.id;
            stream.due += stream.period;
            if stream.due < self.now {
                stream.due = self.now + stream.period; // late by more than a period: no burst
            }
            if stream.period.is_finite()
                && let Some(message) = self.message(id)
            {
                self.send(&message, out);
            }
        }
    }

    /// Whether somebody has asked for a restart; asking once is enough.
    pub fn take_reboot(&mut self) -> bool {
        std::mem::take(&mut self.reboot_wanted)
    }
}
