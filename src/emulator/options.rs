//! Options of the emulator, which are those of its command line.
use super::cloud_format::{CloudFormat, WireAxes};
use super::{autopilot::ControlMode, autopilot::fence::FenceLimits, world::World};
use crate::wire::{HeaderVariant, Ports};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as _, FromArgMatches as _, value_parser};
use std::{net::IpAddr, path::PathBuf, str::FromStr};
use strum::{EnumString, VariantNames};

/// Unit of the Euler angles in sensor requests; type 9 always uses degrees.
#[derive(Clone, Copy, Debug, Default, EnumString, Eq, PartialEq, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum AngleUnit {
    /// Degrees.
    #[default]
    Degrees,
    /// Radians.
    Radians,
}

/// Scan pattern of the Livox lidars (types 22 and 23).
#[derive(Clone, Copy, Debug, Default, EnumString, Eq, PartialEq, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum LivoxPattern {
    /// Every frame has the same directions.
    #[default]
    Repeating,
    /// Directions follow from the time, and never repeat.
    Rosette,
}

/// Packet of the true state.
#[derive(Clone, Copy, Debug, Default, EnumString, Eq, PartialEq, VariantNames)]
pub enum StatePacket {
    /// `netDataShort`.
    #[strum(serialize = "200")]
    Bytes200,
    /// `SOut2Simulator`.
    #[default]
    #[strum(serialize = "168")]
    Bytes168,
    /// `SOut2SimulatorSimpleTime`.
    #[strum(serialize = "112")]
    Bytes112,
}

/// Parser of an enum by the names of its variants.
pub(super) fn variant<T>() -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = strum::ParseError> + VariantNames + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|name| name.parse::<T>())
}

fn parse_header(name: String) -> HeaderVariant {
    if name == "a" { HeaderVariant::A } else { HeaderVariant::B }
}

/// Start options of the emulator.
#[derive(Clone, Debug, clap::Args)]
#[rustfmt::skip] // one attribute per line
pub struct EmulatorOptions {
    /// Ports to listen on and to send to. For a listening port of 0 the operating system chooses one;
    /// [`super::Emulator`] returns it.
    #[arg(skip)]
    pub ports: Ports,
    /// Scene and vehicles.
    #[arg(skip = World::flying(1))]
    pub world: World,
    /// Seed of textures, noise and random scan patterns.
    #[arg(skip = 1u64)]
    pub seed: u64,
    /// Protocol of the autopilots; `None`: no autopilots, vehicles only follow their paths.
    #[arg(skip)]
    pub autopilot: Option<ControlMode>,
    /// Limits of the distance from home.
    #[arg(skip)]
    pub fence: FenceLimits,

