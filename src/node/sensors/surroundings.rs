//! What sensors learn of the true motion, and whom they tell which axes the simulator means.
use super::lens::Glass;
use crate::frames::VehiclePose;
use crate::node::conventions::Conventions;
use crate::node::poses::{Poses, Want};
use crate::sensors::{Surroundings, Verdict};
use crate::time::SimTime;
use std::sync::{Mutex, PoisonError};

/// Those of one sensor.
pub(super) struct Around {
    pub(super) seq_id: u16,
    pub(super) vehicle: u16,
    pub(super) poses: Poses,
    pub(super) want: Mutex<Want>,
    pub(super) glass: Glass,
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
        self.glass.down(self.seq_id, &self.pose(at)?)
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
