//! The table of all parameters: the structs of parameters with a common prefix, and the other parameters.
use super::declare::parameters;
use super::table::{CONTROL, MODEL, NODE, SIMULATOR, TERRAIN, TIME, TOPICS};
use super::{
    CloudLayout, ControlParams, DegradeParams, DepthAxes, DepthParams, FourthNumber, FrameParams,
    ImuParams, LabelType, ModelParams, NetSimParams, OdometryAxes, Organized, ParameterSpec,
    QosParams, RecordParams, RedisParams, ReportParams, RequestParams, RgbEncoding, ScanParams,
    ScanTime, SceneParams, Segmentation, SensorParams, SetpointParams, TerrainRounding, TimeParams,
    UnsupportedSensors, VehicleParams, ViewParams,
};
use crate::config::config_json::TransportOverride;
use crate::wire::{FISHEYE_FACTOR, Ports};
use ipnet::Ipv4Net;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

/// Every parameter with a fixed name. Generates parsing, `--help`, `docs/parameters.md` and `config/bridge.yaml`.
pub static PARAMETERS: LazyLock<Vec<ParameterSpec>> = LazyLock::new(Params::specs);

parameters! {
    /// All parameters, validated. [`PARAMETERS`] documents those with a fixed name.
    pub struct Params {
        [SIMULATOR]
        config: Vec<PathBuf> = "config", Paths, "The simulator's Config.json, or an array of several; automatic SeqIDs start anew in each file.";
        config_unsupported: UnsupportedSensors = "unsupported_sensors", Choice = "skip",
            "Sensors whose data have no public layout (microphone 6, optical flow 10): `skip` leaves them out with a warning, `refuse` prevents the \
            start.";
        simulator_address: Ipv4Addr = "simulator_address", Address = "127.0.0.1",
            "Address of the host of RflySim3D and CopterSim; no broadcast, because answers come from a host.";
        window: u8 = "window", Int(0, 19) = 0, "RflySim3D window that renders the sensors (UDP port 20010 + window).";
        transport_mode: TransportOverride = "transport_mode", Choice = "vendor",
            "SendProtocol[0] of all sensors: `vendor` as the vendor's loader on Linux (0 becomes 1, the others stay), `file` as written (0 is shared \
            memory in /dev/shm), or one number for all: 0 shared memory, 1 and 3 compressed UDP, 2 raw UDP.";
        receive_address: Option<Ipv4Addr> = "receive_address", Address = "",
            "Address the simulator sends sensor data to, overwrites SendProtocol[1..4]. Empty: as written in the file.";
        receive_buffer_bytes: usize = "receive_buffer_bytes", Int(65_536, 1 << 30) = 8 << 20, ["bytes"]
            "Receive buffer to request for each data socket; the kernel grants at most net.core.rmem_max.";
        accept_from: Vec<Ipv4Net> = "accept_from", Networks,
            "Accepted senders besides `simulator_address` and `vehicle<CopterID>.address`: addresses, networks such as 192.168.1.0/24, or `any`. \
            Datagrams from others are dropped, counted in /diagnostics, and logged once per sender (docs/network.md).";
        bind_address: Option<Ipv4Addr> = "bind_address", Address = "",
            "Address of this host to listen at. Empty: 127.0.0.1 if all accepted senders and receive_address are on loopback, else every interface.";
        ports: Ports
            = "control.base_port", Int(1, 45_000) = 20_100,
                "Control port of vehicle 1, the vendor's UDP_START_PORT; its states arrive at the port after it. The ports of each further vehicle \
                are higher by 2."
            = "model.base_port", Int(1, 35_000) = 30_100,
                "CopterSim's port of vehicle 1; true states arrive at this port + 1, outputs of autopilots at this port + 10001. The ports of each \
                further vehicle are higher by 2."
            => |r| ports(r.read("control.base_port"), r.read("model.base_port"));
        vehicles: Vec<u16> = "vehicles", Ints(1, 10_000), "CopterIDs of vehicles to serve besides those that carry sensors; if there are none: 1.";
        other_vehicles: Vec<u16> = "other_vehicles", Ints(1, 10_000), "CopterIDs that other bridges serve: their heartbeats cause no warning.";
        clear_capture_on_start: bool = "clear_capture_on_start", Bool = false,
            "Send RflyClearCapture first: ends every capture of this window, also those of other programs.";
        request: RequestParams;
        true_state_enabled: bool = "true_state.enabled", Bool = true,
            "Take the true state of vehicles at model.base_port + 1 + 2 (id - 1); false leaves the port to another program, and TF of the vehicles then \
            needs `tf.source:=estimate` or `external`.";
        forward_to: Option<Ipv4Addr> = "forward_to", Address = "",
            "Address that gets a copy of each datagram of true states, IMUs and autopilots' outputs, at the same port number. Use 127.0.0.2 for \
            another program on this host that binds these ports on all addresses.";

        fleet_file: Option<PathBuf> = "fleet.file", Str = "",
            "File that says which vehicles, windows and bridges run on which PC. The bridge takes its part: vehicles, addresses, window, config and \
            prefixes, unless they are set (docs/fleet.md).";
        fleet_host: String = "fleet.host", Str = "",
            "Host in the fleet file whose part this bridge takes. Empty: the one whose `bridge` is an address of this PC.";

        [TOPICS]
        topic_prefix: String = "topic_prefix", Topic = "rflysim",
            "Prefix of all relative topic names; below the node's namespace if it is relative itself.";
        rgb_encoding: RgbEncoding = "rgb.encoding", Choice = "bgr8",
            "Channel order of colour images; bgr8 is the simulator's order and needs no conversion.";
        fisheye_factor: f64 = "fisheye.factor", Float(0.1, 2.0) = FISHEYE_FACTOR, live
            "Focal length of fisheyes (type 8) in camera_info, as a multiple of DataWidth / CameraFOV: r = factor x DataWidth / CameraFOV x theta. The \
            default was measured in the real simulator at one setting (docs/sensors.md).";
        depth: DepthParams;
        compressed_enabled: bool = "compressed.enabled", Bool = true,
            "Offer `<image>/compressed` where the simulator sends PNG or JPEG; the bytes pass through undecoded.";
        image_allow_larger: bool = "image.allow_larger", Bool = false,
            "Accept PNG and JPEG images of up to 4 times the pixels of DataWidth x DataHeight, or 8 million. Otherwise larger ones are refused \
            before decoding: a small file can expand to many megabytes.";
        cloud_layout: CloudLayout = "cloud.layout", Choice = "xyz_label",
            "Fields of the points of lidars in their own frame (types 20, 22 and 23): xyz_label, or as the driver of a real lidar publishes them.";
        cloud_scan_time: ScanTime = "cloud.scan_time", Choice = "instant",
            "Times of points in the layouts of drivers: instant, as the simulator renders a scan; sweep: spread over the period of the scan, \
            although the points are not.";
        cloud_organized: Organized = "cloud.organized", Choice = "auto",
            "Organise clouds as height x width if the sensor has rings or pixels, with NaN for missing points; false: one dense row; auto: only in \
            layout xyz_label.";
        cloud_label: LabelType = "cloud.label", Choice = "float32",
            "Type of the field `label` of lidar points: `float32` as the coordinates, for `read_points_numpy`, or `uint32` as in `pcl::PointXYZL`.";
        cloud_segmentation: Segmentation = "cloud.segmentation", Choice = "file",
            "Whether to request segmentation colours in clouds, SendProtocol[7]: `file` as in Config.json, `off`, `on`. Simulators before v4.12 \
            (2026) ignore it: their lidars always send a label.";
        cloud_fourth: FourthNumber = "cloud.fourth", Choice = "auto",
            "What the fourth number of points is: `label`, or `rgb`, a colour of 15 bits (RGB555), published as PCL's `rgb`; `auto`: a colour where \
            SendProtocol[7] asks for one, else a label.";
        cloud_depth_axes: DepthAxes = "cloud.depth_axes", Choice = "auto",
            "Axes of the clouds of depth cameras (type 7) on the wire, which changed in January 2026: f forward, l left, r right, u up, d down. \
            `auto`: flu until the rays of the cloud's pixels, or the ground and the true attitude, show that other axes are in use.";
        cloud_odometry_topic: String = "cloud.odometry_topic", Str = "uav{id}/local/odom",
            "Topic (below the prefix, if relative) of the odometry that newer simulators send with clouds, relative to its first pose; `{id}` is \
            the CopterID. Empty: not published.";
        cloud_global_odometry_topic: String = "cloud.global_odometry_topic", Str = "uav{id}/global/odom",
            "Topic of the same odometry in the frame (map or odom) that the simulator names. Empty: not published.";
        cloud_odometry_axes: OdometryAxes = "cloud.odometry_axes", Choice = "auto",
            "Axes of that odometry on the wire: `ned` (z down, clockwise yaw), `nwu` (z up, y west, anticlockwise yaw). `auto`: ned until the true \
            pose shows the other.";
        scan: ScanParams;
        imu: ImuParams;
        reports: ReportParams;
        degrade: DegradeParams;

        [TERRAIN]
        terrain_file: Option<PathBuf> = "terrain.file", Str = "",
            "Height map of the simulator's map: the path of `<map>.png`, with `<map>.txt` beside it, as CopterSim has them in `external/map`. Empty: \
            none.";
        terrain_rounding: TerrainRounding = "terrain.rounding", Choice = "cut",
            "How the calibration point in `<map>.txt` (its third corner) is rounded to a pixel (docs/terrain.md): `cut` as the vendor's Python SDK, \
            or `nearest` as its MATLAB program.";
        terrain_occupied_above_m: f64 = "terrain.occupied_above_m", Float(-10_000.0, 10_000.0) = 0.0, ["m"]
            "Height above the origin of the map from which cells of `terrain/occupancy` are occupied, until `terrain/publish` is called.";
        frames: FrameParams;

        [TIME]
        time: TimeParams;
        use_sim_time: bool = "use_sim_time", Bool = false,
            "Accepted from launch files, without effect: the bridge is the source of /clock and follows `time.mode`. If that is not `sim`, `true` \
            causes a warning, because /clock is not published then.";

        [CONTROL]
        control: ControlParams;
        setpoint: SetpointParams;
        mavros_quirks: bool = "compat.mavros_quirks", Bool = false,
            "Behave as mavros 2.12 also where that is a defect; docs/mavros.md lists the cases.";
        scene: SceneParams;

        [MODEL]
        model_outputs: bool = "model.outputs", Bool = true,
            "Take the outputs of modified autopilots at model.base_port + 10001 + 2 (id - 1); false leaves the port to another program.";
        model: ModelParams;
        netsim: NetSimParams;
        redis: RedisParams;

        [NODE]
        view: ViewParams;
        fast_dds_services: bool = "services.fast_dds", Bool = true,
            "Services of the stand-alone build also answer clients on Fast DDS (rmw_fastrtps_cpp, Humble's default). No effect in a ROS 2 \
            workspace.";
        zenoh_shared_memory_mb: u16 = "zenoh.shared_memory_mb", Int(0, 4096) = 48, ["MB"]
            "Shared memory from which readers on this host get images and clouds on Zenoh without a copy (docs/zenoh.md); what does not fit goes \
            through sockets. 0: none.";
        diagnostics_period: Duration = "diagnostics.period_s", Float(0.1, 60.0) = 1.0, ["s"] live
            "Time between messages on /diagnostics and ~/stats.";
        record: RecordParams;

        /// `vehicle<CopterID>.*`.
        per_vehicle: BTreeMap<u16, VehicleParams>
            => |_| BTreeMap::new();
        /// `sensor<SeqID>.*`.
        sensors: BTreeMap<u16, SensorParams>
            => |_| BTreeMap::new();
        /// `qos.*` and `qos_overrides.*`.
        qos: QosParams
            => |_| QosParams::default();
    }
}

/// Returns the platform's ports, with those of vehicle 1 derived from `control.base_port` and `model.base_port`.
fn ports(control: u16, model: u16) -> Ports {
    Ports {
        autopilot: control,
        autopilot_client: control.saturating_add(1),
        coptersim: model,
        true_state: model.saturating_add(1),
        outputs: model.saturating_add(10_001),
        ..Ports::default()
    }
}
