//! Memory of samples, with room around the data: there the back end adds the rest of the CDR without copying the data.
#[cfg(feature = "dds")]
use super::Bytes;
use parking_lot::Mutex;
#[cfg(feature = "zenoh")]
use std::num::NonZeroUsize;
use std::{ops::Range, sync::Arc};
#[cfg(feature = "zenoh")]
use zenoh::{
    bytes::ZBytes,
    shm::{OwnedShmBuf as _, ZShm, ZShmMut},
};

/// Room in front of the data for the CDR head. A longer head (a frame id of hundreds of characters) costs a copy.
const HEAD_ROOM: usize = 512;
/// Room behind the data: a flag and padding.
const TAIL_ROOM: usize = 8;
/// Limit of spare blocks in a pool; beyond it the oldest is deallocated.
const MAX_FREE: usize = 4;

/// Memory of one sample with room around its data.
#[derive(Debug)]
pub(super) struct Block {
    memory: Memory,
    /// Room in front of the data.
    head_room: usize,
}

#[derive(Debug)]
enum Memory {
    Heap(HeapMemory),
    /// Shared memory of Zenoh, for readers on this host.
    #[cfg(feature = "zenoh")]
    Shared(ZShmMut),
}

/// Returns to its pool on drop.
#[derive(Debug)]
struct HeapMemory {
    bytes: Vec<u8>,
    pool: Arc<Pool>,
}

impl Drop for HeapMemory {
    fn drop(&mut self) {
        self.pool.put(std::mem::take(&mut self.bytes));
    }
}

impl Memory {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Heap(memory) => &memory.bytes,
            #[cfg(feature = "zenoh")]
            Self::Shared(memory) => memory,
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(memory) => &mut memory.bytes,
            #[cfg(feature = "zenoh")]
            Self::Shared(memory) => memory,
        }
    }
}

impl Block {
    pub(super) fn data(&self) -> &[u8] {
        let bytes = self.memory.bytes();
        &bytes[self.head_room..bytes.len() - TAIL_ROOM]
    }

    pub(super) fn data_mut(&mut self) -> &mut [u8] {
        let bytes = self.memory.bytes_mut();
        let end = bytes.len() - TAIL_ROOM;
        &mut bytes[self.head_room..end]
    }
}

#[cfg(feature = "dds")]
impl Block {
    /// Puts `head` in front of the first `len` bytes of the data and `tail` behind them; returns the range of the sample, or
    /// `None` if it does not fit; in shared memory `head` must fill its room.
    pub(super) fn frame(&mut self, head: &[u8], len: usize, tail: &[u8]) -> Option<Range<usize>> {
        let start = self.head_room.checked_sub(head.len())?;
        let end = self.head_room + len;
        if len > self.data().len() || tail.len() > TAIL_ROOM {
            return None;
        }
        #[cfg(feature = "zenoh")]
        if start > 0 && matches!(self.memory, Memory::Shared(_)) {
            return None;
        }
        let bytes = self.memory.bytes_mut();
        bytes[start..self.head_room].copy_from_slice(head);
        bytes[end..end + tail.len()].copy_from_slice(tail);
        Some(start..end + tail.len())
    }

    /// Concatenates `parts` and pads with zeros to a multiple of four (RTPS fragments end on one); returns the range of
    /// the sample.
    pub(super) fn gather(&mut self, parts: &[Bytes<'_>]) -> Range<usize> {
        let bytes = self.memory.bytes_mut();
        let mut end = 0;
        for part in parts {
            part.copy_to(&mut bytes[end..end + part.len()]);
            end += part.len();
        }
        let padded = end.next_multiple_of(4);
        bytes[end..padded].fill(0);
        0..padded
    }
}

#[cfg(feature = "zenoh")]
impl Block {
    /// Bytes of shared memory for a head and data.
    pub(super) const fn shared_size(head: usize, data: usize) -> usize {
        head + data + TAIL_ROOM
    }

    /// A block in shared memory of [`Self::shared_size`]. The head must have exactly this length, because readers get the
    /// memory from its start.
    pub(super) fn shared(memory: ZShmMut, head: usize) -> Self {
        Self { memory: Memory::Shared(memory), head_room: head }
    }
}

/// A sample that the middleware and taps share: encapsulation header and CDR, immutable.
#[derive(Debug)]
pub struct Cdr(SampleMemory);

#[derive(Debug)]
enum SampleMemory {
    #[cfg_attr(
        not(feature = "dds"),
        expect(dead_code, reason = "only DDS and Zenoh write samples")
    )]
    Heap(HeapMemory, Range<usize>),
    #[cfg(feature = "zenoh")]
    Shared(ZShm),
}

