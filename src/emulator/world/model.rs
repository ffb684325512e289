//! Shapes of the renderer's models, in place of its meshes.
use super::scene::{VEHICLE_HALF, WALKER_HALF};
use super::{Object, Pose, Solid, Vec3, solid::Shape};
use crate::wire::class_and_style;

/// A simple body about the reference point of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelShape {
    shape: Shape,
    half: Vec3,
    paint: u8,
}

impl ModelShape {
    /// First class of spawned objects, above those of the scene.
    const FIRST_PAINT: i32 = 200;

    /// Returns the body of a model, by its class and style; a cube of 1 m for an unknown class.
    pub fn of(vehicle_type: i32) -> Self {
        let (class, style) = class_and_style(vehicle_type);
        let cube = Vec3::repeat(0.5);
        let (shape, half) = match (class, style) {
            (3, _) => (Shape::Box, VEHICLE_HALF),
            (5 | 6, _) => (Shape::Box, Vec3::new(0.5, 0.5, 0.2)),
            (30, _) => (Shape::Box, WALKER_HALF),
            (60, _) => (Shape::Ellipsoid, Vec3::repeat(0.15)),
            (100, _) => (Shape::Box, Vec3::new(0.6, 0.9, 0.15)),
            (150, 1) => (Shape::Ellipsoid, cube),
            (150, 2) => (Shape::Cylinder, cube),
            _ => (Shape::Box, cube),
        };
        Self {
            shape,
            half,
            // At most 255.
            paint: (Self::FIRST_PAINT + class % 56) as u8,
        }
    }

    /// Returns the body of object `id`, scaled along its axes.
    pub fn solid(&self, id: u16, pose: Pose, scale: &Vec3) -> Solid {
        let half = self.half.component_mul(&scale.abs());
        Solid { paint: self.paint, ..Solid::new(Object::Vehicle(id), self.shape, pose, half) }
    }

    /// Returns half its height in m.
    pub fn half_height(&self, scale: &Vec3) -> f64 {
        self.half.z * scale.z.abs()
    }
}
