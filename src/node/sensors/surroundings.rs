//! What sensors learn of the true motion, and whom they tell which axes the simulator means.
use crate::frames::{FrameTree, SensorMount, VehiclePose};
use crate::node::conventions::Conventions;
use crate::node::poses::{Poses, Want};
use crate::sensors::{Surroundings, Verdict};
use crate::time::SimTime;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// All frames, with sensors where their messages show them; shared.
#[derive(Clone)]
pub(super) struct Frames(Arc<Mutex<FrameTree>>);

impl Frames {
    pub(super) fn new(tree: FrameTree) -> Self {
        Self(Arc::new(Mutex::new(tree)))
    }

    /// Sensors were opened again, in other frames.
    pub(super) fn change(&self, tree: FrameTree) {
        *self.tree() = tree;
    }

    /// The messages of a sensor show it elsewhere from now on.
    pub(super) fn moved(&self, mount: &SensorMount) {
        self.tree()
            .remount(mount.seq_id, mount.position_frd, mount.orientation);
    }

    /// Down in the frame of a sensor on a vehicle with this pose.
    fn down(&self, seq_id: u16, pose: &VehiclePose) -> Option<[f64; 3]> {
        let tree = self.tree();
        let mount = tree.lookup(&tree.base_link(pose.vehicle), &tree.sensor(seq_id)?.link)?;
        let sensor = tree.names().world.pose(pose.position, pose.attitude) * mount;
        Some(sensor.inverse().rotate([0.0, 0.0, -1.0]))
    }

    fn tree(&self) -> MutexGuard<'_, FrameTree> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Those of one sensor.
pub(super) struct Around {
    pub(super) seq_id: u16,
    pub(super) vehicle: u16,
    pub(super) poses: Poses,
    pub(super) want: Mutex<Want>,
    pub(super) frames: Frames,
    pub(super) conventions: Conventions,
}

impl Surroundings for Around {
    fn pose(&self, at: SimTime) -> Option<VehiclePose> {
        // From the first question on.
        let want = self.want.lock();
        want.unwrap_or_else(PoisonError::into_inner).set(true);
        self.poses.near(self.vehicle, at)
    }

    fn down(&self, at: SimTime) -> Option<[f64; 3]> {
        self.frames.down(self.seq_id, &self.pose(at)?)
    }

    fn tell(&self, what: &'static str, verdict: Verdict, text: &str) {
        let parameter = match what {
            "cloud" => "cloud.depth_axes",
            _ => "cloud.odometry_axes",
        };
        let what = format!("sensor{} {what}", self.seq_id);
        self.conventions.tell(what, verdict, text, parameter);
    }
}
