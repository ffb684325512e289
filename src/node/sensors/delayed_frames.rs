//! Publishes frames that are delayed on purpose (`degrade.*`), and counts them.
use crate::node::{cause::Cause, clock::host_now, stats::SourceStats};
use crate::sensors::SensorPipeline;
use std::time::Duration;

/// Returns the time until the next delayed frame is due; the maximum without one.
pub(super) fn until_due(sensor: &SensorPipeline) -> Duration {
    let wait = |due: i64| u64::try_from(due.saturating_sub(host_now().0)).unwrap_or(0);
    sensor.due().map_or(Duration::MAX, |due| Duration::from_nanos(wait(due.0)))
}

/// Publishes the delayed frames that are due.
pub(super) fn release_due(sensor: &mut SensorPipeline, stats: &SourceStats) {
    if sensor.due().is_none() {
        return;
    }
    while let Some(result) = sensor.release(host_now()) {
        let mut figures = stats.lock();
        figures.count(Cause::HeldBack);
        if let Err(error) = result {
            figures.count(error.cause().into());
        }
    }
}
