//! What the service manager is told (`sd_notify`), if one started the program.
use sd_notify::NotifyState;
use std::time::{Duration, Instant};

/// The start is over: units ordered after this one may start.
pub fn tell_ready() {
    tell(&NotifyState::Ready);
}

/// The program stops because it was asked to.
pub fn tell_stopping() {
    tell(&NotifyState::Stopping);
}

fn tell(state: &NotifyState<'_>) {
    // Without a service manager nothing is sent, and that is no error.
    if let Err(error) = sd_notify::notify(std::slice::from_ref(state)) {
        tracing::warn!("cannot notify the service manager: {error}");
    }
}

/// Tells the service manager that a loop still turns (`WatchdogSec=`).
#[derive(Debug)]
pub struct Watchdog {
    /// Half of what the service manager waits for; `None` where it does not watch.
    period: Option<Duration>,
    last: Option<Instant>,
}

impl Watchdog {
    /// As the environment of this process asks for it.
    pub fn of_process() -> Self {
        Self::with_limit(sd_notify::watchdog_enabled())
    }

    /// For a service manager that waits for `limit`.
    pub fn with_limit(limit: Option<Duration>) -> Self {
        Self {
            period: limit.map(|limit| limit / 2),
            last: None,
        }
    }

    /// The loop has turned once more.
    pub fn alive(&mut self, now: Instant) {
        if self.due(now) {
            tell(&NotifyState::Watchdog);
        }
    }

    /// Whether the service manager is to be told now.
    pub fn due(&mut self, now: Instant) -> bool {
        let Some(period) = self.period else {
            return false;
        };
        let due = self
            .last
            .is_none_or(|last| now.duration_since(last) >= period);
        if due {
            self.last = Some(now);
        }
        due
    }
}
