#![expect(
    unsafe_code,
    reason = "memory shared with another process is raw pointers; every block says why it is sound"
)]
//! Shared-memory blocks. The peer is not trusted: it may write at any time, truncate the file,
//! restart, or vanish. So this module never returns a `&[u8]`: bytes are copied, or lent as [`VolatileSlice`].
use super::imp::shm::{Range, allocate, identity, options, path_of};
use memmap2::{MmapOptions, MmapRaw};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering, fence};
use std::{fs::File, io, ops::RangeInclusive};
use vm_memory::{VolatileMemory as _, VolatileSlice};

/// Why the block at `path` cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the fields")]
#[non_exhaustive]
pub enum ShmError {
    /// The file cannot be opened, created or mapped.
    #[error("shared memory {path:?}: {source}")]
    Io { path: PathBuf, source: io::Error },
    /// The block is smaller than the sensor's layout.
    #[error("shared memory {path:?}: {found} bytes instead of {expected}")]
    TooSmall { path: PathBuf, expected: usize, found: usize },
    /// The name refers to a directory, a pipe or a device.
    #[error("shared memory {path:?}: not a regular file")]
    NotAFile { path: PathBuf },
}

/// One mapped block. Its first byte is a flag that both sides use to pass ownership.
#[derive(Debug)]
pub struct SharedBlock {
    map: MmapRaw,
    range: Range,
    path: PathBuf,
    inode: u64,
    len: usize,
    /// Maximum mapped length in bytes; the file may be longer.
    max_len: usize,
}

impl SharedBlock {
    /// Opens an existing block of at least `len` bytes for reading and writing.
    pub fn open(name: &str, len: usize) -> Result<Self, ShmError> {
        Self::open_any(name, len..=len)
    }

    /// Opens an existing block of at least the smaller length, and maps it up to the larger length.
    pub fn open_any(name: &str, lens: RangeInclusive<usize>) -> Result<Self, ShmError> {
        let path = path_of(name);
        let file = options().open(&path).map_err(|e| ShmError::io(&path, e))?;
        Self::map(path, &file, lens, true)
    }

