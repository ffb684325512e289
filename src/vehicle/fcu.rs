//! State that all parts of the mavros-style interface share: the link, the autopilot's identity, its clock and its last
//! reports.
mod clock;
mod position;

pub(super) use clock::boot_ns;
pub(super) use position::metres;

use super::link::{Abilities, Link, SendError, read_only};
use super::reasons::Reasons;
use super::{counter::Counter, link_warnings::LinkWarnings, preflight::Preflight};
use super::{settings::VehicleSettings, throttle::Throttle};
use crate::frames::{Attitude, Flu, Frd, Geodetic, Ned, Separation, Vector};
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::{
    CommandInt, CommandLong, Heartbeat, ParamSet, SetAttitudeTarget, SetMode,
    SetPositionTargetGlobalInt, SetPositionTargetLocalNed,
};
use crate::wire::mavlink::{Frame, Outbound};
use crate::{session::ClockLine, time::RosTime, wire::TrueState};
use std::{collections::BTreeMap, time::Duration};

/// Maximum age of a pose to combine with a newer value. Poses are up to 20 ms old at PX4's rates, up to 250 ms on a slow link.
const MAX_POSE_AGE: Duration = Duration::from_millis(500);
/// Setpoint messages.
const SETPOINTS: [u32; 3] =
    [SetPositionTargetLocalNed::ID, SetPositionTargetGlobalInt::ID, SetAttitudeTarget::ID];
/// Messages of services; a caller waits for their result.
const CALLS: [u32; 4] = [CommandLong::ID, CommandInt::ID, SetMode::ID, ParamSet::ID];
/// A sample older than the last one by this much is from another run of the autopilot.
pub(super) const ANOTHER_RUN_NS: i64 = 1_000_000_000;
/// Maximum number of queued true states: the number of datagrams that are received at a time.
const MAX_TRUTHS: usize = 1024;
/// Maximum number of queued notices.
const MAX_NOTICES: usize = 16;
/// Maximum length of a notice in characters.
const NOTICE_CHARS: usize = 500;

/// The present on both clocks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Now {
    /// Monotonic, for deadlines.
    pub mono: Duration,
    /// ROS time, for stamps.
    pub ros: RosTime,
}

/// Attitude and body rates as last reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orientation {
    /// Attitude.
    pub attitude: Attitude<Frd, Ned>,
    /// Quaternion (w, x, y, z) of FLU in ENU with the sign that mavros gives it.
    pub enu_wxyz: [f64; 4],
    /// Body rates in rad/s; NaN from a link that does not carry them.
    pub rates: Vector<Flu>,
    /// Arrival.
    pub at: Duration,
}

impl Orientation {
    /// The body rates, if the link carries them.
    pub fn known_rates(&self) -> Option<Vector<Flu>> {
        let is_finite = self.rates.to_array().iter().all(|rate| rate.is_finite());
        is_finite.then_some(self.rates)
    }
}

/// The autopilot's estimated pose, from its local origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Sample time.
    pub stamp: RosTime,
    /// Position in m.
    pub position: Vector<Ned>,
    /// Attitude.
    pub attitude: Attitude<Frd, Ned>,
}

/// A frame fixed to the body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyFrame {
    /// Name.
    pub name: String,
    /// Its attitude in the body frame. Its origin is the body's, because the vehicle does not report the frame's position.
    pub attitude: Attitude<Flu, Flu>,
}

