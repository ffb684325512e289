//! Facts of a bridge: the input of [`check_bridge`](super::check_bridge).
use crate::transport::{Holder, Refused};
use crate::{ros::WriterReport, time::ClockStatus};
use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

/// Facts of one report.
#[derive(Clone, Debug, Default)]
pub struct BridgeFacts {
    /// Sensors, autopilots, heartbeats and all other sources.
    pub sources: Vec<SourceFacts>,
    /// Clocks by vehicle.
    pub clocks: Vec<(u16, ClockStatus)>,
    /// Published topics.
    pub topics: Vec<WriterReport>,
    /// Vehicles whose CopterSim is not heard, or is heard from an unexpected address.
    pub absent_vehicles: Vec<AbsentVehicle>,
    /// Hosts of the fleet whose bridges are not heard, and for how long.
    pub silent_hosts: Vec<(String, Duration)>,
    /// Requests by unicast to each CopterSim.
    pub requests: Vec<RequestFacts>,
    /// Refused datagrams by sender, and the number of datagrams refused since the last report.
    pub refused: (Refused, u64),
    /// Axes that were found out from measurements, because no datagram names them.
    pub axes: Vec<AxesFacts>,
    /// Sensors whose configured field of view differs from the one that the renderer describes: `SeqID` and both, in degrees.
    pub fields_of_view: Vec<(u16, f32, f32)>,
    /// Ports that another program has bound as well, and which program; it receives some of the bridge's datagrams.
    pub shared_ports: Vec<(u16, Holder)>,
    /// Thread, location and message of the last panic.
    pub last_panic: Option<String>,
    /// Log lines that were lost because nobody read stderr.
    pub lost_log_lines: u64,
}

/// State of one source, with the numbers of `rfly_bridge_msgs/msg/SourceStats`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum LinkState {
    /// No data yet.
    #[default]
    Waiting,
    /// Data flows.
    Up,
    /// Data stopped.
    Lost,
    /// No data is expected: senders are sporadic, or the topics have no subscriber.
    Idle,
}

/// What a source delivers.
#[derive(Clone, Debug, Default)]
pub enum SourceRole {
    /// Frames of the sensor with this `SeqID`.
    Sensor(u16),
    /// Messages of an autopilot.
    Autopilot(AutopilotFacts),
    /// Heartbeats of all CopterSims.
    Heartbeats,
    /// True states of a vehicle.
    TrueState(u16),
    /// IMU samples of a vehicle.
    Imu(u16),
    /// Anything else.
    #[default]
    Other,
}

/// What an autopilot reports.
#[derive(Clone, Debug, Default)]
pub struct AutopilotFacts {
    /// Its vehicle.
    pub vehicle: u16,
    /// Why it would refuse to arm.
    pub not_ready: Option<String>,
    /// Lasting faults of its link.
    pub link_warnings: Option<String>,
    /// Rate of the setpoints in Hz, if there are any.
    pub setpoint_hz: Option<f64>,
}

/// Figures of one source.
#[derive(Clone, Debug, Default)]
pub struct SourceFacts {
    /// Its name in `/diagnostics`.
    pub name: String,
    /// Kind of its data.
    pub kind: SourceRole,
    /// Its state.
    pub state: LinkState,
    /// The bridge requests its data.
    pub is_requested: bool,
    /// Host of the simulator and UDP port of this host, if its data arrives as datagrams of the simulator.
    pub awaited: Option<(Ipv4Addr, u16)>,
    /// Time since the last frame or sample; `None`: there was none.
    pub age: Option<Duration>,
    /// Whole frames or samples.
    pub frames: u64,
    /// Counts by fault of the set-up.
    pub drops: BTreeMap<DropFault, u64>,
    /// The rate, if it is below the requested one.
    pub shortfall: Option<Shortfall>,
    /// Known or probable cause if it delivers nothing or too little.
    pub reason: Option<String>,
}

impl SourceFacts {
    /// Whether it should deliver, and does not.
    pub(super) fn is_silent(&self) -> bool {
        matches!(self.state, LinkState::Waiting | LinkState::Lost)
    }

    /// Whether it is a sensor that the bridge requests.
    pub(super) fn is_requested_sensor(&self) -> bool {
        self.is_requested && matches!(self.kind, SourceRole::Sensor(_))
    }
}

/// A fault of the set-up that shows in the counters.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum DropFault {
    /// The receive buffer was full.
    FullBuffer,
    /// The network lost datagrams.
    Network,
    /// Frames do not have the configured size.
    WrongSize,
    /// Frames do not have the configured type or mode.
    WrongType,
    /// The vehicle is not served.
    OtherVehicle,
}

/// A rate that is too low.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shortfall {
    /// Received rate in Hz.
    pub rate_hz: f64,
    /// Requested rate in Hz of host time.
    pub asked_hz: f64,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rate_hz, asked_hz } = self;
        write!(f, "{rate_hz:.1} Hz, {asked_hz:.1} Hz requested")
    }
}

/// A vehicle without heartbeats of its CopterSim, or with heartbeats from an unexpected address.
#[derive(Clone, Debug)]
pub struct AbsentVehicle {
    /// `CopterID`.
    pub vehicle: u16,
    /// Its heartbeats arrive from another address.
    pub is_elsewhere: bool,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

/// Requests by unicast to the CopterSim of one vehicle.
#[derive(Clone, Copy, Debug)]
pub struct RequestFacts {
    /// `CopterID`.
    pub vehicle: u16,
    /// Address of its CopterSim.
    pub address: SocketAddrV4,
    /// Number of requests.
    pub sent: u64,
    /// Heartbeats and true state arrived only because of the requests.
    pub is_needed: bool,
    /// The data that does not arrive in spite of the requests.
    pub missing: Option<&'static str>,
}

/// Axes of one sensor or IMU, from its measurements.
#[derive(Clone, Debug)]
pub struct AxesFacts {
    /// The sensor or IMU.
    pub subject: String,
    /// The measurements exclude the configured axes.
    pub differ: bool,
    /// The measured axes and the configured ones, for the text.
    pub axes: String,
    /// Parameter that configures them.
    pub parameter: String,
}
