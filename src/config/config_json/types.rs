//! Constraints of each sensor type in `Config.json` (docs/wire/traps.md: lidar-types, lidar-size, list-size).
use super::fields::SensorEntry;
use crate::config::TransportMode;
use crate::wire::{Modes, Optics, Payload, SensorKind};

pub(super) const fn modes_text(modes: Modes) -> &'static str {
    match modes {
        Modes::Image => "0, 1, 2 or 3",
        Modes::Record => "0, 1 or 3 (2 is for images)",
        Modes::Lidar => "0 or 1 (2 and 3 are for images)",
    }
}

/// Checks a field of view. Errors: what is wrong, also that the type has none.
pub(crate) fn check_fov(kind: SensorKind, fov: f64) -> Result<(), String> {
    let (id, row) = (kind.type_id(), kind.row());
    let (is_valid, allowed) = match row.optics {
        Optics::Pinhole => (fov > 0.0 && fov < 180.0, "above 0 and below 180"),
        Optics::Fisheye => (fov > 0.0 && fov <= 360.0, "above 0 and at most 360"),
        Optics::Rings | Optics::Rosette | Optics::Mid360 | Optics::None => {
            return Err(format!("TypeID {id} ({}) has none", row.name));
        }
    };
    let wrong = || format!("must be {allowed} deg for TypeID {id} ({}), is {fov}", row.name);
    is_valid.then_some(()).ok_or_else(wrong)
}

/// Returns the name of a type that the bridge cannot read, and the reason.
pub(super) fn unsupported(id: i64) -> Option<&'static str> {
    match id {
        6 => Some(
            "microphone, not supported because its data is a sound stream without a public packet layout (lidars are 20 to 23)",
        ),
        10 => {
            Some("optical flow, not supported because the vendor publishes no packet layout for it")
        }
        _ => None,
    }
}

const PARAMS: &str = "otherParams";

/// Returns the number of `otherParams` that a type uses; they are the first ones.
pub(super) const fn used_params(kind: SensorKind) -> usize {
    use SensorKind::*;
    match kind {
        Rgb | Grey | Segmentation | Infrared | Thermal => 0,
        Range | Fisheye | Mid360 => 1,
        DepthCloud | Detections | Targets => 2,
        Depth => 3,
        Lidar | GlobalLidar | Pod => 6,
        Mid40 => 7,
    }
}

/// Whether these are the parameters of a lidar with rings: a range, and two fields of view that are not empty.
pub(super) fn are_rings(params: &[f64]) -> bool {
    let [range, resolution, left, right, low, high, ..] = params else { return false };
    let is_fov = |min: f64, max: f64, limit: f64| min < max && min >= -limit && max <= limit;
    *range > 0.0 && *resolution >= 0.0 && is_fov(*left, *right, 360.0) && is_fov(*low, *high, 90.0)
}

/// Whether these are the parameters of a Livox Mid-40, not of a lidar with rings: the documents give 2.956, 1.4, 1.18, 10, 5
/// after the range.
pub(super) fn are_petals(params: &[f64]) -> bool {
    let [range, height, scale, curvature, eights, flowers, ..] = params else { return false };
    let is_count = |value: f64| value >= 1.0 && value.fract() == 0.0;
    let is_shape = |value: f64| value > 0.0 && value <= 10.0;
    !are_rings(params)
        && *range > 0.0
        && [height, scale, curvature].into_iter().all(|v| is_shape(*v))
        && is_count(*eights)
        && is_count(*flowers)
}

pub(super) fn check_other_params(
    entry: &mut SensorEntry<'_>,
    kind: SensorKind,
    p: &[f64; 16],
    mode: Option<TransportMode>,
    size: (u16, u16),
) {
    let row = kind.row();
    match row.payload {
        Payload::Grey16 => check_depth(entry, p),
        Payload::Range if p[0] <= 0.0 => {
            let range = "above 0 m (the vendor's examples have 200)";
            let why = format!("the maximum range should be {range}, is {}", p[0]);
            entry.warning("otherParams[0]", why);
        }
        Payload::Points(_) => check_cloud(entry, row.optics, p),
        Payload::Boxes | Payload::Targets => check_list(entry, p, mode),
        Payload::Range | Payload::Bgr8 | Payload::Grey8 => {}
    }
    if row.optics == Optics::Fisheye && p[0] >= size.0.min(size.1).into() {
        let why = format!("the edge of the cube map should be below width and height, is {}", p[0]);
        entry.warning("otherParams[0]", why);
    }
}

/// Checks the smallest depth, the largest depth and the metres per count.
fn check_depth(entry: &mut SensorEntry<'_>, p: &[f64; 16]) {
    for (i, name) in [
        (0, "the smallest depth"),
        (1, "the largest depth (0 for no limit)"),
        (2, "the metres per count (0 for 0.001)"),
    ] {
        if p[i] < 0.0 {
            let why = format!("{name} must be at least 0, is {}", p[i]);
            entry.problem(&format!("{PARAMS}[{i}]"), why);
        }
    }
    if p[1] > 0.0 && p[1] <= p[0] {
        let (least, most) = (p[0], p[1]);
        let why = format!(
            "the largest depth must be above the smallest, {least} m, or 0 for no limit, is {most}"
        );
        entry.problem("otherParams[1]", why);
    }
}

/// Checks the range (with range 0 all points coincide) and the fields of view.
fn check_cloud(entry: &mut SensorEntry<'_>, optics: Optics, p: &[f64; 16]) {
    if p[0] <= 0.0 {
        let why = format!("the range scales the points and must be above 0 m, is {}", p[0]);
        entry.problem("otherParams[0]", why);
    }
    if optics != Optics::Rings {
        return;
    }
    if are_petals(p) {
        let why = "are those of a Livox Mid-40, which has TypeID 22; they are sent unchanged, and give a lidar with almost no field of view";
        entry.warning(PARAMS, why);
        return;
    }
    for (i, name, limit) in [(2, "horizontal", 360.0), (4, "vertical", 90.0)] {
        let (min, max) = (p[i], p[i + 1]);
        for (k, angle) in [(i, min), (i + 1, max)] {
            if angle.abs() > limit {
                let why = format!("the {name} field must be in -{limit}..={limit} deg, is {angle}");
                entry.problem(&format!("{PARAMS}[{k}]"), why);
            }
        }
        if min > max {
            let why = format!("the {name} field ends at {max} deg, before it begins at {min} deg");
            entry.problem(&format!("{PARAMS}[{}]", i + 1), why);
        } else if min == max && name == "horizontal" {
            let why = format!("the horizontal field is empty: from {min} to {max} deg");
            entry.warning(&format!("{PARAMS}[{}]", i + 1), why);
        }
    }
}

/// Checks the largest number of entries, which sizes the shared-memory block.
fn check_list(entry: &mut SensorEntry<'_>, p: &[f64; 16], mode: Option<TransportMode>) {
    let is_whole = p[1].fract() == 0.0 && (0.0..=65_535.0).contains(&p[1]);
    let is_shared = mode == Some(TransportMode::SharedMemory);
    if !is_whole || is_shared && p[1] < 1.0 {
        let (why, least) = if is_shared { (" sizes the shared memory and", 1) } else { ("", 0) };
        let why = format!(
            "the largest number of targets{why} must be an integer in {least}..=65535, is {}",
            p[1]
        );
        entry.problem("otherParams[1]", why);
    }
}