/// The autopilot of one vehicle.
pub struct Fcu {
    /// Time at the start of the current call.
    pub now: Now,
    /// How long the datagram of the current call waited in the socket.
    pub waited: Duration,
    /// Time of the last message or service call from ROS.
    pub(super) last_call: Option<Duration>,
    /// Settings of the user.
    pub settings: VehicleSettings,
    /// MAVLink system id of the vehicle.
    pub system: u8,
    /// Component id of the autopilot.
    pub component: u8,
    /// The newest heartbeat, while connected.
    pub heartbeat: Option<Heartbeat>,
    /// Number of heartbeats so far.
    pub(super) heartbeat_count: u64,
    /// The newest attitude; `None` once the autopilot reports an invalid one.
    pub orientation: Option<Orientation>,
    /// Height above the local origin in m, as last reported.
    pub(super) height: Option<f32>,
    /// Altitude above sea level in m, as last reported.
    pub(super) amsl: Option<f64>,
    /// MAV_LANDED_STATE, as last reported.
    pub(super) landed: Option<u8>,
    /// When the last setpoint was sent.
    pub(super) last_setpoint: Option<Duration>,
    /// Number of setpoints sent.
    pub setpoints: u64,
    /// Reports of the autopilot about arming.
    pub(super) preflight: Preflight,
    /// Faults of the link.
    pub(super) link_warnings: LinkWarnings,
    /// The autopilot restarted; the services are not informed yet.
    pub(super) has_restarted: bool,
    /// Ids of messages to request from the autopilot.
    pub(super) requests: Vec<u32>,
    /// The newest pose, for TF; `None` once it is published.
    pub estimate: Option<Estimate>,
    /// New body frames that are not published yet.
    pub body_frames: Vec<BodyFrame>,
    /// Header time as a function of the autopilot's boot time, if known.
    pub clock: Option<ClockLine>,
    /// As `clock`, from the arrival of samples: an upper bound, used until `clock` is known.
    pub(super) rough_clock: Option<ClockLine>,
    /// Limits repeated log lines.
    pub(super) throttle: Throttle,
    /// Home, as last reported; its altitude is above the ellipsoid.
    pub home: Option<Geodetic>,
    /// Height of home above the origin of local positions in m; 0 if unknown.
    pub(super) home_height: f64,
    /// Origin of local positions, as reported or inferred from home; its altitude is above sea level.
    origin: Option<Geodetic>,
    /// The autopilot reported the origin itself.
    is_origin_reported: bool,
    geoid: Separation,
    /// Texts for `statustext/recv`.
    pub(super) notices: Vec<String>,
    /// True states that CopterSim sent on the autopilot's link, and how long they waited in the socket.
    truths: Vec<(TrueState, Duration)>,
    /// Status texts during a mission transfer.
    pub(super) reasons: Reasons,
    /// Only [`Self::send_as`] and [`Self::send_throttle_step`] send on it: they obey `control.read_only`.
    link: Box<dyn Link>,
    counts: BTreeMap<Counter, u64>,
}

impl Fcu {
    /// A vehicle in its initial state: nothing received.
    pub fn new(settings: VehicleSettings, link: Box<dyn Link>) -> Self {
        Self {
            now: Now::default(),
            waited: Duration::ZERO,
            last_call: None,
            system: u8::try_from(settings.id).unwrap_or(1),
            component: 1,
            heartbeat: None,
            heartbeat_count: 0,
            orientation: None,
            height: None,
            amsl: None,
            landed: None,
            last_setpoint: None,
            setpoints: 0,
            preflight: Preflight::default(),
            link_warnings: LinkWarnings::default(),
            has_restarted: false,
            requests: Vec::new(),
            estimate: None,
            body_frames: Vec::new(),
            clock: None,
            rough_clock: None,
            throttle: Throttle::default(),
            home: None,
            home_height: 0.0,
            origin: None,
            is_origin_reported: false,
            geoid: Separation::new(settings.geoid),
            notices: Vec::new(),
            truths: Vec::new(),
            reasons: Reasons::default(),
            link,
            counts: BTreeMap::new(),
            settings,
        }
    }

    /// When the datagram of the current call arrived.
    pub(super) fn arrival(&self) -> Duration {
        self.now.mono.saturating_sub(self.waited)
    }

    /// What the link can carry.
    pub fn abilities(&self) -> Abilities {
        self.link.abilities()
    }

    /// Sends a message.
    pub fn send(&mut self, message: impl Into<Outbound>) -> Result<(), SendError> {
        self.send_ref(&message.into())
    }

    /// Sends a message by reference.
    pub(super) fn send_ref(&mut self, message: &Outbound) -> Result<(), SendError> {
        let (system, component) = self.own_ids();
        self.send_as(message, system, component)
    }

