//! `ground_truth/crash`: when a collision begins and ends.
use crate::time::RosTime;
use std::time::Duration;

/// An event of the same object within this is the same collision.
const SAME: Duration = Duration::from_secs(1);
/// What stands for no collision any more.
const OVER: i32 = -1;

/// Two kinds of datagrams tell of collisions: one that is sent all the time, and one that is sent when it happens.
#[derive(Debug, Default)]
pub struct Crashes {
    lasting: Option<i32>,
    event: Option<(i32, RosTime)>,
}

impl Crashes {
    /// Takes what one datagram says; returns what is to be published.
    pub fn take(&mut self, with: Option<i32>, lasting: bool, now: RosTime) -> Option<i32> {
        if lasting {
            let before = std::mem::replace(&mut self.lasting, with);
            let known = self.event.is_some_and(|(id, _)| Some(id) == with);
            return match with {
                Some(id) if before != with && !known => Some(id),
                None if before.is_some() && self.event.is_none() => Some(OVER),
                _ => None,
            };
        }
        let Some(id) = with else {
            return self.event.take().map(|_| OVER);
        };
        let same = self.event.is_some_and(|(last, at)| {
            last == id && now.0.saturating_sub(at.0).unsigned_abs() < SAME.as_nanos() as u64
        }) || self.lasting == Some(id);
        self.event = Some((id, now));
        (!same).then_some(id)
    }
}
