//! Rows of the table of parameters.
use super::ParamValue;

/// Type and range of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueKind {
    /// `true` or `false`.
    Bool,
    /// Integer from the first to the second number.
    Int(i64, i64),
    /// Array (may be empty) of names of 1 to this many bytes, which contain neither `"` nor NUL.
    Names(usize),
    /// Real number from the first to the second number; integers are accepted too.
    Float(f64, f64),
    /// Text of at most 4096 bytes, as are the kinds below that are texts.
    Str,
    /// A [`ControlLink`](crate::config::ControlLink); may be empty if the default is.
    Link,
    /// A ROS topic name, relative to the prefix or absolute; may be empty if the default is.
    Topic,
    /// A TF frame id without leading slash; may be empty if the default is.
    Frame,
    /// One of these words; may be empty if the default is.
    Choice(&'static [&'static str]),
    /// IPv4 address; may be empty if the default is.
    Address,
    /// An IPv4 address, a network or `any`, or an array of them.
    Networks,
    /// A path or an array of paths.
    Paths,
    /// Array of different integers, each from the first to the second number.
    Ints(i64, i64),
    /// 3 numbers (diagonal) or 9 (row major), each at least 0 on the diagonal.
    Covariance,
    /// 3 numbers, each from the first to the second.
    Vector(f64, f64),
    /// Array of at most this many numbers.
    Reals(usize),
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSpec {
    /// Heading in the documents.
    pub group: &'static str,
    /// Name; dots nest in YAML.
    pub name: &'static str,
    /// Type and range.
    pub kind: ValueKind,
    /// Default; `None`: as in the sensor's Config.json.
    pub default: Option<ParamValue>,
    /// Unit, or empty.
    pub unit: &'static str,
    /// Description.
    pub doc: &'static str,
    /// Whether it can be set at run time; others need a restart.
    pub live: bool,
}

impl ParameterSpec {
    /// Returns the default; an empty array where the default comes from Config.json.
    pub fn default_value(&self) -> ParamValue {
        self.default.clone().unwrap_or(ParamValue::List(Vec::new()))
    }

    /// Returns the unit with a space before it; empty without a unit.
    pub(super) fn unit_suffix(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) }
    }
}

pub(super) const SIMULATOR: &str = "Simulator";
pub(super) const FRAMES: &str = "Frames and TF";
pub(super) const TIME: &str = "Time";
pub(super) const TOPICS: &str = "Topics and encodings";
pub(super) const SCANS: &str = "Planar scans";
pub(super) const TERRAIN: &str = "Terrain";
pub(super) const IMU: &str = "IMU";
pub(super) const REPORTS: &str = "Reports of the renderer";
pub(super) const DEGRADED: &str = "Degraded on purpose";
pub(super) const CONTROL: &str = "Control of vehicles";
pub(super) const SCENE: &str = "Scene";
pub(super) const MODEL: &str = "Models, CopterSim and the simulated network";
pub(super) const NODE: &str = "Node";
pub(super) const RECORD: &str = "Recording";
