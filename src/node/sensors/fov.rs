//! The field of view of one sensor, a run-time parameter.
use crate::node::settings::SettingsWatch;

/// The field of view of one sensor.
pub(super) struct FovWatch {
    settings: SettingsWatch,
    seq_id: u16,
    fov_deg: f32,
}

impl FovWatch {
    pub(super) fn new(settings: SettingsWatch, seq_id: u16, fov_deg: f32) -> Self {
        Self {
            settings,
            seq_id,
            fov_deg,
        }
    }

    /// Returns the field of view once after each change; otherwise one atomic load.
    pub(super) fn changed(&mut self) -> Option<f32> {
        if !self.settings.has_changed().unwrap_or(false) {
            return None;
        }
        let settings = self.settings.borrow_and_update();
        let sensor = settings.sensors.iter().find(|s| s.seq_id == self.seq_id)?;
        let before = std::mem::replace(&mut self.fov_deg, sensor.fov_deg);
        (before != sensor.fov_deg).then_some(sensor.fov_deg)
    }
}
