//! Signals that end a program.
use std::fs;
use std::io;
use std::task::Poll;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ctrl-C, SIGTERM and SIGHUP. Once listened to they end nothing by themselves.
pub struct EndSignals(Vec<Signal>);

impl EndSignals {
    /// Takes the signals. Must be called within the tokio runtime that will wait for them.
    ///
    /// # Errors
    /// The system's, if it refuses.
    pub fn listen() -> io::Result<Self> {
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
        // What `nohup` has started goes on when its terminal goes.
        if !is_ignored(SignalKind::hangup()) {
            kinds.push(SignalKind::hangup());
        }
        let signals = kinds.into_iter().map(signal).collect::<Result<_, _>>()?;
        Ok(Self(signals))
    }

    /// Waits for one of them.
    pub async fn any(&mut self) {
        std::future::poll_fn(|context| {
            let mut came = self.0.iter_mut().map(|s| s.poll_recv(context).is_ready());
            match came.any(|came| came) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

/// Does whoever started this process want a signal to be ignored?
fn is_ignored(kind: SignalKind) -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else {
        return false;
    };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (kind.as_raw_value() - 1) & 1 == 1)
}
