//! What the system grants this process, named where it is not enough.
use crate::transport::Limit;
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
            (Limit::Files, self.files, "files and sockets"),
            (Limit::Memory, self.bytes, "bytes of address space"),
        ];
        for (limited, need, what) in needs {
            if let Some((limit, text)) = limited.get()
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
    let behind = Limit::behind(error).iter();
    let limits: Vec<_> = behind.filter_map(|limit| limit.get()).collect();
    match limits.is_empty() {
        true => String::new(),
        false => format!(" (the limit of {})", sentence(limits)),
    }
}

/// Returns every limit that could be behind a failure.
pub fn limits() -> String {
    sentence(Limit::ALL.into_iter().filter_map(Limit::get).collect())
}

fn sentence(limits: Vec<(u64, String)>) -> String {
    let texts: Vec<_> = limits.into_iter().map(|(_, text)| text).collect();
    texts.join(", of ")
}
