//! Emulates the RflySim simulator on this machine.
use anyhow::{Context as _, bail};
use clap::builder::TypedValueParser;
use clap::{Args, CommandFactory as _, Parser};
use clap_complete::Shell;
use rfly_bridge::config::ros_args;
use rfly_bridge::emulator::autopilot::fence::FenceLimits;
use rfly_bridge::emulator::world::{Pose, Scene, World};
use rfly_bridge::emulator::{
    AngleUnit, BodyAxes, CloudFormat, ControlMode, Emulator, EmulatorOptions, FaultScope, Faults,
    LivoxPattern, StatePacket, Stats, WireAxes,
};
use rfly_bridge::program::{OutputLog, Signals, completions, man_page, note_panics};
use rfly_bridge::wire::{HeaderVariant, Ports};
use std::io::{IsTerminal as _, Write as _};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

const HELP: &str = "\
It waits for sensor requests, as RflySim3D does, and sends what the requested sensors see of one small scene.
Start it, then start rfly_bridge with a Config.json. Ctrl-C or SIGTERM end it with a summary.

Examples:
  rflysim_emulator --vehicles 2 -v                    two drones that see each other
  rflysim_emulator --hover --loss 0.01 --seed 7       a still picture over a bad network
  rflysim_emulator --pattern                          as much data as the machine can move";

