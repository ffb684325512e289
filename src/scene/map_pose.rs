//! Converts poses in the simulator's map from and to messages.
use super::error::{Cause, SceneError};
use crate::frames::{Attitude, Frd, Ned, Transform, Vector, WorldConvention};
use crate::msgs::geometry_msgs::msg::{Point, Pose, Quaternion};

/// Limit of coordinates in m: farther from the origin of the map, an f32 does not resolve a decimetre.
pub(super) const REACH_M: f64 = 1e6;
/// Largest error of a quaternion's norm that counts as rounding.
const NORM_TOLERANCE: f64 = 1e-2;

/// Pose in the simulator's map.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MapPose {
    /// Position in m, origin at the map centre.
    pub position: Vector<Ned>,
    /// Attitude.
    pub attitude: Attitude<Frd, Ned>,
}

impl MapPose {
    /// Returns the position, and roll, pitch and yaw, as in the renderer's packets.
    pub(super) fn to_f32(self) -> ([f32; 3], [f32; 3]) {
        let euler = self.attitude.euler().to_array().map(|v| v as f32);
        (self.position.to_array().map(|v| v as f32), euler)
    }
}

/// The frame of poses in messages.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MapFrame {
    /// Frame id.
    pub name: String,
    /// Its axes.
    pub world: WorldConvention,
}

impl MapFrame {
    /// Whether a frame id means this frame: its name, empty, or `world`, the default of `simulation_interfaces`.
    pub fn is(&self, frame_id: &str) -> bool {
        frame_id.is_empty() || frame_id == self.name || frame_id == "world"
    }

    /// Reads a pose that is given in this frame or, with `parent`, relative to that pose.
    pub fn map_pose(&self, pose: &Pose, parent: Option<&MapPose>) -> Result<MapPose, SceneError> {
        let Pose { position: Point { x, y, z }, orientation: q } = pose;
        let position = [*x, *y, *z];
        if !position.iter().all(|v| v.abs() <= REACH_M) {
            return Err(Cause::Pose.error(format!(
                "position must be finite and within {REACH_M} m of the origin, is {position:?}"
            )));
        }
        let wxyz = [q.w, q.x, q.y, q.z];
        let norm = wxyz.iter().map(|v| v * v).sum::<f64>().sqrt();
        let is_unit = (norm - 1.0).abs() <= NORM_TOLERANCE;
        if !is_unit {
            return Err(Cause::Pose.error(format!(
                "orientation must be a quaternion with norm 1, such as {{w: 1.0}}, has norm {norm}"
            )));
        }
        let local = Transform::from_parts(position, wxyz.map(|v| v / norm));
        let pose = parent.map_or(local, |parent| self.transform(parent) * local);
        self.read_transform(&pose).ok_or_else(|| Cause::Pose.error("orientation is not finite"))
    }

    /// Converts a transform in this frame to a map pose; `None` if its rotation is invalid.
    pub(super) fn read_transform(&self, pose: &Transform) -> Option<MapPose> {
        let position = self.world.ned(pose.translation());
        Some(MapPose { position, attitude: self.world.ned_attitude(pose.rotation())? })
    }

    /// Converts a pose to its message.
    pub fn pose(&self, pose: &MapPose) -> Pose {
        let pose = self.transform(pose);
        let [x, y, z] = pose.translation();
        let [w, i, j, k] = pose.rotation();
        Pose { position: Point { x, y, z }, orientation: Quaternion { x: i, y: j, z: k, w } }
    }

    fn transform(&self, pose: &MapPose) -> Transform {
        self.world.pose(pose.position, pose.attitude)
    }
}
