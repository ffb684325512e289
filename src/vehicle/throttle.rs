//! Rate-limits log lines about frequent events.
use std::{collections::BTreeMap, time::Duration};

/// Time between two log lines of one kind.
const PERIOD: Duration = Duration::from_secs(5);

/// Last log line by subject and kind. Both are literals in the code, so their number is bounded.
#[derive(Debug, Default)]
pub(super) struct Throttle(BTreeMap<(&'static str, &'static str), Logged>);

#[derive(Debug)]
struct Logged {
    at: Duration,
    suppressed: u64,
}

impl Throttle {
    /// Whether a line about `subject` of this `kind` may be logged now; if so, how many were suppressed since the last one.
    pub(super) fn due(
        &mut self,
        subject: &'static str,
        kind: &'static str,
        now: Duration,
    ) -> Option<u64> {
        let mut suppressed = 0;
        if let Some(logged) = self.0.get_mut(&(subject, kind)) {
            if now < logged.at.saturating_add(PERIOD) {
                logged.suppressed += 1;
                return None;
            }
            suppressed = logged.suppressed;
        }
        let logged = Logged { at: now, suppressed: 0 };
        self.0.insert((subject, kind), logged);
        Some(suppressed)
    }
}
