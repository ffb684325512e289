//! Signals that end a program.
use std::{fs, io, task::Poll};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ctrl-C, SIGTERM and SIGHUP (unless ignored). After [`Self::listen`] they never end the process again.
pub struct EndSignals(Vec<Signal>);

impl EndSignals {
    /// Starts handling the signals. Call within the tokio runtime that will wait for them.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn listen() -> io::Result<Self> {
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
        // A process started by `nohup` survives the end of its terminal.
        if !is_ignored(SignalKind::hangup()) {
            kinds.push(SignalKind::hangup());
        }
        let signals = kinds.into_iter().map(signal).collect::<Result<_, _>>()?;
        Ok(Self(signals))
    }

    /// Waits for any of the signals.
    pub async fn any(&mut self) {
        std::future::poll_fn(|context| {
            let mut ready = self.0.iter_mut().map(|s| s.poll_recv(context).is_ready());
            if ready.any(|ready| ready) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// Whether the parent process set this signal to be ignored.
fn is_ignored(kind: SignalKind) -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return false };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (kind.as_raw_value() - 1) & 1 == 1)
}
