//! Shared-memory files below `/dev/shm`.
pub(in crate::transport) use super::sigbus::Range;

use crate::transport::played::block_name;
use nix::fcntl::posix_fallocate;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

pub(in crate::transport) fn path_of(name: &str) -> PathBuf {
    Path::new("/dev/shm").join(block_name(name))
}

/// Opens as shm_open(3) does: follows no link and does not block on a FIFO.
pub(in crate::transport) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options
}

/// Grows a file to at least `len` bytes and allocates its memory.
pub(in crate::transport) fn allocate(file: &File, len: u64) -> io::Result<()> {
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    Ok(posix_fallocate(file, 0, len)?)
}

/// Distinguishes a file from its successor of the same name.
pub(in crate::transport) fn identity(metadata: &Metadata) -> u64 {
    metadata.ino()
}
