//! Pairs the messages of two topics by their stamps.
use std::collections::VecDeque;
use std::time::Duration;

/// Messages that wait for their partner.
const DEPTH: usize = 10;
/// Partners are at most this far apart.
const SLOP: Duration = Duration::from_millis(200);

/// Two topics. A message is paired as soon as a partner is there, with the nearest one; unlike ROS' approximate time it
/// does not wait for the next message to be sure of that, because it is about attitudes.
#[derive(Debug)]
pub(super) struct Pairing<A, B> {
    left: VecDeque<(i64, A)>,
    right: VecDeque<(i64, B)>,
}

/// What a message led to.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Paired<A, B> {
    /// It waits.
    Waits,
    /// It waits, and the oldest one that waited is given up.
    Full,
    /// Stamp of the left one, and both.
    Pair(i64, A, B),
}

impl<A, B> Pairing<A, B> {
    pub(super) const fn new() -> Self {
        Self {
            left: VecDeque::new(),
            right: VecDeque::new(),
        }
    }

    /// Takes a message of the left topic, with its stamp in ns.
    pub(super) fn left(&mut self, stamp: i64, message: A) -> Paired<A, B> {
        if let Some((_, partner)) = nearest(&mut self.right, stamp) {
            self.left.clear();
            return Paired::Pair(stamp, message, partner);
        }
        wait(&mut self.left, stamp, message)
    }

    /// Takes a message of the right topic.
    pub(super) fn right(&mut self, stamp: i64, message: B) -> Paired<A, B> {
        if let Some((stamp, partner)) = nearest(&mut self.left, stamp) {
            self.right.clear();
            return Paired::Pair(stamp, partner, message);
        }
        wait(&mut self.right, stamp, message)
    }
}

/// Takes out the nearest partner; those that came before it are too old for anyone.
fn nearest<T>(queue: &mut VecDeque<(i64, T)>, stamp: i64) -> Option<(i64, T)> {
    let distance = |(other, _): &(i64, T)| other.abs_diff(stamp);
    let found = queue.iter().enumerate().min_by_key(|(_, e)| distance(e));
    let (at, entry) = found?;
    if u128::from(distance(entry)) > SLOP.as_nanos() {
        return None;
    }
    queue.drain(..at);
    queue.pop_front()
}

fn wait<T, A, B>(queue: &mut VecDeque<(i64, T)>, stamp: i64, message: T) -> Paired<A, B> {
    let full = queue.len() >= DEPTH;
    if full {
        queue.pop_front();
    }
    queue.push_back((stamp, message));
    if full { Paired::Full } else { Paired::Waits }
}
