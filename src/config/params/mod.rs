//! Every ROS parameter, typed, from one table.
mod check;
mod choices;
mod degrade;
mod families;
mod parse;
mod qos;
mod reader;
mod render;
mod sensor;
mod store;
mod table;
mod together;
mod value;

pub use super::angle_unit::AngleUnitChoice;
pub use crate::frames::{Geoid, WorldConvention};
pub use crate::time::{Estimator, StampMode};
pub use choices::{
    AccelerationAxes, BoundsAxes, CloudLayout, DepthAxes, DepthEncoding, Durability, FaultNumbers,
    Foreign, FourthNumber, HeartbeatKind, History, ImuFrame, ImuOrientation, LabelType,
    OdometryAxes, Organized, QosPreset, Reliability, ReportDemand, RequestFormat, RgbEncoding,
    ScanSource, ScanTime, Segmentation, SetpointFrame, TerrainRounding, TfSource,
    UnsupportedSensors, VehicleModel,
};
pub use degrade::{DegradeParams, ImuNoiseParams};
pub(crate) use families::is_text;
pub use families::opens_again;
pub use qos::{Qos, QosChange, QosGroup, QosParams};
pub use render::{render_help, render_markdown, render_yaml};
pub use sensor::SensorParams;
pub use store::{Checked, Description, ParamType, Store};
pub use table::{
    DefaultValue, Kind, PARAMETERS, ParameterSpec, QOS_PARAMETERS, SENSOR_PARAMETERS,
    VEHICLE_PARAMETERS,
};
pub use value::ParamValue;

use super::config_json::{RowChange, TransportOverride, VendorOverrides};
use super::{AngleUnit, MountOrientation, SensorConfig};
use super::{ControlLink, SimMode};
use crate::wire::{Ports, SensorKind};
use ipnet::Ipv4Net;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// `record.*`: files to record to.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RecordParams {
    /// `record.directory`. It is fixed at the start, so that who sets parameters chooses a name and no place.
    pub directory: PathBuf,
    /// `record.ros`.
    pub ros: Option<String>,
    /// `record.raw`.
    pub raw: Option<String>,
}

/// Every parameter, validated. [`PARAMETERS`] documents each.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// `config`.
    pub config: Vec<PathBuf>,
    /// `simulator_address`.
    pub simulator_address: Ipv4Addr,
    /// Ports of the platform, with `control.base_port` and `model.base_port`.
    pub ports: Ports,
    /// `window`.
    pub window: u8,
    /// `config.unsupported`.
    pub config_unsupported: UnsupportedSensors,
    /// `transport_mode`.
    pub transport_mode: TransportOverride,
    /// `receive_address`.
    pub receive_address: Option<Ipv4Addr>,
    /// `receive_buffer_bytes`.
    pub receive_buffer_bytes: usize,
    /// `accept_from`.
    pub accept_from: Vec<Ipv4Net>,
    /// `bind_address`.
    pub bind_address: Option<Ipv4Addr>,
    /// `vehicles`.
    pub vehicles: Vec<u16>,
    /// `other_vehicles`.
    pub other_vehicles: Vec<u16>,
    /// `clear_capture_on_start`.
    pub clear_capture_on_start: bool,
    /// `request.*`.
    pub request: RequestParams,
    /// `topic_prefix`.
    pub topic_prefix: String,
    /// `rgb.encoding`.
    pub rgb_encoding: RgbEncoding,
    /// `true_state.enabled`.
    pub true_state_enabled: bool,
    /// `model.outputs`.
    pub model_outputs: bool,
    /// `forward_to`.
    pub forward_to: Option<Ipv4Addr>,
    /// `fisheye.factor`.
    pub fisheye_factor: f64,
    /// `depth.*`.
    pub depth: DepthParams,
    /// `compressed.enabled`.
    pub compressed_enabled: bool,
    /// `image.allow_larger`.
    pub image_allow_larger: bool,
    /// `cloud.layout`.
    pub cloud_layout: CloudLayout,
    /// `cloud.scan_time`.
    pub cloud_scan_time: ScanTime,
    /// `cloud.organized`.
    pub cloud_organized: Organized,
    /// `cloud.label`.
    pub cloud_label: LabelType,
    /// `cloud.segmentation`.
    pub cloud_segmentation: Segmentation,
    /// `cloud.fourth`.
    pub cloud_fourth: FourthNumber,
    /// `cloud.depth_axes`.
    pub cloud_depth_axes: DepthAxes,
    /// `cloud.odometry_topic`, a template; empty: none.
    pub cloud_odometry_topic: String,
    /// `cloud.global_odometry_topic`, a template; empty: none.
    pub cloud_global_odometry_topic: String,
    /// `cloud.odometry_axes`.
    pub cloud_odometry_axes: OdometryAxes,
    /// `scan.*`.
    pub scan: ScanParams,
    /// `terrain.file`.
    pub terrain_file: Option<PathBuf>,
    /// `terrain.rounding`.
    pub terrain_rounding: TerrainRounding,
    /// `terrain.occupied_above_m`.
    pub terrain_occupied_above_m: f64,
    /// `imu.*`.
    pub imu: ImuParams,
    /// `reports.*`.
    pub reports: ReportParams,
    /// `degrade.*`.
    pub degrade: DegradeParams,
    /// Frames and TF.
    pub frames: FrameParams,
    /// `time.*`.
    pub time: TimeParams,
    /// `use_sim_time`.
    pub use_sim_time: bool,
    /// `services.fast_dds`.
    pub fast_dds_services: bool,
    /// `diagnostics.period_s`.
    pub diagnostics_period: Duration,
    /// `record.*`.
    pub record: RecordParams,
    /// `control.*`.
    pub control: ControlParams,
    /// `setpoint.*`.
    pub setpoint: SetpointParams,
    /// `scene.*`.
    pub scene: SceneParams,
    /// `model.*`.
    pub model: ModelParams,
    /// `netsim.*`.
    pub netsim: NetSimParams,
    /// `redis.*`.
    pub redis: RedisParams,
    /// `view.*`.
    pub view: ViewParams,
    /// `compat.mavros_quirks`.
    pub mavros_quirks: bool,
    /// `vehicle<CopterID>.*`.
    pub own_vehicles: BTreeMap<u16, VehicleParams>,
    /// `sensor<SeqID>.*`.
    pub sensors: BTreeMap<u16, SensorParams>,
    /// `qos.*` and `qos_overrides.*`.
    pub qos: QosParams,
}

