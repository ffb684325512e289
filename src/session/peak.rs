//! When a buffer may give memory back.

/// Uses after which the largest of them is what is needed.
const USES: u32 = 64;
/// So much more than twice of what is needed is worth an allocation.
const SPARE: usize = 256 << 10;

/// Watches how much of a buffer is used, so that one unusually large frame does not cost memory for ever.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peak {
    highest: usize,
    uses: u32,
}

impl Peak {
    /// Notes a use of `used` of the `held` bytes; now and then returns to how many the buffer should shrink.
    pub(crate) fn note(&mut self, used: usize, held: usize) -> Option<usize> {
        self.highest = self.highest.max(used);
        self.uses += 1;
        if self.uses < USES {
            return None;
        }
        let needed = std::mem::take(self).highest;
        (held > needed.saturating_mul(2).saturating_add(SPARE)).then_some(needed)
    }

    /// Notes a use of a buffer and gives its memory back when it is time.
    pub(crate) fn tidy(&mut self, used: usize, buffer: &mut Vec<u8>) {
        if let Some(needed) = self.note(used, buffer.capacity()) {
            buffer.truncate(needed);
            buffer.shrink_to_fit();
        }
    }
}
