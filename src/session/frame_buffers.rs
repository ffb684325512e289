/// A place in one of the buffers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Spot {
    pub(super) buffer: usize,
    pub(super) offset: usize,
}

/// `N` buffers that grow as needed, so that after the first frames nothing is allocated.
#[derive(Debug)]
pub(super) struct FrameBuffers<const N: usize> {
    buffers: [Vec<u8>; N],
}

impl<const N: usize> FrameBuffers<N> {
    pub(super) fn new() -> Self {
        Self {
            buffers: std::array::from_fn(|_| Vec::new()),
        }
    }

    /// Makes a buffer at least `len` bytes long.
    pub(super) fn grow(&mut self, buffer: usize, len: usize) {
        if let Some(buffer) = self.buffers.get_mut(buffer)
            && buffer.len() < len
        {
            buffer.reserve_exact(len - buffer.len());
            buffer.resize(len, 0);
        }
    }

    /// Returns `len` bytes, or none if the buffer is shorter.
    pub(super) fn get(&self, at: Spot, len: usize) -> &[u8] {
        let buffer = self.buffers.get(at.buffer);
        buffer
            .and_then(|b| b.get(at.offset..at.offset + len))
            .unwrap_or_default()
    }

    /// Returns `len` bytes to write, or none if the buffer is shorter.
    pub(super) fn get_mut(&mut self, at: Spot, len: usize) -> &mut [u8] {
        let buffer = self.buffers.get_mut(at.buffer);
        buffer
            .and_then(|b| b.get_mut(at.offset..at.offset + len))
            .unwrap_or_default()
    }

    /// Copies `len` bytes; the two places may overlap. The target must have been grown.
    pub(super) fn copy(&mut self, from: Spot, to: Spot, len: usize) {
        if from == to {
            return;
        }
        let (start, end) = (from.offset, from.offset + len);
        if from.buffer == to.buffer {
            if let Some(buffer) = self.buffers.get_mut(to.buffer)
                && buffer.len() >= end.max(to.offset + len)
            {
                buffer.copy_within(start..end, to.offset);
            }
        } else if let Ok([source, target]) = self.buffers.get_disjoint_mut([from.buffer, to.buffer])
            && let (Some(source), Some(target)) = (
                source.get(start..end),
                target.get_mut(to.offset..to.offset + len),
            )
        {
            target.copy_from_slice(source);
        }
    }

    /// Gives back what a buffer has beyond `len` bytes.
    pub(super) fn shrink(&mut self, buffer: usize, len: usize) {
        if let Some(buffer) = self.buffers.get_mut(buffer) {
            buffer.truncate(len);
            buffer.shrink_to_fit();
        }
    }

    /// Returns the bytes of one buffer.
    pub(super) fn held(&self, buffer: usize) -> usize {
        self.buffers.get(buffer).map_or(0, Vec::capacity)
    }

    /// Returns the bytes held.
    pub(super) fn memory(&self) -> usize {
        self.buffers.iter().map(Vec::capacity).sum()
    }
}
