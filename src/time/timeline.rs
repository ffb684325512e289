//! Stamps already assigned: they never change, and later ones never precede them.
use std::collections::VecDeque;

/// Maximum number of segments. Two successive ones, unless a jump ends one, are together at least [`SEGMENT_NS`] long, because
/// one begins at the tick before the tick that is that far: ticks of the last 20 s keep their stamps.
const SEGMENTS: usize = 2048;
const SEGMENT_NS: i64 = 20_000_000;
/// Time constant of the correction of a difference from the estimate.
const CORRECTION_NS: f64 = 5e9;
/// Fastest correction: 5 ms per s.
const SLEW: f64 = 0.005;
/// The same in the first seconds of a run, while the delays are still unknown.
const LEARNING_CORRECTION_NS: f64 = 0.25e9;
const SLEW_LEARNING: f64 = 0.05;
const LEARNING_NS: i64 = 3_000_000_000;
/// The same for a difference above `LARGE_NS`, too large for drift: corrected in about a second, by up to half the slope.
const LARGE_NS: f64 = 25e6;
const LARGE_CORRECTION_NS: f64 = 1e9;
const SLEW_LARGE: f64 = 0.5;
/// A difference above this causes a jump, if it is forward.
const JUMP_NS: f64 = 250e6;
/// Smallest slope of the stamps, as a fraction of the estimated slope: stamps always rise.
const SLOWEST: f64 = 0.02;

/// A rising, piecewise linear function from simulator time to stamps in ns, continuous except for jumps forward.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    /// Ordered by `sim`. A segment applies to ticks after its `sim`, up to and including the `sim` of the next.
    segments: VecDeque<Segment>,
    /// Latest stamped tick; later ones have no stamp yet.
    frontier: i64,
    /// First tick of the run.
    pub(super) begin: i64,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    sim: i64,
    stamp: i64,
    slope: f64,
}

impl Segment {
    fn at(&self, sim: i64) -> i64 {
        let ahead = (sim.saturating_sub(self.sim) as f64 * self.slope).round() as i64;
        self.stamp.saturating_add(ahead)
    }
}

impl Timeline {
    pub(super) fn new() -> Self {
        Self { segments: VecDeque::with_capacity(SEGMENTS), frontier: i64::MIN, begin: 0 }
    }

    pub(super) fn frontier(&self) -> Option<i64> {
        (!self.segments.is_empty()).then_some(self.frontier)
    }

    /// Returns the latest assigned stamp.
    pub(super) fn latest(&self) -> Option<i64> {
        Some(self.segments.back()?.at(self.frontier))
    }

    /// Begins a run: `sim` gets `stamp`, ticks up to `frontier` follow at `slope`. Drops the previous run.
    pub(super) fn begin(&mut self, sim: i64, stamp: i64, slope: f64, frontier: i64) {
        self.segments.clear();
        self.segments.push_back(Segment { sim, stamp, slope });
        self.frontier = frontier.max(sim);
        self.begin = sim;
    }

    /// Returns the stamp of a tick: a new one after the frontier, otherwise the one assigned before.
    ///
    /// `wanted` is the estimated stamp, `slope` the estimated stamp per simulator time.
    pub(super) fn extend(&mut self, sim: i64, wanted: i64, slope: f64) -> Option<i64> {
        let last = *self.segments.back()?;
        if sim <= self.frontier {
            return self.at(sim);
        }
        let behind = wanted.saturating_sub(last.at(sim)) as f64;
        if sim.saturating_sub(last.sim) >= SEGMENT_NS || behind > JUMP_NS {
            self.start_segment(sim, wanted, slope);
        }
        self.frontier = sim;
        self.latest()
    }

    /// Returns the stamp of a tick up to the frontier, or the extrapolated one after it.
    pub(super) fn at(&self, sim: i64) -> Option<i64> {
        let last = self.segments.back()?;
        if sim > last.sim {
            return Some(last.at(sim));
        }
        let index = self.segments.partition_point(|s| s.sim < sim).saturating_sub(1);
        Some(self.segments.get(index)?.at(sim))
    }

    /// Starts a segment at the frontier; its slope leads towards the estimate.
    fn start_segment(&mut self, sim: i64, wanted: i64, slope: f64) {
        let Some(last) = self.segments.back() else { return };
        let from = Segment { sim: self.frontier, stamp: last.at(self.frontier), slope };
        let missing = wanted.saturating_sub(from.at(sim)) as f64;
        let step = sim.saturating_sub(from.sim) as f64;
        let next = if missing > JUMP_NS {
            Segment { stamp: from.stamp.saturating_add(missing as i64), ..from }
        } else {
            let (constant, limit) = if missing.abs() > LARGE_NS {
                (LARGE_CORRECTION_NS, SLEW_LARGE)
            } else if self.frontier.saturating_sub(self.begin) < LEARNING_NS {
                (LEARNING_CORRECTION_NS, SLEW_LEARNING)
            } else {
                (CORRECTION_NS, SLEW)
            };
            // A step longer than the constant must not cause an overshoot.
            let correction = (missing / constant.max(step)).clamp(-limit * slope, limit * slope);
            Segment { slope: (slope + correction).max(SLOWEST * slope), ..from }
        };
        if from.sim == last.sim && next.stamp == last.stamp {
            // No tick after the start of the last segment has a stamp, so the segment may still change.
            self.segments.pop_back();
        } else if self.segments.len() == SEGMENTS {
            self.segments.pop_front();
        }
        self.segments.push_back(next);
    }
}
