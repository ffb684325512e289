//! Counts the missing numbers of a sequence.

/// Counts skipped numbers, except refused ones. A number that arrives late is subtracted again if it is one of the last 64.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SequenceGaps {
    newest: Option<i32>,
    /// Bit `n`: the number `newest - n` arrived.
    arrived: u64,
    /// Bit `n`: the number `newest + n + 1` was refused.
    refused: u64,
    /// Number of valid bits in `arrived`, since [`Self::begin`].
    valid_bits: u32,
    /// The sender's increment: the smallest difference so far.
    step: Option<u32>,
    pub(super) lost: u64,
}

impl SequenceGaps {
    /// Restarts at a number; keeps the count of lost numbers.
    pub(super) fn begin(&mut self, newest: Option<i32>) {
        (self.newest, self.arrived, self.valid_bits, self.step) = (newest, 1, 1, None);
        self.refused = 0;
    }

    /// Notes a refused number, which does not become the newest.
    pub(super) fn refuse(&mut self, number: i32) {
        let Some(newest) = self.newest else { return };
        let after = number.wrapping_sub(newest);
        if after <= 0 {
            self.receive(number);
        } else if after <= u64::BITS as i32 {
            self.refused |= 1 << (after - 1);
        }
    }

    /// Notes a received number; returns false if it arrived before.
    pub(super) fn receive(&mut self, number: i32) -> bool {
        let Some(newest) = self.newest else {
            self.begin(Some(number));
            return true;
        };
        let distance = number.wrapping_sub(newest);
        let offset = distance.unsigned_abs();
        if distance <= 0 {
            let bit = 1_u64.checked_shl(offset).unwrap_or(0);
            let is_new = self.arrived & bit == 0;
            if is_new && offset < self.valid_bits {
                self.arrived |= bit;
                let is_counted = self.step.is_some_and(|step| offset.is_multiple_of(step));
                self.lost -= u64::from(is_counted).min(self.lost);
            }
            return is_new;
        }
        let step = self.step.map_or(offset, |step| step.min(offset));
        self.step = Some(step);
        let (refused, count) = self.take_refused(offset);
        let skipped = u64::from(offset / step - 1);
        self.lost += skipped.saturating_sub(u64::from(count));
        self.arrived = self.arrived.checked_shl(offset).unwrap_or(0) | refused | 1;
        self.valid_bits = self.valid_bits.saturating_add(offset).min(u64::BITS);
        self.newest = Some(number);
        true
    }

    /// Removes the refused numbers between `newest` and `newest + offset`; returns their bits in [`Self::arrived`] once
    /// `newest + offset` is the newest, and their count.
    fn take_refused(&mut self, offset: u32) -> (u64, u32) {
        let between = 1_u64.checked_shl(offset - 1).map_or(u64::MAX, |end| end - 1);
        let refused = self.refused & between;
        self.refused = self.refused.checked_shr(offset).unwrap_or(0);
        // Bit `n` becomes bit `offset - 1 - n`; reversing makes it bit `63 - n`.
        let bits = refused.reverse_bits();
        let bits = match u64::BITS.checked_sub(offset) {
            Some(shift) => bits.checked_shr(shift),
            None => bits.checked_shl(offset - u64::BITS),
        };
        (bits.unwrap_or(0), refused.count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sequence that begins at 10.
    fn new_gaps() -> SequenceGaps {
        let mut gaps = SequenceGaps::default();
        gaps.begin(Some(10));
        assert!(gaps.receive(11));
        gaps
    }

    #[test]
    fn refused_numbers_are_not_lost() {
        let mut gaps = new_gaps();
        for number in [13, 14, 14] {
            gaps.refuse(number);
        }
        assert!(gaps.receive(16));
        assert_eq!(gaps.lost, 2, "12 and 15");
        // The refused numbers are not new when they arrive again; the skipped ones are.
        let new = [12, 13, 14, 15].map(|number| gaps.receive(number));
        assert_eq!((new, gaps.lost), ([true, false, false, true], 0));
    }

    #[test]
    fn refused_numbers_count_once_and_only_up_to_the_newest() {
        let mut gaps = new_gaps();
        for number in [12, 13, 15] {
            gaps.refuse(number);
        }
        assert!(gaps.receive(14));
        assert_eq!(gaps.lost, 0);
        assert!(gaps.receive(16));
        assert_eq!(gaps.lost, 0);
        assert!(gaps.receive(18));
        assert_eq!(gaps.lost, 1, "17");
    }

    #[test]
    fn skipped_numbers_that_are_refused_late_are_not_lost() {
        let mut gaps = new_gaps();
        assert!(gaps.receive(14));
        assert_eq!(gaps.lost, 2);
        for number in [13, 13, 9] {
            gaps.refuse(number);
        }
        assert_eq!(gaps.lost, 1, "12");
    }

    #[test]
    fn long_gaps_are_counted() {
        for far in [63, 64, 65, 100] {
            let mut gaps = new_gaps();
            for number in [12, 11 + 64, 11 + 65] {
                gaps.refuse(number);
            }
            assert!(gaps.receive(11 + far));
            // The refused numbers before the received one; only 64 are stored.
            let refused = 1 + u64::from(far > 64);
            assert_eq!(gaps.lost, far as u64 - 1 - refused, "{far}");
        }
    }
}
