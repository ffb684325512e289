//! What each TypeID allows. Source: protocol reference 3.1, 3.2, 3.5 and traps 7, 8, 32 of section 21.
use super::fields::Entry;
use crate::config::TransportMode;

/// What `DataWidth` and `DataHeight` are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Size {
    /// Pixels.
    Pixels,
    /// Points; the product is bounded by what a frame may hold.
    Points,
    /// Ignored by the simulator.
    Unused,
}

/// What `CameraFOV` is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fov {
    /// Horizontal field of view of a pinhole camera, below 180 degrees.
    Pinhole,
    /// Field of view of a fisheye, up to 360 degrees.
    Fisheye,
    /// Ignored by the simulator.
    Unused,
}

/// Which transport modes the simulator has for a type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Modes {
    /// 0 to 3.
    Image,
    /// 0, 1 and 3, which is the same as 1 here.
    Record,
    /// 0 and 1.
    Lidar,
}

impl Modes {
    pub(super) fn allow(self, mode: TransportMode) -> bool {
        match mode {
            TransportMode::SharedMemory | TransportMode::UdpCompressed => true,
            TransportMode::UdpRaw => self == Self::Image,
            TransportMode::UdpCompressedAlt => self != Self::Lidar,
        }
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Image => "0, 1, 2 or 3",
            Self::Record => "0, 1 or 3 (2 is for images)",
            Self::Lidar => "0 or 1 (2 and 3 are for images)",
        }
    }
}

/// One supported TypeID.
pub(super) struct TypeRules {
    pub(super) id: u16,
    pub(super) name: &'static str,
    pub(super) size: Size,
    pub(super) fov: Fov,
    pub(super) modes: Modes,
}

impl TypeRules {
    /// Says what is wrong with a field of view.
    pub(super) fn check_fov(&self, fov: f64) -> Result<(), String> {
        let (good, allowed) = match self.fov {
            Fov::Pinhole => (fov > 0.0 && fov < 180.0, "above 0 and below 180"),
            Fov::Fisheye => (fov > 0.0 && fov <= 360.0, "above 0 and at most 360"),
            Fov::Unused => return Err(format!("TypeID {} ({}) has none", self.id, self.name)),
        };
        match good {
            true => Ok(()),
            false => Err(format!(
                "must be {allowed} deg for TypeID {} ({}), is {fov}",
                self.id, self.name
            )),
        }
    }
}

const fn rules(id: u16, name: &'static str, size: Size, fov: Fov, modes: Modes) -> TypeRules {
    TypeRules {
        id,
        name,
        size,
        fov,
        modes,
    }
}

pub(super) const TYPES: &[TypeRules] = &[
    rules(1, "RGB camera", Size::Pixels, Fov::Pinhole, Modes::Image),
    rules(2, "depth camera", Size::Pixels, Fov::Pinhole, Modes::Image),
    rules(3, "grey camera", Size::Pixels, Fov::Pinhole, Modes::Image),
    rules(
        4,
        "segmentation camera",
        Size::Pixels,
        Fov::Pinhole,
        Modes::Image,
    ),
    rules(5, "range finder", Size::Unused, Fov::Unused, Modes::Record),
    rules(7, "depth cloud", Size::Pixels, Fov::Pinhole, Modes::Record),
    rules(
        8,
        "fisheye camera",
        Size::Pixels,
        Fov::Fisheye,
        Modes::Image,
    ),
    rules(9, "pod camera", Size::Pixels, Fov::Pinhole, Modes::Image),
    rules(
        20,
        "lidar, sensor frame",
        Size::Points,
        Fov::Unused,
        Modes::Lidar,
    ),
    rules(
        21,
        "lidar, world frame",
        Size::Points,
        Fov::Unused,
        Modes::Lidar,
    ),
    rules(22, "Livox Mid-40", Size::Points, Fov::Unused, Modes::Lidar),
    rules(23, "Livox Mid-360", Size::Unused, Fov::Unused, Modes::Lidar),
    rules(
        30,
        "object detector",
        Size::Pixels,
        Fov::Pinhole,
        Modes::Record,
    ),
    rules(
        31,
        "target positions",
        Size::Unused,
        Fov::Unused,
        Modes::Record,
    ),
    rules(
        40,
        "infrared camera",
        Size::Pixels,
        Fov::Pinhole,
        Modes::Image,
    ),
    rules(
        41,
        "thermal camera",
        Size::Pixels,
        Fov::Pinhole,
        Modes::Image,
    ),
];

/// Returns the rules of a supported type.
pub(super) fn find(id: i64) -> Option<&'static TypeRules> {
    TYPES.iter().find(|rules| i64::from(rules.id) == id)
}

/// Says why a type that the simulator has is not supported.
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

/// Checks the parameters that have a meaning for this type.
pub(super) fn check_other_params(
    entry: &mut Entry<'_>,
    rules: &TypeRules,
    p: &[f64; 16],
    mode: Option<TransportMode>,
    size: (i64, i64),
) {
    match rules.id {
        2 => check_depth(entry, p),
        5 if p[0] <= 0.0 => entry.warning(
            "otherParams[0]",
            format!(
                "the maximum range should be above 0 m (the vendor's examples have 200), is {}",
                p[0]
            ),
        ),
        7 | 20..=23 => check_cloud(entry, rules, p),
        8 if p[0] >= size.0.min(size.1) as f64 => entry.warning(
            "otherParams[0]",
            format!(
                "the edge of the cube map should be below width and height, is {}",
                p[0]
            ),
        ),
        30 | 31 => check_list(entry, p, mode),
        _ => {}
    }
}

/// Closest, farthest, metres per count.
fn check_depth(entry: &mut Entry<'_>, p: &[f64; 16]) {
    for (i, name) in [
        (0, "the smallest depth"),
        (1, "the largest depth (0 for no limit)"),
        (2, "the metres per count (0 for 0.001)"),
    ] {
        if p[i] < 0.0 {
            entry.problem(
                &format!("{KEY}[{i}]"),
                format!("{name} must be at least 0, is {}", p[i]),
            );
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

/// The range scales the points: a cloud with range 0 lies in one point.
fn check_cloud(entry: &mut Entry<'_>, rules: &TypeRules, p: &[f64; 16]) {
    if p[0] <= 0.0 {
        entry.problem(
            "otherParams[0]",
            format!(
                "the range scales the points and must be above 0 m, is {}",
                p[0]
            ),
        );
    }
    if !matches!(rules.id, 20 | 21) {
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

/// Largest distance, largest number of entries; the latter is the size of the shared memory block.
fn check_list(entry: &mut Entry<'_>, p: &[f64; 16], mode: Option<TransportMode>) {
    let whole = p[1].fract() == 0.0 && (0.0..=65_535.0).contains(&p[1]);
    if mode == Some(TransportMode::SharedMemory) && (!whole || p[1] < 1.0) {
        entry.problem("otherParams[1]", format!("the largest number of targets sizes the shared memory and must be an integer in 1..=65535, is {}", p[1]));
    } else if !whole {
        entry.problem(
            "otherParams[1]",
            format!(
                "the largest number of targets must be an integer in 0..=65535, is {}",
                p[1]
            ),
        );
    }
}