/// `model.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelParams {
    /// `model.fault_numbers`.
    pub fault_numbers: FaultNumbers,
    /// `model.custom_data_port`.
    pub custom_data_port: u16,
}

/// `netsim.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct NetSimParams {
    /// `netsim.enabled`.
    pub enabled: bool,
    /// `netsim.port`.
    pub port: u16,
}

/// `redis.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct RedisParams {
    /// `redis.address`; without one there is no server.
    pub address: Option<Ipv4Addr>,
    /// `redis.port`.
    pub port: u16,
}

/// `view.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewParams {
    /// `view.port`; 0: none.
    pub port: u16,
    /// `view.control`.
    pub control: bool,
    /// `view.origins`.
    pub origins: Vec<String>,
}

/// `request.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestParams {
    /// Time between requests until data flows.
    pub period: Duration,
    /// Silence after which a source counts as lost.
    pub timeout: Duration,
    /// `SendProtocol[6]`; `None`: as in Config.json.
    pub piece_bytes: Option<u16>,
    /// Layout of sensor requests.
    pub format: RequestFormat,
    /// What follows when another program changes a sensor.
    pub foreign: Foreign,
}

/// `depth.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct DepthParams {
    /// Encoding of the main topic.
    pub encoding: DepthEncoding,
    /// Also publish a 32FC1 topic.
    pub publish_float: bool,
    /// Publish depth in the frame of the colour camera that it coincides with.
    pub registered: bool,
}

/// `scan.*`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanParams {
    /// Which points.
    pub source: ScanSource,
    /// Number of the ring from the lowest; `None`: the one nearest to the horizontal plane.
    pub ring: Option<u16>,
    /// Lowest z of a band in m.
    pub min_height: f64,
    /// Highest z of a band in m.
    pub max_height: f64,
    /// Smallest azimuth in rad.
    pub angle_min: f64,
    /// Largest azimuth in rad.
    pub angle_max: f64,
    /// Between the rays of a band in rad; 0: as the sensor's columns.
    pub angle_increment: f64,
    /// Nearer points are left out, in m.
    pub range_min: f64,
    /// Farther points are left out, in m; 0: the sensor's range.
    pub range_max: f64,
    /// Rays without return are infinite.
    pub use_inf: bool,
}

impl ScanParams {
    /// Returns the points of the scan of this kind of sensor.
    pub fn source_of(&self, kind: SensorKind) -> ScanSource {
        match self.source {
            ScanSource::Off => ScanSource::Off,
            wanted if Self::sources(kind).contains(&wanted.name()) => wanted,
            _ => ScanSource::Off,
        }
    }

