//! Notifications to the service manager (`sd_notify`), if one started the program.
use sd_notify::NotifyState;
use std::time::{Duration, Instant};

/// Reports that the program has started: units ordered after this one may start.
pub fn tell_ready() {
    tell(&NotifyState::Ready);
}

/// Reports that the program is stopping.
pub fn tell_stopping() {
    tell(&NotifyState::Stopping);
}

fn tell(state: &NotifyState<'_>) {
    // Without a service manager this sends nothing and returns no error.
    if let Err(error) = sd_notify::notify(std::slice::from_ref(state)) {
        tracing::warn!("cannot notify the service manager: {error}");
    }
}

/// Reports to the service manager that a loop still runs (`WatchdogSec=`).
#[derive(Debug)]
pub struct Watchdog {
    /// Half the time limit of the service manager; `None` if it does not watch.
    period: Option<Duration>,
    last: Option<Instant>,
}

impl Watchdog {
    /// Uses the time limit in the environment of this process.
    pub fn of_process() -> Self {
        Self::with_limit(sd_notify::watchdog_enabled())
    }

    /// Uses this time limit of the service manager.
    pub fn with_limit(limit: Option<Duration>) -> Self {
        Self { period: limit.map(|limit| limit / 2), last: None }
    }

    /// Sends a notification if one is due; the loop calls this in each iteration.
    pub fn alive(&mut self, now: Instant) {
        if self.due(now) {
            tell(&NotifyState::Watchdog);
        }
    }

    /// Whether a notification is due; if so, the next one is due a period later.
    pub fn due(&mut self, now: Instant) -> bool {
        let Some(period) = self.period else { return false };
        let due = self.last.is_none_or(|last| now.duration_since(last) >= period);
        if due {
            self.last = Some(now);
        }
        due
    }
}