    /// Sends a message with the ids of another sender.
    pub(super) fn send_as(
        &mut self,
        message: &Outbound,
        system: u8,
        component: u8,
    ) -> Result<(), SendError> {
        // Under another component id even a heartbeat has an effect: it announces a companion process.
        let is_request = component == self.settings.component && read_only::is_request(message);
        let sent = if self.settings.read_only && !is_request {
            Err(read_only::REFUSED)
        } else {
            self.link.send(message, system, component)
        };
        self.record_sent(message.id(), sent)
    }

    /// Sends an attitude whose thrust is a change of the throttle.
    pub(super) fn send_throttle_step(&mut self, step: &SetAttitudeTarget) -> Result<(), SendError> {
        let sent = if self.settings.read_only {
            Err(read_only::REFUSED)
        } else {
            self.link.send_throttle_step(step)
        };
        self.record_sent(SetAttitudeTarget::ID, sent)
    }

    /// Counts the result of sending a message; warns about one that the link cannot carry.
    fn record_sent(&mut self, id: u32, sent: Result<(), SendError>) -> Result<(), SendError> {
        if sent.is_ok() && SETPOINTS.contains(&id) {
            self.last_setpoint = Some(self.now.mono);
            self.setpoints += 1;
        }
        self.count(match sent {
            Ok(()) => Counter::Sent,
            Err(SendError::Io) => Counter::NotSent,
            Err(SendError::Unsupported { .. }) => Counter::Unsupported,
        });
        if let Err(refusal @ SendError::Unsupported { link, why }) = sent
            && self.throttle.due(link, why, self.now.mono).is_some()
        {
            tracing::warn!(vehicle = self.settings.id, "{refusal}");
            // The caller of a service gets the reason in the answer.
            if !CALLS.contains(&id) {
                self.notice(refusal.to_string());
            }
        }
        sent
    }

    /// Adopts the ids of an autopilot while none is connected.
    pub(super) fn adopt(&mut self, frame: &Frame<'_>) {
        let has_other_ids = (frame.system, frame.component) != (self.system, self.component);
        let is_autopilot =
            || Heartbeat::parse(frame).is_some_and(|h| h.autopilot != MAV_AUTOPILOT_INVALID);
        if !self.is_connected() && has_other_ids && is_autopilot() {
            (self.system, self.component) = (frame.system, frame.component);
            tracing::info!(
                vehicle = self.settings.id,
                system = self.system,
                component = self.component,
                "autopilot with unexpected ids taken as this vehicle"
            );
        }
    }

    /// Converts received bytes to MAVLink frames: returns these bytes, or those that the link writes to `buffer`.
    pub(super) fn incoming<'a>(&mut self, bytes: &'a [u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
        let frames = self.link.incoming(bytes, buffer);
        self.frames_or_count(frames)
    }

