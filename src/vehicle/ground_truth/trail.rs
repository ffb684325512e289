//! `ground_truth/path`: the path of a vehicle.
use super::messages::pose_msg;
use crate::frames::{VehiclePose, WorldConvention};
use crate::msgs::geometry_msgs::msg::{Pose, PoseStamped};
use crate::{msgs::nav_msgs::msg::Path, time::RosTime};
use std::collections::VecDeque;

/// Distance between two poses of the path.
pub const PATH_STEP_M: f64 = 0.1;
/// A larger step between two poses means that the vehicle was placed elsewhere.
const JUMP_M: f64 = 20.0;
/// Maximum number of poses.
pub const PATH_LENGTH: usize = 2000;

/// The path of a vehicle: bounded, and thinned by distance.
#[derive(Debug, Default)]
pub struct Trail {
    poses: VecDeque<(RosTime, Pose)>,
    pub(super) has_changed: bool,
}

impl Trail {
    /// Adds the pose if the vehicle has moved; returns whether the path has an unpublished pose.
    ///
    /// The path restarts if the vehicle jumps or its clock goes back, because the vehicle was placed elsewhere.
    pub fn extend(&mut self, pose: &VehiclePose, world: WorldConvention, stamp: RosTime) -> bool {
        let [x, y, z] = world.vector(pose.position);
        let change = self.poses.back().map(|(before, last)| {
            let p = &last.position;
            let step = ((p.x - x).powi(2) + (p.y - y).powi(2) + (p.z - z).powi(2)).sqrt();
            (step, stamp < *before)
        });
        match change {
            Some((step, false)) if step < PATH_STEP_M => return self.has_changed,
            Some((step, is_older)) if is_older || step > JUMP_M => self.poses.clear(),
            _ => {}
        }
        if self.poses.len() == PATH_LENGTH {
            self.poses.pop_front();
        }
        let pose = pose_msg(pose.position, pose.attitude, world);
        self.poses.push_back((stamp, pose));
        self.has_changed = true;
        true
    }

    /// Returns the path in `frame`.
    pub fn message(&self, frame: &str, stamp: RosTime) -> Path {
        let stamped = |(stamp, pose): &(RosTime, Pose)| {
            let mut message = PoseStamped { pose: pose.clone(), ..PoseStamped::default() };
            frame.clone_into(&mut message.header.frame_id);
            message.header.stamp = stamp.to_msg();
            message
        };
        let mut path = Path { poses: self.poses.iter().map(stamped).collect(), ..Path::default() };
        frame.clone_into(&mut path.header.frame_id);
        path.header.stamp = stamp.to_msg();
        path
    }
}