    /// Returns the words of the parameter that suit this kind of sensor.
    pub fn sources(kind: SensorKind) -> &'static [&'static str] {
        match kind {
            SensorKind::Lidar => ScanSource::NAMES,
            SensorKind::DepthCloud | SensorKind::Mid40 | SensorKind::Mid360 => &["off", "band"],
            _ => &[],
        }
    }

    /// Returns the limits of the azimuth; `None` if they span a full circle.
    pub fn angles(&self) -> Option<[f64; 2]> {
        let limited = self.angle_max - self.angle_min < std::f64::consts::TAU - 1e-3;
        limited.then_some([self.angle_min, self.angle_max])
    }
}

impl Default for ScanParams {
    fn default() -> Self {
        Params::default().scan
    }
}

/// `imu.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct ImuParams {
    /// Whether the IMU is requested.
    pub enabled: bool,
    /// Rate in Hz.
    pub rate_hz: u16,
    /// Topic, relative to the prefix or absolute.
    pub topic: String,
    /// Frame id without the vehicle's prefix.
    pub frame_id: String,
    /// Axes of the message.
    pub frame: ImuFrame,
    /// Axes of the accelerations on the wire.
    pub acceleration_axes: AccelerationAxes,
    /// Orientation.
    pub orientation: ImuOrientation,
    /// Row-major 3x3, rad²/s².
    pub angular_velocity_covariance: [f64; 9],
    /// Row-major 3x3, m²/s⁴.
    pub linear_acceleration_covariance: [f64; 9],
    /// Errors on purpose.
    pub noise: ImuNoiseParams,
}

/// `reports.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportParams {
    /// When to ask for reports.
    pub demand: ReportDemand,
    /// Ids of vehicles, and of objects that were created like them, to be described besides the served vehicles.
    pub vehicles: Vec<i32>,
    /// Names of objects of the scene to be described.
    pub objects: Vec<String>,
    /// Axes of bounds.
    pub bounds: BoundsAxes,
}

/// Names of frames, conventions and TF.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameParams {
    /// `map_frame`.
    pub map: String,
    /// `odom_frame`.
    pub odom: String,
    /// `base_frame`.
    pub base: String,
    /// `frame_prefix`, a template.
    pub prefix: String,
    /// `world_convention`.
    pub world: WorldConvention,
    /// `mount_angle_unit`.
    pub mount_angle_unit: AngleUnitChoice,
    /// `vehicle_bottom_m`.
    pub vehicle_bottom_m: f64,
    /// `tf.publish`.
    pub publish_tf: bool,
    /// `tf.publish_static`.
    pub publish_static: bool,
    /// `robot_description.publish`.
    pub robot_description: bool,
    /// `tf.source`.
    pub tf_source: TfSource,
}

impl FrameParams {
    /// Returns `frame_prefix` for a bridge that serves `vehicles` vehicles, with `{id}` unexpanded.
    pub fn prefix_template(&self, vehicles: usize) -> &str {
        match self.prefix.as_str() {
            "auto" if vehicles <= 1 => "",
            "auto" => "copter{id}/",
            template => template,
        }
    }

    /// Returns the prefix of the frames of vehicle `id` if the bridge serves `vehicles` vehicles.
    pub fn prefix_of(&self, id: u16, vehicles: usize) -> String {
        self.prefix_template(vehicles)
            .replace("{id}", &id.to_string())
    }
}

/// `time.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeParams {
    /// Source of the stamps.
    pub mode: StampMode,
    /// Method to find the offset.
    pub estimator: Estimator,
}

/// `control.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlParams {
    /// `control.link`.
    pub link: ControlLink,
    /// How long to listen for vehicles at start.
    pub discover: Duration,
    /// Telemetry only.
    pub read_only: bool,
    /// Request CopterSim to change its mode.
    pub switch_mode: bool,
    /// `control.prefix`, a template.
    pub prefix: String,
    /// Frame of autopilots' local positions, without the vehicle's prefix; the map frame if the names are equal.
    pub local_frame: String,
    /// Silence after which a vehicle counts as disconnected.
    pub timeout: Duration,
    /// How long the last setpoint is repeated.
    pub keep_alive: Duration,
    /// Time from the connection until all parameters are read; zero: only on demand.
    pub read_parameters: Duration,
    /// MAV_TYPE of the bridge's heartbeats.
    pub heartbeat: HeartbeatKind,
    /// Own system id; 0: the vehicle's.
    pub system_id: u8,
    /// Own component id.
    pub component_id: u8,
    /// Refuse what PX4 does not support.
    pub px4_checks: bool,
    /// Bound of positions in m.
    pub max_position: f64,
    /// Bound of speeds in m/s.
    pub max_speed: f64,
    /// Geoid.
    pub geoid: Geoid,
}

