//! A line between two who send datagrams: late, lost, doubled, out of order, as its seed says.
use crate::support::random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// What happens to datagrams on their way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conditions {
    pub(super) latency_ms: f64,
    /// Up to so much later; whoever overtakes somebody else arrives first.
    pub(super) jitter_ms: f64,
    pub(super) loss: f64,
    pub(super) duplication: f64,
    /// Of the autopilot's clock against ours, in parts per million.
    pub(super) drift_ppm: f64,
}

impl Conditions {
    /// A bad line, but one that people fly over.
    pub(super) fn bad(random: &mut Random) -> Self {
        Self {
            latency_ms: 250.0 * random.uniform(),
            jitter_ms: 200.0 * random.uniform(),
            loss: 0.3 * random.uniform(),
            duplication: 0.3 * random.uniform(),
            drift_ppm: 2000.0 * random.uniform() - 1000.0,
        }
    }
}

/// Datagrams on their way in one direction, by arrival; those of the same instant in the order in which they were sent.
#[derive(Default)]
pub(super) struct Line {
    waiting: BinaryHeap<Reverse<(Duration, u64, Vec<u8>)>>,
    sent: u64,
}

impl Line {
    pub(super) fn send(
        &mut self,
        now: Duration,
        datagram: &[u8],
        on: &Conditions,
        random: &mut Random,
    ) {
        if random.uniform() < on.loss {
            return;
        }
        let copies = 1 + usize::from(random.uniform() < on.duplication);
        for _ in 0..copies {
            let late = on.latency_ms + on.jitter_ms * random.uniform();
            let arrival = now + Duration::from_secs_f64(late * 1e-3);
            self.sent += 1;
            self.waiting.push(Reverse((arrival, self.sent, datagram.to_vec())));
        }
    }

    pub(super) fn arrived(&mut self, now: Duration) -> Option<Vec<u8>> {
        self.waiting.peek().filter(|Reverse((at, ..))| *at <= now)?;
        self.waiting.pop().map(|Reverse((_, _, datagram))| datagram)
    }

    /// The cable is cut.
    pub(super) fn lose_all(&mut self) {
        self.waiting.clear();
    }
}
