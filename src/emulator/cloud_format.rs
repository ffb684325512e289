//! What differs between simulators in the payloads of clouds, and in the axes of vectors.
use super::world::Vec3;
use crate::wire::{
    CloudHeader, OdometryCloudHeader, Packet as _, PointForm, SensorKind, SensorRequest,
};
use std::str::FromStr;

/// What the fourth number of a point is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FourthSent {
    /// Points have three numbers.
    None,
    /// The class of the object hit.
    Label,
    /// The colour of that class as RGB555.
    Colour,
    /// As `SendProtocol[7]` says: none or a colour.
    Requested,
}

/// Form of a cloud.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CloudForm {
    /// The head has 36 bytes, with odometry, instead of 28.
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
    /// The oldest form: i16 points behind a head of 28 bytes, with a label except for depth cameras.
    pub const I16: Self = Self {
        depth: form(false, false, FourthSent::None),
        ..Self::all(form(false, false, FourthSent::Label))
    };
    /// That of the vendor's newer web page: f32 points with a label behind a head of 36 bytes.
    pub const F32: Self = Self::all(form(true, true, FourthSent::Label));
    /// That of the vendor's SDK of December 2025, which changed lidars over UDP only.
    pub const DECEMBER_2025: Self =
        Self { lidars: form(true, false, FourthSent::Label), ..Self::I16 };
    /// The newest, as far as the vendor's release notes up to March 2026 tell it: one form for all, without a fourth number
    /// unless the request wants a colour.
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
        .requested(request)
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
        match text {
            "i16" => return Ok(Self::I16),
            "f32" => return Ok(Self::F32),
            "2025-12" => return Ok(Self::DECEMBER_2025),
            "newest" => return Ok(Self::NEWEST),
            _ => {}
        }
        let parts: Vec<&str> = text.split(':').collect();
        let parsed = match *parts.as_slice() {
            [head, numbers, fourth] => (|| {
                let odometry = one_of(head, ["28", "36"])? == 1;
                let metres = one_of(numbers, ["i16", "f32"])? == 1;
                let fourth = match one_of(fourth, ["none", "label", "rgb", "auto"])? {
                    0 => FourthSent::None,
                    1 => FourthSent::Label,
                    2 => FourthSent::Colour,
                    _ => FourthSent::Requested,
                };
                Some(Self::all(form(odometry, metres, fourth)))
            })(),
            _ => None,
        };
        parsed.ok_or_else(|| {
            "must be newest, 2025-12, i16, f32, or 28|36:i16|f32:none|label|rgb|auto".to_owned()
        })
    }
}

fn one_of<const N: usize>(word: &str, words: [&str; N]) -> Option<usize> {
    words.iter().position(|known| *known == word)
}

impl CloudForm {
    fn requested(mut self, request: &SensorRequest) -> Self {
        if self.fourth == FourthSent::Requested {
            self.fourth = match request.send_protocol.segmentation {
                0 => FourthSent::None,
                _ => FourthSent::Colour,
            };
        }
        self
    }

    pub(super) fn head_len(self) -> usize {
        match self.odometry {
            true => OdometryCloudHeader::LEN,
            false => CloudHeader::LEN,
        }
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

/// Axes of a vector of a body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BodyAxes {
    /// x forward, y left, z up.
    Flu,
    /// x forward, y right, z down.
    Frd,
    /// x forward, y right, z up, left-handed.
    Fru,
    /// x right, y down, z forward, as of images.
    Rdf,
    /// x backward, y left, z down.
    Bld,
}

impl BodyAxes {
    /// Returns a vector in FRD in these axes.
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

impl FromStr for BodyAxes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "flu" | "nwu" => Self::Flu,
            "frd" | "ned" => Self::Frd,
            "fru" => Self::Fru,
            "rdf" => Self::Rdf,
            "bld" => Self::Bld,
            _ => return Err(format!("{text:?} names no axes")),
        })
    }
}

/// Axes on the wire.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WireAxes {
    /// Of the clouds of depth cameras.
    pub depth: BodyAxes,
    /// Of the accelerations of the IMU.
    pub acceleration: BodyAxes,
    /// Of the odometry in clouds: [`BodyAxes::Frd`] is NED, [`BodyAxes::Flu`] is NWU.
    pub odometry: BodyAxes,
}

impl Default for WireAxes {
    fn default() -> Self {
        Self { depth: BodyAxes::Flu, acceleration: BodyAxes::Frd, odometry: BodyAxes::Frd }
    }
}
