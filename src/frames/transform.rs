use super::{attitude::Attitude, vector::CoordinateFrame};
use crate::{msgs::geometry_msgs::msg, msgs::std_msgs::msg::Header, time::RosTime};
use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion};
use std::ops::Mul;

/// Pose of a child frame in its parent frame, both named frames of ROS: position in m, then rotation.
///
/// `a_from_b * b_from_c` is `a_from_c`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transform(Isometry3<f64>);

impl Transform {
    /// Returns the identity.
    pub fn identity() -> Self {
        Self::default()
    }

    /// Creates a transform from a position and w, x, y, z; the caller guarantees a norm of 1.
    pub fn from_parts([x, y, z]: [f64; 3], [w, i, j, k]: [f64; 4]) -> Self {
        let rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k));
        Self(Isometry3::from_parts(Translation3::new(x, y, z), rotation))
    }

    /// Creates a pure rotation.
    pub fn from_attitude<B: CoordinateFrame, W: CoordinateFrame>(attitude: Attitude<B, W>) -> Self {
        Self::from_parts([0.0; 3], attitude.wxyz())
    }

    /// Returns the position of the child in the parent in m.
    pub fn translation(&self) -> [f64; 3] {
        self.0.translation.vector.into()
    }

    /// Returns the attitude of the child in the parent, w, x, y, z.
    pub fn rotation(&self) -> [f64; 4] {
        let q = self.0.rotation;
        [q.w, q.i, q.j, q.k]
    }

    /// Returns the homogeneous matrix, row by row.
    pub fn matrix(&self) -> [[f64; 4]; 4] {
        let m = self.0.to_homogeneous();
        std::array::from_fn(|row| std::array::from_fn(|column| m[(row, column)]))
    }

    /// Returns the pose of the parent in the child.
    pub fn inverse(&self) -> Self {
        Self(self.0.inverse())
    }

    /// Expresses a point of the child in the parent.
    pub fn apply(&self, point: [f64; 3]) -> [f64; 3] {
        (self.0 * Point3::from(point)).coords.into()
    }

    /// Expresses a direction of the child in the parent, without translation.
    pub fn rotate(&self, vector: [f64; 3]) -> [f64; 3] {
        (self.0.rotation * nalgebra::Vector3::from(vector)).into()
    }

    /// Returns the transform with the child moved by x, y, z in axes of the parent.
    pub fn shifted(&self, [x, y, z]: [f64; 3]) -> Self {
        Self(Translation3::new(x, y, z) * self.0)
    }

    /// Returns the distance of the origins in m.
    pub fn distance_to(&self, other: &Self) -> f64 {
        (self.0.translation.vector - other.0.translation.vector).norm()
    }

    /// Returns the angle between the attitudes in rad.
    pub fn angle_to(&self, other: &Self) -> f64 {
        self.0.rotation.angle_to(&other.0.rotation)
    }

    /// Converts to the message.
    pub fn to_msg(&self) -> msg::Transform {
        let [x, y, z] = self.translation();
        let [w, i, j, k] = self.rotation();
        msg::Transform {
            translation: msg::Vector3 { x, y, z },
            rotation: msg::Quaternion { x: i, y: j, z: k, w },
        }
    }

    /// Converts to the message that `/tf` and `/tf_static` carry.
    pub fn to_stamped(&self, parent: &str, child: &str, stamp: RosTime) -> msg::TransformStamped {
        msg::TransformStamped {
            header: Header { stamp: stamp.to_msg(), frame_id: parent.to_owned() },
            child_frame_id: child.to_owned(),
            transform: self.to_msg(),
        }
    }
}

impl Mul for Transform {
    type Output = Self;
    fn mul(self, inner: Self) -> Self {
        Self(self.0 * inner.0)
    }
}
