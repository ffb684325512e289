//! Converts poses from the renderer's world (NED, m) to `map`.
use crate::frames::{Attitude, Euler, Frd, Ned, Transform, Vector, WorldConvention};
use crate::msgs::geometry_msgs::msg::{Point, Pose, Quaternion, Vector3};
use crate::{config::params::BoundsAxes, wire::DescribedPose};

/// Conversion from the renderer's world to the `map` of ROS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapConversion {
    /// Axes of the map.
    pub convention: WorldConvention,
    /// Axes of the bounds of vehicles and objects.
    pub bounds: BoundsAxes,
}

impl MapConversion {
    /// Converts the pose of a body; `None` if a number is not finite. Without a valid quaternion, uses the Euler angles.
    pub fn pose(&self, pose: &DescribedPose) -> Option<Transform> {
        let numbers = pose.position.iter().chain(&pose.euler);
        if !numbers.into_iter().all(|x| x.is_finite()) {
            return None;
        }
        let quaternion = pose.quaternion.map(|q| q.map(f64::from));
        let attitude = quaternion.and_then(Attitude::<Frd, Ned>::from_wxyz);
        let attitude = attitude.unwrap_or_else(|| attitude_of(pose.euler));
        let position = Vector::<Ned>::from(pose.position);
        Some(self.convention.pose(position, attitude))
    }

    /// Converts a point; `None` if a number is not finite.
    pub fn point(&self, ned: [f32; 3]) -> Option<[f64; 3]> {
        let is_finite = ned.iter().all(|x| x.is_finite());
        is_finite.then(|| self.vector(ned))
    }

    /// Converts a vector.
    pub fn vector(&self, ned: [f32; 3]) -> [f64; 3] {
        self.convention.vector(Vector::<Ned>::from(ned))
    }

    /// Converts the bounds of a vehicle or object with this pose to a pose and the lengths of the sides. `None` if a number is
    /// not finite or a side is negative.
    pub fn bounds(
        &self,
        pose: &Transform,
        centre: [f32; 3],
        half: [f32; 3],
    ) -> Option<(Transform, [f64; 3])> {
        let is_valid = half.iter().all(|x| x.is_finite() && *x >= 0.0);
        let centre = self.point(centre).filter(|_| is_valid)?;
        let [x, y, z] = half.map(|side| 2.0 * f64::from(side));
        Some(match (self.bounds, self.convention) {
            (BoundsAxes::Own, _) => (Transform::from_parts(centre, pose.rotation()), [x, y, z]),
            (BoundsAxes::World, WorldConvention::Enu) => (upright(centre), [y, x, z]),
            (BoundsAxes::World, WorldConvention::Nwu) => (upright(centre), [x, y, z]),
        })
    }
}

fn upright(centre: [f64; 3]) -> Transform {
    Transform::identity().shifted(centre)
}

/// Converts Euler angles in rad.
pub(super) fn attitude_of(euler: [f32; 3]) -> Attitude<Frd, Ned> {
    let [roll, pitch, yaw] = euler.map(f64::from);
    Attitude::from_euler(Euler { roll, pitch, yaw })
}

pub(super) fn pose_msg(pose: &Transform) -> Pose {
    let [w, x, y, z] = pose.rotation();
    Pose { position: point_msg(pose.translation()), orientation: Quaternion { x, y, z, w } }
}

pub(super) fn point_msg([x, y, z]: [f64; 3]) -> Point {
    Point { x, y, z }
}

pub(super) fn vector_msg([x, y, z]: [f64; 3]) -> Vector3 {
    Vector3 { x, y, z }
}
