//! Resource limits of the process.
use nix::libc;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use nix::sys::statvfs::statvfs;
use std::{io, path::Path};

/// A limited resource.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Limit {
    /// Simultaneously open files and sockets.
    Files,
    /// Address space in bytes.
    Memory,
    /// Processes and threads.
    Processes,
}

impl Limit {
    /// All limits.
    pub const ALL: [Self; 3] = [Self::Files, Self::Memory, Self::Processes];

    /// Returns the limits that can cause this error.
    pub fn behind(error: &io::Error) -> &'static [Self] {
        match error.raw_os_error() {
            Some(libc::EMFILE) => &[Self::Files],
            Some(libc::ENOMEM) => &[Self::Memory],
            // A thread could not be created: too many processes, or no memory.
            Some(libc::EAGAIN) => &[Self::Processes, Self::Memory],
            _ => &[],
        }
    }

    /// Returns the limit as a number and as text ("open files is 1024 (ulimit -n)"); `None` if unlimited.
    pub fn get(self) -> Option<(u64, String)> {
        let resource = match self {
            Self::Files => Resource::RLIMIT_NOFILE,
            Self::Memory => Resource::RLIMIT_AS,
            Self::Processes => Resource::RLIMIT_NPROC,
        };
        let (limit, _) = getrlimit(resource).ok()?;
        let text = match self {
            Self::Files => format!("open files is {limit} (ulimit -n)"),
            Self::Memory => format!("address space is {limit} bytes (ulimit -v)"),
            Self::Processes => format!("processes is {limit} (ulimit -u)"),
        };
        (limit != RLIM_INFINITY).then_some((limit, text))
    }
}

/// Returns the free bytes that this user may use on the file system of a file.
pub fn free_bytes(file: &Path) -> Option<u64> {
    let found = statvfs(file).ok()?;
    Some(found.blocks_available().saturating_mul(found.fragment_size()))
}
