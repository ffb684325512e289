//! `ground_truth/crash`: start and end of a collision.
use crate::time::RosTime;
use std::time::Duration;

/// Events with the same object within this time are one collision.
const MERGE_TIME: Duration = Duration::from_secs(1);
/// Published at the end of a collision.
const COLLISION_END: i32 = -1;

/// Merges the two kinds of datagrams that report collisions: one is periodic, one is sent at the event.
#[derive(Debug, Default)]
pub struct Crashes {
    periodic: Option<i32>,
    event: Option<(i32, RosTime)>,
}

impl Crashes {
    /// Handles the report of a datagram. `with` is the object hit, `None` at the end. Returns the value to publish.
    pub fn take(&mut self, with: Option<i32>, is_periodic: bool, now: RosTime) -> Option<i32> {
        if is_periodic {
            let before = std::mem::replace(&mut self.periodic, with);
            let is_known = self.event.is_some_and(|(id, _)| Some(id) == with);
            return match with {
                Some(id) if before != with && !is_known => Some(id),
                None if before.is_some() && self.event.is_none() => Some(COLLISION_END),
                _ => None,
            };
        }
        let Some(id) = with else {
            return self.event.take().map(|_| COLLISION_END);
        };
        let is_same = self.event.is_some_and(|(last, at)| {
            last == id && now.0.saturating_sub(at.0).unsigned_abs() < MERGE_TIME.as_nanos() as u64
        }) || self.periodic == Some(id);
        self.event = Some((id, now));
        (!is_same).then_some(id)
    }
}
