//! Decides when a buffer shrinks.

/// Uses after which the largest of them is the needed size.
const USES: u32 = 64;
/// A buffer shrinks if it exceeds twice the needed size by this much.
const SPARE: usize = 256 << 10;

/// Tracks how much of a buffer is used, so that one unusually large frame does not hold memory forever.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peak {
    highest: usize,
    uses: u32,
}

impl Peak {
    /// Notes a use of `used` of the `held` bytes; every `USES` uses returns the size to shrink to, if any.
    pub(crate) fn note(&mut self, used: usize, held: usize) -> Option<usize> {
        self.highest = self.highest.max(used);
        self.uses += 1;
        if self.uses < USES {
            return None;
        }
        let needed = std::mem::take(self).highest;
        (held > needed.saturating_mul(2).saturating_add(SPARE)).then_some(needed)
    }

    /// Notes a use of `used` elements of a buffer and shrinks it when due.
    pub(crate) fn tidy<T>(&mut self, used: usize, buffer: &mut Vec<T>) {
        let size = size_of::<T>();
        if let Some(needed) = self.note(used * size, buffer.capacity() * size) {
            buffer.truncate(needed / size);
            buffer.shrink_to_fit();
        }
    }
}
