//! Compares the rate of a source with the requested one.
use crate::doctor::Shortfall;
use std::time::{Duration, Instant};

/// Minimum duration of a window, and minimum number of frames requested in it.
const MIN_TIME: Duration = Duration::from_secs(2);
const MIN_FRAMES: f64 = 10.0;
/// A rate below this fraction of the requested one is reported.
const MIN_RATIO: f64 = 0.8;

/// Compares the frames of one source with the requested rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateWatch {
    /// Start of the current window, frames at its start, requested rate.
    window: Option<(Instant, u64, f64)>,
    shortfall: Option<Shortfall>,
}

impl RateWatch {
    /// Judges the rate from the number of frames so far, while data arrives. `speed` is the speed of the simulation: the
    /// requested rate refers to its time.
    pub fn update(
        &mut self,
        now: Instant,
        frames: u64,
        asked_hz: f64,
        speed: f64,
    ) -> Option<Shortfall> {
        let (since, before, asked_before) = *self.window.get_or_insert((now, frames, asked_hz));
        if asked_before != asked_hz {
            *self = Self::default();
            return None;
        }
        let asked = asked_hz * speed;
        let seconds = now.saturating_duration_since(since).as_secs_f64();
        if seconds >= MIN_TIME.as_secs_f64() && seconds * asked >= MIN_FRAMES {
            let rate_hz = frames.saturating_sub(before) as f64 / seconds;
            self.shortfall =
                (rate_hz < MIN_RATIO * asked).then_some(Shortfall { rate_hz, asked_hz: asked });
            self.window = Some((now, frames, asked_hz));
        }
        self.shortfall
    }
}
