//! Logs payloads that cannot be from their sensor.
use crate::sensors::{SensorCause, SensorError};

/// Logs each cause once; `/diagnostics` has the count of each.
#[derive(Default)]
pub(super) struct RefusalLog(Vec<SensorCause>);

impl RefusalLog {
    /// Logs why a frame of `source` was refused, if it cannot be from this sensor as it is configured.
    pub(super) fn log(&mut self, source: impl std::fmt::Display, error: &SensorError) {
        let cause = error.cause();
        if error.is_foreign() && !self.0.contains(&cause) {
            self.0.push(cause);
            tracing::warn!("{source}: {error} (count: drop_{} in /diagnostics)", cause.name());
        }
    }
}
