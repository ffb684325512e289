//! Noise of measured ranges.
use crate::emulator::random::SplitMix;
use crate::wire::SensorRequest;

/// Noise of the ranges of one frame: seed, sensor and time determine it.
#[derive(Debug)]
pub(super) struct RangeNoise {
    /// Standard deviation in m.
    deviation: f64,
    random: SplitMix,
}

impl RangeNoise {
    pub(super) fn new(deviation: f64, seed: u64, request: &SensorRequest, time: f64) -> Self {
        let mut stream = SplitMix::of_stream(seed, request.seq_id.into());
        Self {
            deviation,
            random: SplitMix::of_stream(stream.bits(), time.to_bits()),
        }
    }

    /// Returns what is measured of a distance in m.
    pub(super) fn measured(&mut self, distance: f64) -> f64 {
        if self.deviation > 0.0 {
            (distance + self.deviation * self.random.normal()).max(0.0)
        } else {
            distance
        }
    }
}
