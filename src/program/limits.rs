//! Resource limits of this process, which errors name as possible causes.
use crate::transport::Limit;
use std::io;

/// Minimum resources of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Simultaneously open files and sockets.
    pub files: u64,
    /// Address space in bytes.
    pub bytes: u64,
}

/// A limit that is too low.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "about {need} {what} are needed, but the limit of {limit}: raise it, or configure fewer sensors or vehicles"
)]
pub struct LimitTooLow {
    need: u64,
    what: &'static str,
    limit: String,
}

impl Needs {
    /// Compares the needs with the limits of this process: libraries crash when they get no socket or no thread.
    /// Errors: the first limit that is too low.
    pub fn check(self) -> Result<(), LimitTooLow> {
        let needs = [
            (Limit::Files, self.files, "files and sockets"),
            (Limit::Memory, self.bytes, "bytes of address space"),
        ];
        for (limited, need, what) in needs {
            if let Some((_, limit)) = limited.get().filter(|(number, _)| *number < need) {
                return Err(LimitTooLow { need, what, limit });
            }
        }
        Ok(())
    }
}

/// Returns the limits that can cause this error of the system, as ` (the limit of ...)`; empty if none can.
pub fn limit_that_causes(error: &io::Error) -> String {
    let limits = join_texts(Limit::behind(error).iter().filter_map(|limit| limit.get()));
    if limits.is_empty() { limits } else { format!(" (the limit of {limits})") }
}

/// Returns every limit that can cause a failure.
pub fn limits() -> String {
    join_texts(Limit::ALL.into_iter().filter_map(Limit::get))
}

fn join_texts(limits: impl Iterator<Item = (u64, String)>) -> String {
    limits.map(|(_, text)| text).collect::<Vec<_>>().join(", of ")
}