/// Emulates the RflySim simulator: renderer windows, vehicles and their clock, without Windows and without a GPU.
#[derive(Debug, Parser)]
#[command(name = "rflysim_emulator", version, max_term_width = 110, after_help = HELP)]
struct Arguments {
    /// Print statistics every second
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    scene: SceneArguments,
    #[command(flatten)]
    sensors: SensorArguments,
    #[command(flatten)]
    network: Network,
    #[command(flatten)]
    protocol: Protocol,
    #[command(flatten)]
    faults: FaultArguments,
    #[command(flatten)]
    tests: Tests,
    #[command(flatten)]
    manual: Manual,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Manual")]
struct Manual {
    /// Print the completions of a shell for this program, and end
    #[arg(long, value_name = "SHELL", value_enum)]
    completions: Option<Shell>,
    /// Print the manual page, and end
    #[arg(long)]
    man_page: bool,
}

impl Manual {
    fn wanted(&self) -> Option<std::io::Result<Vec<u8>>> {
        let command = Arguments::command();
        match self.completions {
            Some(shell) => Some(Ok(completions(command, shell))),
            None => self.man_page.then(|| man_page(command)),
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Scene")]
struct SceneArguments {
    /// yard: textures, walls, trees, a building and a slope around nine boxes; simple: only the boxes on a checkerboard
    #[arg(long, value_name = "SCENE", default_value = "yard", value_parser = ["yard", "simple"])]
    scene: String,
    /// Number of vehicles; 0: RflySim3D alone, for programs that draw their own vehicles
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(..=250))]
    vehicles: u16,
    /// Path of the vehicles: laps, or after 3 s at rest a route with motion along and about every axis
    #[arg(long, value_name = "ROUTE", default_value = "lap", value_parser = ["lap", "excite"], conflicts_with_all = ["hover", "pose", "spawn", "grounded"])]
    route: String,
    /// Static scene: vehicles hover in a row, 2 m high, facing north
    #[arg(long)]
    hover: bool,
    /// Pose of a hovering vehicle: "north,east,down,roll,pitch,yaw" in m and degrees; once per vehicle
    #[arg(long, value_name = "POSE", conflicts_with_all = ["vehicles", "hover"], allow_hyphen_values = true)]
    pose: Vec<String>,
    /// A vehicle on the ground at "north,east,yaw" in m and degrees; once per vehicle
    #[arg(long, value_name = "PLACE", conflicts_with_all = ["vehicles", "hover", "pose"], allow_hyphen_values = true)]
    spawn: Vec<String>,
    /// Vehicles on the ground, 3 m apart, 20 m south of the map centre, to be flown through their autopilots
    #[arg(long, conflicts_with_all = ["hover", "pose", "spawn"])]
    grounded: bool,
    /// Fixed-wing vehicles in the UDP modes
    #[arg(long)]
    fixed_wing: bool,
    /// Constant battery level; below 15, 7 and 5 percent autopilots warn, return or land as PX4 does
    #[arg(long, value_name = "PERCENT")]
    battery: Option<f64>,
    /// Geofence: "distance from home,height above it" in m, 0 for no limit (GF_MAX_HOR_DIST, GF_MAX_VER_DIST)
    #[arg(long, value_name = "FENCE")]
    fence: Option<String>,
    /// Simulation seconds per second of real time
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    speed: f64,
    /// Drift of the simulation clock against this machine's clock
    #[arg(long, value_name = "PPM", default_value_t = 0.0, allow_hyphen_values = true)]
    clock_drift_ppm: f64,
    /// Send a prepared test image with a frame counter in its first 8 bytes instead of rendering, for load tests
    #[arg(long)]
    pattern: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Sensors")]
struct SensorArguments {
    /// Standard deviation of the ranges of lidars (types 20 to 23)
    #[arg(long, value_name = "METRES", default_value_t = 0.0)]
    lidar_noise: f64,
    /// Directions of the Livox lidars (types 22 and 23): the same in every frame, or never the same
    #[arg(long, value_name = "PATTERN", default_value = "repeating", value_parser = ["repeating", "rosette"])]
    livox_pattern: String,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
struct Network {
    /// Number of renderer windows
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=20))]
    windows: u16,
    /// Address to listen on
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// Destination of heartbeats and true states
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    client: IpAddr,
    /// Port of the first vehicle's autopilot; two more for each further one (UDP_START_PORT)
    #[arg(long, value_name = "PORT", default_value_t = 20100, value_parser = clap::value_parser!(u16).range(1..=45_000))]
    base_port: u16,
    /// Port of the first vehicle's CopterSim; two more for each further one
    #[arg(long, value_name = "PORT", default_value_t = 30100, value_parser = clap::value_parser!(u16).range(1..=35_000))]
    model_base_port: u16,
    /// Added to every port of the simulator, so that several emulators can run
    #[arg(long, value_name = "N", default_value_t = 0)]
    port_offset: u16,
    /// Bandwidth of the simulated link; 0 sends bursts, which overflow small receive buffers
    #[arg(long, value_name = "GBIT/S", default_value_t = 10.0)]
    link: f64,
    /// Send heartbeats to 224.0.0.10, and take requests sent to 224.0.0.11:20008, 224.0.0.10:20009 and 224.0.0.10:20002, all on loopback
    #[arg(long)]
    multicast: bool,
    /// CopterSim sends data of a vehicle only to programs that requested it by unicast, as since version 4.12
    #[arg(long, conflicts_with = "multicast")]
    restricted_broadcasts: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Protocol")]
struct Protocol {
    /// Protocol of the autopilots (docs/emulator_autopilot.md); none: vehicles only follow their paths
    #[arg(long, value_name = "MODE", default_value = "mavlink_full", value_parser = ["none", "mavlink_full", "mavlink_simple", "mavlink_nosend", "mavlink_nogps", "udp_full", "udp_simple", "direct"])]
    autopilot: String,
    /// Port of the first autopilot with `--autopilot direct`; the others follow
    #[arg(long, value_name = "PORT", default_value_t = 14580)]
    direct_port: u16,
    /// Unit of the Euler angles in requests; type 9 always uses degrees
    #[arg(long, value_name = "UNIT", default_value = "degrees", value_parser = ["degrees", "radians"])]
    angle_unit: String,
    /// Header of image fragments: a (24 bytes) or b (32 bytes, with frame id)
    #[arg(long, value_name = "FORM", default_value = "b", value_parser = ["a", "b"])]
    fragment_header: String,
    /// Bytes of a frame per datagram if a request names none (`SendProtocol[6]`); simulators in WSL have 1400
    #[arg(long, value_name = "BYTES", default_value_t = 60_000, value_parser = clap::value_parser!(u16).range(1..=60_000))]
    piece_bytes: u16,
    /// Send frames in bursts that the kernel segments (UDP_SEGMENT), so that a receiver gets small datagrams as from a network card with GRO
    #[arg(long)]
    bursts: bool,
    /// Clouds of a simulator of April 2025 (i16), of its newer web page (f32), of December 2025 (2025-12), or the newest; or `28|36:i16|f32:none|label|rgb|auto`: bytes of the head, type of the numbers, meaning of the fourth number
    #[arg(long, value_name = "FORM", default_value = "newest")]
    cloud_format: CloudFormat,
    /// Axes of the clouds of depth cameras (type 7); those of simulators since January 2026 are not public
    #[arg(long, value_name = "AXES", default_value = "flu", value_parser = axes(["flu", "frd", "fru", "rdf"]))]
    depth_cloud_axes: BodyAxes,
    /// Axes of the accelerations of the IMU; those of simulators since January 2026 may be bld
    #[arg(long, value_name = "AXES", default_value = "frd", value_parser = axes(["frd", "bld", "flu"]))]
    imu_axes: BodyAxes,
    /// Axes of the odometry in clouds
    #[arg(long, value_name = "AXES", default_value = "ned", value_parser = axes(["ned", "nwu"]))]
    odometry_axes: BodyAxes,
    /// Send JPEG in mode 1 and PNG in mode 3, as in the newer vendor documents
    #[arg(long)]
    swap_codecs: bool,
    /// Length of a true-state packet
    #[arg(long, value_name = "BYTES", default_value = "168", value_parser = clap::builder::PossibleValuesParser::new(["200", "168", "112"]).map(|s| s.parse::<u16>().unwrap_or(168)))]
    state_packet: u16,
    /// Rate of the true state, in addition to one per render tick
    #[arg(long, value_name = "HZ", default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=2000))]
    state_rate: u32,
    /// Time between heartbeats
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    heartbeat_period: f64,
}

/// Parser of the axes that a simulator can have.
fn axes<const N: usize>(names: [&'static str; N]) -> impl TypedValueParser<Value = BodyAxes> {
    clap::builder::PossibleValuesParser::new(names).try_map(|name| name.parse::<BodyAxes>())
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Faults (shares of all datagrams, 0 to 1)")]
struct FaultArguments {
    /// Share of lost datagrams
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    loss: f64,
    /// Share of datagrams that arrive after their successor
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    reorder: f64,
    /// Share of duplicated datagrams
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    duplicate: f64,
    /// Share of corrupted datagrams
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    corrupt: f64,
    /// Delay of every datagram
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    delay_ms: f64,
    /// Maximum additional random delay
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    delay_jitter_ms: f64,
    /// Random seed; the same seed gives the same faults, textures, noise and random scans
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Datagrams that faults apply to
    #[arg(long, value_name = "WHICH", default_value = "data", value_parser = ["data", "images", "imu"])]
    fault_scope: String,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Tests")]
struct Tests {
    /// UDP port for commands: faults, restart, pause, resume, speed, stats, state (docs/emulator.md)
    #[arg(long, value_name = "PORT")]
    control: Option<u16>,
    /// Write one line of JSON per rendered frame: content, pose and time
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Write the uncompressed payload of every frame into this directory
    #[arg(long, value_name = "DIR")]
    truth_frames: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    // launch_ros appends `--ros-args` to every command; the emulator is no ROS node and ignores these arguments.
    let ros = ros_args::parse_os(std::env::args_os().skip(1))?;
    let arguments =
        Arguments::parse_from(std::iter::once("rflysim_emulator".to_owned()).chain(ros.rest));
    if let Some(text) = arguments.manual.wanted() {
        return std::io::stdout().write_all(&text?).context("cannot write the output");
    }
    // A blocked reader of the output must not stop the emulator.
    let output = OutputLog::of_process(std::io::stdout());
    tracing_subscriber::registry()
        .with(
            EnvFilter::builder().with_default_directive(LevelFilter::WARN.into()).from_env_lossy(),
        )
        .with(output.layer(std::io::stdout().is_terminal()))
        .init();
    note_panics();
    let (verbose, options) = (arguments.verbose, options(&arguments)?);
    let speed = options.speed;
    let emulator = Emulator::start(options, faults(&arguments.faults)?)?;
    let mut signals = Signals::listen().context("cannot listen to signals")?;
    output.say(&announcement(&arguments, &emulator, speed));
    while !signals.wait_for(Duration::from_secs(1)) {
        if verbose {
            output.say(&status(emulator.sim_time(), &emulator.stats()));
        }
    }
    output.say(&summary(&emulator.stop()));
    Ok(())
}

fn options(arguments: &Arguments) -> anyhow::Result<EmulatorOptions> {
    let Arguments { scene, sensors, network, protocol, faults, tests, .. } = arguments;
    let usual = Ports {
        direct: protocol.direct_port,
        autopilot: network.base_port,
        autopilot_client: network.base_port + 1,
        coptersim: network.model_base_port,
        true_state: network.model_base_port + 1,
        outputs: network.model_base_port + 10_001,
        ..Ports::default()
    };
    let ports = usual.shifted(network.port_offset).context("--port-offset is too large")?;
    if scene.battery.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
        bail!("--battery must be 0 to 100 percent");
    }
    if !(scene.speed > 0.0 && scene.speed.is_finite()) {
        bail!("--speed must be above 0");
    }
    if !(sensors.lidar_noise >= 0.0 && sensors.lidar_noise.is_finite()) {
        bail!("--lidar-noise must be 0 or above");
    }
    Ok(EmulatorOptions {
        ports,
        bind: network.bind,
        client: network.client,
        windows: network.windows,
        world: world(scene)?.within(match scene.scene.as_str() {
            "simple" => Scene::simple(),
            _ => Scene::yard(),
        }),
        seed: faults.seed,
        lidar_noise: sensors.lidar_noise,
        livox_pattern: match sensors.livox_pattern.as_str() {
            "rosette" => LivoxPattern::Rosette,
            _ => LivoxPattern::Repeating,
        },
        autopilot: control_mode(&protocol.autopilot),
        fixed_wing: scene.fixed_wing,
        battery: scene.battery,
        fence: scene.fence.as_deref().map(fence).transpose()?.unwrap_or_default(),
        angle_unit: if protocol.angle_unit == "radians" {
            AngleUnit::Radians
        } else {
            AngleUnit::Degrees
        },
        header: if protocol.fragment_header == "a" { HeaderVariant::A } else { HeaderVariant::B },
        piece_bytes: protocol.piece_bytes.into(),
        bursts: protocol.bursts,
        cloud_format: protocol.cloud_format,
        axes: WireAxes {
            depth: protocol.depth_cloud_axes,
            acceleration: protocol.imu_axes,
            odometry: protocol.odometry_axes,
        },
        state_packet: match protocol.state_packet {
            200 => StatePacket::Bytes200,
            112 => StatePacket::Bytes112,
            _ => StatePacket::Bytes168,
        },
        state_rate: protocol.state_rate,
        heartbeat_period: protocol.heartbeat_period,
        multicast: network.multicast,
        restricted: network.restricted_broadcasts,
        link_gbit_per_s: network.link,
        clock_drift_ppm: scene.clock_drift_ppm,
        speed: scene.speed,
        pattern: scene.pattern,
        swap_codecs: protocol.swap_codecs,
        truth: tests.truth.clone(),
        truth_frames: tests.truth_frames.clone(),
        control: tests.control,
    })
}

fn control_mode(name: &str) -> Option<ControlMode> {
    Some(match name {
        "mavlink_full" => ControlMode::MavlinkFull,
        "mavlink_simple" => ControlMode::MavlinkSimple,
        "mavlink_nosend" => ControlMode::MavlinkNoSend,
        "mavlink_nogps" => ControlMode::MavlinkNoGps,
        "udp_full" => ControlMode::UdpFull,
        "udp_simple" => ControlMode::UdpSimple,
        "direct" => ControlMode::Direct,
        _ => return None,
    })
}

fn world(scene: &SceneArguments) -> anyhow::Result<World> {
    if scene.grounded {
        let place = |i| [-20.0, 3.0 * f64::from(i), 0.0];
        return Ok(World::parked((0..scene.vehicles).map(place)));
    }
    if !scene.spawn.is_empty() {
        let places = scene.spawn.iter().map(|text| {
            let [north, east, yaw] = numbers("--spawn", text)?;
            Ok([north, east, yaw.to_radians()])
        });
        return Ok(World::parked(places.collect::<anyhow::Result<Vec<_>>>()?));
    }
    let poses = scene.pose.iter().map(|text| pose(text)).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(match (poses.is_empty(), scene.hover) {
        (false, _) => World::posed(poses),
        (true, true) => World::still(scene.vehicles),
        (true, false) if scene.route == "excite" => World::excited(scene.vehicles),
        (true, false) => World::flying(scene.vehicles),
    })
}

fn fence(text: &str) -> anyhow::Result<FenceLimits> {
    let [distance, height] = numbers("--fence", text)?;
    Ok(FenceLimits { distance, height })
}

fn pose(text: &str) -> anyhow::Result<Pose> {
    let [north, east, down, roll, pitch, yaw] = numbers("--pose", text)?;
    Ok(Pose::new([north, east, down], [roll, pitch, yaw].map(f64::to_radians)))
}

fn numbers<const N: usize>(option: &str, text: &str) -> anyhow::Result<[f64; N]> {
    let numbers = text.split(',').map(|n| n.trim().parse::<f64>()).collect::<Result<Vec<_>, _>>();
    let numbers = numbers.with_context(|| format!("{option} {text:?}"))?;
    let count = numbers.len();
    match numbers.try_into() {
        Ok(numbers) => Ok(numbers),
        Err(_) => bail!("{option} {text:?} has {count} numbers instead of {N}"),
    }
}

fn faults(arguments: &FaultArguments) -> anyhow::Result<Faults> {
    let shares = [arguments.loss, arguments.reorder, arguments.duplicate, arguments.corrupt];
    if shares.iter().any(|p| !(0.0..=1.0).contains(p)) {
        bail!("--loss, --reorder, --duplicate and --corrupt are shares from 0 to 1");
    }
    Ok(Faults {
        loss: arguments.loss,
        reorder: arguments.reorder,
        duplicate: arguments.duplicate,
        corrupt: arguments.corrupt,
        delay_ms: arguments.delay_ms,
        delay_jitter_ms: arguments.delay_jitter_ms,
        seed: arguments.seed,
        scope: match arguments.fault_scope.as_str() {
            "images" => FaultScope::Images,
            "imu" => FaultScope::Imu,
            _ => FaultScope::Data,
        },
    })
}

fn announcement(arguments: &Arguments, emulator: &Emulator, speed: f64) -> String {
    let ports = |list: &[std::net::SocketAddr]| {
        list.iter().map(|a| a.port().to_string()).collect::<Vec<_>>().join(", ")
    };
    let scene = &arguments.scene;
    let moves = if scene.grounded || !scene.spawn.is_empty() {
        "on the ground"
    } else if arguments.scene.hover || !arguments.scene.pose.is_empty() {
        "hovering"
    } else if scene.route == "excite" {
        "flying a route with motion along and about every axis"
    } else {
        "flying laps"
    };
    let mut lines = vec![
        format!("RflySim emulator on {}", arguments.network.bind),
        format!("  windows    UDP {}, waiting for sensor requests", ports(emulator.windows())),
        match emulator.coptersims() {
            [] => "  vehicles   none, no CopterSim".to_owned(),
            some => {
                format!("  vehicles   {} {moves}, CopterSim on UDP {}", some.len(), ports(some))
            }
        },
    ];
    if let (Some(first), Some(last)) = (emulator.autopilots().first(), emulator.autopilots().last())
    {
        lines.push(format!(
            "  autopilots {}, UDP {} to {}",
            arguments.protocol.autopilot,
            first.port(),
            last.port()
        ));
    }
    lines.push(format!(
        "  scene      {}; simulation time runs {speed} times as fast as the clock",
        match scene.scene.as_str() {
            "simple" => "ground, 9 boxes, a walker",
            _ => "a yard with trees, a building, a slope, 9 boxes, a walker",
        }
    ));
    if let Some(control) = emulator.control() {
        lines.push(format!("  commands   UDP {}", control.port()));
    }
    lines.push("Ctrl-C ends it.".to_owned());
    lines.join("\n")
}

fn status(sim_time: f64, stats: &Stats) -> String {
    let frames: u64 = stats.sensors.values().map(|s| s.frames).sum();
    let skipped: u64 = stats.sensors.values().map(|s| s.skipped).sum();
    format!(
        "t {sim_time:8.1} s   {} sensors   {frames} frames   {skipped} skipped   {} IMU samples   {} requests",
        stats.sensors.len(),
        stats.imu_samples,
        stats.requests
    )
}

fn summary(stats: &Stats) -> String {
    let mut lines =
        vec!["sensor  type    frames  skipped   harmed     busy  datagrams   errors".to_owned()];
    lines.extend(stats.sensors.iter().map(|(seq_id, s)| {
        format!(
            "{seq_id:6} {:5} {:9} {:8} {:8} {:8} {:10} {:8}",
            s.type_id, s.frames, s.skipped, s.harmed, s.busy, s.datagrams, s.errors
        )
    }));
    lines.push(format!(
        "{} IMU samples, {} true states, {} heartbeats; {} requests taken, {} datagrams refused",
        stats.imu_samples, stats.true_states, stats.heartbeats, stats.requests, stats.refused
    ));
    lines.join("\n")
}
