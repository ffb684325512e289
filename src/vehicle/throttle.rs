//! Says what happens many times a second only now and then.
use std::collections::BTreeMap;
use std::time::Duration;

/// Time between two messages of one kind.
const PERIOD: Duration = Duration::from_secs(5);

/// What was said, and when. Kinds are named in the code, so that there is a bounded number of them.
#[derive(Debug, Default)]
pub(super) struct Throttle(BTreeMap<(&'static str, &'static str), Said>);

#[derive(Debug)]
struct Said {
    at: Duration,
    unsaid: u64,
}

impl Throttle {
    /// Whether `what` may be said about `topic` now; if so, how often it was left unsaid since the last time.
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
