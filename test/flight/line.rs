//! A line between two who send datagrams: late, lost, doubled, out of order, as its seed says.
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// SplitMix64: the same numbers on every machine.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 up to `end`.
    pub(super) fn up_to(&mut self, end: f64) -> f64 {
        end * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.up_to(1.0) < probability
    }
}

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
            latency_ms: random.up_to(250.0),
            jitter_ms: random.up_to(200.0),
            loss: random.up_to(0.3),
            duplication: random.up_to(0.3),
            drift_ppm: random.up_to(2000.0) - 1000.0,
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
        if random.chance(on.loss) {
            return;
        }
        let copies = 1 + usize::from(random.chance(on.duplication));
        for _ in 0..copies {
            let late = on.latency_ms + random.up_to(on.jitter_ms);
            let arrival = now + Duration::from_secs_f64(late * 1e-3);
            self.sent += 1;
            self.waiting
                .push(Reverse((arrival, self.sent, datagram.to_vec())));
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
