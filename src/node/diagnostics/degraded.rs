//! The status of data that is degraded on purpose (`degrade.*`).
use crate::node::section::{Finding, Level, Section, value};
use crate::node::settings::{Settings, SettingsWatch};
use crate::node::{cause::Cause, stats::Sources};
use crate::sensors::SensorCause;

pub(super) const DEGRADED: &str = "degraded on purpose";

/// Reports the parameters in effect, and the numbers of frames that they dropped and delayed.
pub(super) struct Degraded {
    settings: SettingsWatch,
    sources: Sources,
}

impl Degraded {
    /// Logs a warning if `degrade.*` parameters are set.
    pub(super) fn new(settings: SettingsWatch, sources: Sources) -> Self {
        let phrases = settings.borrow().params.degraded();
        if !phrases.is_empty() {
            tracing::warn!("{DEGRADED}: {}", phrases.join(", "));
        }
        for sensor in lidars_without_noise(&settings.borrow()) {
            tracing::warn!(
                "{sensor}: degrade.lidar_noise_m has no effect, because its points are in the world frame, without the position \
                of the sensor"
            );
        }
        Self { settings, sources }
    }
}

/// Returns the lidars in the world frame, which `degrade.lidar_noise_m` does not change; none if it is 0.
fn lidars_without_noise(settings: &Settings) -> Vec<String> {
    let has_noise = settings.params.degrade.lidar_noise_m > 0.0;
    let sensors = settings.sensors.iter();
    let global = sensors.filter(|s| has_noise && s.kind == crate::wire::SensorKind::GlobalLidar);
    global.map(|s| format!("sensor{}", s.seq_id)).collect()
}

impl Section for Degraded {
    fn check(&mut self) -> Finding {
        let phrases = self.settings.borrow().params.degraded();
        let (mut dropped, mut held_back) = (0, 0);
        for source in self.sources.all() {
            let figures = source.lock();
            let count = |cause: Cause| figures.counts.get(&cause).copied().unwrap_or_default();
            dropped += count(SensorCause::OnPurpose.into());
            held_back += count(Cause::HeldBack);
        }
        let (level, message) = if phrases.is_empty() {
            (Level::Ok, "nothing".to_owned())
        } else {
            (Level::Warn, phrases.join(", "))
        };
        Finding {
            level,
            message,
            values: vec![value("frames_dropped", dropped), value("frames_held_back", held_back)],
        }
    }
}
