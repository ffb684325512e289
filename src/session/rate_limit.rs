//! Limits the rate of a stream, with bursts (generic cell rate algorithm): a flood would fill the autopilot's receive buffer.
use std::time::Duration;

/// Time between two messages at the limit of 2000 Hz: no controller is as fast, and an autopilot can read more.
const INTERVAL: Duration = Duration::from_micros(500);
/// How far a burst may be ahead of the limit: 200 messages, fewer than Linux's default receive buffer holds.
const BURST: Duration = Duration::from_millis(100);
/// Time between two messages of a lasting flood: 250 Hz, like PX4's position control. At 2000 Hz, a pause of 0.15 s in the
/// autopilot would fill its receive buffer.
const FLOOD_INTERVAL: Duration = Duration::from_millis(4);

/// The limit of one stream.
#[derive(Debug, Default)]
pub struct RateLimit {
    /// When the stream would end if its messages were sent at the limit.
    end: Duration,
    /// Whether a message was refused since the last one that was sent.
    was_refused: bool,
    /// Pause after a refusal; doubles with each series of refusals, and is reset by a message after `end`.
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
            self.was_refused = false;
            return true;
        }
        if !std::mem::replace(&mut self.was_refused, true) {
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
