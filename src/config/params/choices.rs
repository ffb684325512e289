//! Enumerated settings.
use super::super::{AngleUnitChoice, TransportMode, config_json::TransportOverride};
use crate::frames::{Geoid, WorldConvention};
use crate::time::{Estimator, StampMode};

/// A setting with an enumerated value.
pub(crate) trait Choice: Copy + 'static {
    /// The words, in the order of the documents.
    const WORDS: &'static [&'static str];
    /// Words and their values; case-sensitive.
    const CHOICES: &'static [(&'static str, Self)];

    /// The value of a word.
    fn named(word: &str) -> Option<Self> {
        let choice = Self::CHOICES.iter().find(|(known, _)| *known == word);
        choice.map(|(_, value)| *value)
    }
}

macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            /// The words of the parameter, in the order of the variants.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// Returns the word of the parameter.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl Choice for $name {
            const WORDS: &'static [&'static str] = Self::NAMES;
            const CHOICES: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }
    )+};
}

choices! {
    /// Who flies a vehicle.
    VehicleModel {
        /// CopterSim, with an autopilot.
        CopterSim = "coptersim",
        /// The bridge, as a point mass.
        PointMass = "point_mass",
        /// The bridge, as a fixed wing.
        FixedWing = "fixed_wing",
    }
    /// What becomes of sensors that the simulator has and the bridge cannot read.
    UnsupportedSensors {
        /// They are left out, and the others start.
        Skip = "skip",
        /// They are problems, as mistakes are.
        Refuse = "refuse",
    }
    /// What follows when another program changes a sensor.
    Foreign {
        /// `camera_info` says what frames show.
        Follow = "follow",
        /// The renderer is asked again for what the configuration says.
        Restore = "restore",
        /// As `follow`, and a stream that stops while others deliver is left to the other program.
        Yield = "yield",
    }
    /// How the third corner of a height map becomes a pixel.
    TerrainRounding {
        /// As the vendor's Python SDK.
        Cut = "cut",
        /// As the vendor's MATLAB program.
        Nearest = "nearest",
    }
    /// Axes of the bounds of vehicles and objects that the renderer describes.
    BoundsAxes {
        /// Those of the vehicle or object itself.
        Own = "own",
        /// Those of the world: the bounds grow when it turns.
        World = "world",
    }
    /// When the renderer is asked for reports.
    ReportDemand {
        /// While a topic that needs them has a subscriber.
        Subscribed = "subscribed",
        /// From the start.
        Always = "always",
    }
    /// Where the pose of a vehicle in TF comes from.
    TfSource {
        /// The simulator's true state.
        Truth = "truth",
        /// The autopilot's estimate, moved to its home position in the map.
        Estimate = "estimate",
        /// Another node, for example a state estimator; only the frames below `base_link` are published.
        External = "external",
    }
    /// Numbers that models have for faults.
    FaultNumbers {
        /// Those of the SDK's documents.
        Sdk = "sdk",
        /// Those of the initialization files of newer models.
        Template = "template",
    }
    /// Channel order of colour images.
    RgbEncoding {
        /// As the simulator sends it.
        Bgr8 = "bgr8",
        /// Swapped.
        Rgb8 = "rgb8",
    }
    /// Encoding of the main depth topic.
    DepthEncoding {
        /// Millimetres, 0 is invalid (REP 118).
        Millimetres = "16UC1",
        /// The simulator's numbers as mono16, unscaled.
        Vendor = "vendor",
    }
    /// Type of the field `label` of a lidar point.
    LabelType {
        /// As the coordinates.
        Float32 = "float32",
        /// As `pcl::PointXYZL`.
        Uint32 = "uint32",
    }
    /// Whether clouds are asked for with the colours of the segmentation.
    Segmentation {
        /// As in Config.json.
        File = "file",
        /// Without.
        Off = "off",
        /// With.
        On = "on",
    }
    /// What the fourth number of points is.
    FourthNumber {
        /// A colour if one was asked for, else a label.
        Auto = "auto",
        /// The class of the object hit.
        Label = "label",
        /// A colour of 15 bits.
        Rgb = "rgb",
    }
    /// Axes of the clouds of depth cameras on the wire.
    DepthAxes {
        /// To be found out.
        Auto = "auto",
        /// x forward, y left, z up.
        Flu = "flu",
        /// x forward, y right, z down.
        Frd = "frd",
        /// x forward, y right, z up, left-handed.
        Fru = "fru",
        /// x right, y down, z forward, as of images.
        Rdf = "rdf",
    }
    /// Axes of the accelerations of the IMU on the wire.
    AccelerationAxes {
        /// To be found out.
        Auto = "auto",
        /// x forward, y right, z down.
        Frd = "frd",
        /// x backward, y left, z down.
        Bld = "bld",
        /// x forward, y left, z up.
        Flu = "flu",
    }
    /// Axes of the odometry in clouds on the wire.
    OdometryAxes {
        /// To be found out.
        Auto = "auto",
        /// x north, y east, z down, of a body with x forward, y right, z down.
        Ned = "ned",
        /// x north, y west, z up, of a body with x forward, y left, z up.
        Nwu = "nwu",
    }
    /// Fields of the points of a lidar.
    CloudLayout {
        /// x, y, z and the class of the object hit.
        XyzLabel = "xyz_label",
        /// As ouster-ros.
        Ouster = "ouster",
        /// As velodyne_pointcloud.
        Velodyne = "velodyne",
        /// As HesaiLidar_ROS_2.0.
        Hesai = "hesai",
        /// As livox_ros_driver2.
        Livox = "livox",
    }
    /// Rows of a cloud.
    Organized {
        /// Rows, except in the layouts of drivers, whose readers want dense clouds.
        Auto = "auto",
        /// Rows if the sensor has them, with NaN for missing points.
        Always = "true",
        /// One dense row.
        Never = "false",
    }
    /// Times of the points of a scan.
    ScanTime {
        /// All are of the header's time, as the simulator renders them.
        Instant = "instant",
        /// Spread over the period of the scan, as a turning lidar measures them.
        Sweep = "sweep",
    }
    /// The points of a planar scan.
    ScanSource {
        /// No scan.
        Off = "off",
        /// One ring of a mechanical lidar.
        Ring = "ring",
        /// A band of heights.
        Band = "band",
    }
    /// Orientation in the IMU message.
    ImuOrientation {
        /// None, as REP 145 writes it.
        None = "none",
        /// The vehicle's true attitude.
        Truth = "truth",
    }
    /// Frame of the IMU message.
    ImuFrame {
        /// x forward, y left, z up (REP 103, REP 145).
        Flu = "flu",
        /// x forward, y right, z down, as the simulator sends it.
        Frd = "frd",
    }
    /// Frame of setpoints, by mavros' names.
    SetpointFrame {
        /// ENU of the map.
        LocalNed = "LOCAL_NED",
        /// ENU, relative to the vehicle; PX4 refuses it.
        LocalOffsetNed = "LOCAL_OFFSET_NED",
        /// FLU.
        BodyNed = "BODY_NED",
        /// FLU, relative to the vehicle; PX4 refuses it.
        BodyOffsetNed = "BODY_OFFSET_NED",
    }
    /// MAV_TYPE of the bridge's heartbeats to the autopilot.
    HeartbeatKind {
        /// A ground station: PX4 sends its texts only to links with one.
        GroundStation = "ground_station",
        /// An onboard computer, as mavros.
        OnboardController = "onboard_controller",
    }
    /// Layout of sensor requests.
    RequestFormat {
        /// As the vendor's SDK: 92 bytes, or 144 if a sensor has EularOrQuat.
        Vendor = "vendor",
        /// 148 bytes, as in the vendor's newer documents.
        Long = "long",
    }
    /// Named QoS profiles, as in rmw.
    QosPreset {
        /// Reliable, volatile, keep last 10.
        Default = "default",
        /// Best effort, volatile, keep last 5.
        SensorData = "sensor_data",
        /// As the middleware's defaults: reliable, volatile, keep last 1.
        SystemDefault = "system_default",
        /// Reliable, transient local, keep last 1.
        Latched = "latched",
    }
    /// QoS reliability of a publisher.
    Reliability {
        /// Lost samples are retransmitted.
        Reliable = "reliable",
        /// Lost samples are not retransmitted.
        BestEffort = "best_effort",
    }
    /// QoS durability of a publisher.
    Durability {
        /// Late readers get no earlier samples.
        Volatile = "volatile",
        /// Late readers get the last samples.
        TransientLocal = "transient_local",
    }
    /// QoS history of a publisher.
    History {
        /// `depth` samples are kept.
        KeepLast = "keep_last",
        /// Everything is kept up to resource limits.
        KeepAll = "keep_all",
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
    WorldConvention {
        "enu" = Self::Enu,
        "nwu" = Self::Nwu,
    }
    StampMode {
        "aligned" = Self::Aligned,
        "sim" = Self::Sim,
        "arrival" = Self::Arrival,
    }
    Estimator {
        "envelope" = Self::Envelope,
        "vendor" = Self::Vendor,
    }
    Geoid {
        "egm96" = Self::Egm96,
        "none" = Self::Constant(0.0),
    }
    AngleUnitChoice {
        "degrees" = Self::Degrees,
        "radians" = Self::Radians,
        "auto" = Self::Auto,
    }
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
    /// `SendProtocol[7]`, unless it is that of the file.
    pub const fn number(self) -> Option<u16> {
        match self {
            Self::File => None,
            Self::Off => Some(0),
            Self::On => Some(1),
        }
    }
}

impl SetpointFrame {
    /// MAV_FRAME.
    pub const fn number(self) -> u8 {
        match self {
            Self::LocalNed => 1,
            Self::LocalOffsetNed => 7,
            Self::BodyNed => 8,
            Self::BodyOffsetNed => 9,
        }
    }

    /// The frame with this number.
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::LocalNed,
            7 => Self::LocalOffsetNed,
            8 => Self::BodyNed,
            9 => Self::BodyOffsetNed,
            _ => return None,
        })
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
