//! The frames: `/tf`, `/tf_static`, and the tree behind both.
use super::clock::HeaderClock;
use super::error::NodeError;
use super::tasks::Endless;
use crate::frames::{FrameTree, Ned, SensorMount, Transform, Vector, VehiclePose};
use crate::msgs::geometry_msgs::msg::TransformStamped;
use crate::msgs::tf2_msgs::msg::TFMessage;
use crate::ros::Publisher;
use crate::time::RosTime;
use crate::vehicle::BodyFrame;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// The moving part of TF, shared by all sources of poses.
#[derive(Clone)]
pub(super) struct Tf {
    tree: Arc<Mutex<FrameTree>>,
    publisher: Arc<Publisher<TFMessage>>,
    /// Vehicles with a known pose.
    posed: Arc<Mutex<BTreeSet<u16>>>,
}

impl Tf {
    pub(super) fn new(tree: FrameTree, publisher: Publisher<TFMessage>) -> Self {
        Self {
            tree: Arc::new(Mutex::new(tree)),
            publisher: Arc::new(publisher),
            posed: Arc::default(),
        }
    }

    pub(super) fn vehicles(&self) -> usize {
        self.posed.lock().len()
    }

    fn tree(&self) -> MutexGuard<'_, FrameTree> {
        self.tree.lock()
    }

    pub(super) fn is_read(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    /// Publishes the frames that move with a vehicle, if `/tf` has a subscriber.
    pub(super) fn publish(&self, pose: &VehiclePose, stamp: RosTime) {
        let transforms = {
            let mut tree = self.tree();
            let transforms = tree.update(pose, stamp);
            self.is_read().then(|| transforms.to_vec())
        };
        if let Some(transforms) = transforms {
            // The publisher counts failures.
            let _counted = self.publisher.publish(&TFMessage { transforms });
        }
        self.posed.lock().insert(pose.vehicle);
    }
}

/// Delay, so that one message has the origins of several vehicles.
const TOGETHER: Duration = Duration::from_millis(100);

/// `/tf_static`, latched: each message contains all frames.
#[derive(Clone)]
pub(super) struct StaticTf(Arc<StaticFrames>);

struct StaticFrames {
    /// Locked before the frames are read, so that the last message is the newest.
    publisher: Mutex<Publisher<TFMessage>>,
    tf: Tf,
    /// Frames published by robot_state_publisher instead.
    left_out: Mutex<BTreeSet<String>>,
    /// Frames discovered at run time, by name.
    found: Mutex<BTreeMap<String, TransformStamped>>,
    clock: HeaderClock,
    due: Notify,
}

impl Endless for StaticTf {
    fn name(&self) -> String {
        "/tf_static".to_owned()
    }

    /// Publishes again after origins have changed.
    async fn work(&mut self) {
        loop {
            self.0.due.notified().await;
            tokio::time::sleep(TOGETHER).await;
            if let Err(error) = self.publish() {
                tracing::warn!(%error, "cannot publish the origin of an autopilot");
            }
        }
    }
}

impl StaticTf {
    pub(super) fn new(publisher: Publisher<TFMessage>, tf: Tf, clock: HeaderClock) -> Self {
        Self(Arc::new(StaticFrames {
            publisher: Mutex::new(publisher),
            tf,
            left_out: Mutex::default(),
            found: Mutex::default(),
            clock,
            due: Notify::new(),
        }))
    }

    pub(super) fn now(&self) -> FrameTree {
        self.tree().clone()
    }

    pub(super) fn leave_out(&self, frames: impl IntoIterator<Item = String>) {
        self.0.left_out.lock().extend(frames);
    }

    pub(super) fn publish(&self) -> Result<(), NodeError> {
        self.publish_at(self.0.clock.now())
    }

    fn publish_at(&self, now: RosTime) -> Result<(), NodeError> {
        let publisher = self.0.publisher.lock();
        let mut transforms = self.tree().static_transforms(now);
        transforms.retain(|t| !self.0.left_out.lock().contains(&t.child_frame_id));
        transforms.extend(self.0.found.lock().values().cloned().map(|mut transform| {
            transform.header.stamp = now.to_msg();
            transform
        }));
        publisher.publish(&TFMessage { transforms })?;
        Ok(())
    }

    pub(super) fn fix_to_body(&self, vehicle: u16, frames: Vec<BodyFrame>) {
        let base = self.tree().base_link(vehicle);
        for BodyFrame { name, attitude } in frames {
            let pose = Transform::from_attitude(attitude);
            let transform = pose.to_stamped(&base, &name, RosTime::default());
            self.0.found.lock().insert(name, transform);
        }
        self.0.due.notify_one();
    }

    /// Moves a sensor in its mount; the transforms have the stamp of the first frame that shows it.
    pub(super) fn remount(
        &self,
        mount: &SensorMount,
        stamp: Option<RosTime>,
    ) -> Result<(), NodeError> {
        let (due, moved) = {
            let mut tree = self.tree();
            let due = if tree.hangs(mount) {
                tree.remount(mount.seq_id, mount.position_frd, mount.orientation)
            } else {
                tree.rehang(mount).map_err(NodeError::Frames).map(|()| true)?
            };
            let moved = stamp.and_then(|stamp| tree.moving_transform(mount.seq_id, stamp));
            (due, moved)
        };
        if due {
            self.publish_at(stamp.unwrap_or_else(|| self.0.clock.now()))?;
        }
        if let Some(transform) = moved.filter(|_| self.0.tf.is_read()) {
            let transforms = vec![transform];
            self.0.tf.publisher.publish(&TFMessage { transforms })?;
        }
        Ok(())
    }

    pub(super) fn place_origin(&self, vehicle: u16, position: Vector<Ned>) {
        let moved = self.tree().place_origin(vehicle, position);
        if moved {
            let [north, east, down] = position.to_array();
            tracing::info!(
                vehicle,
                "the autopilot's origin is {north:.2} m north, {east:.2} m east, {down:.2} m down in the simulator's map"
            );
            self.0.due.notify_one();
        }
    }

    fn tree(&self) -> MutexGuard<'_, FrameTree> {
        self.0.tf.tree()
    }
}
