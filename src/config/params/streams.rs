//! Requests to the renderer, and the publication of depth and scans.
use super::choices::Choice;
use super::declare::parameters;
use super::table::{SCANS, SIMULATOR, TOPICS};
use super::{DepthEncoding, Foreign, Params, RequestFormat, ScanSource};
use crate::wire::SensorKind;
use std::f64::consts::{PI, TAU};
use std::time::Duration;

parameters! {
    /// `request.*`.
    pub struct RequestParams {
        [SIMULATOR]
        period: Duration = "request.period_s", Float(0.1, 60.0) = 1.0, ["s"] live "Time between requests (sensors, IMUs, reports) until data arrive.";
        timeout: Duration = "request.timeout_s", Float(0.2, 600.0) = 3.0, ["s"] live
            "Silence after which a sensor, an IMU, a report or a vehicle counts as lost and is requested again.";
        format: RequestFormat = "request.format", Choice = "vendor",
            "Sensor requests: `vendor` as the vendor's SDK, 92 bytes, or 144 if any sensor has EularOrQuat; `long` 148 bytes with check word 12346, \
            which newer documents describe for all types.";
        foreign: Foreign = "request.foreign", Choice = "follow", live
            "Reaction to another program that requests a SeqID of the bridge from the renderer. If frames show its field of view or pose, the \
            bridge warns and, with `follow`, adapts camera_info and TF, or, with `restore`, requests its own again. If its stream stops while \
            others deliver, the bridge requests it again; `yield` leaves it to the other program, and is like `follow` otherwise.";
        piece_bytes: Option<u16> = "request.piece_bytes", Int(-1, 65_000) = -1, ["bytes"]
            "Maximum bytes of a frame per datagram, SendProtocol[6], which simulators since August 2025 obey; 0: the simulator's default, 60,000 \
            or, under WSL, 1400. -1: as in Config.json.";
    }

    /// `depth.*`.
    pub struct DepthParams {
        [TOPICS]
        encoding: DepthEncoding = "depth.encoding", Choice = "16UC1",
            "Main depth topic: `16UC1` millimetres with 0 for invalid (REP 118), `vendor` the simulator's raw numbers as mono16.";
        publish_float: bool = "depth.publish_float", Bool = true, "Publish depth also as 32FC1 metres, while the topic has a subscriber.";
        registered: bool = "depth.registered", Bool = true,
            "Publish depth in the optical frame of the RGB camera (type 1) that has the same mount, position, attitude, size and field of view, as \
            readers of RGB-D images expect; false, or with a `frame_id` of the depth camera: in its own frame.";
    }

    /// `scan.*`.
    #[derive(Copy)]
    pub struct ScanParams {
        [SCANS]
        source: ScanSource = "scan.source", Choice = "off",
            "Publish clouds also as sensor_msgs/LaserScan on `scan` beside them, while it has a subscriber: one ring of a mechanical lidar (type \
            20), or a band of heights (types 7, 20, 22 and 23). Other sensors have no scan.";
        ring: Option<u16> = "scan.ring", Int(-1, 65_535) = -1,
            "Number of the ring, counted from the lowest, which is 0; -1: the one nearest to the horizontal plane of the sensor.";
        min_height: f64 = "scan.min_height", Float(-1000.0, 1000.0) = -0.2, ["m"] "Lowest z of a band, in the frame of the sensor.";
        max_height: f64 = "scan.max_height", Float(-1000.0, 2000.0) = 0.2, ["m"] "Highest z of a band, in the frame of the sensor.";
        angle_min: f64 = "scan.angle_min", Float(-TAU, PI) = -PI, ["rad"]
            "Smallest azimuth. Limits that span a full circle have no effect; a scan is never wider than the sensor's horizontal field.";
        angle_max: f64 = "scan.angle_max", Float(-PI, TAU) = PI, ["rad"] "Largest azimuth.";
        angle_increment: f64 = "scan.angle_increment", Float(0.0, 1.0) = 0.0, ["rad"]
            "Angle between the rays of a band; 0: as the columns of the sensor. A smaller one leaves rays without points, which read as free space.";
        range_min: f64 = "scan.range_min", Float(0.0, 10_000.0) = 0.0, ["m"] "Nearer points are left out.";
        range_max: f64 = "scan.range_max", Float(0.0, 10_000.0) = 0.0, ["m"]
            "Farther points are left out; 0: the range of the sensor, otherParams[0].";
        use_inf: bool = "scan.use_inf", Bool = true,
            "Rays without return are +Inf (REP 117); false: range_max + 1 m, as pointcloud_to_laserscan has it.";
    }
}

impl ScanParams {
    /// Returns the source of the scan for this kind of sensor; `Off` if it has none.
    pub fn source_of(&self, kind: SensorKind) -> ScanSource {
        match self.source {
            ScanSource::Off => ScanSource::Off,
            wanted if Self::sources(kind).contains(&wanted.name()) => wanted,
            _ => ScanSource::Off,
        }
    }

    /// Returns the words of `scan.source` that suit this kind of sensor.
    pub fn sources(kind: SensorKind) -> &'static [&'static str] {
        match kind {
            SensorKind::Lidar => ScanSource::WORDS,
            SensorKind::DepthCloud | SensorKind::Mid40 | SensorKind::Mid360 => &["off", "band"],
            _ => &[],
        }
    }

    /// Returns the limits of the azimuth; `None` if they span a full circle.
    pub fn angles(&self) -> Option<[f64; 2]> {
        let is_limited = self.angle_max - self.angle_min < TAU - 1e-3;
        is_limited.then_some([self.angle_min, self.angle_max])
    }
}

impl Default for ScanParams {
    fn default() -> Self {
        Params::default().scan
    }
}
