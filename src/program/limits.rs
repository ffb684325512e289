//! What the system grants this process, named where it is not enough.
use nix::libc;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use std::io;

/// What a program needs at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Files and sockets that are open at once.
    pub files: u64,
    /// Address space in bytes.
    pub bytes: u64,
}

/// What is needed and not granted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("about {need} {what} are needed, and the limit of {limit}: raise it, or ask for less")]
pub struct TooLittle {
    need: u64,
    what: &'static str,
    limit: String,
}

impl Needs {
    /// Compares with the limits of this process.
    ///
    /// # Errors
    /// What is too low. Without this, libraries would crash where they get no socket or no thread.
    pub fn check(self) -> Result<(), TooLittle> {
        let needs = [
            (Resource::RLIMIT_NOFILE, self.files, "files and sockets"),
            (Resource::RLIMIT_AS, self.bytes, "bytes of address space"),
        ];
        for (resource, need, what) in needs {
            if let Some((limit, text)) = limit_of(resource)
                && limit < need
            {
                let limit = text;
                return Err(TooLittle { need, what, limit });
            }
        }
        Ok(())
    }
}

/// Returns the limit that an error of the system speaks of, as ` (the limit of ...)`; empty for other errors.
pub fn limit_behind(error: &io::Error) -> String {
    let resources: &[Resource] = match error.raw_os_error() {
        Some(libc::EMFILE) => &[Resource::RLIMIT_NOFILE],
        Some(libc::ENOMEM) => &[Resource::RLIMIT_AS],
        // No thread: there may be too many, or no memory for another one.
        Some(libc::EAGAIN) => &[Resource::RLIMIT_NPROC, Resource::RLIMIT_AS],
        _ => &[],
    };
    let limits: Vec<_> = resources.iter().filter_map(|r| limit_of(*r)).collect();
    match limits.is_empty() {
        true => String::new(),
        false => format!(" (the limit of {})", sentence(limits)),
    }
}

/// Returns every limit that could be behind a failure.
pub fn limits() -> String {
    let resources = [
        Resource::RLIMIT_NOFILE,
        Resource::RLIMIT_AS,
        Resource::RLIMIT_NPROC,
    ];
    sentence(resources.into_iter().filter_map(limit_of).collect())
}

fn sentence(limits: Vec<(u64, String)>) -> String {
    let texts: Vec<_> = limits.into_iter().map(|(_, text)| text).collect();
    texts.join(", of ")
}

/// A limit, and its name with its value; `None` where there is none.
fn limit_of(resource: Resource) -> Option<(u64, String)> {
    let (limit, _) = getrlimit(resource).ok()?;
    let text = match resource {
        Resource::RLIMIT_NOFILE => format!("open files is {limit} (ulimit -n)"),
        Resource::RLIMIT_AS => format!("address space is {limit} bytes (ulimit -v)"),
        _ => format!("processes is {limit} (ulimit -u)"),
    };
    (limit != RLIM_INFINITY).then_some((limit, text))
}
