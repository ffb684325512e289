//! Provides the true pose of a sensor's vehicle, and reports the axes that are detected in the sensor's data.
use crate::frames::{FrameTree, SensorMount, VehiclePose};
use crate::node::axes::AxesReport;
use crate::node::pose_history::{PoseDemand, PoseHistory};
use crate::sensors::{TrueAttitude, Verdict};
use crate::time::SimTime;
use parking_lot::Mutex;
use std::sync::Arc;

/// The frame tree that all sensors share. It has a changed mount as soon as the renderer uses that mount.
#[derive(Clone)]
pub(super) struct SharedFrameTree(Arc<Mutex<FrameTree>>);

impl SharedFrameTree {
    pub(super) fn new(tree: FrameTree) -> Self {
        Self(Arc::new(Mutex::new(tree)))
    }

    /// Replaces the tree after sensors were opened again.
    pub(super) fn replace(&self, tree: FrameTree) {
        *self.0.lock() = tree;
    }

    /// Sets the mount from which the renderer now takes a sensor's frames.
    pub(super) fn set_mount(&self, mount: &SensorMount) {
        self.0.lock().remount(mount.seq_id, mount.position_frd, mount.orientation);
    }

    /// Returns the unit vector that points down, in the frame of a sensor on a vehicle with this pose.
    fn down(&self, seq_id: u16, pose: &VehiclePose) -> Option<[f64; 3]> {
        let tree = self.0.lock();
        let mount = tree.lookup(&tree.base_link(pose.vehicle), &tree.sensor(seq_id)?.link)?;
        let sensor = tree.names().world.pose(pose.position, pose.attitude) * mount;
        Some(sensor.inverse().rotate([0.0, 0.0, -1.0]))
    }
}

pub(super) struct TruePoseSource {
    pub(super) seq_id: u16,
    pub(super) vehicle: u16,
    pub(super) poses: PoseHistory,
    pub(super) pose_demand: Mutex<PoseDemand>,
    pub(super) frames: SharedFrameTree,
    pub(super) axes_report: AxesReport,
}

impl TrueAttitude for TruePoseSource {
    fn pose(&self, at: SimTime) -> Option<VehiclePose> {
        // The first call starts the history of poses.
        self.pose_demand.lock().set(true);
        self.poses.latest_at(self.vehicle, at)
    }

    fn down(&self, at: SimTime) -> Option<[f64; 3]> {
        self.frames.down(self.seq_id, &self.pose(at)?)
    }

    fn report(&self, what: &'static str, verdict: Verdict, text: &str) {
        let parameter = match what {
            "cloud" => "cloud.depth_axes",
            _ => "cloud.odometry_axes",
        };
        let what = format!("sensor{} {what}", self.seq_id);
        self.axes_report.report(what, verdict, text, parameter);
    }
}
