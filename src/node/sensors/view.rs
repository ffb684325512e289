//! What run-time parameters change in the messages of one camera.
use crate::node::settings::{Settings, SettingsWatch};
use crate::sensors::View;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Optical frames of the sensors, by SeqID.
pub(super) type OpticalFrames = Arc<BTreeMap<u16, String>>;

/// The view of one sensor.
pub(super) struct ViewWatch {
    settings: SettingsWatch,
    seq_id: u16,
    frames: OpticalFrames,
    view: Option<View>,
}

impl ViewWatch {
    pub(super) fn new(settings: SettingsWatch, seq_id: u16, frames: OpticalFrames) -> Self {
        let view = view_of(&settings.borrow(), seq_id, &frames);
        Self {
            settings,
            seq_id,
            frames,
            view,
        }
    }

    /// Returns the view at the start.
    pub(super) fn first(&self) -> Option<&View> {
        self.view.as_ref()
    }

    /// Returns the view once after each change; otherwise one atomic load.
    pub(super) fn changed(&mut self) -> Option<&View> {
        if !self.settings.has_changed().unwrap_or(false) {
            return None;
        }
        let settings = self.settings.borrow_and_update();
        let view = view_of(&settings, self.seq_id, &self.frames);
        if view == self.view {
            return None;
        }
        self.view = view;
        self.view.as_ref()
    }
}

fn view_of(settings: &Settings, seq_id: u16, frames: &BTreeMap<u16, String>) -> Option<View> {
    let sensor = settings.sensors.iter().find(|s| s.seq_id == seq_id)?;
    let shared = settings.pairs.frame_of(seq_id);
    Some(View {
        fov_deg: sensor.fov_deg,
        baseline_m: settings.pairs.baseline_m(seq_id),
        frame_id: frames.get(&shared)?.clone(),
    })
}
