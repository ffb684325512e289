//! Files in memory that processes share, below `/dev/shm`.
pub(in crate::transport) use super::sigbus::Range;

use nix::fcntl::posix_fallocate;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

pub(in crate::transport) fn path_of(name: &str) -> PathBuf {
    Path::new("/dev/shm").join(name)
}

/// As shm_open(3) opens: no link that leads elsewhere, no waiting for the other end of a pipe.
pub(in crate::transport) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options
}

/// Makes a file at least so long, and takes the memory for it.
pub(in crate::transport) fn allocate(file: &File, len: u64) -> io::Result<()> {
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    Ok(posix_fallocate(file, 0, len)?)
}

/// What tells a file from another one of its name.
pub(in crate::transport) fn identity(metadata: &Metadata) -> u64 {
    metadata.ino()
}
