use super::{
    AccelerationAxes, AngleUnitChoice, BoundsAxes, CloudLayout, DepthAxes, DepthEncoding,
    Durability, Estimator, FaultNumbers, Foreign, FourthNumber, Geoid, HeartbeatKind, History,
    ImuFrame, ImuOrientation, LabelType, OdometryAxes, Organized, ParamValue, QosPreset,
    Reliability, ReportDemand, RequestFormat, RgbEncoding, ScanSource, ScanTime, Segmentation,
    SetpointFrame, StampMode, TerrainRounding, TfSource, UnsupportedSensors, VehicleModel,
    WorldConvention,
};
use crate::config::config_json::TransportOverride;
use crate::wire::FISHEYE_FACTOR;
use std::f64::consts::{PI, TAU};

/// Type and range of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// Integer from the first to the second number.
    Int(i64, i64),
    /// Array of texts without quotes, each of so many bytes at most and not empty; may be empty.
    Names(usize),
    /// Real number from the first to the second number; integers are accepted too.
    Float(f64, f64),
    /// Any text.
    Str,
    /// A ROS topic name, relative to the prefix or absolute; may be empty if the default is.
    Topic,
    /// A TF frame id without leading slash; may be empty if the default is.
    Frame,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// IPv4 address; may be empty if the default is.
    Address,
    /// An IPv4 address, a network or `any`, or an array of them.
    Networks,
    /// A path or an array of paths.
    Paths,
    /// Array of integers, each from the first to the second number.
    Ints(i64, i64),
    /// 3 numbers (diagonal) or 9 (row major), each at least 0 on the diagonal.
    Covariance,
    /// 3 numbers, each from the first to the second.
    Vector(f64, f64),
    /// At most so many numbers.
    Reals(usize),
}

