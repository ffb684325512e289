//! What a parameter changes in the running bridge.
use super::clock::HeaderClock;
use super::tasks::Endless;
use super::vehicle::Tf;
use super::{NodeError, Settings, UrdfForm, robot_description};
use crate::config::params::{Checked, Store};
use crate::config::{ParamValue, Problems};
use crate::frames::{FrameTree, Ned, Transform, Vector};
use crate::msgs::geometry_msgs::msg::TransformStamped;
use crate::msgs::{std_msgs, tf2_msgs::msg::TFMessage};
use crate::ros::{Publisher, Qos};
use crate::time::RosTime;
use crate::vehicle::BodyFrame;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};

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

/// Time for other vehicles to say where they count from as well.
const TOGETHER: Duration = Duration::from_millis(100);

/// `/tf_static`, latched: the message lives as long as its writer, and each has all of them.
#[derive(Clone)]
pub(super) struct StaticTf(Arc<StaticFrames>);

struct StaticFrames {
    /// Locked first, so that the newest message is the last one.
    publisher: Mutex<Publisher<TFMessage>>,
    tf: Tf,
    /// Frames that robot_state_publisher has instead.
    left_out: BTreeSet<String>,
    /// Frames that were found on the vehicles, by name.
    found: Mutex<BTreeMap<String, TransformStamped>>,
    clock: HeaderClock,
    due: Notify,
}

impl Endless for StaticTf {
    fn name(&self) -> String {
        "/tf_static".to_owned()
    }

    async fn work(&mut self) {
        self.run().await;
    }
}

impl StaticTf {
    pub(super) fn new(
        publisher: Publisher<TFMessage>,
        tf: Tf,
        left_out: BTreeSet<String>,
        clock: HeaderClock,
    ) -> Self {
        Self(Arc::new(StaticFrames {
            publisher: Mutex::new(publisher),
            tf,
            left_out,
            found: Mutex::default(),
            clock,
            due: Notify::new(),
        }))
    }

    pub(super) fn publish(&self) -> Result<(), NodeError> {
        let publisher = self.0.publisher.lock();
        let publisher = publisher.unwrap_or_else(PoisonError::into_inner);
        let now = self.0.clock.now();
        let mut transforms = self.tree().static_transforms(now);
        transforms.retain(|t| !self.0.left_out.contains(&t.child_frame_id));
        transforms.extend(self.found().values().cloned().map(|mut transform| {
            transform.header.stamp = now.to_msg();
            transform
        }));
        publisher.publish(&TFMessage { transforms })?;
        Ok(())
    }

    /// Sensors of a vehicle tell how they are mounted.
    pub(super) fn fix_to_body(&self, vehicle: u16, frames: Vec<BodyFrame>) {
        let base = self.tree().base_link(vehicle);
        for BodyFrame { name, attitude } in frames {
            let pose = Transform::from_attitude(attitude);
            let transform = pose.to_stamped(&base, &name, RosTime::default());
            self.found().insert(name, transform);
        }
        self.0.due.notify_one();
    }

    fn found(&self) -> MutexGuard<'_, BTreeMap<String, TransformStamped>> {
        let found = &self.0.found;
        found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An autopilot counts from here.
    pub(super) fn place_origin(&self, vehicle: u16, position: Vector<Ned>) {
        let moved = self.tree().place_origin(vehicle, position);
        if moved {
            let [north, east, down] = position.to_array();
            tracing::info!(
                vehicle,
                "the autopilot counts from {north:.2} m north, {east:.2} m east, {down:.2} m down in the simulator's map"
            );
            self.0.due.notify_one();
        }
    }

    /// Publishes anew after autopilots were placed.
    async fn run(&self) {
        loop {
            self.0.due.notified().await;
            tokio::time::sleep(TOGETHER).await;
            if let Err(error) = self.publish() {
                tracing::warn!(%error, "the origin of an autopilot is not published");
            }
        }
    }

    fn tree(&self) -> MutexGuard<'_, FrameTree> {
        let tree = &self.0.tf.tree;
        tree.lock().unwrap_or_else(PoisonError::into_inner)
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
        publishers: &[(String, Qos)],
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
                let mut tree = static_tf.tree();
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
