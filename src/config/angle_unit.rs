use super::SensorConfig;

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
        match self {
            Self::Degrees => angle.to_radians(),
            Self::Radians => angle,
        }
    }
}

/// Parameter `mount_angle_unit`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum AngleUnitChoice {
    /// Degrees, as the platform's documents say.
    #[default]
    Degrees,
    /// Radians, as newer vendor pages say.
    Radians,
    /// Taken from the values.
    Auto,
}

/// The unit taken and why, to be logged at start.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ResolvedAngleUnit {
    /// Unit of all `SensorAngEular` of this load.
    pub unit: AngleUnit,
    /// Why, in one sentence.
    pub reason: String,
}

/// Decides the unit of `SensorAngEular` for all sensors of a load.
pub fn resolve_angle_unit(sensors: &[SensorConfig], choice: AngleUnitChoice) -> ResolvedAngleUnit {
    let _ = (sensors, choice);
    ResolvedAngleUnit {
        unit: AngleUnit::Degrees,
        reason: String::new(),
    }
}
