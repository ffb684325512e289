//! Rays and pixels of the cameras.
use super::RayView;
use crate::emulator::world::{Hit, Pixel, RayBundle, Vec3};
use crate::wire::FISHEYE_FACTOR;
use std::f64::consts::PI;

/// Value of a depth pixel without return.
const NO_RETURN: u16 = u16::MAX;

/// Returns the focal length of a pinhole camera in px, the same for both axes.
pub(super) fn focal_length(width: u16, fov_deg: f32) -> f64 {
    f64::from(width) / (2.0 * (f64::from(fov_deg).clamp(1.0, 179.0).to_radians() / 2.0).tan())
}

/// Returns the rays of a camera, row by row; `ray` gets the position of a pixel's centre in px from the image centre.
///
/// The centre of the first pixel, half a pixel from the edges, has coordinate 0 in the convention of `camera_info`.
fn image(width: u16, height: u16, pixel: Pixel, ray: impl Fn(f64, f64) -> Vec3) -> RayBundle {
    let (cx, cy) = (f64::from(width) / 2.0, f64::from(height) / 2.0);
    let at = |i: u16, centre: f64| f64::from(i) + 0.5 - centre;
    let ray = &ray;
    let rays = (0..height).flat_map(|v| (0..width).map(move |u| ray(at(u, cx), at(v, cy))));
    RayBundle::image(width.into(), pixel, rays)
}

/// Returns the rays of a pinhole camera in FRD axes. Both focal lengths are `width / (2 tan(fov / 2))`; the principal point
/// is the image centre.
pub(super) fn pinhole(width: u16, height: u16, fov_deg: f32) -> RayBundle {
    let focal = focal_length(width, fov_deg);
    let ray = |x, y| Vec3::new(1.0, x / focal, y / focal);
    image(width, height, Pixel::Plane(1.0 / focal), ray)
}

/// Returns the rays of an equidistant fisheye camera: the distance from the centre is proportional to the angle from
/// the axis, with the focal length of the real simulator. Pixels beyond 180 degrees look straight back.
pub(super) fn fisheye(width: u16, height: u16, fov_deg: f32) -> RayBundle {
    let focal =
        FISHEYE_FACTOR * f64::from(width) / f64::from(fov_deg).clamp(1.0, 360.0).to_radians();
    image(width, height, Pixel::Even(1.0 / focal), |x: f64, y: f64| {
        let radius = x.hypot(y);
        let (sin, cos) = (radius / focal).min(PI).sin_cos();
        let scale = if radius > 0.0 { sin / radius } else { 0.0 };
        Vec3::new(cos, x * scale, y * scale)
    })
}

/// Writes one pixel of `N` bytes per ray; `pixel` gets the hit and the direction of the ray.
pub(super) fn paint<const N: usize>(
    view: &RayView,
    out: &mut Vec<u8>,
    pixel: impl Fn(&Hit, &Vec3) -> [u8; N],
) {
    out.resize(view.hits.len() * N, 0);
    let (pixels, _) = out.as_chunks_mut::<N>();
    for ((out, hit), i) in pixels.iter_mut().zip(&view.hits).zip(0..) {
        *out = pixel(hit, &view.bundle.direction(i));
    }
}

/// Writes a depth image: distance along the optical axis in counts, little-endian u16.
///
/// `[near, far, unit]` are the sensor's first parameters; 0 means no limit, and 1 mm per count.
pub(super) fn depth(view: &RayView, [near, far, unit]: [f32; 3], out: &mut Vec<u8>) {
    let unit = if unit > 0.0 { f64::from(unit) } else { 0.001 };
    let far = if far > 0.0 { f64::from(far) } else { f64::INFINITY };
    out.clear();
    out.reserve(view.hits.len() * 2);
    for (i, hit) in view.hits.iter().enumerate() {
        let metres = hit.distance * view.bundle.direction(i).x;
        let counts = (metres / unit).round();
        let is_valid = metres >= f64::from(near) && metres <= far && counts < f64::from(NO_RETURN);
        out.extend_from_slice(&if is_valid { counts as u16 } else { NO_RETURN }.to_le_bytes());
    }
}
