//! Enumerated settings.
use super::super::{AngleUnitChoice, TransportMode, config_json::TransportOverride};
use crate::frames::{Geoid, WorldConvention};
use crate::time::{Estimator, StampMode};
use crate::wire::mavlink::dialect::MavFrame;

/// A setting with an enumerated value.
pub trait Choice: Copy + 'static {
    /// All words, in the order of `--help` and docs/parameters.md.
    const WORDS: &'static [&'static str];
    /// Words and their values; case-sensitive.
    const CHOICES: &'static [(&'static str, Self)];

    /// Returns the value of a word.
    fn from_word(word: &str) -> Option<Self> {
        let choice = Self::CHOICES.iter().find(|(known, _)| *known == word);
        choice.map(|(_, value)| *value)
    }
}

macro_rules! choices {
    ($($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal, $doc:literal;)+ })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum $name { $(#[doc = $doc] $variant,)+ }

        impl $name {
            /// Returns the word of the parameter.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl Choice for $name {
            const WORDS: &'static [&'static str] = &[$($word),+];
            const CHOICES: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }
    )+};
}

choices! {
    /// Program that flies a vehicle.
    VehicleModel {
        CopterSim = "coptersim", "CopterSim, with an autopilot.";
        PointMass = "point_mass", "The bridge, as a point mass.";
        FixedWing = "fixed_wing", "The bridge, as a fixed wing.";
    }
    /// Handling of the simulator's sensors that the bridge cannot read.
    UnsupportedSensors {
        Skip = "skip", "The bridge starts without them.";
        Refuse = "refuse", "The bridge does not start.";
    }
    /// Reaction to another program that changes a sensor.
    Foreign {
        Follow = "follow", "`camera_info` describes the frames as they are.";
        Restore = "restore", "The bridge requests the configured sensor again.";
        Yield = "yield", "As `follow`; and a sensor whose stream stops while other sensors deliver is not requested again: the other program may have taken it over.";
    }
    /// How the calibration point of a height map (the third corner in `<map>.txt`) is rounded to a pixel.
    TerrainRounding { Cut = "cut", "As the vendor's Python SDK."; Nearest = "nearest", "As the vendor's MATLAB program."; }
    /// Axes of the bounds of vehicles and objects that the renderer describes.
    BoundsAxes {
        Own = "own", "Axes of the vehicle or object itself.";
        World = "world", "Axes of the world: the bounds grow when the vehicle or object turns.";
    }
    /// When the bridge requests reports from the renderer.
    ReportDemand {
        Subscribed = "subscribed", "While a topic that needs them has a subscriber.";
        Always = "always", "From the start.";
    }
    /// Source of a vehicle's pose in TF.
    TfSource {
        Truth = "truth", "The simulator's true state.";
        Estimate = "estimate", "The autopilot's estimate, moved to its home position in the map.";
        External = "external", "Another node, for example a state estimator: the bridge does not publish `odom` and `base_link`, but all other frames.";
    }
    /// Numbers of faults in models.
    FaultNumbers {
        Sdk = "sdk", "Numbers of the SDK's documents.";
        Template = "template", "Numbers of the initialization files of newer models.";
    }
    /// Channel order of colour images.
    RgbEncoding { Bgr8 = "bgr8", "As the simulator sends it."; Rgb8 = "rgb8", "Swapped."; }
    /// Encoding of the main depth topic.
    DepthEncoding {
        Millimetres = "16UC1", "Millimetres, 0 is invalid (REP 118).";
        Vendor = "vendor", "The simulator's numbers as mono16, unscaled.";
    }
    /// Encodings of depth in a bag.
    RecordDepth {
        Float = "32FC1", "`img_depth_float`, metres, not rounded; without it the main depth topic (`img_depth`).";
        Millimetres = "16UC1", "The main depth topic (`img_depth`), whatever its encoding.";
        All = "all", "Every encoding that is published.";
    }
    /// Compression of the chunks of a recording.
    RecordCompression { None = "none", "None."; Zstd = "zstd", "Zstandard, at its fastest level."; }
    /// Type of the field `label` of a lidar point.
    LabelType { Float32 = "float32", "As the coordinates."; Uint32 = "uint32", "As `pcl::PointXYZL`."; }
    /// Whether the bridge requests clouds with segmentation colours.
    Segmentation { File = "file", "As in Config.json."; Off = "off", "Without."; On = "on", "With."; }
    /// Meaning of the fourth number of a point.
    FourthNumber {
        Auto = "auto", "A colour if the sensor request asks for segmentation colours (`SendProtocol[7]`), else a label.";
        Label = "label", "The class of the object hit.";
        Rgb = "rgb", "A colour of 15 bits.";
    }
    /// Axes of the clouds of depth cameras on the wire.
    DepthAxes {
        Auto = "auto", "Found out from the data.";
        Flu = "flu", "x forward, y left, z up.";
        Frd = "frd", "x forward, y right, z down.";
        Fru = "fru", "x forward, y right, z up, left-handed.";
        Rdf = "rdf", "x right, y down, z forward, as in optical frames.";
    }
    /// Axes of the accelerations of the IMU on the wire.
    AccelerationAxes {
        Auto = "auto", "Found out from the data.";
        Frd = "frd", "x forward, y right, z down.";
        Bld = "bld", "x backward, y left, z down.";
        Flu = "flu", "x forward, y left, z up.";
    }
    /// Axes of the odometry in clouds on the wire.
    OdometryAxes {
        Auto = "auto", "Found out from the data.";
        Ned = "ned", "x north, y east, z down, of a body with x forward, y right, z down.";
        Nwu = "nwu", "x north, y west, z up, of a body with x forward, y left, z up.";
    }
    /// Fields of the points of a lidar.
    CloudLayout {
        XyzLabel = "xyz_label", "x, y, z and the class of the object hit.";
        Ouster = "ouster", "As ouster-ros.";
        Velodyne = "velodyne", "As velodyne_pointcloud.";
        Hesai = "hesai", "As HesaiLidar_ROS_2.0.";
        Livox = "livox", "As livox_ros_driver2.";
    }
    /// Whether a cloud is organised in rows.
    Organized {
        Auto = "auto", "Rows, except in the layouts of drivers, whose readers need dense clouds.";
        Always = "true", "Rows if the sensor has them, with NaN for missing points.";
        Never = "false", "One dense row.";
    }
    /// Times of the points of a scan.
    ScanTime {
        Instant = "instant", "All have the header's time, as the simulator renders them.";
        Sweep = "sweep", "Spread over the period of the scan, as in a rotating lidar.";
    }
    /// Source of the points of a planar scan.
    ScanSource { Off = "off", "No scan."; Ring = "ring", "One ring of a mechanical lidar."; Band = "band", "A band of heights."; }
    /// Orientation in the IMU message.
    ImuOrientation { None = "none", "None, marked as in REP 145."; Truth = "truth", "The vehicle's true attitude."; }
    /// Frame of the IMU message.
    ImuFrame {
        Flu = "flu", "x forward, y left, z up (REP 103, REP 145).";
        Frd = "frd", "x forward, y right, z down, as the simulator sends it.";
    }
    /// Frame of setpoints, with mavros' names.
    SetpointFrame {
        LocalNed = "LOCAL_NED", "ENU, positions from the autopilot's local origin (`control.local_frame`).";
        LocalOffsetNed = "LOCAL_OFFSET_NED", "ENU, relative to the vehicle; PX4 refuses it.";
        BodyNed = "BODY_NED", "FLU.";
        BodyOffsetNed = "BODY_OFFSET_NED", "FLU, relative to the vehicle; PX4 refuses it.";
    }
    /// MAV_TYPE of the bridge's heartbeats to the autopilot.
    HeartbeatKind {
        GroundStation = "ground_station", "A ground station: PX4 sends STATUSTEXT only on links with one.";
        OnboardController = "onboard_controller", "An onboard computer, as mavros.";
    }
    /// Layout of sensor requests.
    RequestFormat {
        Vendor = "vendor", "As the vendor's SDK: 92 bytes, or 144 if a sensor has EularOrQuat.";
        Long = "long", "148 bytes, as in the vendor's newer documents.";
    }
    /// Named QoS profiles, as in rmw.
    QosPreset {
        Default = "default", "Reliable, volatile, keep last 10.";
        SensorData = "sensor_data", "Best effort, volatile, keep last 5.";
        SystemDefault = "system_default", "As the middleware's defaults: reliable, volatile, keep last 1.";
        Latched = "latched", "Reliable, transient local, keep last 1.";
    }
    /// QoS reliability of a publisher.
    Reliability {
        Reliable = "reliable", "Lost samples are retransmitted.";
        BestEffort = "best_effort", "Lost samples are not retransmitted.";
    }
    /// QoS durability of a publisher.
    Durability {
        Volatile = "volatile", "Late readers get no earlier samples.";
        TransientLocal = "transient_local", "Late readers get the last samples.";
    }
    /// QoS history of a publisher.
    History {
        KeepLast = "keep_last", "`depth` samples are kept.";
        KeepAll = "keep_all", "Everything is kept up to resource limits.";
    }
}

