//! When CopterSim of a vehicle is asked by unicast for what it does not send by itself, and what became of it.
//!
//! The times are of the host's monotonic clock.
use std::time::Duration;

/// Silence after which something is asked for: heartbeats come every second.
const SILENCE: Duration = Duration::from_secs(2);
/// The same of a CopterSim on this host: one that is asked for its data sends to other hosts, too.
const SILENCE_HERE: Duration = Duration::from_secs(10);
/// Requests that should have helped.
const ENOUGH: u64 = 3;
/// Beginning of a text that the doctor knows.
const IN_VAIN: &str = "in vain: ";
/// The same of what came.
const ANSWERED: &str = "answered: ";

/// When something of a vehicle came last, since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Came {
    /// Heartbeats.
    pub heartbeats: Option<Duration>,
    /// True states.
    pub true_state: Option<Duration>,
    /// What its autopilot sends.
    pub autopilot: Option<Duration>,
    /// Samples of its IMU, which are asked for on their own.
    pub imu: Option<Duration>,
}

/// What to ask for now.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Wish {
    /// All that CopterSim sends, to this host.
    pub data: bool,
    /// A heartbeat.
    pub heartbeat: bool,
}

/// The requests to one CopterSim.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    here: bool,
    controlled: bool,
    /// Heartbeats, true state, what the autopilot sends.
    missing: [bool; 3],
    /// Since when anything comes.
    alive: Option<Duration>,
    asked: u64,
    /// It was asked for data while others came.
    held_back: bool,
    /// Everything came once.
    whole: bool,
    answered: bool,
}

impl Asking {
    /// `here`: CopterSim runs on this host; `controlled`: what its autopilot sends is used.
    pub fn new(here: bool, controlled: bool) -> Self {
        Self {
            here,
            controlled,
            missing: [false; 3],
            alive: None,
            asked: 0,
            held_back: false,
            whole: false,
            answered: false,
        }
    }

    /// What to ask for now; called once per period of the requests.
    pub fn look(&mut self, came: &Came, now: Duration) -> Wish {
        let limit = if self.here { SILENCE_HERE } else { SILENCE };
        let silent = |since: Duration| now.saturating_sub(since) >= limit;
        let own = [came.heartbeats, came.true_state];
        let mut all = own.into_iter().chain([came.autopilot, came.imu]).flatten();
        self.alive = (all.any(|last| !silent(last))).then(|| self.alive.unwrap_or(now));
        if !self.whole && own.iter().all(Option::is_some) {
            self.whole = true;
            // A CopterSim elsewhere that was started later comes after more requests.
            let soon = !self.here && (1..ENOUGH).contains(&self.asked);
            self.answered = self.held_back || soon;
        }
        // On this host a simulation that sent by itself and stopped has paused or ended.
        let by_itself = self.here && self.whole && !self.answered;
        // One that has just been started gets time to send everything.
        let started = self.alive.filter(|_| self.here).unwrap_or_default();
        let missing = |last: Option<Duration>| silent(last.unwrap_or_default().max(started));
        let [heartbeats, true_state] = own.map(|last| !by_itself && missing(last));
        // An autopilot may be absent on purpose; CopterSim sends its data to its own host.
        let autopilot = self.controlled && !self.here && missing(came.autopilot);
        self.missing = [heartbeats, true_state, autopilot];
        let wish = Wish {
            data: self.missing.contains(&true) && (!self.here || self.alive.is_some()),
            heartbeat: heartbeats,
        };
        if heartbeats || true_state {
            self.asked += 1;
            self.held_back |= wish.data && self.alive.is_some();
        }
        wish
    }

    /// Whether CopterSim runs on this host.
    pub fn is_here(&self) -> bool {
        self.here
    }

    /// What does not come.
    pub fn missing(&self) -> &'static str {
        match self.missing {
            [true, true, _] => "heartbeats and true state",
            [true, false, _] => "heartbeats",
            [false, true, _] => "true state",
            [false, false, true] => "data of the autopilot",
            [false, false, false] => "nothing",
        }
    }

    /// Whether CopterSim runs and does not send everything, although it was asked.
    pub fn in_vain(&self) -> bool {
        let [heartbeats, true_state, _] = self.missing;
        (heartbeats || true_state) && self.alive.is_some() && self.asked >= ENOUGH
    }

    /// For `/diagnostics`.
    pub fn text(&self) -> String {
        let asked = self.asked;
        match asked {
            0 => "not needed".to_owned(),
            _ if self.in_vain() => {
                format!("{IN_VAIN}{} after {asked} requests", self.missing())
            }
            _ if self.answered => format!("{ANSWERED}came only after requests, {asked} so far"),
            _ => format!("{asked} requests"),
        }
    }
}
