//! Stamps of what a vehicle reports: the autopilot's own sample times, which are never later than the present and never
//! go back within a topic.
use crate::time::RosTime;

/// When something was measured.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stamp {
    at: RosTime,
    now: RosTime,
}

impl Stamp {
    /// Of a sample that was taken `at`, as far as the autopilot's clock is known; nothing was measured after `now`.
    pub fn new(at: RosTime, now: RosTime) -> Self {
        let at = at.min(now);
        Self { at, now }
    }
}

/// The last stamp of a topic.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order(Option<RosTime>);

impl Order {
    /// The stamp of the next message. Where it would go back, because the autopilot's clock is known better now than
    /// before, it is the next instant; and the present where this host's own clock went back.
    pub fn next(&mut self, stamp: Stamp) -> RosTime {
        let next = match self.0 {
            Some(last) if stamp.at < last => RosTime(last.0.saturating_add(1)).min(stamp.now),
            _ => stamp.at,
        };
        self.0 = Some(next);
        next
    }
}
