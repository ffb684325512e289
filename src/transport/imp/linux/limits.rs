//! What the system grants a process.
use nix::libc;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use std::io;

/// Something that may be limited.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Limit {
    /// Files and sockets that are open at once.
    Files,
    /// Address space in bytes.
    Memory,
    /// Processes and threads.
    Processes,
}

impl Limit {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Files, Self::Memory, Self::Processes];

    /// What an error of the system may be due to.
    pub fn behind(error: &io::Error) -> &'static [Self] {
        match error.raw_os_error() {
            Some(libc::EMFILE) => &[Self::Files],
            Some(libc::ENOMEM) => &[Self::Memory],
            // No thread: there may be too many, or no memory for another one.
            Some(libc::EAGAIN) => &[Self::Processes, Self::Memory],
            _ => &[],
        }
    }

    /// The limit, and its name with its value for people; `None` where there is none.
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
