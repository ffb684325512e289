//! Counts the missing numbers of a sequence.

/// Counts skipped numbers and uncounts those that arrive late, among the last 64.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gaps {
    newest: Option<i32>,
    /// Bit `n`: the number `n` before the newest arrived.
    seen: u64,
    /// Number of valid bits, since [`Self::begin`].
    known: u32,
    /// The sender's increment: the smallest seen.
    step: Option<u32>,
    lost: u64,
}

impl Gaps {
    /// Restarts at this number; keeps the count of lost numbers.
    pub(super) fn begin(&mut self, newest: Option<i32>) {
        (self.newest, self.seen, self.known, self.step) = (newest, 1, 1, None);
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Notes a number; false if it arrived before.
    pub(super) fn saw(&mut self, number: i32) -> bool {
        let Some(newest) = self.newest else {
            self.begin(Some(number));
            return true;
        };
        let distance = number.wrapping_sub(newest);
        let far = distance.unsigned_abs();
        if distance <= 0 {
            let bit = 1_u64.checked_shl(far).unwrap_or(0);
            let new = self.seen & bit == 0;
            if new && far < self.known {
                self.seen |= bit;
                let counted = self.step.is_some_and(|step| far.is_multiple_of(step));
                self.lost -= u64::from(counted).min(self.lost);
            }
            return new;
        }
        let step = self.step.map_or(far, |step| step.min(far));
        self.step = Some(step);
        self.lost += u64::from(far / step - 1);
        self.seen = self.seen.checked_shl(far).unwrap_or(0) | 1;
        self.known = self.known.saturating_add(far).min(u64::BITS);
        self.newest = Some(number);
        true
    }
}
