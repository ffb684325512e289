use super::{MountOrientation, SensorConfig};
use crate::wire::SensorKind;
use std::f64::consts::{PI, TAU};

/// Unit of `SensorAngEular`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AngleUnit {
    /// Degrees.
    Degrees,
    /// Radians.
    Radians,
}

impl AngleUnit {
    /// Converts an angle in this unit to radians.
    pub fn to_radians(self, angle: f64) -> f64 {
        self.convert(angle, Self::Radians)
    }

    /// Converts an angle in this unit to another.
    pub fn convert(self, angle: f64, to: Self) -> f64 {
        match (self, to) {
            (Self::Degrees, Self::Radians) => angle.to_radians(),
            (Self::Radians, Self::Degrees) => angle.to_degrees(),
            _ => angle,
        }
    }
}

/// Parameter `mount_angle_unit`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum AngleUnitChoice {
    /// Degrees, as in the platform's documents.
    #[default]
    Degrees,
    /// Radians, as on newer vendor pages.
    Radians,
    /// Derived from the values.
    Auto,
}

/// The chosen unit and the reason, logged at start.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ResolvedAngleUnit {
    /// Unit of all `SensorAngEular` that are loaded together, except those of pods, which are always in degrees.
    pub unit: AngleUnit,
    /// Reason, in one sentence.
    pub reason: String,
}

/// Largest angle in radians: a full turn with a margin.
const FULL_TURN: f64 = TAU * 1.01;

/// Decides the unit of `SensorAngEular` for all sensors that are loaded together.
///
/// `auto` chooses radians if each angle that is not 0 is a multiple of π/12 (to two decimals) and at most a full turn, or is
/// at most π and not an integer. Otherwise, or if all angles are 0, it chooses degrees. Limits have a margin of 1 %.
pub fn resolve_angle_unit(sensors: &[SensorConfig], choice: AngleUnitChoice) -> ResolvedAngleUnit {
    let set_by_parameter = |unit| (unit, "set by mount_angle_unit".to_owned());
    let (unit, reason) = match choice {
        AngleUnitChoice::Degrees => set_by_parameter(AngleUnit::Degrees),
        AngleUnitChoice::Radians => set_by_parameter(AngleUnit::Radians),
        AngleUnitChoice::Auto => guess(sensors),
    };
    ResolvedAngleUnit { unit, reason }
}

/// Converts the Euler angles of a sensor to another unit.
pub fn convert_angles(sensor: &mut SensorConfig, from: AngleUnit, to: AngleUnit) {
    if let MountOrientation::Euler(angles) = sensor.orientation
        && from != to
    {
        let angles = angles.map(|angle| from.convert(angle, to));
        sensor.orientation = MountOrientation::Euler(angles);
        sensor.raw_euler = angles.map(|angle| angle as f32);
    }
}

/// Returns a warning if angles that are read as degrees look like radians: each angle that is not 0 is a multiple of π/4 (to two
/// decimals) and at most a full turn. `None` if all angles are 0.
pub fn doubt_of_degrees(sensors: &[SensorConfig]) -> Option<String> {
    let mut angles = angles(sensors);
    let (sensor, first) = angles.next()?;
    let is_multiple_of_45_degrees =
        |angle: f64| angle.abs() <= FULL_TURN && is_multiple_of(PI / 4.0, angle);
    (is_multiple_of_45_degrees(first) && angles.all(|(_, angle)| is_multiple_of_45_degrees(angle))).then(|| {
        format!(
            "SensorAngEular is read as degrees, but all angles that are not 0 look like multiples of pi/4, for example {first} of sensor {}: \
             if they are radians, set mount_angle_unit:=radians",
            sensor.seq_id
        )
    })
}

/// Returns the Euler angles in use that are not 0, with their sensors; omits pods, whose angles are always in degrees.
fn angles(sensors: &[SensorConfig]) -> impl Iterator<Item = (&SensorConfig, f64)> {
    let without_pods = sensors.iter().filter(|sensor| sensor.kind != SensorKind::Pod);
    let angles = without_pods.filter_map(|sensor| match sensor.orientation {
        MountOrientation::Euler(euler) => Some(euler.map(|angle| (sensor, angle))),
        MountOrientation::Quaternion(_) => None,
    });
    angles.flatten().filter(|(_, angle)| *angle != 0.0)
}

fn guess(sensors: &[SensorConfig]) -> (AngleUnit, String) {
    let angles: Vec<(u16, f64)> =
        angles(sensors).map(|(sensor, angle)| (sensor.seq_id, angle)).collect();
    let find_first = |wanted: &dyn Fn(f64) -> bool| angles.iter().find(|(_, angle)| wanted(*angle));

    let looks_like_radians = |angle: f64| {
        let is_fraction = angle.fract() != 0.0 && angle.abs() <= PI * 1.01;
        is_fraction || is_multiple_of_15_degrees(angle)
    };
    if let Some((seq_id, angle)) = find_first(&|angle| angle.abs() > FULL_TURN) {
        let small = find_first(&is_multiple_of_15_degrees);
        let note = small.map_or_else(String::new, |(other, small)| {
            format!(", although {small} of sensor {other} looks like radians")
        });
        let reason =
            format!("{angle} of sensor {seq_id} would be more than a full turn in radians{note}");
        return (AngleUnit::Degrees, reason);
    }
    let Some((seq_id, angle)) = angles.first() else {
        let reason = "all angles are 0 or quaternions, so it does not matter";
        return (AngleUnit::Degrees, reason.to_owned());
    };
    if let Some((seq_id, angle)) = find_first(&|angle| !looks_like_radians(angle)) {
        let reason = format!(
            "the values are ambiguous, for example {angle} of sensor {seq_id}; set mount_angle_unit to be sure"
        );
        return (AngleUnit::Degrees, reason);
    }
    let reason = format!(
        "each angle is either not an integer and at most pi, or a multiple of pi/12 to two decimals, for example {angle} of sensor {seq_id}"
    );
    (AngleUnit::Radians, reason)
}

fn is_multiple_of_15_degrees(angle: f64) -> bool {
    is_multiple_of(PI / 12.0, angle)
}

/// Whether the angle is not 0 and, to two decimals as usually written, a multiple of `step`.
fn is_multiple_of(step: f64, angle: f64) -> bool {
    let steps = angle / step;
    steps.round() != 0.0 && (steps - steps.round()).abs() * step < 0.005
}
