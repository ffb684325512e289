//! Differences between simulators in the payloads of clouds, and in the axes of vectors.
use super::world::Vec3;
use crate::wire::{
    CloudHeader, OdometryCloudHeader, Packet as _, PointForm, SensorKind, SensorRequest,
};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::str::FromStr;
use strum::EnumString;

/// Meaning of the fourth number of a point.
#[derive(Clone, Copy, Debug, EnumString, Eq, PartialEq)]
#[strum(serialize_all = "lowercase")]
pub enum FourthSent {
    /// Points have three numbers.
    None,
    /// The class of the object hit.
    Label,
    /// The colour of that class as RGB555.
    #[strum(serialize = "rgb")]
    Colour,
    /// Set by `SendProtocol[7]`: none or a colour.
    #[strum(serialize = "auto")]
    Requested,
}

/// Form of a cloud.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CloudForm {
    /// The header has 36 bytes, with odometry, instead of 28.
    pub odometry: bool,
    /// Numbers are f32 in m instead of i16.
    pub metres: bool,
    /// Fourth number.
    pub fourth: FourthSent,
}

/// Forms of the clouds of a simulator.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CloudFormat {
    /// Lidars over UDP.
    pub lidars: CloudForm,
    /// Lidars in shared memory.
    pub lidar_blocks: CloudForm,
    /// Depth cameras.
    pub depth: CloudForm,
}

const fn form(odometry: bool, metres: bool, fourth: FourthSent) -> CloudForm {
    CloudForm { odometry, metres, fourth }
}

impl CloudFormat {
    /// The oldest form: i16 points after a header of 28 bytes, with a label except for depth cameras.
    pub const I16: Self = Self {
        depth: form(false, false, FourthSent::None),
        ..Self::all(form(false, false, FourthSent::Label))
    };
    /// The form of the vendor's newer web page: f32 points with a label after a header of 36 bytes.
    pub const F32: Self = Self::all(form(true, true, FourthSent::Label));
    /// The form of the vendor's SDK of December 2025, which changed lidars over UDP only.
    pub const DECEMBER_2025: Self =
        Self { lidars: form(true, false, FourthSent::Label), ..Self::I16 };
    /// The newest form, by the vendor's release notes up to March 2026: one form for all, with a fourth number only if the
    /// request selects a colour.
    pub const NEWEST: Self = Self::all(form(true, false, FourthSent::Requested));

    const fn all(form: CloudForm) -> Self {
        Self { lidars: form, lidar_blocks: form, depth: form }
    }

    pub(super) fn of(&self, request: &SensorRequest) -> CloudForm {
        let depth = SensorKind::DepthCloud.type_id();
        match (request.type_id == depth, request.send_protocol.mode) {
            (true, _) => self.depth,
            (false, 0) => self.lidar_blocks,
            (false, _) => self.lidars,
        }
        .resolved(request)
    }
}

impl Default for CloudFormat {
    fn default() -> Self {
        Self::NEWEST
    }
}

impl FromStr for CloudFormat {
    type Err = String;

    /// Reads the name of a form, or `head:numbers:fourth`, for example `28:f32:none`.
    fn from_str(text: &str) -> Result<Self, String> {
        let custom = |text: &str| {
            let (head, rest) = text.split_once(':')?;
            let (numbers, fourth) = rest.split_once(':')?;
            let odometry = one_of(head, ["28", "36"])? == 1;
            let metres = one_of(numbers, ["i16", "f32"])? == 1;
            Some(Self::all(form(odometry, metres, fourth.parse().ok()?)))
        };
        match text {
            "i16" => Ok(Self::I16),
            "f32" => Ok(Self::F32),
            "2025-12" => Ok(Self::DECEMBER_2025),
            "newest" => Ok(Self::NEWEST),
            _ => custom(text).ok_or_else(|| {
                "must be newest, 2025-12, i16, f32, or 28|36:i16|f32:none|label|rgb|auto".to_owned()
            }),
        }
    }
}

fn one_of<const N: usize>(word: &str, words: [&str; N]) -> Option<usize> {
    words.iter().position(|known| *known == word)
}

impl CloudForm {
    fn resolved(mut self, request: &SensorRequest) -> Self {
        if self.fourth == FourthSent::Requested {
            let is_colour = request.send_protocol.segmentation != 0;
            self.fourth = if is_colour { FourthSent::Colour } else { FourthSent::None };
        }
        self
    }

    pub(super) fn header_len(self) -> usize {
        if self.odometry { OdometryCloudHeader::LEN } else { CloudHeader::LEN }
    }

    pub(super) fn points(self) -> PointForm {
        match (self.metres, self.fourth) {
            (false, FourthSent::None) => PointForm::I16x3,
            (false, _) => PointForm::I16x4,
            (true, FourthSent::None) => PointForm::F32x3,
            (true, _) => PointForm::F32x4,
        }
    }
}

/// Axes of a body-fixed vector.
#[derive(Clone, Copy, Debug, EnumString, Eq, PartialEq)]
#[strum(serialize_all = "lowercase")]
pub enum BodyAxes {
    /// x forward, y left, z up.
    #[strum(serialize = "flu", serialize = "nwu")]
    Flu,
    /// x forward, y right, z down.
    #[strum(serialize = "frd", serialize = "ned")]
    Frd,
    /// x forward, y right, z up, left-handed.
    Fru,
    /// x right, y down, z forward: the optical frame of cameras (REP 103).
    Rdf,
    /// x backward, y left, z down.
    Bld,
}

impl BodyAxes {
    /// Converts a vector from FRD to these axes.
    pub fn of_frd(self, v: &Vec3) -> Vec3 {
        match self {
            Self::Flu => Vec3::new(v.x, -v.y, -v.z),
            Self::Frd => *v,
            Self::Fru => Vec3::new(v.x, v.y, -v.z),
            Self::Rdf => Vec3::new(v.y, v.z, v.x),
            Self::Bld => Vec3::new(-v.x, -v.y, v.z),
        }
    }
}

/// Parser of the axes that a simulator can have.
fn axes<const N: usize>(names: [&'static str; N]) -> impl TypedValueParser<Value = BodyAxes> {
    PossibleValuesParser::new(names).try_map(|name| name.parse::<BodyAxes>())
}

/// Axes on the wire.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::Args)]
pub struct WireAxes {
    /// Axes of the clouds of depth cameras (type 7); those of simulators since January 2026 are not public
    #[arg(long = "depth-cloud-axes", value_name = "AXES", default_value = "flu", value_parser = axes(["flu", "frd", "fru", "rdf"]), help_heading = "Protocol")]
    pub depth: BodyAxes,
    /// Axes of the accelerations of the IMU; those of simulators since January 2026 may be bld
    #[arg(long = "imu-axes", value_name = "AXES", default_value = "frd", value_parser = axes(["frd", "bld", "flu"]), help_heading = "Protocol")]
    pub acceleration: BodyAxes,
    /// Axes of the odometry in clouds
    #[arg(long = "odometry-axes", value_name = "AXES", default_value = "ned", value_parser = axes(["ned", "nwu"]), help_heading = "Protocol")]
    pub odometry: BodyAxes,
}
