//! Emulates the RflySim simulator on this machine.
use anyhow::{Context as _, bail};
use clap::{Args, CommandFactory as _, Parser};
use clap_complete::Shell;
use rfly_bridge::emulator::world::{Pose, Scene, World};
use rfly_bridge::emulator::{Emulator, EmulatorOptions, Faults, Stats};
use rfly_bridge::program::{OutputLog, Signals, completions, man_page, note_panics};
use rfly_bridge::{config::ros_args, emulator::autopilot::fence::FenceLimits, wire::Ports};
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;
use tracing_subscriber::{
    EnvFilter, filter::LevelFilter, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

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
    options: EmulatorOptions,
    #[command(flatten)]
    network: Network,
    #[command(flatten)]
    protocol: Protocol,
    #[command(flatten)]
    faults: Faults,
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
    fn text(&self) -> Option<std::io::Result<Vec<u8>>> {
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
    /// CopterID of the first vehicle
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=9751))]
    start_index: u16,
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
    /// Geofence: "distance from home,height above it" in m, 0 for no limit (GF_MAX_HOR_DIST, GF_MAX_VER_DIST)
    #[arg(long, value_name = "FENCE")]
    fence: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
struct Network {
    /// Port of the first vehicle's autopilot; higher by 2 for each further one (UDP_START_PORT)
    #[arg(long, value_name = "PORT", default_value_t = 20100, value_parser = clap::value_parser!(u16).range(1..=45_000))]
    base_port: u16,
    /// Port of the first vehicle's CopterSim; higher by 2 for each further one
    #[arg(long, value_name = "PORT", default_value_t = 30100, value_parser = clap::value_parser!(u16).range(1..=35_000))]
    model_base_port: u16,
    /// Added to every port of the simulator, so that several emulators can run
    #[arg(long, value_name = "N", default_value_t = 0)]
    port_offset: u16,
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
}

fn main() -> anyhow::Result<()> {
    // launch_ros appends `--ros-args` to every command; the emulator is no ROS node and ignores these arguments.
    let ros = ros_args::parse_os(std::env::args_os().skip(1))?;
    let arguments =
        Arguments::parse_from(std::iter::once("rflysim_emulator".to_owned()).chain(ros.rest));
    if let Some(text) = arguments.manual.text() {
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
    let emulator = Emulator::start(options(&arguments)?, arguments.faults)?;
    let mut signals = Signals::listen().context("cannot listen to signals")?;
    output.say(&announcement(&arguments, &emulator));
    while !signals.wait_for(Duration::from_secs(1)) {
        if arguments.verbose {
            output.say(&status(emulator.sim_time(), &emulator.stats()));
        }
    }
    output.say(&summary(&emulator.stop()));
    Ok(())
}

fn options(arguments: &Arguments) -> anyhow::Result<EmulatorOptions> {
    let Arguments { scene, options, network, protocol, faults, .. } = arguments;
    let ports = Ports {
        direct: protocol.direct_port,
        autopilot: network.base_port,
        autopilot_client: network.base_port + 1,
        coptersim: network.model_base_port,
        true_state: network.model_base_port + 1,
        outputs: network.model_base_port + 10_001,
        ..Ports::default()
    };
    if options.battery.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
        bail!("--battery must be 0 to 100 percent");
    }
    if !(options.speed > 0.0 && options.speed.is_finite()) {
        bail!("--speed must be above 0");
    }
    if !(-100_000.0..=100_000.0).contains(&options.clock_drift_ppm) {
        bail!("--clock-drift-ppm must be -100000 to 100000");
    }
    if !(options.lidar_noise >= 0.0 && options.lidar_noise.is_finite()) {
        bail!("--lidar-noise must be 0 or above");
    }
    // At the lower limit, a datagram of 64 KiB takes half a second.
    if options.link_gbit_per_s != 0.0 && !(0.001..).contains(&options.link_gbit_per_s) {
        bail!("--link must be 0 or at least 0.001 Gbit/s");
    }
    let shares = [faults.loss, faults.reorder, faults.duplicate, faults.corrupt];
    if shares.iter().any(|p| !(0.0..=1.0).contains(p)) {
        bail!("--loss, --reorder, --duplicate and --corrupt are shares from 0 to 1");
    }
    let map = if scene.scene == "simple" { Scene::simple() } else { Scene::yard() };
    let world = world(scene)?.with_scene(map).with_start_index(scene.start_index);
    if protocol.autopilot != "none" && world.vehicles.iter().any(|vehicle| vehicle.id > 255) {
        bail!(
            "--start-index gives CopterIDs above 255, which no MAVLink system has; set --autopilot none"
        );
    }
    Ok(EmulatorOptions {
        ports: ports.shifted(network.port_offset).context("--port-offset is too large")?,
        world,
        seed: faults.seed,
        autopilot: protocol.autopilot.parse().ok(),
        fence: scene.fence.as_deref().map(parse_fence).transpose()?.unwrap_or_default(),
        ..options.clone()
    })
}

