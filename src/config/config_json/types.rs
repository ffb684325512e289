//! Constraints of each sensor type in `Config.json` (docs/wire/traps.md: lidar-types, lidar-size, list-size).
use super::fields::Entry;
use crate::config::TransportMode;
use crate::wire::{Modes, Optics, Payload, SensorKind};

/// Describes the transport modes of a type.
pub(super) const fn modes_text(modes: Modes) -> &'static str {
    match modes {
        Modes::Image => "0, 1, 2 or 3",
        Modes::Record => "0, 1 or 3 (2 is for images)",
        Modes::Lidar => "0 or 1 (2 and 3 are for images)",
    }
}

/// Checks a field of view.
pub(super) fn check_fov(kind: SensorKind, fov: f64) -> Result<(), String> {
    let (id, row) = (kind.type_id(), kind.row());
    let (good, allowed) = match row.optics {
        Optics::Pinhole => (fov > 0.0 && fov < 180.0, "above 0 and below 180"),
        Optics::Fisheye => (fov > 0.0 && fov <= 360.0, "above 0 and at most 360"),
        Optics::Rings | Optics::Rosette | Optics::Mid360 | Optics::None => {
            return Err(format!("TypeID {id} ({}) has none", row.name));
        }
    };
    match good {
        true => Ok(()),
        false => Err(format!("must be {allowed} deg for TypeID {id} ({}), is {fov}", row.name)),
    }
}

/// Returns why a type of the simulator is not supported.
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

const KEY: &str = "otherParams";

/// Returns how many of the parameters a type uses, from the first on.
pub(super) const fn used_params(kind: SensorKind) -> usize {
    use SensorKind::{
        DepthCloud, Detections, Fisheye, GlobalLidar, Lidar, Mid40, Mid360, Pod, Range, Targets,
    };
    match kind {
        SensorKind::Rgb | SensorKind::Grey | SensorKind::Segmentation => 0,
        SensorKind::Infrared | SensorKind::Thermal => 0,
        Range | Fisheye | Mid360 => 1,
        DepthCloud | Detections | Targets => 2,
        SensorKind::Depth => 3,
        Lidar | GlobalLidar | Pod => 6,
        Mid40 => 7,
    }
}

/// Whether these are the parameters of a lidar of rings: a range, and two fields that are not empty.
pub(super) fn are_rings(params: &[f64]) -> bool {
    let [range, resolution, left, right, low, high, ..] = params else {
        return false;
    };
    let field = |min: f64, max: f64, limit: f64| min < max && min >= -limit && max <= limit;
    *range > 0.0 && *resolution >= 0.0 && field(*left, *right, 360.0) && field(*low, *high, 90.0)
}

/// Whether these are the parameters of a Livox Mid-40, and no fields of rings: the documents have 2.956, 1.4, 1.18, 10, 5 after
/// the range.
pub(super) fn are_petals(params: &[f64]) -> bool {
    let [range, height, scale, curvature, eights, flowers, ..] = params else {
        return false;
    };
    let is_count = |value: f64| value >= 1.0 && value.fract() == 0.0;
    let is_shape = |value: f64| value > 0.0 && value <= 10.0;
    !are_rings(params)
        && *range > 0.0
        && [height, scale, curvature].into_iter().all(|v| is_shape(*v))
        && is_count(*eights)
        && is_count(*flowers)
}

/// Checks the parameters that this type uses.
pub(super) fn check_other_params(
    entry: &mut Entry<'_>,
    kind: SensorKind,
    p: &[f64; 16],
    mode: Option<TransportMode>,
    size: (i64, i64),
) {
    let row = kind.row();
    match row.payload {
        Payload::Grey16 => check_depth(entry, p),
        Payload::Range if p[0] <= 0.0 => entry.warning(
            "otherParams[0]",
            format!(
                "the maximum range should be above 0 m (the vendor's examples have 200), is {}",
                p[0]
            ),
        ),
        Payload::Points(_) => check_cloud(entry, row.optics, p),
        Payload::Boxes | Payload::Targets => check_list(entry, p, mode),
        Payload::Range | Payload::Bgr8 | Payload::Grey8 => {}
    }
    if row.optics == Optics::Fisheye && p[0] >= size.0.min(size.1) as f64 {
        entry.warning(
            "otherParams[0]",
            format!("the edge of the cube map should be below width and height, is {}", p[0]),
        );
    }
}

/// Smallest depth, largest depth, metres per count.
fn check_depth(entry: &mut Entry<'_>, p: &[f64; 16]) {
    for (i, name) in [
        (0, "the smallest depth"),
        (1, "the largest depth (0 for no limit)"),
        (2, "the metres per count (0 for 0.001)"),
    ] {
        if p[i] < 0.0 {
            entry
                .problem(&format!("{KEY}[{i}]"), format!("{name} must be at least 0, is {}", p[i]));
        }
    }
    if p[1] > 0.0 && p[1] <= p[0] {
        entry.problem(
            "otherParams[1]",
            format!(
                "the largest depth must be above the smallest, {} m, or 0 for no limit, is {}",
                p[0], p[1]
            ),
        );
    }
}

/// The range scales the points: with range 0 all points coincide.
fn check_cloud(entry: &mut Entry<'_>, optics: Optics, p: &[f64; 16]) {
    if p[0] <= 0.0 {
        entry.problem(
            "otherParams[0]",
            format!("the range scales the points and must be above 0 m, is {}", p[0]),
        );
    }
    if optics != Optics::Rings {
        return;
    }
    if are_petals(p) {
        entry.warning(
            KEY,
            "are the numbers of a Livox Mid-40, which is TypeID 22; they are sent as they are, and mean a lidar with next to no field \
             of view",
        );
        return;
    }
    for (i, name, limit) in [(2, "horizontal", 360.0), (4, "vertical", 90.0)] {
        let (min, max) = (p[i], p[i + 1]);
        for (k, angle) in [(i, min), (i + 1, max)] {
            if angle.abs() > limit {
                entry.problem(
                    &format!("{KEY}[{k}]"),
                    format!("the {name} field must be in -{limit}..={limit} deg, is {angle}"),
                );
            }
        }
        if min > max {
            entry.problem(
                &format!("{KEY}[{}]", i + 1),
                format!("the {name} field ends at {max} deg, before it begins at {min} deg"),
            );
        } else if min == max && name == "horizontal" {
            entry.warning(
                &format!("{KEY}[{}]", i + 1),
                format!("the horizontal field is empty: from {min} to {max} deg"),
            );
        }
    }
}

/// Largest distance, largest number of entries, which sizes the shared-memory block.
fn check_list(entry: &mut Entry<'_>, p: &[f64; 16], mode: Option<TransportMode>) {
    let whole = p[1].fract() == 0.0 && (0.0..=65_535.0).contains(&p[1]);
    if mode == Some(TransportMode::SharedMemory) && (!whole || p[1] < 1.0) {
        entry.problem("otherParams[1]", format!("the largest number of targets sizes the shared memory and must be an integer in 1..=65535, is {}", p[1]));
    } else if !whole {
        entry.problem(
            "otherParams[1]",
            format!("the largest number of targets must be an integer in 0..=65535, is {}", p[1]),
        );
    }
}
