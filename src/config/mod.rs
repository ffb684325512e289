//! Settings: text in, validated values out, or *all* problems at once. No I/O; the caller reads the files.
//!
//! * [`config_json`]: the simulator's `Config.json`, including its quirks.
//! * `fleet`: the fleet file, which describes several PCs; each bridge reads its own part of it.
//! * [`params`]: the table of all ROS parameters, which generates `--help`, `docs/parameters.md` and `config/bridge.yaml`.
//! * [`ros_args`]: `--ros-args` and ROS 2 parameter files, as rcl reads them.
mod angle_unit;
pub mod config_json;
mod control;
pub mod encoding;
mod fleet;
mod interface;
pub(crate) mod names;
pub mod params;
mod plugins;
mod problem;
pub mod ros_args;
mod sensor;

pub use angle_unit::{
    AngleUnit, AngleUnitChoice, ResolvedAngleUnit, convert_angles, doubt_of_degrees,
    resolve_angle_unit,
};
pub use control::{ControlLink, SimMode};
pub use fleet::{Fleet, FleetHost};
pub use interface::{Direction, ServiceRow, TopicRow};
pub use params::{ParamValue, Params};
pub use plugins::{PluginLists, plugin_of};
pub(crate) use problem::did_you_mean;
pub use problem::{Problem, Problems};
pub use ros_args::RosArgs;
pub(crate) use ros_args::yaml;
pub use sensor::{Mount, MountOrientation, SensorConfig, TransportMode};
