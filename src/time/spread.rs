use super::Spread;

/// Four bins per octave from 1 µs: 84 bins reach 2 s.
const PER_OCTAVE: f64 = 4.0;
const BINS: usize = 84;
const FIRST_NS: f64 = 1_000.0;

/// Counts are halved when their total reaches this number, so that the quantiles follow the latest delays.
const HALVE_AT: u32 = 8192;

/// Quantiles of delays: a histogram with logarithmic bins and forgetting.
#[derive(Clone, Debug)]
pub(super) struct DelayHistogram {
    bins: [u32; BINS],
    total: u32,
}

impl DelayHistogram {
    pub(super) const fn new() -> Self {
        Self { bins: [0; BINS], total: 0 }
    }

    pub(super) fn add(&mut self, delay_ns: f64) {
        let octaves = (delay_ns / FIRST_NS).max(1.0).log2();
        self.bins[((octaves * PER_OCTAVE) as usize).min(BINS - 1)] += 1;
        self.total += 1;
        if self.total >= HALVE_AT {
            self.bins.iter_mut().for_each(|n| *n /= 2);
            self.total = self.bins.iter().sum();
        }
    }

    pub(super) fn spread(&self) -> Spread {
        Spread { p50_ns: self.quantile(0.5), p99_ns: self.quantile(0.99) }
    }

    /// Returns the upper edge of the quantile's bin: at most 19 % too high.
    fn quantile(&self, q: f64) -> i64 {
        let target = f64::from(self.total) * q;
        let mut cumulated = 0;
        for (bin, count) in self.bins.iter().enumerate() {
            cumulated += count;
            if *count > 0 && f64::from(cumulated) >= target {
                return (FIRST_NS * ((bin + 1) as f64 / PER_OCTAVE).exp2()) as i64;
            }
        }
        0
    }
}
