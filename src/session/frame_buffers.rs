/// A position in one of the buffers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct BufferPosition {
    pub(super) buffer: usize,
    pub(super) offset: usize,
}

/// `N` buffers that grow as needed, so that nothing is allocated after the first frames. A buffer may use lent memory instead
/// of its own.
#[derive(Debug)]
pub(super) struct FrameBuffers<L, const N: usize> {
    buffers: [Buffer<L>; N],
}

#[derive(Debug)]
struct Buffer<L> {
    owned: Vec<u8>,
    lent: Option<L>,
}

impl<L: AsRef<[u8]> + AsMut<[u8]>> Buffer<L> {
    fn bytes(&self) -> &[u8] {
        if let Some(lent) = &self.lent { lent.as_ref() } else { &self.owned }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        if let Some(lent) = &mut self.lent { lent.as_mut() } else { &mut self.owned }
    }

    fn grow(&mut self, len: usize) {
        if self.bytes().len() >= len {
            return;
        }
        self.owned.reserve_exact(len.saturating_sub(self.owned.len()));
        self.owned.resize(len, 0);
        // Lent memory cannot grow: its content moves to own memory.
        if let Some(lent) = self.lent.take() {
            let bytes = lent.as_ref();
            self.owned[..bytes.len()].copy_from_slice(bytes);
        }
    }
}

impl<L: AsRef<[u8]> + AsMut<[u8]>, const N: usize> FrameBuffers<L, N> {
    pub(super) fn new() -> Self {
        Self { buffers: std::array::from_fn(|_| Buffer { owned: Vec::new(), lent: None }) }
    }

    /// Uses the memory from `lend` instead of a buffer's own, until it is taken or too small; drops the buffer's content.
    pub(super) fn lend(&mut self, buffer: usize, lend: impl FnOnce() -> Option<L>) {
        if let Some(buffer) = self.buffers.get_mut(buffer)
            && buffer.lent.is_none()
        {
            buffer.lent = lend();
        }
    }

    pub(super) fn is_lent(&self, buffer: usize) -> bool {
        self.buffers.get(buffer).is_some_and(|b| b.lent.is_some())
    }

    /// Takes the lent memory out of a buffer.
    pub(super) fn take(&mut self, buffer: usize) -> Option<L> {
        self.buffers.get_mut(buffer)?.lent.take()
    }

    pub(super) fn grow(&mut self, buffer: usize, len: usize) {
        if let Some(buffer) = self.buffers.get_mut(buffer) {
            buffer.grow(len);
        }
    }

    /// Returns `len` bytes, or an empty slice if the buffer is shorter.
    pub(super) fn get(&self, at: BufferPosition, len: usize) -> &[u8] {
        let buffer = self.buffers.get(at.buffer);
        buffer.and_then(|b| b.bytes().get(at.offset..at.offset + len)).unwrap_or_default()
    }

    /// Returns `len` mutable bytes, or an empty slice if the buffer is shorter.
    pub(super) fn get_mut(&mut self, at: BufferPosition, len: usize) -> &mut [u8] {
        let buffer = self.buffers.get_mut(at.buffer);
        buffer.and_then(|b| b.bytes_mut().get_mut(at.offset..at.offset + len)).unwrap_or_default()
    }

    /// Copies `len` bytes; source and target may overlap. The target must be large enough.
    pub(super) fn copy(&mut self, from: BufferPosition, to: BufferPosition, len: usize) {
        if from == to {
            return;
        }
        let (start, end) = (from.offset, from.offset + len);
        if from.buffer == to.buffer {
            if let Some(bytes) = self.buffers.get_mut(to.buffer).map(Buffer::bytes_mut)
                && bytes.len() >= end.max(to.offset + len)
            {
                bytes.copy_within(start..end, to.offset);
            }
        } else if let Ok([source, target]) = self.buffers.get_disjoint_mut([from.buffer, to.buffer])
            && let (Some(source), Some(target)) = (
                source.bytes().get(start..end),
                target.bytes_mut().get_mut(to.offset..to.offset + len),
            )
        {
            target.copy_from_slice(source);
        }
    }

    /// Frees a buffer's own memory beyond `len` bytes.
    pub(super) fn shrink(&mut self, buffer: usize, len: usize) {
        if let Some(buffer) = self.buffers.get_mut(buffer) {
            buffer.owned.truncate(len);
            buffer.owned.shrink_to_fit();
        }
    }

    /// Returns the size of a buffer's own memory in bytes.
    pub(super) fn capacity(&self, buffer: usize) -> usize {
        self.buffers.get(buffer).map_or(0, |b| b.owned.capacity())
    }

    /// Returns the size of all own memory in bytes.
    pub(super) fn memory(&self) -> usize {
        self.buffers.iter().map(|b| b.owned.capacity()).sum()
    }
}
