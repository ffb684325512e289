//! The true motion around a sensor, and the report of the axes that it finds.
use super::lens::Glass;
use crate::frames::VehiclePose;
use crate::node::axes::AxesReport;
use crate::node::pose_history::{PoseDemand, PoseHistory};
use crate::sensors::{Surroundings, Verdict};
use crate::time::SimTime;
use std::sync::{Mutex, PoisonError};

/// The surroundings of one sensor.
pub(super) struct SensorSurroundings {
    pub(super) seq_id: u16,
    pub(super) vehicle: u16,
    pub(super) poses: PoseHistory,
    pub(super) want: Mutex<PoseDemand>,
    pub(super) glass: Glass,
    pub(super) axes_report: AxesReport,
}

impl Surroundings for SensorSurroundings {
    fn pose(&self, at: SimTime) -> Option<VehiclePose> {
        // From the first call on, the history of poses is kept.
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
        self.axes_report.report(what, verdict, text, parameter);
    }
}
