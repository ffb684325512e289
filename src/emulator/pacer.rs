use std::time::{Duration, Instant};

/// Spreads datagrams in time as a network link does.
///
/// Loopback has no back-pressure for UDP: a burst of 60 kB datagrams overruns the system's default receive
/// buffer, which holds only a few, before the reader runs. A real simulator sends over a link.
#[derive(Debug)]
pub(super) struct Pacer {
    seconds_per_byte: f64,
    free_at: Instant,
}

impl Pacer {
    /// Shorter waits accumulate, because sleeping costs more than it gains.
    const SLACK: Duration = Duration::from_micros(60);
    /// Longest time of a datagram; without a limit, a tiny rate would overflow the time and panic.
    const MAX_TIME: Duration = Duration::from_secs(1);

    /// Creates the link; a rate of 0 Gbit/s is no limit.
    pub(super) fn new(gbit_per_s: f64) -> Self {
        let seconds_per_byte = if gbit_per_s > 0.0 { 8e-9 / gbit_per_s } else { 0.0 };
        Self { seconds_per_byte, free_at: Instant::now() }
    }

    /// Waits until the link is free, and occupies it with `bytes`.
    pub(super) fn pass(&mut self, bytes: usize) {
        if self.seconds_per_byte == 0.0 {
            return;
        }
        let now = Instant::now();
        let wait = self.free_at.saturating_duration_since(now);
        if wait > Self::SLACK {
            std::thread::sleep(wait);
        }
        let time = Duration::try_from_secs_f64(bytes as f64 * self.seconds_per_byte);
        self.free_at = self.free_at.max(now) + time.unwrap_or(Self::MAX_TIME).min(Self::MAX_TIME);
    }
}
