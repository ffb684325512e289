//! Decides when to request data of a vehicle from its CopterSim by unicast, and tells whether the requests helped.
//!
//! All times are of the host's monotonic clock.
use std::time::Duration;

/// Silence after which data is requested: heartbeats arrive every second.
const SILENCE: Duration = Duration::from_secs(2);
/// The same for a CopterSim on this host: once its data is requested, it also sends to other hosts.
const SILENCE_LOCAL: Duration = Duration::from_secs(10);
/// Number of requests after which data should have arrived.
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
    /// All data that CopterSim sends, to this host.
    pub data: bool,
    /// A heartbeat.
    pub heartbeat: bool,
}

/// The requests to one CopterSim.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnicastRequests {
    local: bool,
    controlled: bool,
    /// Whether heartbeats, true state and data of the autopilot are missing.
    missing: [bool; 3],
    /// When data of any kind began to arrive.
    alive_since: Option<Duration>,
    sent: u64,
    /// A request was sent for some data while other data arrived.
    was_partial: bool,
    /// Heartbeats and true state have arrived once.
    was_complete: bool,
    /// They arrived because of a request.
    on_request: bool,
}

impl UnicastRequests {
    /// `local`: CopterSim runs on this host; `controlled`: the bridge uses the data of the autopilot.
    pub fn new(local: bool, controlled: bool) -> Self {
        Self { local, controlled, ..Self::default() }
    }

    /// Returns the requests that are due; called once per period of requests.
    pub fn due(&mut self, last: &LastArrivals, now: Duration) -> DueRequests {
        let limit = if self.local { SILENCE_LOCAL } else { SILENCE };
        let silent = |since: Duration| now.saturating_sub(since) >= limit;
        let own = [last.heartbeats, last.true_state];
        let mut all = own.into_iter().chain([last.autopilot, last.imu]).flatten();
        self.alive_since = (all.any(|last| !silent(last))).then(|| self.alive_since.unwrap_or(now));
        if !self.was_complete && own.iter().all(Option::is_some) {
            self.was_complete = true;
            // A CopterSim on another host that merely started late answers after more requests.
            let soon = !self.local && (1..ENOUGH_REQUESTS).contains(&self.sent);
            self.on_request = self.was_partial || soon;
        }
        // A local CopterSim that sent without a request and stopped has paused or ended.
        let paused = self.local && self.was_complete && !self.on_request;
        // A local CopterSim that has just started gets time to send everything.
        let started = self.alive_since.filter(|_| self.local).unwrap_or_default();
        let missing = |last: Option<Duration>| silent(last.unwrap_or_default().max(started));
        let [heartbeats, true_state] = own.map(|last| !paused && missing(last));
        // A vehicle may have no autopilot; a local CopterSim sends its data without a request.
        let autopilot = self.controlled && !self.local && missing(last.autopilot);
        self.missing = [heartbeats, true_state, autopilot];
        let due = DueRequests {
            data: self.missing.contains(&true) && (!self.local || self.alive_since.is_some()),
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
        self.local
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
        self.on_request
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
            _ if self.on_request => {
                format!("on request: arrived only after requests, {sent} so far")
            }
            _ => format!("{sent} requests"),
        }
    }
}