fn world(scene: &SceneArguments) -> anyhow::Result<World> {
    if scene.grounded {
        let pose = |i| [-20.0, 3.0 * f64::from(i), 0.0];
        return Ok(World::parked((0..scene.vehicles).map(pose)));
    }
    if !scene.spawn.is_empty() {
        let poses = scene.spawn.iter().map(|text| {
            let [north, east, yaw] = parse_numbers("--spawn", text)?;
            Ok([north, east, yaw.to_radians()])
        });
        return Ok(World::parked(poses.collect::<anyhow::Result<Vec<_>>>()?));
    }
    let poses = scene.pose.iter().map(|text| {
        let [north, east, down, roll, pitch, yaw] = parse_numbers("--pose", text)?;
        Ok(Pose::new([north, east, down], [roll, pitch, yaw].map(f64::to_radians)))
    });
    let poses = poses.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(match (poses.is_empty(), scene.hover) {
        (false, _) => World::posed(poses),
        (true, true) => World::still(scene.vehicles),
        (true, false) if scene.route == "excite" => World::excited(scene.vehicles),
        (true, false) => World::flying(scene.vehicles),
    })
}

fn parse_fence(text: &str) -> anyhow::Result<FenceLimits> {
    let [distance, height] = parse_numbers("--fence", text)?;
    Ok(FenceLimits { distance, height })
}

fn parse_numbers<const N: usize>(option: &str, text: &str) -> anyhow::Result<[f64; N]> {
    let numbers = text.split(',').map(|n| n.trim().parse::<f64>()).collect::<Result<Vec<_>, _>>();
    let numbers = numbers.with_context(|| format!("{option} {text:?}"))?;
    let count = numbers.len();
    match numbers.try_into() {
        Ok(numbers) => Ok(numbers),
        Err(_) => bail!("{option} {text:?} has {count} numbers instead of {N}"),
    }
}

fn announcement(arguments: &Arguments, emulator: &Emulator) -> String {
    let ports = |list: &[std::net::SocketAddr]| {
        list.iter().map(|a| a.port().to_string()).collect::<Vec<_>>().join(", ")
    };
    let scene = &arguments.scene;
    let motion = if scene.grounded || !scene.spawn.is_empty() {
        "on the ground"
    } else if scene.hover || !scene.pose.is_empty() {
        "hovering"
    } else if scene.route == "excite" {
        "flying a route with motion along and about every axis"
    } else {
        "flying laps"
    };
    let mut lines = vec![
        format!("RflySim emulator on {}", arguments.options.bind),
        format!("  windows    UDP {}, waiting for sensor requests", ports(emulator.windows())),
        match emulator.coptersims() {
            [] => "  vehicles   none, no CopterSim".to_owned(),
            all => {
                format!("  vehicles   {} {motion}, CopterSim on UDP {}", all.len(), ports(all))
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
        "  scene      {}; simulation time runs {} times as fast as the clock",
        match scene.scene.as_str() {
            "simple" => "ground, 9 boxes, a walker",
            _ => "a yard with trees, a building, a slope, 9 boxes, a walker",
        },
        arguments.options.speed
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