    /// Fixed-wing vehicles in the UDP modes
    #[arg(long, help_heading = "Scene")]
    pub fixed_wing: bool,
    /// Constant battery level; below 15, 7 and 5 percent autopilots warn, return or land as PX4 does
    #[arg(long, value_name = "PERCENT", help_heading = "Scene")]
    pub battery: Option<f64>,
    /// Simulation seconds per second of real time
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, help_heading = "Scene")]
    pub speed: f64,
    /// Drift of the simulation clock against this machine's clock
    #[arg(long, value_name = "PPM", default_value_t = 0.0, allow_hyphen_values = true, help_heading = "Scene")]
    pub clock_drift_ppm: f64,
    /// Send a prepared test image with a frame counter in its first 8 bytes instead of rendering, for load tests
    #[arg(long, help_heading = "Scene")]
    pub pattern: bool,

    /// Standard deviation of the ranges of lidars (types 20 to 23)
    #[arg(long, value_name = "METRES", default_value_t = 0.0, help_heading = "Sensors")]
    pub lidar_noise: f64,
    /// Directions of the Livox lidars (types 22 and 23): the same in every frame, or never the same
    #[arg(long, value_name = "PATTERN", default_value = "repeating", value_parser = variant::<LivoxPattern>(), help_heading = "Sensors")]
    pub livox_pattern: LivoxPattern,

    /// Number of renderer windows
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..=20), help_heading = "Network")]
    pub windows: u16,
    /// Address to listen on
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", help_heading = "Network")]
    pub bind: IpAddr,
    /// Destination of heartbeats, true states and reports
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", help_heading = "Network")]
    pub client: IpAddr,
    /// Bandwidth of the simulated link; 0 sends bursts, which overflow small receive buffers
    #[arg(long = "link", value_name = "GBIT/S", default_value_t = 10.0, help_heading = "Network")]
    pub link_gbit_per_s: f64,
    /// Send heartbeats to 224.0.0.10, and take requests sent to 224.0.0.11:20008, 224.0.0.10:20009 and 224.0.0.10:20002, all on loopback
    #[arg(long, help_heading = "Network")]
    pub multicast: bool,
    /// CopterSim sends data of a vehicle only to programs that requested it by unicast, as since version 4.12
    #[arg(long = "restricted-broadcasts", conflicts_with = "multicast", help_heading = "Network")]
    pub restricted: bool,

    /// Unit of the Euler angles in requests; type 9 always uses degrees
    #[arg(long, value_name = "UNIT", default_value = "degrees", value_parser = variant::<AngleUnit>(), help_heading = "Protocol")]
    pub angle_unit: AngleUnit,
    /// Header of image fragments: a (24 bytes) or b (32 bytes, with frame id)
    #[arg(long = "fragment-header", value_name = "FORM", default_value = "b", value_parser = PossibleValuesParser::new(["a", "b"]).map(parse_header), help_heading = "Protocol")]
    pub header: HeaderVariant,
    /// Bytes of a frame per datagram if a request names none (`SendProtocol[6]`); simulators in WSL have 1400
    #[arg(long, value_name = "BYTES", default_value = "60000", value_parser = value_parser!(u16).range(1..=60_000).map(usize::from), help_heading = "Protocol")]
    pub piece_bytes: usize,
    /// Send frames in bursts that the kernel segments (UDP_SEGMENT), so that a receiver gets small datagrams as from a network card with GRO
    #[arg(long, help_heading = "Protocol")]
    pub bursts: bool,
    /// Clouds of a simulator of April 2025 (i16), of its newer web page (f32), of December 2025 (2025-12), or the newest; or `28|36:i16|f32:none|label|rgb|auto`: bytes of the head, type of the numbers, meaning of the fourth number
    #[arg(long, value_name = "FORM", default_value = "newest", help_heading = "Protocol")]
    pub cloud_format: CloudFormat,
    /// Axes of clouds, accelerations and odometry.
    #[command(flatten)]
    pub axes: WireAxes,
    /// Send JPEG in mode 1 and PNG in mode 3, as in the newer vendor documents
    #[arg(long, help_heading = "Protocol")]
    pub swap_codecs: bool,
    /// Length of a true-state packet
    #[arg(long, value_name = "BYTES", default_value = "168", value_parser = variant::<StatePacket>(), help_heading = "Protocol")]
    pub state_packet: StatePacket,
    /// Rate of the true state, in addition to one per render tick
    #[arg(long, value_name = "HZ", default_value_t = 100, value_parser = value_parser!(u32).range(0..=2000), help_heading = "Protocol")]
    pub state_rate: u32,
    /// Time between heartbeats
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, help_heading = "Protocol")]
    pub heartbeat_period: f64,

    /// UDP port for commands: faults, restart, pause, resume, speed, stats, state, battery, fence (docs/emulator.md)
    #[arg(long, value_name = "PORT", help_heading = "Tests")]
    pub control: Option<u16>,
    /// Write one line of JSON per rendered frame: content, pose and time
    #[arg(long, value_name = "FILE", help_heading = "Tests")]
    pub truth: Option<PathBuf>,
    /// Write the uncompressed payload of every frame into this directory
    #[arg(long, value_name = "DIR", help_heading = "Tests")]
    pub truth_frames: Option<PathBuf>,
}

impl Default for EmulatorOptions {
    /// The options of an empty command line.
    fn default() -> Self {
        let command = Self::augment_args(clap::Command::new("emulator"));
        let options = Self::from_arg_matches(&command.get_matches_from(["emulator"]));
        options.expect("every option has a default")
    }
}
