use super::autopilot::ControlMode;
use super::autopilot::fence::FenceLimits;
use super::cloud_format::{CloudFormat, WireAxes};
use super::world::World;
use crate::wire::{HeaderVariant, MAX_FRAGMENT_PAYLOAD, Ports};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// Unit of the Euler angles in sensor requests; type 9 always uses degrees.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum AngleUnit {
    /// Degrees.
    #[default]
    Degrees,
    /// Radians.
    Radians,
}

/// Scan pattern of the Livox lidars (types 22 and 23).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LivoxPattern {
    /// Every frame has the same directions.
    #[default]
    Repeating,
    /// Directions follow from the time, and never repeat.
    Rosette,
}

/// Packet of the true state.
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

/// Start options of the emulator.
#[derive(Clone, Debug)]
pub struct EmulatorOptions {
    /// Ports to listen on and to send to. Where it listens on port 0 the operating system chooses one;
    /// [`super::Emulator`] returns it.
    pub ports: Ports,
    /// Address to bind.
    pub bind: IpAddr,
    /// Destination of heartbeats, true states and reports.
    pub client: IpAddr,
    /// Number of renderer windows.
    pub windows: u16,
    /// Scene and vehicles.
    pub world: World,
    /// Seed of textures, noise and random scan patterns.
    pub seed: u64,
    /// Standard deviation of the ranges of lidars (types 20 to 23) in m.
    pub lidar_noise: f64,
    /// Scan pattern of types 22 and 23.
    pub livox_pattern: LivoxPattern,
    /// Protocol of the autopilots; `None`: no autopilots, vehicles only follow their paths.
    pub autopilot: Option<ControlMode>,
    /// Vehicles execute struct commands as fixed wings.
    pub fixed_wing: bool,
    /// Constant battery level in percent; `None`: PX4's simulated battery.
    pub battery: Option<f64>,
    /// Limits of the distance from home.
    pub fence: FenceLimits,
    /// Unit of requested Euler angles.
    pub angle_unit: AngleUnit,
    /// Header of image fragments.
    pub header: HeaderVariant,
    /// Bytes of a frame in a datagram if the request names none.
    pub piece_bytes: usize,
    /// Sends the datagrams of a frame in bursts that the kernel cuts, as network cards hand them over.
    pub bursts: bool,
    /// Form of clouds.
    pub cloud_format: CloudFormat,
    /// Axes of clouds, accelerations and odometry.
    pub axes: WireAxes,
    /// Packet of the true state.
    pub state_packet: StatePacket,
    /// Rate of the true state in Hz, in addition to one per render tick; 0 for only those.
    pub state_rate: u32,
    /// Period of heartbeats in s.
    pub heartbeat_period: f64,
    /// Bandwidth of the simulated link in Gbit/s; 0 is no limit.
    pub link_gbit_per_s: f64,
    /// Heartbeats, reports and requests also use multicast, on loopback.
    pub multicast: bool,
    /// `CopterSim` sends a vehicle's data to nobody who did not ask for them.
    pub restricted: bool,
    /// Drift of the simulation clock against the host's, in parts per million.
    pub clock_drift_ppm: f64,
    /// Simulation seconds per second of real time.
    pub speed: f64,
    /// Sends prepared frames instead of rendering.
    pub pattern: bool,
    /// Sends PNG in mode 3 and JPEG in mode 1, as in the newer documents.
    pub swap_codecs: bool,
    /// File for one line of JSON per rendered frame: content and pose.
    pub truth: Option<PathBuf>,
    /// Directory for one file per frame with the uncompressed payload.
    pub truth_frames: Option<PathBuf>,
    /// Port for commands to the emulator; 0 for a free one.
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
            seed: 1,
            lidar_noise: 0.0,
            livox_pattern: LivoxPattern::default(),
            autopilot: None,
            fixed_wing: false,
            battery: None,
            fence: FenceLimits::default(),
            angle_unit: AngleUnit::default(),
            header: HeaderVariant::B,
            piece_bytes: MAX_FRAGMENT_PAYLOAD,
            bursts: false,
            cloud_format: CloudFormat::default(),
            axes: WireAxes::default(),
            state_packet: StatePacket::default(),
            state_rate: 100,
            heartbeat_period: 1.0,
            link_gbit_per_s: 10.0,
            multicast: false,
            restricted: false,
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
