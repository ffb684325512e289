//! Rate of one writer's large samples, adapted to its readers.

/// Highest rate that best-effort readers on Fast DDS drain in default configuration (`docs/dds_measured.md`).
const BEST_EFFORT_BYTES_PER_S: u64 = 300_000_000;
/// Largest multiple of the usual rate, faster than the kernel delivers.
const FASTEST: u64 = 8;
/// Number of samples without a retransmission before a higher rate is tried: at first, and at most.
const PATIENCE: (u32, u32) = (10, 10 * 4096);

/// Kind of the reader that needs the lowest rate, among the readers of one writer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(in crate::ros) enum SlowestReader {
    /// A best-effort reader on Fast DDS.
    BestEffortFastDds,
    /// A reader that does not report losses, or is slow to recover them.
    #[default]
    HidesLoss,
    /// A reliable reader on Cyclone DDS: reports losses at once, and recovers them.
    ReportsLoss,
}

/// The rate of one writer. If every reader reports losses, it starts fast, and each loss halves it, but not below the
/// usual rate.
#[derive(Debug)]
pub(in crate::ros) struct PacingRate {
    readers: SlowestReader,
    /// Multiple of the usual rate.
    factor: u64,
    patience: u32,
    samples_without_loss: u32,
    retransmitted: u64,
}

impl Default for PacingRate {
    fn default() -> Self {
        Self {
            readers: SlowestReader::default(),
            factor: FASTEST,
            patience: PATIENCE.0,
            samples_without_loss: 0,
            retransmitted: 0,
        }
    }
}

impl PacingRate {
    /// Resets the learned rate and the retransmission count, because the readers have changed.
    pub(in crate::ros) fn reset(&mut self, readers: SlowestReader, retransmitted: u64) {
        *self = Self { readers, retransmitted, ..Self::default() };
    }

    /// Bytes per second for the next sample; 0 is no limit, as for `usual`.
    pub(in crate::ros) fn bytes_per_s(&self, usual: u64) -> u64 {
        match self.readers {
            SlowestReader::BestEffortFastDds => usual.min(BEST_EFFORT_BYTES_PER_S),
            SlowestReader::HidesLoss => usual,
            SlowestReader::ReportsLoss => usual.saturating_mul(self.factor),
        }
    }

    /// Whether [`Self::learn`] has an effect.
    pub(in crate::ros) fn learns(&self) -> bool {
        self.readers == SlowestReader::ReportsLoss
    }

    /// Records a written sample; `retransmitted`: bytes sent again since the writer was created.
    pub(in crate::ros) fn learn(&mut self, retransmitted: u64) {
        if retransmitted > self.retransmitted {
            self.retransmitted = retransmitted;
            self.samples_without_loss = 0;
            if self.factor > 1 {
                self.factor /= 2;
                self.patience = (self.patience * 2).min(PATIENCE.1);
            }
        } else {
            self.samples_without_loss = self.samples_without_loss.saturating_add(1);
            if self.samples_without_loss >= self.patience && self.factor < FASTEST {
                self.factor *= 2;
                self.samples_without_loss = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reporting() -> PacingRate {
        let mut rate = PacingRate::default();
        rate.reset(SlowestReader::ReportsLoss, 0);
        rate
    }

    #[test]
    fn only_readers_that_report_losses_get_more_than_the_usual_rate() {
        let rate = |readers| {
            let mut rate = PacingRate::default();
            rate.reset(readers, 0);
            rate.bytes_per_s(600_000_000)
        };
        assert_eq!(rate(SlowestReader::BestEffortFastDds), BEST_EFFORT_BYTES_PER_S);
        assert_eq!(rate(SlowestReader::HidesLoss), 600_000_000);
        assert_eq!(rate(SlowestReader::ReportsLoss), 4_800_000_000);
        assert_eq!(reporting().bytes_per_s(0), 0);
    }

    #[test]
    fn losses_reduce_the_rate_to_the_usual_one_and_no_further() {
        let mut rate = reporting();
        for lost in 1..10 {
            rate.learn(lost * 1000);
        }
        assert_eq!(rate.bytes_per_s(1000), 1000);
    }

    #[test]
    fn each_loss_doubles_the_time_before_a_higher_rate() {
        let mut rate = reporting();
        let mut lost = 0;
        let mut waits = Vec::new();
        for _ in 0..4 {
            lost += 1000;
            rate.learn(lost);
            let mut samples = 0;
            while rate.bytes_per_s(1) < FASTEST {
                rate.learn(lost);
                samples += 1;
            }
            waits.push(samples);
        }
        assert_eq!(waits, [20, 40, 80, 160]);
    }
}