    /// Creates a block of `len` bytes, or opens an existing one of that name.
    pub fn create(name: &str, len: usize) -> Result<Self, ShmError> {
        let path = path_of(name);
        let file = options()
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| ShmError::io(&path, e))?;
        let len_u64 = u64::try_from(len).unwrap_or(u64::MAX);
        let before = file.metadata().map_err(|e| ShmError::io(&path, e))?.len();
        // Allocates memory: a write to a block without it would kill the writer when memory runs out.
        if let Err(error) = allocate(&file, len_u64.max(before)) {
            if before == 0 {
                let _ = std::fs::remove_file(&path); // leave no empty block behind
            }
            return Err(ShmError::io(&path, error));
        }
        Self::map(path, &file, len..=len, true)
    }

    fn map(
        path: PathBuf,
        file: &File,
        lens: RangeInclusive<usize>,
        is_writable: bool,
    ) -> Result<Self, ShmError> {
        let metadata = file.metadata().map_err(|e| ShmError::io(&path, e))?;
        if !metadata.is_file() {
            return Err(ShmError::NotAFile { path });
        }
        let found = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
        let (min_len, max_len) = ((*lens.start()).max(1), (*lens.end()).max(1));
        if found < min_len {
            return Err(ShmError::TooSmall { path, expected: min_len, found });
        }
        let len = found.min(max_len);
        let mut options = MmapOptions::new();
        options.len(len);
        let map = if is_writable { options.map_raw(file) } else { options.map_raw_read_only(file) };
        let map = map.map_err(|e| ShmError::io(&path, e))?;
        let range = Range::new(map.as_ptr().addr(), len).map_err(|e| ShmError::io(&path, e))?;
        Ok(Self { map, range, path, inode: identity(&metadata), len, max_len })
    }

    /// Removes a block's name; existing mappings keep the memory.
    ///
    /// # Errors
    /// Errors of the system, for example if another process removed it first.
    pub fn remove(name: &str) -> io::Result<()> {
        std::fs::remove_file(path_of(name))
    }

    /// Returns the mapped length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a block has at least its flag byte")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the name still refers to this memory with its full length; false after the simulator re-created or extended
    /// it.
    pub fn is_current(&self) -> bool {
        !self.is_lost()
            && std::fs::metadata(&self.path).is_ok_and(|m| {
                identity(&m) == self.inode && m.len().min(self.max_len as u64) == self.len as u64
            })
    }

    /// Whether the file was truncated while the block was read or written. The mapping then contains only zeros,
    /// and so may everything copied since the last check of the flag.
    pub fn is_lost(&self) -> bool {
        self.range.is_lost()
    }

    /// Reads the flag byte; reads of other bytes before and after this call are not reordered across it.
    pub fn flag(&self) -> u8 {
        fence(Ordering::Acquire);
        self.with_flag(|flag| flag.load(Ordering::Acquire))
    }

    /// Writes the flag byte.
    pub fn set_flag(&self, value: u8) {
        self.with_flag(|flag| flag.store(value, Ordering::Release));
    }

    /// Replaces flag `from` by `to`; false if the flag has another value. Other processes see the new flag before bytes that are
    /// written afterwards.
    pub fn swap_flag(&self, from: u8, to: u8) -> bool {
        let is_swapped = self.with_flag(|flag| {
            flag.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
        });
        // On ARM, the store of an exchange may become visible after stores that follow it.
        fence(Ordering::Release);
        is_swapped
    }

    /// Copies bytes from the block; returns the number copied.
    pub fn copy_out(&self, offset: usize, into: &mut [u8]) -> usize {
        self.lend(offset, |bytes| bytes.copy_to(into))
    }

    /// Copies bytes into the block; returns the number copied.
    pub fn copy_in(&self, offset: usize, from: &[u8]) -> usize {
        self.lend(offset, |bytes| {
            let n = from.len().min(bytes.len());
            bytes.copy_from(&from[..n]);
            n
        })
    }

    /// Lends the bytes from `offset` on to `use_bytes`, without a copy, for the duration of the call on this thread.
    ///
    /// The caller owns the block by its flag protocol. A peer that violates the protocol can change the bytes meanwhile;
    /// so the caller checks the flag again before it trusts its copy.
    pub fn lend<R>(&self, offset: usize, use_bytes: impl FnOnce(VolatileSlice<'_>) -> R) -> R {
        let offset = offset.min(self.len);
        // SAFETY: the range lies in the mapping that `self` keeps alive for the whole call, and outlives the slice, whose
        // lifetime is the call's. It is readable, and writable except in a `WatchedBlock`, which exposes no slice and no
        // method that writes. No references into it exist: this module exposes only
        // a `VolatileSlice`, which copies, and the atomic flag. A truncated file does not end the process:
        // `touch` handles it, on this thread, and the slice cannot leave the thread (it is not `Send`).
        let bytes = unsafe {
            VolatileSlice::new(self.map.as_mut_ptr().wrapping_add(offset), self.len - offset)
        };
        self.range.touch(|| use_bytes(bytes))
    }

    fn with_flag<R>(&self, use_flag: impl FnOnce(&AtomicU8) -> R) -> R {
        self.lend(0, |bytes| {
            let flag = bytes.get_atomic_ref::<AtomicU8>(0);
            use_flag(flag.expect("a block has at least one byte, and a byte is always aligned"))
        })
    }
}

/// A read-only block, for an observer beside the program that receives the frames: it cannot change the flag or the bytes.
#[derive(Debug)]
pub struct WatchedBlock(SharedBlock);

impl WatchedBlock {
    /// Opens an existing block as [`SharedBlock::open_any`] does.
    pub fn open(name: &str, lens: RangeInclusive<usize>) -> Result<Self, ShmError> {
        let path = path_of(name);
        let file = options().write(false).open(&path).map_err(|e| ShmError::io(&path, e))?;
        SharedBlock::map(path, &file, lens, false).map(Self)
    }

    /// As [`SharedBlock::flag`].
    pub fn flag(&self) -> u8 {
        fence(Ordering::Acquire);
        // On read-only memory, a plain read is defined, and an atomic one is not.
        let mut flag = [0];
        self.copy_out(0, &mut flag);
        fence(Ordering::Acquire);
        flag[0]
    }

    /// Copies bytes from the block; returns the number copied.
    pub fn copy_out(&self, offset: usize, into: &mut [u8]) -> usize {
        self.0.copy_out(offset, into)
    }

    /// Returns the mapped length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a block has at least its flag byte")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// As [`SharedBlock::is_current`].
    pub fn is_current(&self) -> bool {
        self.0.is_current()
    }
}

impl ShmError {
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), source }
    }
}
