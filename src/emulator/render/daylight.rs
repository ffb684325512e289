//! Colours of surfaces in daylight: blue, green, red.
use super::palette::{SKY, class_colour, plain};
use super::{RayView, texture::Texture};
use crate::emulator::world::{Hit, Object, SurfacePoint, Vec3};
use std::sync::Arc;

/// Texels per metre of the fine and the coarse texture. The coarse one is rotated relative to the fine one, so that their sum
/// does not repeat.
const FINE: f64 = 64.0;
const COARSE: f64 = 3.7;
const TURN: [f64; 2] = [0.8 * COARSE, 0.6 * COARSE];
/// Share of the light from the whole sky, and from the sun.
const SKYLIGHT: f64 = 0.6;
const SUNLIGHT: f64 = 0.5;
/// Direction to the sun, NED: in the south-west, high.
const SUN: Vec3 = Vec3::new(-0.5, -0.4, -0.768);

#[derive(Clone)]
pub(super) enum Daylight {
    /// A checkerboard, and one colour per face.
    Plain,
    Textured(Arc<Texture>),
}

impl Daylight {
    /// Returns the colour of a pixel of `view`; `direction` is that of its ray.
    #[inline]
    pub(super) fn colour(&self, view: &RayView, hit: &Hit, direction: &Vec3) -> [u8; 3] {
        let Some(object) = hit.object else { return SKY };
        match self {
            Self::Plain => plain(object, view.caster.paint(hit), hit, || {
                view.caster.point(direction, hit.distance)
            }),
            Self::Textured(texture) => {
                let surface = view.caster.surface(direction, hit);
                let width = view.bundle.pixel_angle(direction) * hit.distance / surface.slant;
                textured(texture, base(object, || view.caster.paint(hit)), &surface, width)
            }
        }
    }
}

/// Returns the colour of a pixel that covers `width` m of a surface.
fn textured(texture: &Texture, base: [f32; 3], spot: &SurfacePoint, width: f64) -> [u8; 3] {
    let [u, v] = spot.at;
    let turned = [TURN[0] * u + TURN[1] * v, TURN[0] * v - TURN[1] * u];
    let fine = texture.value([u * FINE, v * FINE], width * FINE);
    let coarse = texture.value(turned, width * COARSE);
    let light = (SKYLIGHT + SUNLIGHT * SUN.dot(&spot.normal).max(0.0)) as f32;
    let grey = light * (1.0 + 1.5 * fine + 1.1 * coarse);
    // Large spots also differ in hue.
    let hue = 0.4 * coarse;
    let tint = [1.0 + hue, 1.0, 1.0 - hue];
    std::array::from_fn(|i| (base[i] * grey * tint[i]) as u8)
}

/// Returns the average colour of an object's surface; `paint` returns the class that colours blocks and moving objects.
fn base(object: Object, paint: impl FnOnce() -> u8) -> [f32; 3] {
    match object {
        Object::Ground => [85.0, 125.0, 110.0],
        Object::Slope => [75.0, 115.0, 135.0],
        Object::Wall(_) => [120.0, 130.0, 150.0],
        Object::Building => [140.0, 160.0, 175.0],
        Object::Trunk(_) => [60.0, 85.0, 110.0],
        Object::Crown(_) => [60.0, 135.0, 80.0],
        Object::Block(_) | Object::Vehicle(_) | Object::Walker(_) => {
            class_colour(paint()).map(|c| 70.0 + f32::from(c) / 2.5)
        }
    }
}