#[cfg(feature = "dds")]
impl Cdr {
    /// The sample in this range of a block.
    pub(super) fn new(block: Block, range: Range<usize>) -> Arc<Self> {
        Arc::new(Self(match block.memory {
            Memory::Heap(memory) => SampleMemory::Heap(memory, range),
            #[cfg(feature = "zenoh")]
            Memory::Shared(mut memory) => {
                if let Some(length) = NonZeroUsize::new(range.end) {
                    memory.try_resize(length);
                }
                SampleMemory::Shared(memory.into())
            }
        }))
    }

    /// The same bytes for Zenoh, without a copy.
    #[cfg(feature = "zenoh")]
    pub(super) fn payload(self: &Arc<Self>) -> ZBytes {
        struct Owner(Arc<Cdr>);
        impl AsRef<[u8]> for Owner {
            fn as_ref(&self) -> &[u8] {
                (*self.0).as_ref()
            }
        }
        match &self.0 {
            SampleMemory::Heap(..) => bytes::Bytes::from_owner(Owner(self.clone())).into(),
            SampleMemory::Shared(memory) => memory.clone().into(),
        }
    }
}

impl AsRef<[u8]> for Cdr {
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            SampleMemory::Heap(memory, range) => {
                memory.bytes.get(range.clone()).unwrap_or_default()
            }
            #[cfg(feature = "zenoh")]
            SampleMemory::Shared(memory) => memory,
        }
    }
}

/// The free blocks of one writer.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<Vec<Vec<u8>>>);

impl Pool {
    /// A block with room for `room` bytes of data, with arbitrary contents.
    pub(super) fn take(self: &Arc<Self>, room: usize) -> Block {
        let wanted = HEAD_ROOM + room + TAIL_ROOM;
        let mut free = self.0.lock();
        // One large sample does not hold its memory for ever.
        free.retain(|bytes| bytes.len() <= 2 * wanted + 4096);
        let found = free.iter().position(|bytes| bytes.len() >= wanted);
        let bytes = found.map(|at| free.swap_remove(at));
        drop(free);
        let bytes = bytes.unwrap_or_else(|| vec![0; wanted]);
        let memory = Memory::Heap(HeapMemory { bytes, pool: self.clone() });
        Block { memory, head_room: HEAD_ROOM }
    }

    fn put(&self, bytes: Vec<u8>) {
        let mut free = self.0.lock();
        if free.len() >= MAX_FREE {
            free.remove(0);
        }
        free.push(bytes);
    }
}

#[cfg(all(test, feature = "dds"))]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_adjoin_the_data() {
        let mut block = Arc::new(Pool::default()).take(10);
        block.data_mut()[..5].copy_from_slice(b"data!");
        let range = block.frame(b"head", 5, b"end").expect("it fits");
        assert_eq!(&block.memory.bytes()[range], b"headdata!end");
        assert_eq!(block.frame(&[0; HEAD_ROOM + 1], 5, b""), None);
        assert_eq!(block.frame(b"", 11, b""), None);
    }

    #[test]
    fn gathered_parts_end_on_a_multiple_of_four() {
        let pool = Arc::new(Pool::default());
        let mut dirty = pool.take(8);
        dirty.memory.bytes_mut().fill(9);
        drop(dirty);
        let mut block = pool.take(8);
        let range = block.gather(&[Bytes::Own(b"abc"), Bytes::Own(b"de")]);
        assert_eq!(&block.memory.bytes()[range], b"abcde\0\0\0");
    }

    #[test]
    fn blocks_are_reused_and_far_larger_blocks_are_freed() {
        let pool = Arc::new(Pool::default());
        let large = pool.take(100_000);
        let address = large.memory.bytes().as_ptr();
        drop(large);
        assert_eq!(pool.take(90_000).memory.bytes().as_ptr(), address);
        drop((0..9).map(|_| pool.take(1000)).collect::<Vec<_>>());
        let free = pool.0.lock();
        assert!(free.len() == MAX_FREE && free.iter().all(|bytes| bytes.len() < 10_000));
    }
}
