//! Sensors that report objects instead of pixels: range finder, boxes in the image, positions.
use super::camera::focal_length;
use crate::emulator::world::{Caster, Object, Pose, Snapshot, Solid, Vec3};
use crate::wire::{BoxEntry, RangeRecord, SensorRequest, TargetEntry, append_list};
use zerocopy::IntoBytes as _;

/// Range in m of a range finder whose request has none.
const DEFAULT_RANGE: f32 = 200.0;
/// `CopterID` of a range record without hit.
const NO_OBJECT: i32 = -1;
/// Near plane of the camera in m, which clips boxes.
const NEAR: f64 = 0.05;

/// Writes the measurement of a range finder along the sensor's x axis.
///
/// Without a hit the distance is the range, the id -1, the hit point the end of the range and the box centre 0.
pub(super) fn range(snapshot: &Snapshot, caster: &Caster, pose: &Pose, max: f32, to: &mut Vec<u8>) {
    let max = if max > 0.0 { max } else { DEFAULT_RANGE };
    let hit = caster.ray(&Vec3::x());
    let object = hit.object.filter(|_| hit.distance < f64::from(max));
    let distance = hit.distance.min(max.into());
    let point = caster.point(&Vec3::x(), distance);
    let centre = match object {
        None => Vec3::zeros(),
        Some(Object::Ground) => point,
        Some(object) => snapshot
            .bodies()
            .find(|s| s.object.is_same(object))
            .map_or(point, |solid| solid.pose.position),
    };
    let narrow = |v: [f64; 3]| v.map(|x| x as f32);
    let record = RangeRecord::new(
        distance as f32,
        object.map_or(NO_OBJECT, Object::id),
        narrow(pose.position.into()),
        narrow(pose.roll_pitch_yaw()),
        narrow(point.into()),
        narrow(centre.into()),
    );
    to.clear();
    to.extend_from_slice(record.as_bytes());
}

/// Returns the moving objects except the carrier, nearest first, within the limits `[distance, number]` (0: no limit).
fn moving<'a>(
    snapshot: &'a Snapshot,
    pose: &Pose,
    carrier: Option<u16>,
    limits: [f32; 2],
) -> Vec<(f64, &'a Solid)> {
    let [far, number] = limits;
    let is_other = |object: Object| match object {
        Object::Vehicle(id) => carrier != Some(id),
        _ => true,
    };
    let mut found: Vec<_> = snapshot
        .moving
        .iter()
        .filter(|s| is_other(s.object))
        .map(|s| ((s.pose.position - pose.position).norm(), s))
        .filter(|(distance, _)| far <= 0.0 || *distance <= f64::from(far))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    if number > 0.0 {
        found.truncate(number as usize);
    }
    found
}

/// Writes the centres of other moving objects in the sensor's FLU frame (type 31).
pub(super) fn targets(
    snapshot: &Snapshot,
    request: &SensorRequest,
    pose: &Pose,
    carrier: Option<u16>,
    out: &mut Vec<u8>,
) {
    let [far, number, ..] = request.other_params;
    let entry = |(_, solid): &(f64, &Solid)| {
        let frd = pose.attitude.inverse() * (solid.pose.position - pose.position);
        TargetEntry::new(solid.object.id(), [frd.x as f32, -frd.y as f32, -frd.z as f32])
    };
    let list: Vec<_> = moving(snapshot, pose, carrier, [far, number]).iter().map(entry).collect();
    out.clear();
    append_list(&list, out);
}

/// Writes the boxes of other moving objects in the image (type 30).
///
/// Coordinates are in px and clamped to the image; pixel centres are integers. The confidence is the share of the
/// object's centre and corners that are not hidden; a fully hidden object is omitted.
pub(super) fn boxes(
    snapshot: &Snapshot,
    request: &SensorRequest,
    caster: &Caster,
    pose: &Pose,
    carrier: Option<u16>,
    out: &mut Vec<u8>,
) {
    let [far, number, ..] = request.other_params;
    let mut entries = Vec::new();
    for (_, solid) in moving(snapshot, pose, carrier, [far, 0.0]) {
        let share = visible_share(caster, pose, solid);
        if let Some(edges) = image_box(request, pose, solid).filter(|_| share > 0.0) {
            entries.push(BoxEntry::new(solid.object.id(), share, edges));
        }
    }
    if number > 0.0 {
        entries.truncate(number as usize);
    }
    out.clear();
    append_list(&entries, out);
}

/// Returns the corners of a solid, scaled about its centre, in the sensor's FRD axes.
fn corners(pose: &Pose, solid: &Solid, scale: f64) -> [Vec3; 8] {
    std::array::from_fn(|i| {
        let sign = |bit: usize| if i >> bit & 1 == 0 { -scale } else { scale };
        let half = solid.half.component_mul(&Vec3::new(sign(0), sign(1), sign(2)));
        pose.attitude.inverse() * (solid.pose.position + solid.pose.attitude * half - pose.position)
    })
}

fn visible_share(caster: &Caster, pose: &Pose, solid: &Solid) -> f32 {
    let centre = pose.attitude.inverse() * (solid.pose.position - pose.position);
    let points = corners(pose, solid, 0.98).into_iter().chain([centre]);
    let visible = points
        .filter(|p| p.x > NEAR && caster.ray(&p.normalize()).object == Some(solid.object))
        .count();
    visible as f32 / 9.0
}

/// Returns left, top, right, bottom of a solid in the image, or `None` if it is outside.
fn image_box(request: &SensorRequest, pose: &Pose, solid: &Solid) -> Option<[f32; 4]> {
    let focal = focal_length(request.width, request.fov_deg);
    let (width, height) = (f64::from(request.width), f64::from(request.height));
    let points = corners(pose, solid, 1.0);
    let mut ahead: Vec<Vec3> = points.iter().filter(|p| p.x >= NEAR).copied().collect();
    for a in 0..8usize {
        for b in [a ^ 1, a ^ 2, a ^ 4] {
            // Edges that cross the near plane contribute their intersection.
            let (p, q) = (points[a], points[b]);
            if p.x >= NEAR && q.x < NEAR {
                ahead.push(p + (q - p) * ((p.x - NEAR) / (p.x - q.x)));
            }
        }
    }
    let mut edges = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    for p in ahead {
        let (u, v) =
            (focal * p.y / p.x + width / 2.0 - 0.5, focal * p.z / p.x + height / 2.0 - 0.5);
        edges = [edges[0].min(u), edges[1].min(v), edges[2].max(u), edges[3].max(v)];
    }
    let [left, top, right, bottom] = edges;
    let is_inside = right > 0.0 && bottom > 0.0 && left < width - 1.0 && top < height - 1.0;
    let (last_u, last_v) = (width - 1.0, height - 1.0);
    is_inside.then(|| {
        [left.max(0.0), top.max(0.0), right.min(last_u), bottom.min(last_v)].map(|x| x as f32)
    })
}
