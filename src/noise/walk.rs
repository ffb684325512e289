use super::{Draws, Purpose};
use std::array::from_fn;

/// The walks extend from 0 to 2^62 ns, 146 years.
const LEVELS: u32 = 62;
/// The walks are straight between points 2^16 ns (66 µs) apart.
const FINEST: u32 = 16;
const STEPS: usize = (LEVELS - FINEST) as usize;

/// Independent random walks, whose variance grows by 1 per second.
///
/// The value at a time does not depend on earlier calls: Lévy's construction halves the interval that contains the
/// time, and draws each midpoint, given both ends, from the numbers of its interval.
#[derive(Clone, Debug)]
pub struct Walk<const N: usize> {
    draws: Draws,
    purpose: Purpose,
    end: [f64; N],
    /// Cache: the last interval of each halving, and its numbers. Close times share all intervals but the finest.
    cache: [(i64, [f64; N]); STEPS],
}

impl<const N: usize> Walk<N> {
    /// Creates walks from these draws.
    pub fn new(draws: Draws, purpose: Purpose) -> Self {
        let scale = seconds(LEVELS).sqrt();
        Self {
            draws,
            purpose,
            end: draw(draws, purpose, LEVELS, 0).map(|n| n * scale),
            cache: [(-1, [0.0; N]); STEPS],
        }
    }

    /// Returns the values at a time in ns; 0 before 0.
    pub fn at(&mut self, time_ns: i64) -> [f64; N] {
        let time = time_ns.clamp(0, (1 << LEVELS) - 1);
        let (mut left, mut right) = ([0.0; N], self.end);
        for (half, cached) in (FINEST..LEVELS).rev().zip(&mut self.cache) {
            let interval = time >> (half + 1);
            if cached.0 != interval {
                *cached = (interval, draw(self.draws, self.purpose, half, interval));
            }
            // The midpoint of a Brownian bridge has a quarter of the variance of the interval.
            let spread = seconds(half + 1).sqrt() / 2.0;
            let middle = from_fn(|i| (left[i] + right[i]) / 2.0 + spread * cached.1[i]);
            if time >> half & 1 == 0 {
                right = middle;
            } else {
                left = middle;
            }
        }
        let share = (time & ((1 << FINEST) - 1)) as f64 / f64::from(1 << FINEST);
        from_fn(|i| left[i] + (right[i] - left[i]) * share)
    }
}

/// Converts 2^`level` ns to seconds.
fn seconds(level: u32) -> f64 {
    2_f64.powi(level as i32) * 1e-9
}

/// Draws the numbers of one interval, whose index has fewer than 46 bits.
fn draw<const N: usize>(draws: Draws, purpose: Purpose, level: u32, interval: i64) -> [f64; N] {
    let mut numbers = draws.at(purpose, i64::from(level) << 48 | interval);
    from_fn(|_| numbers.normal())
}
