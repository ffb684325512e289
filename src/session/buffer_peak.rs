//! Decides when a buffer is shrunk.

/// Number of uses after which their maximum counts as the needed size.
const WINDOW: u32 = 64;
/// A buffer is shrunk if it exceeds twice the needed size by more than this number of bytes.
const SPARE: usize = 256 << 10;

/// Tracks the peak use of a buffer, so that one unusually large frame does not hold memory forever.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BufferPeak {
    highest: usize,
    uses: u32,
}

impl BufferPeak {
    /// Notes a use of `used` bytes of a buffer; after every `WINDOW` uses, returns the size to shrink to if that is due.
    pub(crate) fn note(&mut self, used: usize, capacity: usize) -> Option<usize> {
        self.highest = self.highest.max(used);
        self.uses += 1;
        if self.uses < WINDOW {
            return None;
        }
        let needed = std::mem::take(self).highest;
        (capacity > needed.saturating_mul(2).saturating_add(SPARE)).then_some(needed)
    }

    /// Notes a use of `used` elements of a buffer, and shrinks the buffer if that is due.
    pub(crate) fn shrink_if_due<T>(&mut self, used: usize, buffer: &mut Vec<T>) {
        let size = size_of::<T>();
        if let Some(needed) = self.note(used * size, buffer.capacity() * size) {
            buffer.truncate(needed / size);
            buffer.shrink_to_fit();
        }
    }
}