    /// Converts a true state to MAVLink frames in `out`.
    pub(super) fn true_state<'a>(&mut self, state: &TrueState, out: &'a mut Vec<u8>) -> &'a [u8] {
        let frames = self.link.true_state(state, out);
        self.frames_or_count(frames)
    }

    /// Returns the frames of the link; counts a problem and returns none.
    fn frames_or_count<'a>(&mut self, frames: Result<&'a [u8], Counter>) -> &'a [u8] {
        frames.unwrap_or_else(|problem| {
            self.count(problem);
            &[]
        })
    }

    /// System and component id of this bridge.
    pub fn own_ids(&self) -> (u8, u8) {
        let system = self.settings.system.unwrap_or(self.system);
        (system, self.settings.component)
    }

    /// Queues a text for `statustext/recv`.
    pub(super) fn notice(&mut self, mut text: String) {
        // The text may quote a client's input, of any length.
        if let Some((end, _)) = text.char_indices().nth(NOTICE_CHARS) {
            text = text[..end].to_owned() + "...";
        }
        if self.notices.len() < MAX_NOTICES {
            self.notices.push(text);
        }
    }

    /// Logs a warning, and queues it for `statustext/recv`.
    pub(super) fn warn(&mut self, text: String) {
        tracing::warn!(vehicle = self.settings.id, "{text}");
        self.notice(text);
    }

    /// Queues a true state of CopterSim.
    pub(super) fn queue_truth(&mut self, truth: TrueState) {
        if self.truths.len() < MAX_TRUTHS {
            self.truths.push((truth, self.waited));
        } else {
            self.count(Counter::TruthNotTaken);
        }
    }

    /// Returns the true states since the last call, and how long each had waited in the socket.
    pub fn take_truths(&mut self) -> Vec<(TrueState, Duration)> {
        std::mem::take(&mut self.truths)
    }

    /// Logs the warning of a check in [`LinkWarnings`], if there is one.
    pub(super) fn log_link_warning(&self, warning: Option<String>) {
        if let Some(text) = warning {
            tracing::warn!(vehicle = self.settings.id, "{text}");
        }
    }

    /// The present faults of the link, for the doctor.
    pub fn link_warnings(&mut self) -> Option<String> {
        self.link_warnings.present(self.now.mono)
    }

    /// Resets the state that is valid only while the autopilot is connected.
    pub(super) fn lost(&mut self) {
        self.heartbeat = None;
        (self.height, self.amsl, self.landed) = (None, None, None);
        self.preflight = Preflight::default();
        self.link.lost();
        self.count(Counter::LinkLost);
    }

    /// Counts an event; shown in /diagnostics.
    pub fn count(&mut self, counter: Counter) {
        *self.counts.entry(counter).or_default() += 1;
    }

    /// Copies a counter that another part keeps.
    pub(super) fn set_count(&mut self, counter: Counter, total: u64) {
        if total > 0 {
            self.counts.insert(counter, total);
        }
    }

    /// Counted events so far.
    pub fn counts(&self) -> &BTreeMap<Counter, u64> {
        &self.counts
    }

    /// Whether the autopilot is connected: a heartbeat has arrived, and its messages still do.
    pub fn is_connected(&self) -> bool {
        self.heartbeat.is_some()
    }

    /// Stores a sample's boot time in ns in `last` and returns true, unless the sample is late: older, but not of another run.
    /// Counts a late one: an old measurement must not follow a newer one.
    pub(super) fn check_order(&mut self, last: &mut Option<i64>, boot_ns: i64) -> bool {
        let is_late = |last: i64| (1..ANOTHER_RUN_NS).contains(&last.saturating_sub(boot_ns));
        if last.is_some_and(is_late) {
            self.count(Counter::Late);
            return false;
        }
        *last = Some(boot_ns);
        true
    }

    /// The attitude, unless it is too old for the datagram of the current call. Its age is the time between their arrivals,
    /// so a stall of this process does not make it old.
    pub(super) fn recent_orientation(&self) -> Option<Orientation> {
        self.orientation.filter(|known| self.is_recent(known.at))
    }

    /// Whether a pose that arrived `at` is recent.
    pub(super) fn is_recent(&self, at: Duration) -> bool {
        self.arrival().saturating_sub(at) <= MAX_POSE_AGE
    }

    /// Whether the last heartbeat reports armed.
    pub fn is_armed(&self) -> bool {
        self.heartbeat.is_some_and(|h| h.base_mode & MAV_MODE_FLAG_SAFETY_ARMED != 0)
    }

    /// Whether the last heartbeat reports PX4.
    pub(super) fn is_px4(&self) -> bool {
        self.heartbeat.is_some_and(|h| h.autopilot == MAV_AUTOPILOT_PX4)
    }

    /// Whether the autopilot is PX4, as far as is known.
    pub(super) fn may_be_px4(&self) -> bool {
        self.heartbeat.is_none() || self.is_px4()
    }

    /// A COMMAND_LONG to the autopilot.
    pub(super) fn command(&self, command: u16, confirmation: u8, params: [f32; 7]) -> CommandLong {
        CommandLong {
            params,
            command,
            target_system: self.system,
            target_component: self.component,
            confirmation,
        }
    }

    /// MAV_CMD_REQUEST_MESSAGE for the message of this id.
    pub(super) fn request_message(&self, id: u32) -> CommandLong {
        self.command(MAV_CMD_REQUEST_MESSAGE, 0, [id as f32, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    }

    /// Whether all numbers are finite; otherwise counts the measurement, which is not published.
    pub(super) fn check_finite(&mut self, numbers: impl IntoIterator<Item = f32>) -> bool {
        let is_finite = numbers.into_iter().all(f32::is_finite);
        if !is_finite {
            self.count(Counter::NotFinite);
        }
        is_finite
    }
}
