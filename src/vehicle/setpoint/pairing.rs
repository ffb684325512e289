//! Pairs the messages of two topics by their stamps.
use std::{collections::VecDeque, time::Duration};

/// Limit of waiting messages per topic.
const DEPTH: usize = 10;
/// Largest difference of two stamps.
const SLOP: Duration = Duration::from_millis(200);

/// Pairs each message at once with the nearest waiting counterpart. ApproximateTime of message_filters waits for the next
/// message to find the best pair; attitudes cannot wait.
#[derive(Debug)]
pub(super) struct Pairing<A, B> {
    left: VecDeque<(i64, A)>,
    right: VecDeque<(i64, B)>,
}

/// Result of adding a message.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Paired<A, B> {
    /// The message waits.
    Waits,
    /// The message waits, and the oldest one was dropped.
    Full,
    /// Stamp of the left message, and both messages.
    Pair(i64, A, B),
}

impl<A, B> Pairing<A, B> {
    pub(super) const fn new() -> Self {
        Self { left: VecDeque::new(), right: VecDeque::new() }
    }

    /// Adds a message of the left topic, with its stamp in ns.
    pub(super) fn add_left(&mut self, stamp: i64, message: A) -> Paired<A, B> {
        if let Some((_, partner)) = take_nearest(&mut self.right, stamp) {
            self.left.clear();
            return Paired::Pair(stamp, message, partner);
        }
        enqueue(&mut self.left, stamp, message)
    }

    /// Adds a message of the right topic.
    pub(super) fn add_right(&mut self, stamp: i64, message: B) -> Paired<A, B> {
        if let Some((stamp, partner)) = take_nearest(&mut self.left, stamp) {
            self.right.clear();
            return Paired::Pair(stamp, partner, message);
        }
        enqueue(&mut self.right, stamp, message)
    }
}

/// Removes and returns the nearest counterpart within `SLOP`; drops older ones, because later messages have newer stamps.
fn take_nearest<T>(queue: &mut VecDeque<(i64, T)>, stamp: i64) -> Option<(i64, T)> {
    let distance = |(other, _): &(i64, T)| other.abs_diff(stamp);
    let found = queue.iter().enumerate().min_by_key(|(_, e)| distance(e));
    let (at, entry) = found?;
    if u128::from(distance(entry)) > SLOP.as_nanos() {
        return None;
    }
    queue.drain(..at);
    queue.pop_front()
}

fn enqueue<T, A, B>(queue: &mut VecDeque<(i64, T)>, stamp: i64, message: T) -> Paired<A, B> {
    let is_full = queue.len() >= DEPTH;
    if is_full {
        queue.pop_front();
    }
    queue.push_back((stamp, message));
    if is_full { Paired::Full } else { Paired::Waits }
}
