//! Stamps of a vehicle's reports: the autopilot's own sample times, never later than the present and never going back
//! within a topic.
use crate::{msgs::builtin_interfaces::msg::Time, time::RosTime};

/// Sample time of a measurement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stamp {
    at: RosTime,
    now: RosTime,
}

impl Stamp {
    /// Stamp of a sample taken `at`, in the estimated clock of the autopilot; limited to `now`.
    pub fn new(at: RosTime, now: RosTime) -> Self {
        let at = at.min(now);
        Self { at, now }
    }
}

/// The last stamp of a topic.
#[derive(Clone, Copy, Debug, Default)]
pub struct StampOrder(Option<RosTime>);

impl StampOrder {
    /// The stamp of the next message. A stamp that goes back, because the clock estimate improved, becomes 1 ns later than
    /// the last one, but not later than the present.
    pub fn next(&mut self, stamp: Stamp) -> RosTime {
        let next = match self.0 {
            Some(last) if stamp.at < last => RosTime(last.0.saturating_add(1)).min(stamp.now),
            _ => stamp.at,
        };
        self.0 = Some(next);
        next
    }
}

/// The µs stamp of a message to the autopilot. As in mavros it is ROS time, also in fields for the boot time.
pub(super) fn stamp_us(stamp: &Time) -> u64 {
    u64::try_from(stamp.sec).unwrap_or(0) * 1_000_000 + u64::from(stamp.nanosec / 1000)
}