/// Default of a parameter, in a form that a `const` can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultValue {
    /// Bool.
    Bool(bool),
    /// Integer.
    Int(i64),
    /// Real.
    Float(f64),
    /// Text.
    Str(&'static str),
    /// Array of reals.
    Floats(&'static [f64]),
    /// Empty array.
    Empty,
    /// As in the sensor's Config.json.
    File,
}

impl DefaultValue {
    /// Returns the default as a value.
    pub fn value(self) -> ParamValue {
        match self {
            Self::Bool(v) => ParamValue::Bool(v),
            Self::Int(v) => ParamValue::Int(v),
            Self::Float(v) => ParamValue::Float(v),
            Self::Str(v) => ParamValue::Str(v.to_owned()),
            Self::Floats(v) => ParamValue::List(v.iter().map(|v| ParamValue::Float(*v)).collect()),
            Self::Empty | Self::File => ParamValue::List(Vec::new()),
        }
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterSpec {
    /// Heading in the documents.
    pub group: &'static str,
    /// Name; dots nest in YAML.
    pub name: &'static str,
    /// Type and range.
    pub kind: Kind,
    /// Default.
    pub default: DefaultValue,
    /// Unit, or empty.
    pub unit: &'static str,
    /// One or two sentences.
    pub doc: &'static str,
    /// Can be set at run time; others need a restart.
    pub live: bool,
}

impl ParameterSpec {
    /// Marks the parameter as settable at run time.
    const fn live(self) -> Self {
        Self { live: true, ..self }
    }
}

const fn row(
    group: &'static str,
    name: &'static str,
    kind: Kind,
    default: DefaultValue,
    unit: &'static str,
    doc: &'static str,
) -> ParameterSpec {
    ParameterSpec {
        group,
        name,
        kind,
        default,
        unit,
        doc,
        live: false,
    }
}

use DefaultValue as D;
use Kind as K;

const SIMULATOR: &str = "Simulator";
const FRAMES: &str = "Frames and TF";
const TIME: &str = "Time";
const TOPICS: &str = "Topics and encodings";
const SCANS: &str = "Planar scans";
const TERRAIN: &str = "Terrain";
const IMU: &str = "IMU";
const REPORTS: &str = "Reports of the renderer";
const DEGRADED: &str = "Degraded on purpose";
const CONTROL: &str = "Control of vehicles";
const SCENE: &str = "Scene";
const MODEL: &str = "Models, CopterSim and the simulated network";
const NODE: &str = "Node";
const RECORD: &str = "Recording";

/// Every parameter with a fixed name. Generates parsing, `--help`, `docs/parameters.md` and `config/bridge.yaml`.
#[rustfmt::skip] // one row, one to two lines: it is a table
pub const PARAMETERS: &[ParameterSpec] = &[
    row(SIMULATOR, "config", K::Paths, D::Empty, "",
        "The simulator's Config.json, or an array of several; automatic numbering restarts in each."),
    row(SIMULATOR, "config.unsupported", K::Choice(UnsupportedSensors::NAMES), D::Str("skip"), "",
        "Sensors whose data have no public layout (microphone 6, optical flow 10): skip leaves them out with a warning, refuse does not start."),
    row(SIMULATOR, "simulator_address", K::Address, D::Str("127.0.0.1"), "",
        "Address of the host of RflySim3D and CopterSim; no broadcast, because answers come from a host."),
    row(SIMULATOR, "window", K::Int(0, 19), D::Int(0), "",
        "RflySim3D window that renders the sensors (UDP port 20010 + window)."),
    row(SIMULATOR, "transport_mode", K::Choice(TransportOverride::NAMES), D::Str("vendor"), "",
        "SendProtocol[0] of all sensors: `vendor` as the vendor's loader on Linux (0 becomes 1, the others stay), `file` as written \
         (0 is shared memory in /dev/shm), or one number for all: 0 shared memory, 1 and 3 compressed UDP, 2 raw UDP."),
    row(SIMULATOR, "receive_address", K::Address, D::Str(""), "",
        "Address the simulator sends sensor data to, overwrites SendProtocol[1..4]. Empty: as written in the file."),
    row(SIMULATOR, "receive_buffer_bytes", K::Int(65_536, 1 << 30), D::Int(8 << 20), "bytes",
        "Receive buffer to request for each data socket; the kernel grants at most net.core.rmem_max."),
    row(SIMULATOR, "accept_from", K::Networks, D::Empty, "",
        "Accepted senders besides `simulator_address` and `vehicle<CopterID>.address`: addresses, networks such as 192.168.1.0/24, or \
         `any`. Datagrams from others are dropped, counted in /diagnostics, and logged once per sender (docs/network.md)."),
    row(SIMULATOR, "bind_address", K::Address, D::Str(""), "",
        "Address of this host to listen at. Empty: 127.0.0.1 if all accepted senders are local, else every interface."),
    row(SIMULATOR, "control.base_port", K::Int(1, 45_000), D::Int(20_100), "",
        "Control port of vehicle 1, the vendor's UDP_START_PORT; its states come to the port after it. Each further vehicle has two ports more."),
    row(SIMULATOR, "model.base_port", K::Int(1, 35_000), D::Int(30_100), "",
        "CopterSim's port of vehicle 1; true states come to the port after it, outputs of autopilots to that + 10001. Each further vehicle has two more."),
    row(SIMULATOR, "vehicles", K::Ints(1, 10_000), D::Empty, "",
        "CopterIDs whose true state and IMU are read. Empty: the vehicles that carry sensors."),
    row(SIMULATOR, "other_vehicles", K::Ints(1, 10_000), D::Empty, "",
        "CopterIDs that other bridges serve: their heartbeats cause no warning."),
    row(SIMULATOR, "clear_capture_on_start", K::Bool, D::Bool(false), "",
        "Send RflyClearCapture first: ends every capture of this window, also those of other programs."),
    row(SIMULATOR, "request.period_s", K::Float(0.1, 60.0), D::Float(1.0), "s",
        "Time between sensor requests until data flows.").live(),
    row(SIMULATOR, "request.timeout_s", K::Float(0.2, 600.0), D::Float(3.0), "s",
        "Silence after which a sensor or a vehicle counts as lost and is requested again.").live(),
    row(SIMULATOR, "request.format", K::Choice(RequestFormat::NAMES), D::Str("vendor"), "",
        "Sensor requests: `vendor` as the vendor's SDK, 92 bytes, or 144 if any sensor has EularOrQuat; `long` 148 bytes with check word 12346, \
         which newer documents describe for all types."),
    row(SIMULATOR, "request.foreign", K::Choice(Foreign::NAMES), D::Str("follow"), "",
        "What happens when another program asks the renderer for a SeqID of the bridge. Where its field of view, or a camera in its place, is shown, with a warning: `follow`, \
         camera_info and TF say what frames show, or `restore`, ours is asked for again. Where its stream stops while others deliver, it is asked for again, but by `yield`, which \
         leaves it to the other program and follows otherwise.").live(),
    row(SIMULATOR, "request.piece_bytes", K::Int(-1, 65_000), D::Int(-1), "bytes",
        "Most bytes of a frame in one datagram, SendProtocol[6], which simulators since August 2025 obey; 0: their own choice, 60,000 or, under WSL, 1400. -1: as in \
         Config.json."),

    row(TOPICS, "topic_prefix", K::Topic, D::Str("rflysim"), "",
        "Prefix of all relative topic names; below the node's namespace if it is relative itself."),
    row(TOPICS, "rgb.encoding", K::Choice(RgbEncoding::NAMES), D::Str("bgr8"), "",
        "Channel order of colour images; bgr8 is the simulator's order and needs no conversion."),
    row(TOPICS, "fisheye.factor", K::Float(0.1, 2.0), D::Float(FISHEYE_FACTOR), "",
        "Focal length of fisheyes (type 8) in camera_info, as a part of width / field of view: r = factor x DataWidth / CameraFOV x theta. The default was \
         measured in the real simulator at one setting (docs/sensors.md).").live(),
    row(TOPICS, "depth.encoding", K::Choice(DepthEncoding::NAMES), D::Str("16UC1"), "",
        "Main depth topic: `16UC1` millimetres with 0 for invalid (REP 118), `vendor` the simulator's raw numbers as mono16."),
    row(TOPICS, "depth.publish_float", K::Bool, D::Bool(true), "",
        "Publish depth also as 32FC1 metres, while the topic has a subscriber."),
    row(TOPICS, "depth.registered", K::Bool, D::Bool(true), "",
        "Publish depth in the optical frame of the RGB camera (type 1) that has the same mount, place, attitude, size and field of view, as readers of \
         RGB-D images expect; false, or with its own `frame_id`: in its own."),
    row(TOPICS, "compressed.enabled", K::Bool, D::Bool(true), "",
        "Offer `<image>/compressed` where the simulator sends PNG or JPEG; the bytes pass through undecoded."),
    row(TOPICS, "image.allow_larger", K::Bool, D::Bool(false), "",
        "Accept PNG and JPEG images larger than DataWidth x DataHeight. Otherwise they are refused before decoding: a small file can expand to \
         many megabytes."),
    row(TOPICS, "cloud.layout", K::Choice(CloudLayout::NAMES), D::Str("xyz_label"), "",
        "Fields of the points of lidars in their own frame (types 20, 22 and 23): xyz_label, or as the driver of a real lidar publishes them."),
    row(TOPICS, "cloud.scan_time", K::Choice(ScanTime::NAMES), D::Str("instant"), "",
        "Times of points in the layouts of drivers: instant, as the simulator renders a scan; sweep: spread over the period of the scan, although the points are not."),
    row(TOPICS, "cloud.organized", K::Choice(Organized::NAMES), D::Str("auto"), "",
        "Organise clouds as height x width if the sensor has rings or pixels, with NaN for missing points; false: one dense row; auto: only in layout xyz_label."),
    row(TOPICS, "cloud.label", K::Choice(LabelType::NAMES), D::Str("float32"), "",
        "Type of the field `label` of lidar points: `float32` as the coordinates, for `read_points_numpy`, or `uint32` as in `pcl::PointXYZL`."),
    row(TOPICS, "cloud.segmentation", K::Choice(Segmentation::NAMES), D::Str("file"), "",
        "Ask for the colours of the segmentation in clouds, SendProtocol[7]: `file` as in Config.json, `off`, `on`. Simulators before v4.12 (2026) ignore it: their \
         lidars always send a label."),
    row(TOPICS, "cloud.fourth", K::Choice(FourthNumber::NAMES), D::Str("auto"), "",
        "What the fourth number of points is: `label`, or `rgb`, a colour of 15 bits (RGB555), published as PCL's `rgb`; `auto`: a colour where \
         SendProtocol[7] asks for one, else a label."),
    row(TOPICS, "cloud.depth_axes", K::Choice(DepthAxes::NAMES), D::Str("auto"), "",
        "Axes of the clouds of depth cameras (type 7) on the wire, which changed in January 2026: f forward, l left, r right, u up, d down. `auto`: flu until \
         the rays of its pixels, or the ground and the true attitude, show another one."),
    row(TOPICS, "cloud.odometry_topic", K::Str, D::Str("uav{id}/local/odom"), "",
        "Topic of the odometry that newer simulators send with clouds, from the first pose on, relative to the prefix; `{id}` is the CopterID. Empty: not \
         published."),
    row(TOPICS, "cloud.global_odometry_topic", K::Str, D::Str("uav{id}/global/odom"), "",
        "Topic of the same odometry as the simulator sends it, in the map or the odometry frame. Empty: not published."),
    row(TOPICS, "cloud.odometry_axes", K::Choice(OdometryAxes::NAMES), D::Str("auto"), "",
        "Axes of that odometry on the wire: `ned` (z down, clockwise yaw), `nwu` (z up, y west, anticlockwise yaw). `auto`: ned until the true pose shows the other."),

    row(SCANS, "scan.source", K::Choice(ScanSource::NAMES), D::Str("off"), "",
        "Publish clouds also as sensor_msgs/LaserScan on `scan` beside them, while it has a subscriber: one ring of a mechanical lidar (type 20), or a band \
         of heights (types 7, 20, 22 and 23). Sensors that have no such scan have none."),
    row(SCANS, "scan.ring", K::Int(-1, 65_535), D::Int(-1), "",
        "Number of the ring from the lowest, 0; -1: the one nearest to the horizontal plane of the sensor."),
    row(SCANS, "scan.min_height", K::Float(-1000.0, 1000.0), D::Float(-0.2), "m",
        "Lowest z of a band, in the frame of the sensor."),
    row(SCANS, "scan.max_height", K::Float(-1000.0, 2000.0), D::Float(0.2), "m",
        "Highest z of a band, in the frame of the sensor."),
    row(SCANS, "scan.angle_min", K::Float(-TAU, PI), D::Float(-PI), "rad",
        "Smallest azimuth. Limits that span a full circle are none: a scan never goes beyond the sensor's horizontal field."),
    row(SCANS, "scan.angle_max", K::Float(-PI, TAU), D::Float(PI), "rad",
        "Largest azimuth."),
    row(SCANS, "scan.angle_increment", K::Float(0.0, 1.0), D::Float(0.0), "rad",
        "Angle between the rays of a band; 0: as the columns of the sensor. A smaller one leaves rays without points, which read as free space."),
    row(SCANS, "scan.range_min", K::Float(0.0, 10_000.0), D::Float(0.0), "m",
        "Nearer points are left out."),
    row(SCANS, "scan.range_max", K::Float(0.0, 10_000.0), D::Float(0.0), "m",
        "Farther points are left out; 0: the range of the sensor, otherParams[0]."),
    row(SCANS, "scan.use_inf", K::Bool, D::Bool(true), "",
        "Rays without return are +Inf (REP 117); false: range_max + 1 m, as pointcloud_to_laserscan has it."),

    row(SIMULATOR, "true_state.enabled", K::Bool, D::Bool(true), "",
        "Take the true state of vehicles at model.base_port + 1 + 2 (id - 1); false leaves the port to another program, and TF of the vehicles needs `tf.source:=estimate`."),
    row(SIMULATOR, "forward_to", K::Address, D::Str(""), "",
        "Address to which every datagram that arrives at the ports of true states, IMUs and outputs of autopilots goes as well, to the same port: for another \
         program that wants them, 127.0.0.2 for one of this host that binds these ports on all addresses."),
    row(IMU, "imu.enabled", K::Bool, D::Bool(true), "",
        "Request the IMU of every vehicle."),
    row(IMU, "imu.rate_hz", K::Int(1, 1000), D::Int(200), "Hz",
        "Rate to request.").live(),
    row(IMU, "imu.topic", K::Topic, D::Str("imu"), "",
        "Topic, relative to the prefix; with several vehicles a relative name gets the prefix `copter<id>/`."),
    row(IMU, "imu.frame_id", K::Frame, D::Str("imu_link"), "",
        "Frame of the IMU, without the vehicle's prefix."),
    row(IMU, "imu.frame", K::Choice(ImuFrame::NAMES), D::Str("flu"), "",
        "Axes of the message: `flu` as in REP 103, `frd` as the simulator reports."),
    row(IMU, "imu.acceleration_axes", K::Choice(AccelerationAxes::NAMES), D::Str("auto"), "",
        "Axes of the accelerations on the wire, which changed in January 2026: f forward, b backward, l left, r right, u up, d down. `auto`: frd until \
         the true motion shows another one; at rest and level frd and bld read the same."),
    row(IMU, "imu.orientation", K::Choice(ImuOrientation::NAMES), D::Str("none"), "",
        "`none`: no orientation, marked by -1 in the covariance (REP 145). `truth`: the vehicle's true attitude in the map at the time of the \
         sample, for consumers that read only the quaternion. The autopilot's estimate is on `<mavros>/imu/data`."),
    row(IMU, "imu.angular_velocity_covariance", K::Covariance, D::Floats(&[0.001, 0.001, 0.001]), "rad^2/s^2",
        "Diagonal or row-major 3x3; all zero means unknown. The default is the vendor's.").live(),
    row(IMU, "imu.linear_acceleration_covariance", K::Covariance, D::Floats(&[0.0, 0.0, 0.0]), "m^2/s^4",
        "Diagonal or row-major 3x3; all zero means unknown.").live(),
    row(IMU, "imu.accelerometer_noise_density", K::Float(0.0, 10.0), D::Float(0.0), "m/s^2/sqrt(Hz)",
        "White noise added to the accelerations, as in Kalibr's imu.yaml. A sample gets the variance density^2 * `imu.rate_hz`, which replaces the \
         covariance above. Seeded by `degrade.seed` (docs/degrade.md).").live(),
    row(IMU, "imu.accelerometer_random_walk", K::Float(0.0, 10.0), D::Float(0.0), "m/s^3/sqrt(Hz)",
        "Random walk of the bias of the accelerations, as in Kalibr's imu.yaml; 0 at the simulator's time 0.").live(),
    row(IMU, "imu.accelerometer_bias", K::Vector(-100.0, 100.0), D::Floats(&[0.0, 0.0, 0.0]), "m/s^2",
        "Constant bias of the accelerations, in the axes of the message.").live(),
    row(IMU, "imu.gyroscope_noise_density", K::Float(0.0, 10.0), D::Float(0.0), "rad/s/sqrt(Hz)",
        "White noise added to the angular rates, as in Kalibr's imu.yaml; as for the accelerations.").live(),
    row(IMU, "imu.gyroscope_random_walk", K::Float(0.0, 10.0), D::Float(0.0), "rad/s^2/sqrt(Hz)",
        "Random walk of the bias of the angular rates, as in Kalibr's imu.yaml; 0 at the simulator's time 0.").live(),
    row(IMU, "imu.gyroscope_bias", K::Vector(-100.0, 100.0), D::Floats(&[0.0, 0.0, 0.0]), "rad/s",
        "Constant bias of the angular rates, in the axes of the message.").live(),

    row(REPORTS, "reports.demand", K::Choice(ReportDemand::NAMES), D::Str("subscribed"), "",
        "When RflySim3D is asked for reports: `subscribed` while one of their topics has a subscriber, `always` from the start. Reports that other programs \
         asked for are published either way (docs/reports.md)."),
    row(REPORTS, "reports.vehicles", K::Ints(1, 2_147_483_647), D::Empty, "",
        "CopterIDs of vehicles and of objects that were created like them, to be described on `scene/vehicles` besides the served vehicles.").live(),
    row(REPORTS, "reports.objects", K::Names(32), D::Empty, "",
        "Names of objects of the scene to be described on `scene/objects`, as RflySim3D shows them after a double click; it has no request for all.").live(),
    row(REPORTS, "reports.bounds", K::Choice(BoundsAxes::NAMES), D::Str("own"), "",
        "Axes of the bounds that RflySim3D describes, about which the vendor's documents say nothing: those of the vehicle or object itself, or of the `world`."),

    row(DEGRADED, "degrade.seed", K::Int(0, i64::MAX), D::Int(0), "",
        "Seed of all noise, also of `imu.*`; what is drawn depends on it, on the SeqID or CopterID, and on the simulator's time only (docs/degrade.md)."),
    row(DEGRADED, "degrade.latency_s", K::Float(0.0, 10.0), D::Float(0.0), "s",
        "Hold every frame of every sensor of Config.json back for this time after its arrival; stamps stay true."),
    row(DEGRADED, "degrade.jitter_s", K::Float(0.0, 10.0), D::Float(0.0), "s",
        "Hold each frame back for up to this much longer, evenly distributed; frames stay in order."),
    row(DEGRADED, "degrade.drop", K::Float(0.0, 1.0), D::Float(0.0), "",
        "Probability that a frame of a sensor is dropped, counted as drop_on_purpose."),
    row(DEGRADED, "degrade.depth_noise_m", K::Float(0.0, 100.0), D::Float(0.0), "m",
        "Standard deviation of depth (types 2 and 7) at depth 0. That at depth z is depth_noise_m + depth_noise_per_m * z^2."),
    row(DEGRADED, "degrade.depth_noise_per_m", K::Float(0.0, 10.0), D::Float(0.0), "1/m",
        "What is added to it per m^2 of depth squared, as of a stereo camera."),
    row(DEGRADED, "degrade.lidar_noise_m", K::Float(0.0, 100.0), D::Float(0.0), "m",
        "Standard deviation of the ranges of lidars along the ray (types 20, 22 and 23)."),
    row(DEGRADED, "degrade.lidar_dropout", K::Float(0.0, 1.0), D::Float(0.0), "",
        "Probability that a point of a lidar (types 20 to 23) has no return: NaN in organised clouds, left out elsewhere."),
    row(DEGRADED, "degrade.gps_noise_m", K::Vector(0.0, 10_000.0), D::Floats(&[0.0, 0.0, 0.0]), "m",
        "Standard deviations east, north and up of the topic `gps`, which exists only if one is not 0; `ground_truth/gps` stays true."),

    row(TERRAIN, "terrain.file", K::Str, D::Str(""), "",
        "Height map of the simulator's map: the path of `<map>.png`, with `<map>.txt` beside it, as CopterSim has them in `external/map`. Empty: none."),
    row(TERRAIN, "terrain.rounding", K::Choice(TerrainRounding::NAMES), D::Str("cut"), "",
        "How the third corner of `<map>.txt` becomes a pixel: `cut` as the vendor's Python SDK, or `nearest` as its MATLAB program."),
    row(TERRAIN, "terrain.occupied_above_m", K::Float(-10_000.0, 10_000.0), D::Float(0.0), "m",
        "Height above the origin of the map from which cells of `terrain/occupancy` are occupied, until `terrain/publish` is called."),

    row(FRAMES, "map_frame", K::Frame, D::Str("map"), "",
        "World frame, root of TF. Its origin is the simulator's."),
    row(FRAMES, "odom_frame", K::Frame, D::Str("odom"), "",
        "Odometry frame of a vehicle; coincides with the map if `tf.source` is `truth`."),
    row(FRAMES, "base_frame", K::Frame, D::Str("base_link"), "",
        "Body frame of a vehicle (x forward, y left, z up)."),
    row(FRAMES, "frame_prefix", K::Str, D::Str("auto"), "",
        "Prefix of the odom, base, IMU and sensor frames of a vehicle; `{id}` is its CopterID. `auto`: nothing for one vehicle, \
         `copter{id}/` for several."),
    row(FRAMES, "world_convention", K::Choice(WorldConvention::NAMES), D::Str("enu"), "",
        "Axes of the map: `enu` x east, y north (REP 103), or `nwu` x north, y west, which keeps the simulator's x axis."),
    row(FRAMES, "mount_angle_unit", K::Choice(AngleUnitChoice::NAMES), D::Str("degrees"), "",
        "Unit of SensorAngEular; the vendor's documents disagree. `auto` derives it from the values and logs the unit with the reason."),
    row(FRAMES, "vehicle_bottom_m", K::Float(0.0, 100.0), D::Float(0.0), "m",
        "Distance of a vehicle's bottom centre (TargetMountType 1) below base_link; the simulator takes it from the vehicle's model and does not report it."),
    row(FRAMES, "tf.publish", K::Bool, D::Bool(true), "",
        "Publish /tf and /tf_static."),
    row(FRAMES, "tf.publish_static", K::Bool, D::Bool(true), "",
        "Publish the fixed frames of the vehicles (sensors, optical frames, IMU); false leaves those of the URDF to a robot_state_publisher."),
    row(FRAMES, "tf.source", K::Choice(TfSource::NAMES), D::Str("truth"), "",
        "Source of a vehicle's pose in TF: `truth` the simulator, `estimate` the autopilot, `external` another node, which publishes odom and base_link."),
    row(FRAMES, "robot_description.publish", K::Bool, D::Bool(true), "",
        "Publish each vehicle with its sensors as URDF on `robot_description`, for RViz."),

    row(TIME, "time.mode", K::Choice(StampMode::NAMES), D::Str("aligned"), "",
        "header.stamp: `aligned` simulation time mapped to the host's clock, `sim` simulation time (publishes /clock), `arrival` time of arrival."),
    row(TIME, "time.estimator", K::Choice(Estimator::NAMES), D::Str("envelope"), "",
        "How `aligned` finds the offset: `envelope` of host minus simulator time with drift, or once as the `vendor` does."),
    row(TIME, "use_sim_time", K::Bool, D::Bool(false), "",
        "Accepted from launch files. The bridge is the source of /clock and follows `time.mode` instead; without `sim` there it warns, because \
         /clock is not published then."),

    row(CONTROL, "control.link", K::Str, D::Str("mavlink_full"), "",
        "How vehicles are controlled: CopterSim's UDPSIMMODE (`mavlink_full`, `mavlink_simple`, `mavlink_nosend`, `mavlink_nogps`, \
         `mavlink_vision`, `udp_full`, `udp_simple`), `direct:[<own port>@][<address>:]<port>` or `serial:<device>[:<baud>]` for MAVLink with an autopilot, or `off`."),
    row(CONTROL, "control.discover_s", K::Float(0.0, 60.0), D::Float(0.0), "s",
        "Time to listen for CopterSim's heartbeats at start; every vehicle heard from an accepted address (`accept_from`) is served at that address. \
         0: only those of `vehicles` and of the sensors."),
    row(CONTROL, "control.read_only", K::Bool, D::Bool(false), "",
        "Telemetry only: setpoints, commands, parameters and missions to a vehicle are refused with this reason."),
    row(CONTROL, "control.switch_mode", K::Bool, D::Bool(false), "",
        "Request CopterSim to change to the UDPSIMMODE of `control.link`; not to UDP_UltraSimple, whose number is not published."),
    row(CONTROL, "control.prefix", K::Str, D::Str("mavros{n}"), "",
        "Prefix of the mavros-style topics and services, below the node's namespace if relative; `{id}` is the CopterID, `{n}` the same but empty for 1 \
         (mavros, mavros2, as in the vendor's scripts). For example `uav{id}/mavros`."),
    row(CONTROL, "control.local_frame", K::Frame, D::Str("local_origin"), "",
        "Frame of the positions relative to the autopilot's origin (local_position/*): a child of the map in TF, at the autopilot's origin, with the \
         prefix of its vehicle. The map frame's name behaves as mavros, and is wrong for vehicles placed elsewhere."),
    row(CONTROL, "control.timeout_s", K::Float(1.1, 60.0), D::Float(10.0), "s",
        "Silence after which a vehicle counts as disconnected, as mavros; any message of the autopilot ends it. It is longer where heartbeats come \
         less often than once a second, as in a simulation that is slower than real time."),
    row(CONTROL, "control.keep_alive_s", K::Float(0.0, 10.0), D::Float(0.0), "s",
        "How long to repeat the last setpoint when its sender pauses, so that OFFBOARD does not end at once. 0: never, as mavros; the autopilot's \
         own failsafe comes this much later."),
    row(CONTROL, "control.read_parameters_s", K::Float(0.0, 3600.0), D::Float(10.0), "s",
        "Delay from the connection to reading all parameters of the vehicle, as in mavros. 0: only on request of the list; saves a thousand \
         messages, which take a serial line some seconds."),
    row(CONTROL, "control.heartbeat", K::Choice(HeartbeatKind::NAMES), D::Str("ground_station"), "",
        "MAV_TYPE of the bridge's heartbeats: PX4 sends its texts (reasons of refusals) only to a `ground_station`; mavros is an `onboard_controller`."),
    row(CONTROL, "control.system_id", K::Int(0, 255), D::Int(0), "",
        "MAVLink system id of the bridge; 0: that of the vehicle, as mavros."),
    row(CONTROL, "control.component_id", K::Int(1, 255), D::Int(191), "",
        "MAVLink component id of the bridge."),
    row(CONTROL, "control.px4_checks", K::Bool, D::Bool(true), "",
        "Refuse, with a reason, setpoints that PX4 would ignore or misinterpret (frames 7 and 9, forces, ...)."),
    row(CONTROL, "control.max_position_m", K::Float(1.0, 1e7), D::Float(100_000.0), "m",
        "Position setpoints further from the origin than this are refused."),
    row(CONTROL, "control.max_speed_m_s", K::Float(0.1, 1e4), D::Float(200.0), "m/s",
        "Velocity setpoints faster than this are refused."),
    row(CONTROL, "control.geoid", K::Choice(Geoid::NAMES), D::Str("egm96"), "",
        "Height of the geoid: NavSatFix and HomePosition have altitudes above the ellipsoid, autopilots above sea level."),
    row(CONTROL, "setpoint.position_frame", K::Choice(SetpointFrame::NAMES), D::Str("LOCAL_NED"), "",
        "Frame of setpoint_position/local; mavros' parameter mav_frame."),
    row(CONTROL, "setpoint.velocity_frame", K::Choice(SetpointFrame::NAMES), D::Str("LOCAL_NED"), "",
        "Frame of setpoint_velocity; mavros' parameter mav_frame."),
    row(CONTROL, "setpoint.accel_is_force", K::Bool, D::Bool(false), "",
        "setpoint_accel/accel is a force; mavros' parameter send_force. PX4 refuses it."),
    row(CONTROL, "setpoint.use_quaternion", K::Bool, D::Bool(false), "",
        "setpoint_attitude takes attitudes (true) or body rates (false); mavros' parameter use_quaternion."),
    row(CONTROL, "setpoint.reverse_thrust", K::Bool, D::Bool(false), "",
        "setpoint_attitude/thrust may be negative; mavros' parameter reverse_thrust."),
    row(CONTROL, "setpoint.thrust_scaling", K::Float(0.01, 100.0), D::Float(1.0), "",
        "Factor on the thrust of setpoint_raw/attitude; mavros' parameter thrust_scaling."),
    row(CONTROL, "compat.mavros_quirks", K::Bool, D::Bool(false), "",
        "Behave as mavros 2.12 also where that is a defect; docs/mavros.md lists the cases."),

    row(SCENE, "scene.file", K::Str, D::Str(""), "",
        "JSON file with further models, maps and named poses for the services of `simulation_interfaces` (docs/scene.md)."),
    row(SCENE, "scene.at_root", K::Bool, D::Bool(false), "",
        "The services of `simulation_interfaces` without the node's name, `/get_entities`, where RViz's panel and the examples of that \
         standard look for them; otherwise `/rfly_bridge/get_entities`."),
    row(SCENE, "scene.windows", K::Ints(0, 19), D::Empty, "",
        "RflySim3D windows that draw what is spawned and get the commands of the scene. Empty: `window`."),
    row(SCENE, "scene.world", K::Str, D::Str(""), "",
        "Name or number of the map that the renderer shows when the bridge starts: it does not say so itself."),
    row(SCENE, "scene.first_id", K::Int(1, 65_535), D::Int(10_001), "",
        "Spawned objects get ids from this one ..."),
    row(SCENE, "scene.last_id", K::Int(1, 65_535), D::Int(20_000), "",
        "... to this one; vehicles have up to 10000, objects that were created by hand begin at 1000."),

    row(MODEL, "model.outputs", K::Bool, D::Bool(true), "",
        "Take the outputs of modified autopilots at model.base_port + 10001 + 2 (id - 1); false leaves the port to another program."),
    row(MODEL, "model.fault_numbers", K::Choice(FaultNumbers::NAMES), D::Str("sdk"), "",
        "Numbers that the vehicles' models have for faults: `sdk` as in the documents of the vendor's SDK, `template` as in the initialization files of \
         newer models; docs/topics.md has both."),
    row(MODEL, "model.custom_data_port", K::Int(1, 65_535), D::Int(50_000), "",
        "UDP port on this host of the user's own program that gets model/custom_data."),
    row(MODEL, "netsim.enabled", K::Bool, D::Bool(false), "",
        "Take part in the simulated network between vehicles (topics netsim/*)."),
    row(MODEL, "netsim.port", K::Int(1, 65_535), D::Int(60_000), "",
        "Multicast port of all vehicles in the simulated network; that of one vehicle is its CopterID more."),

    row(MODEL, "redis.address", K::Address, D::Str(""), "",
        "Redis server that CopterSim of the full edition is reached through (UDPSIMMODE 7 and 8; with control.link udp_full and udp_simple); empty: by UDP. \
         The bridge then takes CopterSim's ports on this host."),
    row(MODEL, "redis.port", K::Int(1, 65_535), D::Int(6379), "",
        "TCP port of the Redis server."),

    row(NODE, "view.port", K::Int(0, 65_535), D::Int(0), "",
        "TCP port on loopback of a page for browsers, and of a server for Foxglove and Lichtblick (docs/view.md); 0: none."),
    row(NODE, "view.control", K::Bool, D::Bool(false), "",
        "Whoever sees the page or the server may also call services: arm, take off, fly somewhere."),
    row(NODE, "view.origins", K::Names(256), D::Empty, "",
        "Other web sites that may read from view.port in a browser of this host, such as https://app.foxglove.dev."),
    row(NODE, "services.fast_dds", K::Bool, D::Bool(true), "",
        "Services of the stand-alone build also answer clients on Fast DDS (rmw_fastrtps_cpp, Humble's default). In a ROS 2 workspace the middleware does."),
    row(NODE, "diagnostics.period_s", K::Float(0.1, 60.0), D::Float(1.0), "s",
        "Time between messages on /diagnostics and ~/stats.").live(),

    row(RECORD, "record.directory", K::Str, D::Str("."), "",
        "Directory of the recordings."),
    row(RECORD, "record.ros", K::Str, D::Str(""), "",
        "Name of a bag (directory with MCAP, rosbag2) in record.directory that records every topic of the bridge, also those without a subscriber; one that is there is not overwritten: \
         the name gets a number. Empty: ends the recording (docs/record.md).").live(),
    row(RECORD, "record.raw", K::Str, D::Str(""), "",
        "Name of an MCAP file in record.directory that records every datagram and shared-memory frame that the bridge receives, with its parameters and the files they name. Empty: ends the recording.").live(),
];

/// Keys of `sensor<SeqID>.*`; the default "" is that of the sensor's type or the global parameter.
#[rustfmt::skip] // a table
pub const SENSOR_PARAMETERS: &[ParameterSpec] = &[
    row("Sensor", "enabled", K::Bool, D::Bool(true), "",
        "Request this sensor; false disables it without editing the file."),
    row("Sensor", "topic", K::Topic, D::Str(""), "",
        "Topic instead of the vendor's, relative to the prefix or absolute; `camera_info`, `compressed` and related topics move with it."),
    row("Sensor", "frame_id", K::Frame, D::Str(""), "",
        "Link frame, complete, instead of the prefixed `sensor<SeqID>_link`; a name that ends in `_link` keeps its stem for the optical frame."),
    row("Sensor", "encoding", K::Choice(SENSOR_ENCODINGS), D::Str(""), "",
        "Instead of rgb.encoding (bgr8, rgb8) or depth.encoding (16UC1, vendor)."),
    row("Sensor", "cloud_layout", K::Choice(CloudLayout::NAMES), D::Str(""), "",
        "Instead of cloud.layout."),
    row("Sensor", "stereo_left", K::Int(-1, 65_535), D::Int(-1), "",
        "SeqID of the left camera of the stereo pair whose right camera this is: P of its camera_info gets the baseline, and its messages the optical \
         frame of the left one. -1: none."),
    row("Sensor", "scan", K::Choice(ScanSource::NAMES), D::Str(""), "",
        "Instead of scan.source."),
    row("Sensor", "boxes", K::Bool, D::Bool(false), "",
        "Publish the boxes of described vehicles and objects in each image on `boxes` beside it, as vision_msgs/Detection2DArray, while it has a subscriber; \
         of cameras that are no fisheye (docs/reports.md)."),
    row("Sensor", "gimbal", K::Bool, D::Bool(false), "",
        "Take the direction of this camera on `mount_control/command` beside its image, and tell it on `mount_control/status`, as mavros has them for a gimbal. \
         A pod camera (type 9) has them always."),
    row("Sensor", "type_id", K::Int(0, 65_535), D::File, "",
        "Type, instead of TypeID. While the bridge runs the sensor is closed and opened again: its topics end, and those of the new type begin; set in one \
         call what the new type needs besides (width, height, other_params, fov_deg).").live(),
    row("Sensor", "width", K::Int(0, 65_535), D::File, "px or points",
        "Size, instead of DataWidth. The sensor is opened again, as with type_id.").live(),
    row("Sensor", "height", K::Int(0, 65_535), D::File, "px or points",
        "Size, instead of DataHeight. The sensor is opened again, as with type_id.").live(),
    row("Sensor", "vehicle", K::Int(0, 10_000), D::File, "",
        "CopterID of the vehicle that carries it, instead of TargetCopter; while the bridge runs one of those that it serves. What it carries moves \
         with it. The sensor is opened again, as with type_id.").live(),
    row("Sensor", "other_params", K::Reals(16), D::File, "",
        "What the type takes besides (docs/config_json.md), instead of otherParams; those left out are 0. The sensor is opened again, as with type_id.").live(),
    row("Sensor", "fov_deg", K::Float(0.001, 360.0), D::File, "deg",
        "Horizontal field of view, instead of CameraFOV; below 180 for a camera that is no fisheye.").live(),
    row("Sensor", "fisheye_factor", K::Float(0.0, 2.0), D::Float(0.0), "",
        "Instead of fisheye.factor; 0: that.").live(),
    row("Sensor", "camera_info_url", K::Str, D::Str(""), "",
        "A camera's own calibration instead of the computed one: file:///path, package://package/path or a path of a YAML file as `camera_calibration_parsers` writes \
         it, with ${NAME} for sensor<SeqID> and ${ROS_HOME}. Its size must be that of the sensor; a change is in effect at once. `set_camera_info` beside the image saves there.").live(),
    row("Sensor", "rate_hz", K::Int(1, 1000), D::File, "Hz",
        "Rate to request, instead of DataCheckFreq.").live(),
    row("Sensor", "position", K::Vector(-100_000.0, 100_000.0), D::File, "m",
        "Position in the mount (x forward, y right, z down), instead of SensorPosXYZ.").live(),
    row("Sensor", "orientation_deg", K::Vector(-360.0, 360.0), D::File, "deg",
        "Roll, pitch, yaw in the mount (x forward, y right, z down), instead of SensorAngEular and SensorAngQuat, whatever mount_angle_unit is.").live(),
];

/// Keys of `vehicle<CopterID>.*`.
#[rustfmt::skip] // a table
pub const VEHICLE_PARAMETERS: &[ParameterSpec] = &[
    row("Vehicle", "link", K::Str, D::Str(""), "",
        "Instead of control.link."),
    row("Vehicle", "prefix", K::Topic, D::Str(""), "",
        "Instead of control.prefix, complete."),
    row("Vehicle", "address", K::Address, D::Str(""), "",
        "Host of this vehicle's CopterSim, instead of simulator_address."),
    row("Vehicle", "model", K::Choice(VehicleModel::NAMES), D::Str("coptersim"), "",
        "Who flies it: `coptersim`, or the bridge itself, without CopterSim and autopilot, as a `point_mass` or a `fixed_wing` (docs/model.md). The bridge \
         then takes CopterSim's ports of this vehicle on this host."),
    row("Vehicle", "model_type", K::Int(0, 2_147_483_647), D::Int(0), "",
        "What the renderer draws for a vehicle that the bridge flies: class + 1000 x style; 0: class 3 for a point mass, 100 for a fixed wing."),
    row("Vehicle", "start", K::Vector(-100_000.0, 100_000.0), D::Floats(&[0.0, 0.0, 0.0]), "m",
        "Position in the map at which a vehicle that the bridge flies begins, and to which it returns with a restart. It stands on the ground there."),
    row("Vehicle", "start_yaw_deg", K::Float(-360.0, 360.0), D::Float(0.0), "deg",
        "Its heading in the map, anticlockwise from x."),
];

const SENSOR_ENCODINGS: &[&str] = &["bgr8", "rgb8", "16UC1", "vendor"];

/// Policies of `qos.<group>.*` and `qos_overrides.<topic>.publisher.*`; the latter has no `preset`. The default is
/// the group's.
#[rustfmt::skip] // a table
pub const QOS_PARAMETERS: &[ParameterSpec] = &[
    row("QoS", "preset", K::Choice(QosPreset::NAMES), D::Str(""), "",
        "Named profile to start from; the policies below change it."),
    row("QoS", "reliability", K::Choice(Reliability::NAMES), D::Str(""), "",
        "Best-effort readers match both, reliable readers only reliable."),
    row("QoS", "durability", K::Choice(Durability::NAMES), D::Str(""), "",
        "`transient_local` also serves late readers that ask for it."),
    row("QoS", "history", K::Choice(History::NAMES), D::Str(""), "",
        "`keep_all` makes a slow reader cost memory."),
    row("QoS", "depth", K::Int(1, 1000), D::Int(0), "samples",
        "Samples kept with `keep_last`."),
];
