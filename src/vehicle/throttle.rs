//! Rate-limits log lines about frequent events.
use std::collections::BTreeMap;
use std::time::Duration;

/// Time between two log lines of one kind.
const PERIOD: Duration = Duration::from_secs(5);

/// Last log line by kind. Kinds are literals in the code, so their number is bounded.
#[derive(Debug, Default)]
pub(super) struct Throttle(BTreeMap<(&'static str, &'static str), Said>);

#[derive(Debug)]
struct Said {
    at: Duration,
    unsaid: u64,
}

impl Throttle {
    /// Whether a line on `topic` and `what` may be logged now; if so, how many were suppressed since the last one.
    pub(super) fn due(
        &mut self,
        topic: &'static str,
        what: &'static str,
        now: Duration,
    ) -> Option<u64> {
        let mut unsaid = 0;
        if let Some(said) = self.0.get_mut(&(topic, what)) {
            if now < said.at.saturating_add(PERIOD) {
                said.unsaid += 1;
                return None;
            }
            unsaid = said.unsaid;
        }
        let said = Said { at: now, unsaid: 0 };
        self.0.insert((topic, what), said);
        Some(unsaid)
    }
}
