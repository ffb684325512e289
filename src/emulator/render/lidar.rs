//! Scan patterns of the lidars, and clouds.
//!
//! Azimuth is counter-clockwise about the sensor's upward axis, elevation is positive upward, as in FLU. A lidar with
//! rings scans them from the lowest to the highest, each from the smallest azimuth; the last angle of a range is not
//! reached, because the protocol's resolution is range / number. A ray without return is the point 0, 0, 0 with
//! class 0, so that clouds are always complete.
use super::{RayView, noise::RangeNoise, palette};
use crate::emulator::cloud_format::{BodyAxes, CloudForm, FourthSent, WireAxes};
use crate::emulator::world::{Pixel, Pose, RayBundle, Snapshot, Vec3};
use crate::wire::{CloudHead, OdometryCloudHeader, PointForm, append_cloud};
use std::f64::consts::PI;

/// Range in m if the request has none; readers then do not know the scale of i16 points.
const DEFAULT_RANGE: f32 = 100.0;

/// Returns a direction in FRD from azimuth and elevation in rad.
pub(super) fn direction(azimuth: f64, elevation: f64) -> Vec3 {
    let (sin, cos) = azimuth.sin_cos();
    Vec3::new(elevation.cos() * cos, -elevation.cos() * sin, -elevation.sin())
}

/// Returns the rays of a mechanical lidar (types 20 and 21); `angles` are the limits of azimuth, then of elevation
/// in degrees; all 0 means a full circle from 15 degrees down to 15 degrees up.
pub(super) fn rings(points: u16, rings: u16, angles: [f32; 4]) -> RayBundle {
    let angles = if angles == [0.0; 4] { [-180.0, 180.0, -15.0, 15.0] } else { angles };
    let [from, to, low, high] = angles.map(|a| f64::from(a).to_radians());
    let step =
        |from: f64, to: f64, i: u16, n: u16| from + (to - from) * f64::from(i) / f64::from(n);
    let rays = (0..rings).flat_map(move |ring| {
        (0..points).map(move |i| direction(step(from, to, i, points), step(low, high, ring, rings)))
    });
    RayBundle::image(points.into(), Pixel::Even(0.0), rays)
}

/// Returns the rays of the Mid-360 (type 23): 64 rings of 272 points, from 7 degrees down to 52 degrees up.
pub(super) fn mid360() -> RayBundle {
    rings(272, 64, [-180.0, 180.0, -7.0, 52.0])
}

/// Returns the rays of the Mid-40 (type 22): a rosette of half petals, from the axis to the rim or back.
///
/// `fov_deg` is twice the length of a half petal; `params` are `[.., height, stretch, curvature, eights, flowers, ..]`, of
/// which stretch and curvature have no effect. The exact curve is not documented; this one has the documented counts and
/// extents. The whole pattern is turned by `turn_deg` about the axis, counter-clockwise like the azimuth.
pub(super) fn mid40(
    points: u16,
    petals: u16,
    fov_deg: f32,
    params: &[f32; 16],
    turn_deg: f64,
) -> RayBundle {
    let or_default = |value: f32, default: f64| {
        if value > 0.0 { f64::from(value) } else { default }
    };
    let length = mid40_fov(fov_deg).to_radians() / 2.0;
    let height = or_default(params[1], 2.956).to_radians();
    let (eights, flowers) = (or_default(params[4], 10.0), or_default(params[5], 5.0));
    RayBundle::new((0..petals).flat_map(move |petal| {
        // Four half petals make an eight; each flower is rotated slightly against the previous one.
        let eight = f64::from(petal / 4);
        let flower = (eight / eights).floor() % flowers;
        let axis = PI * eight / eights + PI * flower / (eights * flowers);
        let (is_opposite, is_inward) = ((petal / 2) % 2 == 1, petal % 2 == 1);
        (0..points).map(move |i| {
            let part = (f64::from(i) + 0.5) / f64::from(points);
            let reach = if is_inward { 1.0 - part } else { part };
            let bulge = height * (PI * reach).sin() * if is_inward { -0.5 } else { 0.5 };
            let polar = axis + turn_deg.to_radians() + if is_opposite { PI } else { 0.0 };
            let (sin, cos) = polar.sin_cos();
            let (along, across) = (length * reach, bulge);
            direction(along * cos - across * sin, along * sin + across * cos)
        })
    }))
}

