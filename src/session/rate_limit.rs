//! Limits a stream to a rate with bursts (generic cell rate algorithm), so that other messages are not lost in a full socket.
use std::time::Duration;

/// Time between two messages at the limit of 2000 Hz: no controller is as fast, and an autopilot can read more.
const INTERVAL: Duration = Duration::from_micros(500);
/// How far a burst may be ahead of the limit: 200 messages, fewer than a socket with Linux's default buffer holds.
const BURST: Duration = Duration::from_millis(100);

/// The limit of one stream.
#[derive(Debug, Default)]
pub struct RateLimit {
    /// When the stream would end if its messages were sent at the limit.
    end: Duration,
}

impl RateLimit {
    /// Whether a message may be sent now; if so, it is counted as sent.
    pub fn take(&mut self, now: Duration) -> bool {
        let may_send = now >= self.next();
        if may_send {
            self.end = self.end.max(now) + INTERVAL;
        }
        may_send
    }

    /// Returns when the next message may be sent.
    pub fn next(&self) -> Duration {
        self.end.saturating_sub(BURST)
    }
}
