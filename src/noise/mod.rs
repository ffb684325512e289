//! Random numbers that depend only on a seed, a source, a purpose and the simulator's time: equal data gets equal noise, and a
//! lost frame does not change the noise of the others.
mod walk;

pub use walk::Walk;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use rand_distr::{Distribution as _, StandardNormal, StandardUniform};

/// Purpose of random numbers; each has its own sequence.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Purpose {
    /// Whether a frame is dropped.
    Drop = 1,
    /// How long a frame is delayed.
    Jitter = 2,
    /// Noise of the pixels or points of a frame.
    Ranges = 3,
    /// White noise of an IMU.
    ImuNoise = 4,
    /// Random walk of an IMU's biases.
    ImuWalk = 5,
    /// Noise of a satellite receiver.
    Gps = 6,
}

/// The random numbers of one source: a sensor or a vehicle.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Draws {
    seed: u64,
    source: u16,
}

impl Draws {
    /// Creates the draws of sensor or vehicle `source`.
    pub const fn new(seed: u64, source: u16) -> Self {
        Self { seed, source }
    }

    /// Returns the numbers for one purpose and one time. A caller without a time passes a number unique within the purpose.
    pub fn at(&self, purpose: Purpose, time: i64) -> RandomNumbers {
        // The sequences of two keys that differ in one bit are independent.
        let parts = [self.seed, self.source.into(), purpose as u64, time.cast_unsigned()];
        let mut key = [0; 32];
        for (bytes, part) in key.chunks_exact_mut(8).zip(parts) {
            bytes.copy_from_slice(&part.to_le_bytes());
        }
        RandomNumbers(ChaCha8Rng::from_seed(key))
    }
}

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub struct RandomNumbers(ChaCha8Rng);

impl RandomNumbers {
    /// Uniform from 0 up to 1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        StandardUniform.sample(&mut self.0)
    }

    /// Normally distributed, with mean 0 and standard deviation 1.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }
}
