use super::{Durability, History, ParameterSpec, QosPreset, Reliability, declare::parameters};
use crate::config::{Problem, problem::did_you_mean};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Quality of service of one topic.
///
/// A reader matches only if the writer offers at least the requested QoS. The default is RELIABLE, because such writers match
/// every reader that does not request TRANSIENT_LOCAL.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Qos {
    /// Whether lost samples are retransmitted.
    pub reliability: Reliability,
    /// Whether a late reader gets earlier samples.
    pub durability: Durability,
    /// Which samples the history keeps.
    pub history: History,
    /// Samples kept with [`History::KeepLast`], at least 1.
    pub depth: u16,
}

impl Qos {
    /// Reliable, volatile, keep last `depth`.
    pub const fn reliable(depth: u16) -> Self {
        Self {
            reliability: Reliability::Reliable,
            durability: Durability::Volatile,
            history: History::KeepLast,
            depth,
        }
    }

    /// Reliable, transient local, keep last `depth`.
    pub const fn latched(depth: u16) -> Self {
        Self { durability: Durability::TransientLocal, ..Self::reliable(depth) }
    }

    /// Returns the named profile.
    pub const fn preset(preset: QosPreset) -> Self {
        match preset {
            QosPreset::Default => Self::reliable(10),
            QosPreset::SensorData => {
                Self { reliability: Reliability::BestEffort, ..Self::reliable(5) }
            }
            QosPreset::SystemDefault => Self::reliable(1),
            QosPreset::Latched => Self::latched(1),
        }
    }
}

/// Policies of `qos.<group>.*` and `qos_overrides.<topic>.publisher.*`; the latter has no `preset`. An unset policy of a topic is
/// that of its group, an unset policy of a group its default.
pub static QOS_PARAMETERS: LazyLock<Vec<ParameterSpec>> = LazyLock::new(QosChange::specs);

const QOS: &str = "QoS";

parameters! {
    /// Policies changed by parameters; `None` keeps the default.
    #[derive(Copy, Default, Eq)]
    pub struct QosChange {
        [QOS]
        preset: Option<QosPreset> = "preset", Choice = "", "Named profile to start from; the policies below change it.";
        reliability: Option<Reliability> = "reliability", Choice = "", "Best-effort readers match both, reliable readers only reliable.";
        durability: Option<Durability> = "durability", Choice = "", "`transient_local` also serves late readers that ask for it.";
        history: Option<History> = "history", Choice = "", "`keep_all` makes a slow reader cost memory.";
        depth: Option<u16> = "depth", Int(1, 1000) = 0, ["samples"] "Samples kept with `keep_last`.";
    }
}

impl QosChange {
    /// Returns `base` with the change.
    pub fn apply(self, base: Qos) -> Qos {
        let base = self.preset.map_or(base, Qos::preset);
        Qos {
            reliability: self.reliability.unwrap_or(base.reliability),
            durability: self.durability.unwrap_or(base.durability),
            history: self.history.unwrap_or(base.history),
            depth: self.depth.unwrap_or(base.depth),
        }
    }
}

macro_rules! groups {
    ($($variant:ident = $name:literal, $default:expr, $doc:literal;)+) => {
        /// Topics that share the QoS parameters `qos.<group>.*`.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum QosGroup { $(#[doc = $doc] $variant,)+ }

        impl QosGroup {
            /// All groups.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the name in `qos.<group>`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// Returns the default QoS.
            pub const fn default_qos(self) -> Qos {
                match self { $(Self::$variant => $default),+ }
            }

            /// Returns the topics of the group.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$variant => $doc),+ }
            }
        }
    };
}

// A reliable writer matches reliable and best-effort readers; a shallow queue bounds the memory that a slow reader costs.
groups! {
    Image = "image", Qos::reliable(3), "raw images";
    CameraInfo = "camera_info", Qos::reliable(5), "`camera_info`; volatile, because a latched one may have a former field of view";
    Compressed = "compressed", Qos::reliable(5), "`compressed` images";
    Cloud = "cloud", Qos::reliable(3), "point clouds";
    Range = "range", Qos::reliable(10), "range sensors and planar scans";
    Detections = "detections", Qos::reliable(10), "detections, boxes in images, hits of range sensors";
    Reports = "reports", Qos::reliable(10), "`scene/*`: what the renderer reports";
    Telemetry = "telemetry", Qos::latched(10), "telemetry of a vehicle; transient local, because some clients of mavros request it";
    ParameterEvents = "parameter_events", Qos::reliable(100), "`param/event`, as in mavros; deep, for the burst while all parameters are read; volatile";
    VehicleState = "vehicle_state", Qos::latched(10), "what mavros latches: state, extended_state, sys_status, estimator_status, home";
    Latched = "latched", Qos::latched(1), "missions, origin, faults and collisions of a vehicle, gimbals, `fleet/ready`, maps of the terrain";
    Imu = "imu", Qos::reliable(50), "IMU";
    State = "state", Qos::reliable(10), "true state and GPS, odometry of clouds, outputs of models and modified autopilots, start signals, `netsim/*`";
    Path = "path", Qos::latched(1), "path of a vehicle";
    Diagnostics = "diagnostics", Qos::reliable(10), "`/diagnostics` and `~/stats`";
    Clock = "clock", Qos::reliable(1), "`/clock`";
    Tf = "tf", Qos::reliable(100), "`/tf`, as tf2 does";
    TfStatic = "tf_static", Qos::latched(1), "`/tf_static`, as tf2 does";
    RobotDescription = "robot_description", Qos::latched(1), "`robot_description`, as robot_state_publisher does";
}

/// All QoS parameters.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct QosParams {
    /// `qos.<group>.*`.
    pub groups: BTreeMap<QosGroup, QosChange>,
    /// `qos_overrides.<topic>.publisher.*`, by fully qualified topic name.
    pub topics: BTreeMap<String, QosChange>,
}

impl QosParams {
    /// Returns the QoS of a publisher of `group` on the fully qualified `topic`.
    pub fn of(&self, group: QosGroup, topic: &str) -> Qos {
        let group_change = self.groups.get(&group).copied().unwrap_or_default();
        let topic_change = self.topics.get(topic).copied().unwrap_or_default();
        topic_change.apply(group_change.apply(group.default_qos()))
    }

    /// Returns a problem for each topic of `qos_overrides` that is not in `topics`, the published ones.
    pub fn problems_of_topics(&self, topics: &[&str]) -> Vec<Problem> {
        let unused = self.topics.keys().filter(|topic| !topics.contains(&topic.as_str()));
        let problem = |topic: &String| {
            let hint = did_you_mean(topic, topics.iter().copied());
            let path = format!("qos_overrides.{topic}");
            Problem::new(path, format!("no publisher on this topic{hint}"))
        };
        unused.map(problem).collect()
    }
}
