//! Publishes `/tf` and `/tf_static` from one frame tree.
use super::{clock::HeaderClock, error::NodeError, tasks::Endless};
use crate::frames::{FrameTree, Ned, SensorMount, Transform, Vector, VehiclePose};
use crate::msgs::{geometry_msgs::msg::TransformStamped, tf2_msgs::msg::TFMessage};
use crate::{ros::Publisher, time::RosTime, vehicle::BodyFrame};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet};
use std::{sync::Arc, time::Duration};
use tokio::sync::Notify;

/// The moving part of TF, shared by all sources of poses.
#[derive(Clone)]
pub(super) struct Tf {
    tree: Arc<Mutex<FrameTree>>,
    publisher: Arc<Publisher<TFMessage>>,
    /// Vehicles with a known pose.
    known_poses: Arc<Mutex<BTreeSet<u16>>>,
    queues: Arc<Mutex<BTreeMap<u16, TakeQueued>>>,
}

/// Publishes the states of a vehicle that have arrived; does not wait for another thread.
type TakeQueued = Arc<dyn Fn() + Send + Sync>;

impl Tf {
    pub(super) fn new(tree: FrameTree, publisher: Publisher<TFMessage>) -> Self {
        Self {
            tree: Arc::new(Mutex::new(tree)),
            publisher: Arc::new(publisher),
            known_poses: Arc::default(),
            queues: Arc::default(),
        }
    }

    /// Sets what [`Self::catch_up`] calls.
    pub(super) fn set_queue(&self, vehicle: u16, take: impl Fn() + Send + Sync + 'static) {
        self.queues.lock().insert(vehicle, Arc::new(take));
    }

    /// Publishes the transforms of all states of a vehicle that have arrived. Called before data are published: whoever looks up
    /// their stamp finds the transform of the same tick.
    pub(super) fn catch_up(&self, vehicle: u16) {
        if self.is_read() {
            let take = self.queues.lock().get(&vehicle).cloned();
            if let Some(take) = take {
                take();
            }
        }
    }

    pub(super) fn vehicle_count(&self) -> usize {
        self.known_poses.lock().len()
    }

    pub(super) fn is_read(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    /// Publishes the frames that move with a vehicle, if `/tf` has a subscriber.
    pub(super) fn publish(&self, pose: &VehiclePose, stamp: RosTime) {
        let transforms = {
            let mut tree = self.tree.lock();
            let transforms = tree.update(pose, stamp);
            self.is_read().then(|| transforms.to_vec())
        };
        if let Some(transforms) = transforms {
            // The publisher counts failures.
            let _counted = self.publisher.publish(&TFMessage { transforms });
        }
        self.known_poses.lock().insert(pose.vehicle);
    }
}

/// Delay that collects the origins of several vehicles in one message.
const ORIGIN_DELAY: Duration = Duration::from_millis(100);

/// `/tf_static`, latched: each message contains all frames.
#[derive(Clone)]
pub(super) struct StaticTf(Arc<StaticFrames>);

struct StaticFrames {
    /// Locked before the frames are read, so that the last message has the newest frames.
    publisher: Mutex<Publisher<TFMessage>>,
    tf: Tf,
    /// Frames published by robot_state_publisher instead.
    omitted: Mutex<BTreeSet<String>>,
    /// Frames discovered at run time, by name.
    discovered: Mutex<BTreeMap<String, TransformStamped>>,
    clock: HeaderClock,
    due: Notify,
}

impl Endless for StaticTf {
    fn name(&self) -> String {
        "/tf_static".to_owned()
    }

    /// Publishes again after origins have changed or frames were discovered.
    async fn work(&mut self) {
        loop {
            self.0.due.notified().await;
            tokio::time::sleep(ORIGIN_DELAY).await;
            if let Err(error) = self.publish() {
                tracing::warn!(%error, "cannot publish changed frames on /tf_static");
            }
        }
    }
}

impl StaticTf {
    pub(super) fn new(publisher: Publisher<TFMessage>, tf: Tf, clock: HeaderClock) -> Self {
        Self(Arc::new(StaticFrames {
            publisher: Mutex::new(publisher),
            tf,
            omitted: Mutex::default(),
            discovered: Mutex::default(),
            clock,
            due: Notify::new(),
        }))
    }

    pub(super) fn tree_copy(&self) -> FrameTree {
        self.tree().clone()
    }

    pub(super) fn omit(&self, frames: impl IntoIterator<Item = String>) {
        self.0.omitted.lock().extend(frames);
    }

    pub(super) fn publish(&self) -> Result<(), NodeError> {
        self.publish_at(self.0.clock.now())
    }

    fn publish_at(&self, now: RosTime) -> Result<(), NodeError> {
        let publisher = self.0.publisher.lock();
        let mut transforms = self.tree().static_transforms(now);
        transforms.retain(|t| !self.0.omitted.lock().contains(&t.child_frame_id));
        transforms.extend(self.0.discovered.lock().values().cloned().map(|mut transform| {
            transform.header.stamp = now.to_msg();
            transform
        }));
        publisher.publish(&TFMessage { transforms })?;
        Ok(())
    }

    /// Adds frames that are fixed to the body of a vehicle.
    pub(super) fn fix_to_body(&self, vehicle: u16, frames: Vec<BodyFrame>) {
        let base = self.tree().base_link(vehicle);
        for BodyFrame { name, attitude } in frames {
            let pose = Transform::from_attitude(attitude);
            let transform = pose.to_stamped(&base, &name, RosTime::default());
            self.0.discovered.lock().insert(name, transform);
        }
        self.0.due.notify_one();
    }

    /// Moves a sensor in its mount, or to another mount; the transforms have the stamp of the first frame that shows it.
    pub(super) fn remount(
        &self,
        mount: &SensorMount,
        stamp: Option<RosTime>,
    ) -> Result<(), NodeError> {
        let (is_static_changed, moving) = {
            let mut tree = self.tree();
            let is_static_changed = if tree.has_mount(mount) {
                tree.remount(mount.seq_id, mount.position_frd, mount.orientation)
            } else {
                tree.replace_mount(mount).map_err(NodeError::Frames).map(|()| true)?
            };
            let moving = stamp.and_then(|stamp| tree.moving_transform(mount.seq_id, stamp));
            (is_static_changed, moving)
        };
        if is_static_changed {
            self.publish_at(stamp.unwrap_or_else(|| self.0.clock.now()))?;
        }
        if let Some(transform) = moving.filter(|_| self.0.tf.is_read()) {
            let transforms = vec![transform];
            self.0.tf.publisher.publish(&TFMessage { transforms })?;
        }
        Ok(())
    }

    pub(super) fn place_origin(&self, vehicle: u16, position: Vector<Ned>) {
        let is_new = self.tree().place_origin(vehicle, position);
        if is_new {
            let [north, east, down] = position.to_array();
            tracing::info!(
                vehicle,
                "the autopilot's origin is {north:.2} m north, {east:.2} m east, {down:.2} m down in the simulator's map"
            );
            self.0.due.notify_one();
        }
    }

    fn tree(&self) -> MutexGuard<'_, FrameTree> {
        self.0.tf.tree.lock()
    }
}
