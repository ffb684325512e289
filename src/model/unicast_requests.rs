//! Decides when to request data of a vehicle from its CopterSim by unicast, and whether the requests helped.
//!
//! All times are of the host's monotonic clock.
use std::time::Duration;

/// Silence after which data is requested: heartbeats arrive every second.
const SILENCE: Duration = Duration::from_secs(2);
/// The same for a CopterSim on this host, longer because a request makes it send to other hosts as well.
const SILENCE_LOCAL: Duration = Duration::from_secs(10);
/// Number of requests after which missing data counts as unanswered.
const ENOUGH_REQUESTS: u64 = 3;

/// Time of the last arrival of each kind of a vehicle's data, since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastArrivals {
    /// Heartbeats.
    pub heartbeats: Option<Duration>,
    /// True states.
    pub true_state: Option<Duration>,
    /// Data of its autopilot.
    pub autopilot: Option<Duration>,
    /// Samples of its IMU, which have requests of their own.
    pub imu: Option<Duration>,
}

/// The requests that are due.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DueRequests {
    /// A request to send all data to this host.
    pub data: bool,
    /// A request for a heartbeat.
    pub heartbeat: bool,
}

/// The requests to one CopterSim.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnicastRequests {
    is_local: bool,
    is_controlled: bool,
    /// Whether heartbeats, true state and data of the autopilot are missing.
    missing: [bool; 3],
    /// Time at which data of any kind began to arrive.
    alive_since: Option<Duration>,
    sent: u64,
    /// Whether a request for some data was sent while other data arrived.
    was_partial: bool,
    /// Whether heartbeats and true state have both arrived.
    was_complete: bool,
    /// Whether heartbeats and true state arrived because of a request.
    arrived_on_request: bool,
}

impl UnicastRequests {
    /// `local`: CopterSim runs on this host; `controlled`: the bridge uses the data of the autopilot.
    pub fn new(local: bool, controlled: bool) -> Self {
        Self { is_local: local, is_controlled: controlled, ..Self::default() }
    }

    /// Finds the missing data and returns the requests that are due; called once per period of requests.
    pub fn due(&mut self, last: &LastArrivals, now: Duration) -> DueRequests {
        let limit = if self.is_local { SILENCE_LOCAL } else { SILENCE };
        let is_silent = |since: Duration| now.saturating_sub(since) >= limit;
        let required = [last.heartbeats, last.true_state];
        let mut all = required.into_iter().chain([last.autopilot, last.imu]).flatten();
        self.alive_since = (all.any(|t| !is_silent(t))).then(|| self.alive_since.unwrap_or(now));
        if !self.was_complete && required.iter().all(Option::is_some) {
            self.was_complete = true;
            // Data after `ENOUGH_REQUESTS` requests is not their effect: a CopterSim on another host has started late.
            let is_early = !self.is_local && (1..ENOUGH_REQUESTS).contains(&self.sent);
            self.arrived_on_request = self.was_partial || is_early;
        }
        // A local CopterSim that sent without a request and stopped has paused or ended.
        let is_paused = self.is_local && self.was_complete && !self.arrived_on_request;
        // A local CopterSim that has just started gets time to send everything.
        let started = self.alive_since.filter(|_| self.is_local).unwrap_or_default();
        let is_missing = |last: Option<Duration>| is_silent(last.unwrap_or_default().max(started));
        let [heartbeats, true_state] = required.map(|last| !is_paused && is_missing(last));
        // A vehicle may have no autopilot; a local CopterSim sends the autopilot's data without a request.
        let autopilot = self.is_controlled && !self.is_local && is_missing(last.autopilot);
        self.missing = [heartbeats, true_state, autopilot];
        let due = DueRequests {
            data: self.missing.contains(&true) && (!self.is_local || self.alive_since.is_some()),
            heartbeat: heartbeats,
        };
        if heartbeats || true_state {
            self.sent += 1;
            self.was_partial |= due.data && self.alive_since.is_some();
        }
        due
    }

    /// Whether CopterSim runs on this host.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// Names the missing data.
    pub fn missing(&self) -> &'static str {
        match self.missing {
            [true, true, _] => "heartbeats and true state",
            [true, false, _] => "heartbeats",
            [false, true, _] => "true state",
            [false, false, true] => "data of the autopilot",
            [false, false, false] => "nothing",
        }
    }

    /// Whether CopterSim runs but does not send everything in spite of enough requests.
    pub fn is_unanswered(&self) -> bool {
        let [heartbeats, true_state, _] = self.missing;
        (heartbeats || true_state) && self.alive_since.is_some() && self.sent >= ENOUGH_REQUESTS
    }

    /// Whether heartbeats and true state arrived only because of requests.
    pub fn is_on_request(&self) -> bool {
        self.arrived_on_request
    }

    /// Number of requests for heartbeats or true state.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Describes the requests for `/diagnostics`.
    pub fn text(&self) -> String {
        let sent = self.sent;
        match sent {
            0 => "not needed".to_owned(),
            _ if self.is_unanswered() => {
                format!("unanswered: {} after {sent} requests", self.missing())
            }
            _ if self.arrived_on_request => {
                format!("on request: arrived only after requests, {sent} so far")
            }
            _ => format!("{sent} requests"),
        }
    }
}
