//! The bridge's command line; everything else is in the library.
use anyhow::Context;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use rfly_bridge::config::{params, ros_args};
use rfly_bridge::node::{
    Bridge, NODE_NAME, Rosout, Settings, UrdfForm, robot_description, rosout, top,
};
use rfly_bridge::ros::{Middleware, Options};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// ROS 2 bridge for the RflySim drone simulator.
///
/// Without a subcommand the bridge runs until Ctrl-C:
///
///   rfly_bridge --ros-args -p config:=Config.json -p simulator_address:=127.0.0.1
///
/// All settings are ROS parameters: `-p name:=value` or `--params-file FILE`; topics are renamed with
/// `-r from:=to`. `docs/parameters.md` explains each parameter.
#[derive(Parser)]
#[command(name = "rfly_bridge", version, verbatim_doc_comment, override_usage = USAGE)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

const USAGE: &str = "rfly_bridge [--ros-args [-p NAME:=VALUE]... [-r FROM:=TO]... [--params-file FILE]... [--log-level LEVEL]]
       rfly_bridge <COMMAND>";

#[derive(Subcommand)]
enum Command {
    /// Subscribes to every topic of the ROS graph and shows rate, latency and losses.
    Top(TopArgs),
    /// Prints a vehicle with its sensors as URDF; parameters as for the bridge (`--ros-args -p config:=...`).
    Urdf(UrdfArgs),
    /// Writes the documents that come from tables in the code (for developers, `make docs`).
    Docs(DocsArgs),
}

#[derive(Args)]
struct UrdfArgs {
    /// A xacro macro with the argument `prefix` instead of the robot itself.
    #[arg(long)]
    xacro: bool,
    /// CopterID; without it the first vehicle.
    #[arg(long, value_name = "N")]
    vehicle: Option<u16>,
}

#[derive(Args)]
struct DocsArgs {
    /// Root of the source tree.
    #[arg(long, value_name = "DIR", default_value = ".")]
    write: PathBuf,
}

#[derive(Args)]
struct TopArgs {
    /// Ends after this many seconds with a summary.
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Shows only topics that start with this.
    #[arg(long, default_value = "/")]
    prefix: String,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rfly_bridge: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let args = ros_args::parse(std::env::args().skip(1))?;
    let level = args.log_level.clone().unwrap_or_else(|| "info".to_owned());
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let terminal = tracing_subscriber::fmt::layer()
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let (layer, rosout) = rosout();
    tracing_subscriber::registry()
        .with(filter)
        .with(terminal)
        .with(layer)
        .init();
    let rest = std::iter::once("rfly_bridge".to_owned()).chain(args.rest.clone());
    let command = Cli::command().after_help(params::render_help());
    let cli = Cli::from_arg_matches(&command.get_matches_from(rest))?;
    match cli.command {
        None => bridge(&args, rosout),
        Some(Command::Top(top)) => show_top(&args, &top),
        Some(Command::Urdf(urdf)) => print_urdf(&args, &urdf),
        Some(Command::Docs(docs)) => write_docs(&docs.write),
    }
}

fn bridge(args: &ros_args::RosArgs, rosout: Rosout) -> anyhow::Result<()> {
    let mut signals = Signals::listen()?;
    let settings = Settings::load(args)?;
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    if !settings.sensors.is_empty() {
        tracing::info!(
            "mounting angles are in {:?}: {}",
            settings.angle_unit.unit,
            settings.angle_unit.reason
        );
    }
    let middleware = middleware(args, NODE_NAME)?;
    let _rosout = rosout.publish(&middleware)?;
    let bridge = Bridge::start(&settings, &middleware)?;
    let writers = middleware.report();
    let topics: Vec<_> = writers.iter().map(|writer| writer.topic.as_str()).collect();
    for warning in settings.params.qos.without_publisher(&topics) {
        tracing::warn!("{warning}");
    }
    tracing::info!(
        "sensors: {}, vehicles: {}, simulator at {}",
        settings.sensors.len(),
        settings.vehicles().len(),
        settings.params.simulator_address
    );
    let _signal = signals.until(std::future::pending::<()>());
    drop(bridge);
    tracing::info!("stopped");
    Ok(())
}

fn show_top(args: &ros_args::RosArgs, top: &TopArgs) -> anyhow::Result<()> {
    let mut signals = Signals::listen()?;
    let middleware = middleware(args, "rfly_bridge_top")?;
    let seconds = top.seconds.map(Duration::from_secs);
    signals
        .until(top::run(&middleware, &top.prefix, seconds))
        .unwrap_or(Ok(()))
        .context("the table cannot be shown")
}

fn print_urdf(args: &ros_args::RosArgs, urdf: &UrdfArgs) -> anyhow::Result<()> {
    let settings = Settings::load(args)?;
    let first = settings.vehicles().first().copied().unwrap_or(1);
    let form = if urdf.xacro {
        UrdfForm::Xacro
    } else {
        UrdfForm::Urdf
    };
    let text = robot_description(&settings, urdf.vehicle.unwrap_or(first), form)?;
    print!("{text}");
    Ok(())
}

fn write_docs(root: &Path) -> anyhow::Result<()> {
    for (name, text) in [
        ("config/bridge.yaml", params::render_yaml()),
        ("docs/parameters.md", params::render_markdown()),
        ("docs/topics.md", rfly_bridge::node::topics_markdown()),
    ] {
        let path = root.join(name);
        let current = std::fs::read_to_string(&path).is_ok_and(|found| found == text);
        if !current {
            std::fs::write(&path, text)
                .with_context(|| format!("{} cannot be written", path.display()))?;
        }
        println!("{name}: {}", if current { "is current" } else { "written" });
    }
    Ok(())
}

fn middleware(args: &ros_args::RosArgs, node_name: &str) -> anyhow::Result<Middleware> {
    let options = Options {
        namespace: args.namespace.clone().unwrap_or_else(|| "/".to_owned()),
        remaps: args.remaps.clone(),
        ..Options::new(args.node_name.as_deref().unwrap_or(node_name))
    };
    let options = options.with_environment(|name| std::env::var(name).ok())?;
    Ok(Middleware::join(&options)?)
}

/// Ctrl-C and SIGTERM. From `listen` on they end nothing by themselves, so that a start that they interrupt still ends
/// in order.
struct Signals {
    runtime: Runtime,
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (interrupt, terminate) = {
            let _guard = runtime.enter();
            (
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
            )
        };
        Ok(Self {
            runtime,
            interrupt,
            terminate,
        })
    }

    /// Runs `work` until it ends or a signal comes; `None`: a signal.
    fn until<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        self.runtime.block_on(async {
            tokio::select! {
                result = work => Some(result),
                _ = self.interrupt.recv() => None,
                _ = self.terminate.recv() => None,
            }
        })
    }
}