/// Returns the field of view of a Mid-40 in degrees.
pub(super) fn mid40_fov(fov_deg: f32) -> f64 {
    let fov = if fov_deg > 0.0 { f64::from(fov_deg) } else { 70.432 };
    fov.min(180.0)
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CloudFrame {
    /// Sensor, FLU.
    Sensor,
    /// World, NED, from the map centre.
    World,
}

/// Header of a cloud, and the form of its points.
#[derive(Clone, Copy, Debug)]
pub(super) struct CloudLayout {
    form: CloudForm,
    head: CloudHead,
}

impl CloudLayout {
    /// Creates the layout of the cloud of a sensor at `pose` on vehicle `carrier`.
    pub(super) fn new(
        form: CloudForm,
        axes: WireAxes,
        snapshot: &Snapshot,
        pose: &Pose,
        carrier: Option<u16>,
    ) -> Self {
        let head = if form.odometry {
            let vehicle = carrier.and_then(|id| Some((id, snapshot.vehicle(id)?.pose)));
            let (id, pose) = vehicle.unwrap_or((0, *pose));
            let pose = odometry(&pose, axes.odometry);
            OdometryCloudHeader::new(id.into(), OdometryCloudHeader::WORLD, pose, 0).into()
        } else {
            odometry(pose, BodyAxes::Frd).into()
        };
        Self { form, head }
    }
}

/// A point in m with its class; `None` without return.
type Point = Option<(Vec3, u8)>;

/// Writes a lidar cloud: x, y, z and, if the form has one, the fourth number.
pub(super) fn cloud(
    view: &RayView,
    layout: CloudLayout,
    range: f32,
    frame: CloudFrame,
    mut noise: RangeNoise,
    out: &mut Vec<u8>,
) {
    let range = range_of(range);
    let points = view.hits.iter().enumerate().map(|(i, hit)| {
        let ray = view.bundle.direction(i);
        let distance = noise.measure(hit.distance);
        let point = match frame {
            CloudFrame::Sensor => BodyAxes::Flu.of_frd(&(ray * distance)),
            CloudFrame::World => view.caster.point(&ray, distance),
        };
        (distance <= range).then(|| (point, palette::class(&view.caster, hit)))
    });
    write(layout, range, points, out);
}

/// Writes a depth camera's cloud (type 7): every `step`-th pixel of every `step`-th row, in `axes` of the sensor.
pub(super) fn depth_cloud(
    view: &RayView,
    layout: CloudLayout,
    axes: BodyAxes,
    width: u16,
    [range, step]: [f32; 2],
    out: &mut Vec<u8>,
) {
    let range = range_of(range);
    let (width, step) = (usize::from(width), step.max(1.0) as usize);
    let rows = view.hits.chunks(width).enumerate().step_by(step);
    let points = rows.flat_map(|(v, row)| {
        row.iter().enumerate().step_by(step).map(move |(u, hit)| {
            let point = axes.of_frd(&(view.bundle.direction(v * width + u) * hit.distance));
            (hit.distance <= range).then(|| (point, palette::class(&view.caster, hit)))
        })
    });
    write(layout, range, points, out);
}

/// Writes points in their form. i16 points are scaled so that 32767 is the range; a point of the world frame
/// with a larger coordinate cannot be encoded and counts as no return.
fn write(
    CloudLayout { form, head }: CloudLayout,
    range: f64,
    points: impl Iterator<Item = Point>,
    out: &mut Vec<u8>,
) {
    out.clear();
    let short = |point: Point| match point {
        Some((point, class)) if point.amax() <= range => {
            let [x, y, z] = scaled(&point, range);
            [x, y, z, fourth(form, class).cast_signed()]
        }
        _ => [0; 4],
    };
    let float = |point: Point| {
        let (point, class) = point.unwrap_or_default();
        let [x, y, z] = <[f64; 3]>::from(point).map(|v| v as f32);
        [x, y, z, fourth(form, class).into()]
    };
    match form.points() {
        PointForm::I16x3 => append_cloud(head, points.map(short).map(first_three), out),
        PointForm::I16x4 => append_cloud(head, points.map(short), out),
        PointForm::F32x3 => append_cloud(head, points.map(float).map(first_three), out),
        PointForm::F32x4 => append_cloud(head, points.map(float), out),
    }
}

/// Returns the fourth number of a point on an object of `class`; class 0 is no object.
fn fourth(form: CloudForm, class: u8) -> u16 {
    let five_bits = |value: u8| u16::from(value >> 3);
    match form.fourth {
        FourthSent::Colour => {
            let [blue, green, red] = palette::class_colour(class).map(five_bits);
            (red << 10) | (green << 5) | blue
        }
        _ => class.into(),
    }
}

fn first_three<T>([x, y, z, _]: [T; 4]) -> [T; 3] {
    [x, y, z]
}

fn range_of(parameter: f32) -> f64 {
    f64::from(if parameter > 0.0 { parameter } else { DEFAULT_RANGE })
}

fn scaled(point: &Vec3, range: f64) -> [i16; 3] {
    point.map(|x| (x / range * 32767.0).round() as i16).into()
}

/// Returns position and roll, pitch, yaw for cloud headers: FRD in NED, or FLU in NWU.
fn odometry(pose: &Pose, axes: BodyAxes) -> [f32; 6] {
    let at = axes.of_frd(&pose.position);
    let angles = axes.of_frd(&Vec3::from(pose.roll_pitch_yaw()));
    [at.x, at.y, at.z, angles.x, angles.y, angles.z].map(|v| v as f32)
}
