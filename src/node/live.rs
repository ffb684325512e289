//! What a parameter changes in the running bridge.
use super::clock::host_now;
use super::vehicle::Tf;
use super::{NodeError, Settings, UrdfForm, robot_description};
use crate::config::params::{Checked, QosSettings, Store};
use crate::config::{ParamValue, Problems};
use crate::msgs::{std_msgs, tf2_msgs::msg::TFMessage};
use crate::ros::Publisher;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use tokio::sync::watch;

/// The settings as they are now; every task has one and looks when it suits.
pub(crate) type SettingsWatch = watch::Receiver<Arc<Settings>>;

/// The field of view of one sensor.
pub(crate) struct FovWatch {
    settings: SettingsWatch,
    seq_id: u16,
    fov_deg: f32,
}

impl FovWatch {
    pub(crate) fn new(settings: SettingsWatch, seq_id: u16, fov_deg: f32) -> Self {
        Self {
            settings,
            seq_id,
            fov_deg,
        }
    }

    /// Returns the field of view once after each change; otherwise one atomic load.
    pub(crate) fn changed(&mut self) -> Option<f32> {
        if !self.settings.has_changed().unwrap_or(false) {
            return None;
        }
        let settings = self.settings.borrow_and_update();
        let sensor = settings.sensors.iter().find(|s| s.seq_id == self.seq_id)?;
        let before = std::mem::replace(&mut self.fov_deg, sensor.fov_deg);
        (before != sensor.fov_deg).then_some(sensor.fov_deg)
    }
}

/// `/tf_static`, latched: the message lives as long as its writer.
pub(super) struct StaticTf {
    pub(super) publisher: Publisher<TFMessage>,
    pub(super) tf: Tf,
    /// Frames that robot_state_publisher has instead.
    pub(super) left_out: BTreeSet<String>,
}

impl StaticTf {
    pub(super) fn publish(&self) -> Result<(), NodeError> {
        let mut transforms = {
            let tree = self.tf.tree.lock().unwrap_or_else(PoisonError::into_inner);
            tree.static_transforms(host_now())
        };
        transforms.retain(|t| !self.left_out.contains(&t.child_frame_id));
        self.publisher.publish(&TFMessage { transforms })?;
        Ok(())
    }
}

/// The parameters, and everything that one may change.
pub(super) struct Live {
    pub(super) store: Store,
    settings: Arc<Settings>,
    changes: watch::Sender<Arc<Settings>>,
    static_tf: Option<StaticTf>,
    /// By vehicle.
    descriptions: Vec<(u16, Publisher<std_msgs::msg::String>)>,
}

impl Live {
    pub(super) fn new(
        settings: Arc<Settings>,
        changes: watch::Sender<Arc<Settings>>,
        static_tf: Option<StaticTf>,
        descriptions: Vec<(u16, Publisher<std_msgs::msg::String>)>,
        publishers: &[(String, QosSettings)],
    ) -> Self {
        let origin = &settings.origin;
        let unit = |sensor: &_| settings.unit_of(sensor);
        let store = Store::new(
            &origin.values,
            &settings.params,
            &origin.sensors,
            unit,
            publishers,
        );
        Self {
            store,
            settings,
            changes,
            static_tf,
            descriptions,
        }
    }

    /// Sets all of the values, or none and says why.
    pub(super) fn set(&mut self, values: &[(String, ParamValue)]) -> Result<Checked, Problems> {
        let checked = self.store.check(values)?;
        let settings = Arc::new(self.settings.changed(checked.params.clone())?);
        self.store.commit(&checked);
        for (name, value) in &checked.changes {
            tracing::info!("parameter {name} is {value} now");
        }
        let before = std::mem::replace(&mut self.settings, settings);
        self.remount(&before);
        self.changes.send_replace(self.settings.clone());
        Ok(checked)
    }

    /// Moves the frames of sensors whose mount has changed.
    fn remount(&self, before: &Settings) {
        let (old, new) = (before.mounts(), self.settings.mounts());
        let moved: Vec<_> = new.iter().filter(|mount| !old.contains(mount)).collect();
        if moved.is_empty() {
            return;
        }
        let mut failures = Vec::new();
        if let Some(static_tf) = &self.static_tf {
            let mut due = false;
            {
                let tree = &static_tf.tf.tree;
                let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
                for mount in &moved {
                    due |= tree.remount(mount.seq_id, mount.position_frd, mount.orientation);
                }
            }
            if due {
                failures.extend(static_tf.publish().err());
            }
        }
        for (vehicle, publisher) in &self.descriptions {
            let published = robot_description(&self.settings, *vehicle, UrdfForm::Urdf)
                .and_then(|data| Ok(publisher.publish(&std_msgs::msg::String { data })?));
            failures.extend(published.err());
        }
        for error in failures {
            tracing::warn!(%error, "the new pose of a sensor is not published");
        }
    }
}
