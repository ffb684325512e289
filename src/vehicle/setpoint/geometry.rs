//! Converts vectors from ROS axes to the autopilot's axes, component by component, so that a NaN stays in its component.
use crate::frames::{Enu, Flu, Frd, Ned, Vector};
use crate::msgs::builtin_interfaces::msg::Time;
use crate::msgs::geometry_msgs::msg::{Point, Quaternion, Vector3};
use std::f64::consts::FRAC_PI_2;

pub(super) fn point(p: &Point) -> [f64; 3] {
    [p.x, p.y, p.z]
}

pub(super) fn vector(v: &Vector3) -> [f64; 3] {
    [v.x, v.y, v.z]
}

pub(super) fn wxyz(q: &Quaternion) -> [f64; 4] {
    [q.w, q.x, q.y, q.z]
}

pub(super) fn single<const N: usize>(values: [f64; N]) -> [f32; N] {
    values.map(|value| value as f32)
}

/// ENU to NED.
pub(super) fn ned(enu: [f64; 3]) -> [f64; 3] {
    Vector::<Ned>::from(Vector::<Enu>::from(enu)).to_array()
}

/// FLU to FRD.
pub(super) fn frd(flu: [f64; 3]) -> [f64; 3] {
    Vector::<Frd>::from(Vector::<Flu>::from(flu)).to_array()
}

/// Yaw of an attitude of FLU in ENU, rad from east, counter-clockwise. 0 for a quaternion of length 0.
pub(super) fn yaw([w, x, y, z]: [f64; 4]) -> f64 {
    (2.0 * (w * z + x * y)).atan2(w * w + x * x - y * y - z * z)
}

/// Yaw from east, counter-clockwise, to yaw from north, clockwise.
pub(super) fn ned_yaw(enu: f64) -> f64 {
    wrap(FRAC_PI_2 - enu)
}

/// The angle wrapped to ±π.
pub(super) fn wrap(angle: f64) -> f64 {
    let (sin, cos) = angle.sin_cos();
    sin.atan2(cos)
}

/// Stamp in ms, wrapped to 32 bits; the autopilot does not use it.
pub(super) fn stamp_ms(stamp: &Time) -> u32 {
    (stamp.sec as u32).wrapping_mul(1000).wrapping_add(stamp.nanosec / 1_000_000)
}
