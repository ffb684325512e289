//! The emulated world: a static scene, vehicles on analytic paths, models of spawned objects, and ray casting.
//!
//! Everything is in metres, seconds and radians; the world is NED with its origin at the map centre, bodies are FRD.
mod bundle;
mod jet;
mod model;
mod path;
mod raycast;
mod scene;
mod solid;
mod yard;

pub use bundle::{Pixel, RayBundle};
pub use model::ModelShape;
pub use path::{EllipticRoute, Kinematics, ScriptedMotion};
pub use raycast::{Caster, Hit, SurfacePoint};
pub use scene::{MAPS, Scene, Snapshot, VEHICLE_HALF, Vehicle, World};
pub use solid::{Object, Shape, Solid};
pub use yard::SceneBox;

/// A vector in m (or m/s, ...), NED or FRD depending on context.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A rotation from a body (FRD) to the world (NED).
pub type Quat = nalgebra::UnitQuaternion<f64>;

/// Acceleration of gravity in m/s².
pub const GRAVITY: f64 = 9.81;

/// Position of a body in NED and the rotation from its FRD axes to NED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Position in m, NED.
    pub position: Vec3,
    /// Rotation from body FRD to NED.
    pub attitude: Quat,
}

impl Pose {
    /// Creates a pose from a position in m and roll, pitch, yaw in rad (z-y-x).
    pub fn new(position: [f64; 3], roll_pitch_yaw: [f64; 3]) -> Self {
        let [roll, pitch, yaw] = roll_pitch_yaw;
        Self { position: position.into(), attitude: Quat::from_euler_angles(roll, pitch, yaw) }
    }

    /// Returns roll, pitch, yaw in rad.
    pub fn roll_pitch_yaw(&self) -> [f64; 3] {
        self.attitude.euler_angles().into()
    }

    /// Returns the attitude as w, x, y, z.
    pub fn wxyz(&self) -> [f64; 4] {
        let q = self.attitude.quaternion();
        [q.w, q.i, q.j, q.k]
    }

    /// Returns the pose of a body mounted on this one.
    pub fn then(&self, mounted: &Self) -> Self {
        Self {
            position: self.position + self.attitude * mounted.position,
            attitude: self.attitude * mounted.attitude,
        }
    }
}
