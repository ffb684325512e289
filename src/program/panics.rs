//! Panics of all threads: logged, and counted for `/diagnostics`.
use parking_lot::Mutex;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{Location, PanicHookInfo};

/// The panics of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PanicReport {
    /// Number of panics.
    pub count: u64,
    /// Thread, location and message of the last one.
    pub last: String,
}

static PANICS: Mutex<PanicReport> = Mutex::new(PanicReport { count: 0, last: String::new() });

/// Returns the panics since [`note_panics`].
pub fn panics() -> PanicReport {
    PANICS.lock().clone()
}

/// Installs a hook that counts panics and sends them to the log instead of stderr, which may block.
pub fn note_panics() {
    std::panic::set_hook(Box::new(note));
}

fn note(info: &PanicHookInfo<'_>) {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("without a name");
    let location = info.location().map_or_else(String::new, Location::to_string);
    let last = format!("thread {thread} panicked at {location}: {}", text.unwrap_or("no text"));
    {
        let mut panics = PANICS.lock();
        panics.count += 1;
        panics.last.clone_from(&last);
    }
    tracing::error!("{last}; please report this");
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        for line in backtrace.to_string().lines() {
            tracing::error!("{line}");
        }
    }
}
