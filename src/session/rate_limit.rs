//! Limits a stream to a rate with bursts (generic cell rate algorithm), so that other messages are not lost in a full socket.
use std::time::Duration;

/// Time between two messages at the limit of 2000 Hz: no controller is as fast, and an autopilot can read more.
const INTERVAL: Duration = Duration::from_micros(500);
/// How far a burst may be ahead of the limit: 200 messages, fewer than a socket with Linux's default buffer holds.
const BURST: Duration = Duration::from_millis(100);
/// Time between two messages of a lasting flood, 250 Hz as PX4's position control: at the limit itself, an autopilot that rests
/// for 0.15 s has a full socket.
const FLOOD_INTERVAL: Duration = Duration::from_millis(4);

/// The limit of one stream.
#[derive(Debug, Default)]
pub struct RateLimit {
    /// When the stream would end if its messages were sent at the limit.
    end: Duration,
    /// A message was refused since the last one that was sent.
    is_over: bool,
    /// Pause after the last refusal; doubles with each, until the stream was slower than the limit for long.
    pause: Duration,
}

impl RateLimit {
    /// Whether a message may be sent now; if so, it is counted as sent.
    pub fn take(&mut self, now: Duration) -> bool {
        if now >= self.next() {
            if now >= self.end {
                self.pause = Duration::ZERO;
            }
            self.end = self.end.max(now) + INTERVAL;
            self.is_over = false;
            return true;
        }
        if !std::mem::replace(&mut self.is_over, true) {
            self.pause = (2 * self.pause).clamp(INTERVAL, FLOOD_INTERVAL);
            self.end = now + BURST + self.pause;
        }
        false
    }

    /// Returns when the next message may be sent.
    pub fn next(&self) -> Duration {
        self.end.saturating_sub(BURST)
    }
}
