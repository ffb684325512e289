use super::autopilot::ControlMode;
use super::autopilot::fence::Limits;
use super::world::World;
use crate::wire::HeaderVariant;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// Base ports; the defaults are the simulator's.
///
/// A listening port of 0 asks the operating system for a free one, which is then found in [`super::Emulator`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ports {
    /// Window `w` listens on `window + w`.
    pub window: u16,
    /// Receives multicast requests of the same host (224.0.0.11), if wanted.
    pub multicast_local: Option<u16>,
    /// Receives multicast requests of the network (224.0.0.10), if wanted.
    pub multicast_lan: Option<u16>,
    /// Receives multicast requests to `CopterSim` (224.0.0.10), if wanted.
    pub requests: Option<u16>,
    /// `CopterSim` of vehicle `id` listens on `coptersim + 2 (id - 1)`.
    pub coptersim: u16,
    /// The autopilot of vehicle `id` listens on `autopilot + 2 (id - 1)`.
    pub autopilot: u16,
    /// The autopilot of vehicle `id` sends to `autopilot_client + 2 (id - 1)`.
    pub autopilot_client: u16,
    /// An autopilot of vehicle `id` without `CopterSim` listens on `direct + id - 1`.
    pub direct: u16,
    /// What a model in the autopilot of vehicle `id` says goes to `outputs + 2 (id - 1)`.
    pub outputs: u16,
    /// The true state of vehicle `id` goes to `true_state + 2 (id - 1)`.
    pub true_state: u16,
    /// Heartbeats go here.
    pub heartbeat: u16,
    /// Reports of the renderer go here.
    pub report: u16,
    /// IMU samples go here, plus `id - 1`, if a request names no port.
    pub imu: u16,
}

impl Default for Ports {
    fn default() -> Self {
        Self {
            window: 20010,
            multicast_local: None,
            multicast_lan: None,
            requests: None,
            coptersim: 30100,
            autopilot: 20100,
            autopilot_client: 20101,
            direct: 14580,
            outputs: 40101,
            true_state: 30101,
            heartbeat: 20005,
            report: 20006,
            imu: 31000,
        }
    }
}

/// Unit of the Euler angles in sensor requests; type 9 always uses degrees.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum AngleUnit {
    /// Degrees.
    #[default]
    Degrees,
    /// Radians.
    Radians,
}

/// Which packet carries the true state.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum StatePacket {
    /// `netDataShort`.
    Bytes200,
    /// `SOut2Simulator`.
    #[default]
    Bytes168,
    /// `SOut2SimulatorSimpleTime`.
    Bytes112,
}

/// Everything that can be chosen when the emulator starts.
#[derive(Clone, Debug)]
pub struct EmulatorOptions {
    /// Ports to listen on and to send to.
    pub ports: Ports,
    /// Address to bind.
    pub bind: IpAddr,
    /// Where heartbeats, true states and reports go.
    pub client: IpAddr,
    /// Number of renderer windows.
    pub windows: u16,
    /// Scene and vehicles.
    pub world: World,
    /// How autopilots talk to the controlling host; `None`: there are none, and vehicles only follow their paths.
    pub autopilot: Option<ControlMode>,
    /// Vehicles are fixed wings where structs command them.
    pub fixed_wing: bool,
    /// What the batteries show in percent, whatever happens; `None`: as PX4's simulated ones.
    pub battery: Option<f64>,
    /// How far vehicles may fly from home.
    pub fence: Limits,
    /// Unit of requested Euler angles.
    pub angle_unit: AngleUnit,
    /// Header of image fragments.
    pub header: HeaderVariant,
    /// Packet of the true state.
    pub state_packet: StatePacket,
    /// Rate of the true state in Hz, besides one at each render tick; 0 for only those.
    pub state_rate: u32,
    /// Period of heartbeats in s.
    pub heartbeat_period: f64,
    /// Speed in Gbit/s at which fragments follow each other; 0 is no limit.
    pub link_gbit_per_s: f64,
    /// Sends heartbeats to 224.0.0.10 on loopback as well.
    pub multicast_heartbeat: bool,
    /// Drift of the simulation clock against the host's, in parts per million.
    pub clock_drift_ppm: f64,
    /// Simulation seconds per second.
    pub speed: f64,
    /// Sends prepared frames instead of rendering.
    pub pattern: bool,
    /// Sends PNG in mode 3 and JPEG in mode 1, as the newer documents say.
    pub swap_codecs: bool,
    /// Gets one line of JSON per frame, if wanted: what was rendered, and from where.
    pub truth: Option<PathBuf>,
    /// Gets one file per frame with the uncompressed payload, if wanted.
    pub truth_frames: Option<PathBuf>,
    /// Port for commands to the emulator itself, if wanted; 0 for a free one.
    pub control: Option<u16>,
}

impl Default for EmulatorOptions {
    fn default() -> Self {
        Self {
            ports: Ports::default(),
            bind: Ipv4Addr::LOCALHOST.into(),
            client: Ipv4Addr::LOCALHOST.into(),
            windows: 1,
            world: World::flying(1),
            autopilot: None,
            fixed_wing: false,
            battery: None,
            fence: Limits::default(),
            angle_unit: AngleUnit::default(),
            header: HeaderVariant::B,
            state_packet: StatePacket::default(),
            state_rate: 100,
            heartbeat_period: 1.0,
            link_gbit_per_s: 10.0,
            multicast_heartbeat: false,
            clock_drift_ppm: 0.0,
            speed: 1.0,
            pattern: false,
            swap_codecs: false,
            truth: None,
            truth_frames: None,
            control: None,
        }
    }
}