/// `setpoint.*`, parameters of mavros' plugins.
#[derive(Clone, Debug, PartialEq)]
pub struct SetpointParams {
    /// Frame of `setpoint_position/local`.
    pub position_frame: SetpointFrame,
    /// Frame of `setpoint_velocity`.
    pub velocity_frame: SetpointFrame,
    /// `setpoint_accel/accel` is a force.
    pub accel_is_force: bool,
    /// `setpoint_attitude` takes attitudes.
    pub use_quaternion: bool,
    /// Thrust may be negative.
    pub reverse_thrust: bool,
    /// Factor on thrust.
    pub thrust_scaling: f64,
}

/// `scene.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneParams {
    /// The user's models, maps and poses.
    pub file: Option<PathBuf>,
    /// The standard's services are beside the node, not below it.
    pub at_root: bool,
    /// Windows that draw what is spawned; at least one.
    pub windows: Vec<u16>,
    /// Name or number of the map at the start; empty: not known.
    pub world: String,
    /// Ids of spawned objects.
    pub ids: RangeInclusive<i32>,
}

/// `vehicle<CopterID>.*`; absent values default to the parameter for all vehicles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VehicleParams {
    /// Overrides `control.link`.
    pub link: Option<ControlLink>,
    /// Overrides `control.prefix`.
    pub prefix: Option<String>,
    /// Overrides `simulator_address`.
    pub address: Option<Ipv4Addr>,
    /// Who flies it; `None`: CopterSim.
    pub model: Option<VehicleModel>,
    /// Class and style that the renderer draws, if the bridge flies it.
    pub model_type: Option<i32>,
    /// Position in the map, if the bridge flies it.
    pub start: [f64; 3],
    /// Heading in the map in degrees, if the bridge flies it.
    pub start_yaw_deg: f64,
}

impl VehicleParams {
    /// Whether the bridge flies the vehicle itself.
    pub fn is_flown_here(&self) -> bool {
        self.model
            .is_some_and(|model| model != VehicleModel::CopterSim)
    }
}

impl Params {
    /// Returns the control link of a vehicle.
    pub fn control_link(&self, id: u16) -> &ControlLink {
        const OF_MODELS: ControlLink = ControlLink::Simulator(SimMode::UdpSimple);
        let own = self.own_vehicles.get(&id);
        let given = own.and_then(|own| own.link.as_ref());
        match own.is_some_and(VehicleParams::is_flown_here) {
            true => given.unwrap_or(&OF_MODELS),
            false => given.unwrap_or(&self.control.link),
        }
    }

    /// Returns the prefix of a vehicle's mavros-style topics.
    pub fn control_prefix(&self, id: u16) -> String {
        let own = self
            .own_vehicles
            .get(&id)
            .and_then(|own| own.prefix.clone());
        own.unwrap_or_else(|| {
            let n = if id == 1 {
                String::new()
            } else {
                id.to_string()
            };
            let template = &self.control.prefix;
            template.replace("{id}", &id.to_string()).replace("{n}", &n)
        })
    }

    /// Returns the host of a vehicle's CopterSim.
    pub fn copter_sim(&self, id: u16) -> Ipv4Addr {
        match self.own_vehicles.get(&id) {
            Some(own) if own.is_flown_here() => Ipv4Addr::LOCALHOST,
            own => { own.and_then(|own| own.address) }.unwrap_or(self.simulator_address),
        }
    }
}

impl Params {
    /// Returns the overrides of the sensor files.
    pub fn vendor_overrides(&self) -> VendorOverrides {
        VendorOverrides {
            transport: self.transport_mode,
            receive_address: self.receive_address.map(|a| a.octets()),
            piece_bytes: self.request.piece_bytes,
            segmentation: self.cloud_segmentation.number(),
            refuse_unsupported: self.config_unsupported == UnsupportedSensors::Refuse,
        }
    }

    /// Returns `sensor<SeqID>.*` of a sensor.
    pub fn sensor(&self, seq_id: u16) -> SensorParams {
        self.sensors.get(&seq_id).cloned().unwrap_or_default()
    }
}

impl Default for Params {
    /// Defaults of the table.
    fn default() -> Self {
        parse::build(&reader::Reader::default())
    }
}