/// Words for a type of another module, and for values with fields.
macro_rules! words {
    ($($name:ty { $($word:literal = $value:expr,)+ })+) => {$(
        impl Choice for $name {
            const WORDS: &'static [&'static str] = &[$($word),+];
            const CHOICES: &'static [(&'static str, Self)] = &[$(($word, $value)),+];
        }
    )+};
}

words! {
    WorldConvention { "enu" = Self::Enu, "nwu" = Self::Nwu, }
    StampMode { "aligned" = Self::Aligned, "sim" = Self::Sim, "arrival" = Self::Arrival, }
    Estimator { "envelope" = Self::Envelope, "vendor" = Self::Vendor, }
    Geoid { "egm96" = Self::Egm96, "none" = Self::Constant(0.0), }
    AngleUnitChoice { "degrees" = Self::Degrees, "radians" = Self::Radians, "auto" = Self::Auto, }
    TransportOverride {
        "vendor" = Self::Vendor,
        "file" = Self::File,
        "0" = Self::Mode(TransportMode::SharedMemory),
        "1" = Self::Mode(TransportMode::UdpCompressed),
        "2" = Self::Mode(TransportMode::UdpRaw),
        "3" = Self::Mode(TransportMode::UdpCompressedAlt),
    }
}

impl Segmentation {
    /// Returns `SendProtocol[7]`; `None`: as in the file.
    pub const fn number(self) -> Option<u16> {
        match self {
            Self::File => None,
            Self::Off => Some(0),
            Self::On => Some(1),
        }
    }
}

impl SetpointFrame {
    /// Returns the MAV_FRAME.
    #[allow(deprecated, reason = "mavros has them")]
    pub const fn number(self) -> u8 {
        match self {
            Self::LocalNed => MavFrame::MAV_FRAME_LOCAL_NED as u8,
            Self::LocalOffsetNed => MavFrame::MAV_FRAME_LOCAL_OFFSET_NED as u8,
            Self::BodyNed => MavFrame::MAV_FRAME_BODY_NED as u8,
            Self::BodyOffsetNed => MavFrame::MAV_FRAME_BODY_OFFSET_NED as u8,
        }
    }

    /// Returns the frame with this MAV_FRAME.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::CHOICES.iter().map(|(_, frame)| *frame).find(|frame| frame.number() == number)
    }

    /// Whether the frame is relative to the vehicle's position; PX4 refuses these.
    pub const fn is_offset(self) -> bool {
        matches!(self, Self::LocalOffsetNed | Self::BodyOffsetNed)
    }

    /// Whether vectors are in body axes (FLU), not world axes (ENU).
    pub const fn is_body(self) -> bool {
        matches!(self, Self::BodyNed | Self::BodyOffsetNed)
    }
}
