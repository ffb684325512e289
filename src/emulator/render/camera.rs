//! Rays of the cameras, and their pixels.
use crate::emulator::world::{Caster, Hit, Object, RayBundle, Vec3};
use std::f64::consts::PI;

/// Returns the rays of a pinhole camera, row by row, in FRD axes.
///
/// Both focal lengths are `width / (2 tan(fov / 2))`; the principal point is the image centre. The centre of the
/// first pixel is half a pixel from the edges, which is coordinate 0 in the convention of `camera_info`.
pub(in crate::emulator) fn pinhole(width: u16, height: u16, fov_deg: f32) -> RayBundle {
    let fov = f64::from(fov_deg).clamp(1.0, 179.0).to_radians();
    let focal = f64::from(width) / (2.0 * (fov / 2.0).tan());
    let (cx, cy) = (f64::from(width) / 2.0, f64::from(height) / 2.0);
    RayBundle::new((0..height).flat_map(move |v| {
        let down = (f64::from(v) + 0.5 - cy) / focal;
        (0..width).map(move |u| Vec3::new(1.0, (f64::from(u) + 0.5 - cx) / focal, down))
    }))
}

/// Returns the rays of an equidistant fisheye camera: distance from the centre is proportional to the angle from the
/// axis, and the field of view is that across the width. Pixels beyond it repeat the border.
pub(in crate::emulator) fn fisheye(width: u16, height: u16, fov_deg: f32) -> RayBundle {
    let fov = f64::from(fov_deg).clamp(1.0, 360.0).to_radians();
    let focal = f64::from(width) / fov;
    let (cx, cy) = (f64::from(width) / 2.0, f64::from(height) / 2.0);
    RayBundle::new((0..height).flat_map(move |v| {
        let y = f64::from(v) + 0.5 - cy;
        (0..width).map(move |u| {
            let x = f64::from(u) + 0.5 - cx;
            let radius = x.hypot(y);
            let (sin, cos) = (radius / focal).min(PI).sin_cos();
            let scale = if radius > 0.0 { sin / radius } else { 0.0 };
            Vec3::new(cos, x * scale, y * scale)
        })
    }))
}

/// Colour of the sky, as blue, green, red.
const SKY: [u8; 3] = [235, 190, 140];

/// Returns the colour of a hit as blue, green, red.
pub(in crate::emulator) fn colour(hit: &Hit, point: &Vec3) -> [u8; 3] {
    match hit.object {
        None => SKY,
        Some(Object::Ground) => {
            let odd = (point.x.floor() as i64 + point.y.floor() as i64) & 1 != 0;
            if odd { [60, 110, 70] } else { [85, 150, 100] }
        }
        Some(object) => shade(class_colour(object.class()), hit.face),
    }
}

/// Faces of a box differ in brightness, as under a sun in the south-west.
fn shade(colour: [u8; 3], face: u8) -> [u8; 3] {
    const PERCENT: [u16; 7] = [60, 70, 45, 85, 75, 100, 100];
    let percent = PERCENT.get(usize::from(face)).copied().unwrap_or(100);
    colour.map(|c| (u16::from(c) * percent / 100) as u8)
}

/// Returns the colour of a class in segmentation images as blue, green, red; classes have distinct colours, 0 is black.
pub(in crate::emulator) fn class_colour(class: u8) -> [u8; 3] {
    // Multiplication by odd numbers permutes 0..=255, so that each channel alone tells classes apart.
    [
        class.wrapping_mul(67),
        class.wrapping_mul(151),
        class.wrapping_mul(97),
    ]
}

/// Returns the class of a hit; 0 where nothing is hit.
pub(in crate::emulator) fn class(hit: &Hit) -> u8 {
    hit.object.map_or(0, Object::class)
}

/// Writes one pixel per ray, made of `N` bytes.
pub(in crate::emulator) fn paint<const N: usize>(
    bundle: &RayBundle,
    caster: &Caster,
    hits: &[Hit],
    out: &mut Vec<u8>,
    pixel: impl Fn(&Hit, &Vec3) -> [u8; N],
) {
    out.clear();
    out.reserve(hits.len() * N);
    for (i, hit) in hits.iter().enumerate() {
        let point = match hit.object {
            Some(Object::Ground) => caster.point(&bundle.direction(i), hit.distance),
            _ => Vec3::zeros(),
        };
        out.extend_from_slice(&pixel(hit, &point));
    }
}
