#![expect(
    unsafe_code,
    reason = "memory shared with another process is raw pointers; every block says why it is sound"
)]
//! Shared-memory blocks below `/dev/shm`. The other side is foreign: it may write at any time, restart, or vanish.
use memmap2::{MmapOptions, MmapRaw};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};

/// Why a block cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShmError {
    /// The file cannot be opened, created or mapped.
    #[error("shared memory {path:?}: {source}")]
    Io {
        /// File below `/dev/shm`.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The block is smaller than the sensor's layout.
    #[error("shared memory {path:?}: {found} bytes instead of {expected}")]
    TooSmall {
        /// File below `/dev/shm`.
        path: PathBuf,
        /// Bytes wanted.
        expected: usize,
        /// Bytes there.
        found: usize,
    },
}

/// One mapped block. Its first byte is a flag that both sides use to hand the block over.
#[derive(Debug)]
pub struct SharedBlock {
    map: MmapRaw,
    path: PathBuf,
    inode: u64,
    len: usize,
}

impl SharedBlock {
    /// Opens an existing block of at least `len` bytes for reading and writing.
    pub fn open(name: &str, len: usize) -> Result<Self, ShmError> {
        let path = path_of(name);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|e| ShmError::io(&path, e))?;
        Self::map(path, &file, len)
    }

    /// Creates a block of `len` bytes, or takes over an existing one of that name.
    pub fn create(name: &str, len: usize) -> Result<Self, ShmError> {
        let path = path_of(name);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| ShmError::io(&path, e))?;
        let len_u64 = u64::try_from(len).unwrap_or(u64::MAX);
        if file.metadata().map_err(|e| ShmError::io(&path, e))?.len() < len_u64 {
            file.set_len(len_u64).map_err(|e| ShmError::io(&path, e))?;
        }
        Self::map(path, &file, len)
    }

    fn map(path: PathBuf, file: &File, len: usize) -> Result<Self, ShmError> {
        let metadata = file.metadata().map_err(|e| ShmError::io(&path, e))?;
        let found = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
        if found < len.max(1) {
            return Err(ShmError::TooSmall {
                path,
                expected: len.max(1),
                found,
            });
        }
        let map = MmapOptions::new()
            .len(len.max(1))
            .map_raw(file)
            .map_err(|e| ShmError::io(&path, e))?;
        Ok(Self {
            map,
            path,
            inode: metadata.ino(),
            len: len.max(1),
        })
    }

    /// Returns the mapped length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns false: a block has at least its flag byte.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Whether the name still leads to this memory with its full length; false after the simulator re-created it.
    pub fn is_current(&self) -> bool {
        std::fs::metadata(&self.path)
            .is_ok_and(|m| m.ino() == self.inode && m.len() >= self.len as u64)
    }

    /// Reads the flag byte.
    pub fn flag(&self) -> u8 {
        self.flag_byte().load(Ordering::Acquire)
    }

    /// Writes the flag byte.
    pub fn set_flag(&self, value: u8) {
        self.flag_byte().store(value, Ordering::Release);
    }

    /// Replaces the flag byte `from` by `to`; false if it was another one.
    pub fn swap_flag(&self, from: u8, to: u8) -> bool {
        self.flag_byte()
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Copies bytes from the block; returns how many fit.
    pub fn copy_out(&self, offset: usize, into: &mut [u8]) -> usize {
        let n = into.len().min(self.len.saturating_sub(offset));
        // SAFETY: offset + n <= self.len, the length of the mapping that `self` keeps alive; `into` is our own memory
        // and cannot overlap a mapping. A concurrent foreign write makes bytes stale, not invalid: any bit pattern is a u8.
        unsafe {
            std::ptr::copy_nonoverlapping(
                self.map.as_ptr().wrapping_add(offset),
                into.as_mut_ptr(),
                n,
            )
        };
        n
    }

    /// Copies bytes into the block; returns how many fit.
    pub fn copy_in(&self, offset: usize, from: &[u8]) -> usize {
        let n = from.len().min(self.len.saturating_sub(offset));
        // SAFETY: offset + n <= self.len, the length of the writable mapping that `self` keeps alive; `from` is our own
        // memory and cannot overlap a mapping.
        unsafe {
            std::ptr::copy_nonoverlapping(
                from.as_ptr(),
                self.map.as_mut_ptr().wrapping_add(offset),
                n,
            )
        };
        n
    }

    /// Lends the bytes from `offset` on to `use_bytes`, without a copy.
    ///
    /// The caller holds the block by its flag protocol. A peer that breaks the protocol can change the bytes meanwhile;
    /// the caller therefore checks the flag again before it trusts what it copied.
    pub fn lend<R>(&self, offset: usize, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
        let offset = offset.min(self.len);
        // SAFETY: the range lies in the mapping that `self` keeps alive for the whole call, and the slice does not
        // outlive the call. Every bit pattern is a valid u8, so that a write of a foreign process can only tear data.
        let bytes = unsafe {
            std::slice::from_raw_parts(self.map.as_ptr().wrapping_add(offset), self.len - offset)
        };
        use_bytes(bytes)
    }

    fn flag_byte(&self) -> &AtomicU8 {
        // SAFETY: the mapping has at least one byte, lives as long as `self`, and AtomicU8 has the alignment of u8; this
        // process touches the flag only through this function.
        unsafe { AtomicU8::from_ptr(self.map.as_mut_ptr()) }
    }
}

impl ShmError {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_path_buf(),
            source,
        }
    }
}

fn path_of(name: &str) -> PathBuf {
    Path::new("/dev/shm").join(name)
}
