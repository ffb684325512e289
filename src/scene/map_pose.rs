//! Poses of messages as places of the simulator, and back.
use super::refusal::{Cause, Refusal};
use crate::frames::{Attitude, Frd, Ned, Transform, Vector, WorldConvention};
use crate::msgs::geometry_msgs::msg::{Point, Pose, Quaternion};

/// Farther from the origin of the map a 32-bit number resolves less than a decimetre.
pub(super) const REACH_M: f64 = 1e6;
/// A norm that differs more from 1 is not one of rounding.
const NORM_TOLERANCE: f64 = 1e-2;

/// Position and attitude in the simulator's world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// In m from the map centre.
    pub position: Vector<Ned>,
    /// Attitude.
    pub attitude: Attitude<Frd, Ned>,
}

/// The frame that poses are given in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MapFrame {
    /// Frame id.
    pub name: String,
    /// Its axes.
    pub world: WorldConvention,
}

impl MapFrame {
    /// Whether a frame id means this frame: its name, nothing, or `world`, the standard's default.
    pub fn is(&self, frame_id: &str) -> bool {
        frame_id.is_empty() || frame_id == self.name || frame_id == "world"
    }

    /// Reads a pose in this frame, or in that of a `parent` in this frame.
    pub fn place(&self, pose: &Pose, parent: Option<&Place>) -> Result<Place, Refusal> {
        let Pose { position: Point { x, y, z }, orientation: q } = pose;
        let position = [*x, *y, *z];
        if !position.iter().all(|v| v.abs() <= REACH_M) {
            return Err(Refusal::new(
                Cause::Pose,
                format!(
                    "position must be finite and within {REACH_M} m of the origin, is {position:?}"
                ),
            ));
        }
        let wxyz = [q.w, q.x, q.y, q.z];
        let norm = wxyz.iter().map(|v| v * v).sum::<f64>().sqrt();
        let is_unit = (norm - 1.0).abs() <= NORM_TOLERANCE;
        if !is_unit {
            return Err(Refusal::new(
                Cause::Pose,
                format!(
                    "orientation must be a quaternion with norm 1, such as {{w: 1.0}}, has norm {norm}"
                ),
            ));
        }
        let own = Transform::from_parts(position, wxyz.map(|v| v / norm));
        let pose = match parent {
            Some(parent) => self.transform(parent) * own,
            None => own,
        };
        Ok(Place {
            position: self.world.ned(pose.translation()),
            attitude: self.world.ned_attitude(pose.rotation()).unwrap_or_default(),
        })
    }

    /// Returns the pose of a place.
    pub fn pose(&self, place: &Place) -> Pose {
        let pose = self.transform(place);
        let [x, y, z] = pose.translation();
        let [w, i, j, k] = pose.rotation();
        Pose { position: Point { x, y, z }, orientation: Quaternion { x: i, y: j, z: k, w } }
    }

    fn transform(&self, place: &Place) -> Transform {
        self.world.pose(place.position, place.attitude)
    }
}
