//! Random numbers. The sequences are part of the emulator's behaviour and must not change with the version of a crate.
use std::f64::consts::TAU;

/// Small generator (`SplitMix64`).
#[derive(Clone, Debug)]
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
    /// The generator of one of several streams with the same seed.
    pub(super) fn of_stream(seed: u64, stream: u64) -> Self {
        Self(seed ^ stream.wrapping_mul(0xD134_2543_DE82_EF95))
    }

    /// The generator of the faults of a stream of datagrams.
    pub(super) fn of_faults(seed: u64, stream: u64) -> Self {
        Self(Self::of_stream(seed, stream).bits())
    }

    /// The generator of a sensor's frame at `time` in s.
    pub(super) fn of_frame(seed: u64, sensor: u64, time: f64) -> Self {
        Self::of_stream(Self::of_stream(seed, sensor).bits(), time.to_bits())
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform from 0 up to 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.unit() * end as f64) as usize
    }

    /// Normally distributed, with mean 0 and standard deviation 1 (Box and Muller).
    pub(super) fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.unit(), TAU * self.unit());
        (-2.0 * radius.ln()).sqrt() * angle.cos()
    }
}
