//! Compares the rate of a source with the requested one.
use std::time::{Duration, Instant};

/// Minimum time, and minimum number of requested frames, to judge a rate over.
const WINDOW: Duration = Duration::from_secs(2);
const FRAMES: f64 = 10.0;
/// A rate below this fraction of the requested one is reported.
const ENOUGH: f64 = 0.8;

/// A rate that is too low.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shortfall {
    /// Received rate in Hz.
    pub rate_hz: f64,
    /// Requested rate in Hz of host time.
    pub asked_hz: f64,
}

impl std::fmt::Display for Shortfall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:.1} Hz, {:.1} Hz requested",
            self.rate_hz, self.asked_hz
        )
    }
}

/// Compares the frames of one source with the requested rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateWatch {
    /// Start of the current window, frames at its start, requested rate.
    window: Option<(Instant, u64, f64)>,
    short: Option<Shortfall>,
}

impl RateWatch {
    /// Judges by the number of frames so far, while data flows; `speed` is that of the simulation, whose time the
    /// requested rate refers to.
    pub fn look(
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
        if seconds >= WINDOW.as_secs_f64() && seconds * asked >= FRAMES {
            let rate_hz = frames.saturating_sub(before) as f64 / seconds;
            self.short = (rate_hz < ENOUGH * asked).then_some(Shortfall {
                rate_hz,
                asked_hz: asked,
            });
            self.window = Some((now, frames, asked_hz));
        }
        self.short
    }
}
