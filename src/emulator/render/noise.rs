//! Noise of measured ranges.
use crate::emulator::random::SplitMix;

#[derive(Debug)]
pub(super) struct RangeNoise {
    /// Standard deviation in m.
    deviation: f64,
    random: SplitMix,
}

impl RangeNoise {
    pub(super) fn new(deviation: f64, random: SplitMix) -> Self {
        Self { deviation, random }
    }

    /// Adds noise to a distance in m.
    pub(super) fn measure(&mut self, distance: f64) -> f64 {
        if self.deviation > 0.0 {
            (distance + self.deviation * self.random.normal()).max(0.0)
        } else {
            distance
        }
    }
}
