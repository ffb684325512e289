//! The bridge's command line; everything else is in the library.
#[path = "main/calib.rs"]
mod calib;
#[path = "main/graph.rs"]
mod graph;
#[path = "main/recordings.rs"]
mod recordings;
#[path = "main/router.rs"]
mod router;
#[path = "main/view.rs"]
mod view;

use anyhow::Context;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use recordings::{
    AnonymiseArgs, InspectArgs, RecordArgs, ReplayArgs, anonymise_file, inspect_file, record,
    replay,
};
use rfly_bridge::config::params::{self, Params};
use rfly_bridge::config::ros_args;
use rfly_bridge::doctor;
use rfly_bridge::node::{
    Bridge, EchoOptions, PublishOptions, Rosout, RosoutPublisher, Settings, TopicsOptions,
    UrdfForm, examine, robot_description, rosout, runtime, top,
};
use rfly_bridge::program::{
    Ended, OutputLog, Signals, completions, limit_that_causes, limits, man_pages, note_panics,
    parse_seconds, tell_ready, tell_stopping, within,
};
use rfly_bridge::ros::{Middleware, MiddlewareKind, Options, RosError, ZenohOptions};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::{process::ExitCode, time::Duration};
use tracing_subscriber::{EnvFilter, layer::SubscriberExt as _, util::SubscriberInitExt as _};

#[derive(Parser)]
#[command(name = "rfly_bridge", version, about = ABOUT, long_about = None, override_usage = USAGE)]
struct Cli {
    #[command(subcommand)]
    command: Option<CliCommand>,
}

/// One text for `-h` and `--help`, which fits a screen.
const ABOUT: &str = "ROS 2 bridge for the RflySim drone simulator.

  rfly_bridge Config.json -p simulator_address:=192.168.1.10

runs the bridge until Ctrl-C. All settings are ROS parameters; `rfly_bridge --help parameters` lists them.";
const USAGE: &str = "rfly_bridge [CONFIG.json]... [OPTIONS]
       rfly_bridge <COMMAND>";

#[derive(Subcommand)]
enum CliCommand {
    /// Finds faults of the set-up, and says what to type.
    ///
    /// Checks a running bridge, or else the simulator (docs/doctor.md); parameters as for the bridge. Exit code: 0 no fault,
    /// 1 warnings, 2 errors.
    Doctor(DoctorArgs),
    /// Shows what a running bridge publishes, as a page in a browser.
    ///
    /// For browsers, Foxglove and Lichtblick (docs/view.md). It subscribes to topics of the ROS graph while clients show them. With
    /// `-p view.port:=8765` the bridge serves the same page itself, without a detour through the middleware.
    View(view::ViewArgs),
    /// Shows rates, latencies and losses of all topics.
    ///
    /// By sensor and vehicle, measured by subscriptions (docs/top.md).
    Top(top::TopOptions),
    /// Prints the messages of a topic, as `ros2 topic echo`.
    ///
    /// The QoS is what all its publishers offer; docs/command_line.md has exit codes.
    Echo(EchoOptions),
    /// Publishes messages, as `ros2 topic pub`.
    Pub(PublishOptions),
    /// Lists the topics, as `ros2 topic list`.
    Topics(TopicsOptions),
    /// Lists, reads and sets parameters, as `ros2 param`.
    Param(graph::ParamArgs),
    /// Calls a service, as `ros2 service call`.
    Call(graph::CallArgs),
    /// Runs a Zenoh router, through which nodes on Zenoh find each other.
    ///
    /// Until Ctrl-C; as `ros2 run rmw_zenoh_cpp rmw_zenohd` (docs/zenoh.md). Only in programs built with Zenoh.
    Router,
    /// Prints a vehicle with its sensors as URDF.
    ///
    /// Parameters as for the bridge.
    Urdf(UrdfArgs),
    /// Writes the configuration of an algorithm that reads the topics.
    ///
    /// Parameters as for the bridge (docs/calib.md).
    Calib(calib::CalibArgs),
    /// Records what another program on this host receives.
    ///
    /// The other program loses no data, and nothing is sent (docs/record.md). Needs the capability CAP_NET_RAW. Parameters as for
    /// the bridge.
    Record(RecordArgs),
    /// Plays a raw recording through the bridge.
    ///
    /// One of `record` or of `record.raw`, in its simulation time (docs/record.md). The bridge uses the recorded configuration;
    /// parameters given here replace the recorded ones.
    Replay(ReplayArgs),
    /// Prints the contents and faults of a raw recording.
    Inspect(InspectArgs),
    /// Copies a raw recording without addresses and names.
    ///
    /// Prints what was replaced (docs/record.md).
    Anonymise(AnonymiseArgs),
    /// Prints the completions of a shell for this program.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Generates documents from tables in the code (for developers).
    Docs(DocsArgs),
}

/// Returns the command line with the options that `ros_args` removes before clap sees them: for `--help` and completions.
fn cli_command() -> Command {
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let options = [
        option("config", "FILE", "The simulator's Config.json").value_hint(ValueHint::FilePath),
        option("param", "NAME:=VALUE", "Sets a parameter; quote lists: -p 'vehicles:=[1, 2]'")
            .short('p')
            .value_hint(ValueHint::Other)
            .value_parser(PossibleValuesParser::new(params::completed_names()))
            .hide_possible_values(true),
        option("params-file", "FILE", "Sets the parameters of a file")
            .value_hint(ValueHint::FilePath),
        option("remap", "FROM:=TO", "Renames a topic; __ns:=/NAME, __node:=NAME").short('r'),
        option("log-level", "LEVEL", "Level of the log")
            .value_parser(["debug", "info", "warn", "error"])
            .hide_possible_values(true),
        option("middleware", "NAME", "dds, or zenoh (docs/zenoh.md)")
            .value_parser(["dds", "zenoh"])
            .hide_possible_values(true),
    ];
    let mut command = Cli::command().args(options.clone());
    for name in ["doctor", "urdf", "calib", "record", "replay"] {
        command = command.mut_subcommand(name, |command| command.args(options.clone()));
    }
    command
}

#[derive(Args)]
struct DoctorArgs {
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    /// How long to listen.
    #[arg(long, value_name = "N", default_value_t = 8.0, value_parser = parse_seconds)]
    seconds: f64,
}

#[derive(Args)]
struct UrdfArgs {
    /// A xacro macro with the argument `prefix` instead of the robot itself.
    #[arg(long)]
    xacro: bool,
    /// CopterID; by default the first vehicle.
    #[arg(long, value_name = "N")]
    vehicle: Option<u16>,
}

#[derive(Args)]
struct DocsArgs {
    /// Root of the source tree.
    #[arg(long, value_name = "DIR", default_value = ".")]
    write: PathBuf,
    /// Writes the manual pages into this directory instead.
    #[arg(long, value_name = "DIR")]
    man: Option<PathBuf>,
}

/// Time that interrupted work has to close its endpoints after a signal.
const START_GRACE: Duration = Duration::from_secs(3);
/// Time limit for stopping a bridge without vehicles.
const END_GRACE: Duration = Duration::from_secs(20);
/// Added for each vehicle: in a workspace, Fast DDS removes endpoints one by one, more slowly the more there are (20 vehicles:
/// more than 20 s).
const END_GRACE_PER_VEHICLE: Duration = Duration::from_secs(4);

fn main() -> ExitCode {
    let log = OutputLog::of_process(io::stderr());
    match run(&log) {
        Ok(code) => code,
        // The reader of the output has closed the pipe.
        Err(error) if io_errors(&error).any(|e| e.kind() == io::ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            let limit = io_errors(&error).map(limit_that_causes).collect::<String>();
            log.say(&format!("rfly_bridge: {error:#}{limit}"));
            ExitCode::FAILURE
        }
    }
}

fn io_errors(error: &anyhow::Error) -> impl Iterator<Item = &io::Error> {
    error.chain().filter_map(|cause| cause.downcast_ref())
}

fn run(log: &OutputLog) -> anyhow::Result<ExitCode> {
    let args = ros_args::words(std::env::args_os().skip(1)).and_then(ros_args::parse_bridge)?;
    // The doctor starts a bridge; its findings contain what that bridge would log.
    let is_quiet = args.rest.first().is_some_and(|word| word == "doctor");
    // The bridge itself reports the state of Zenoh's links; Zenoh would log every failed attempt to connect.
    const LEVEL: &str = "info,zenoh=error,zenoh_transport::unicast::establishment=off";
    let default_level = if is_quiet { "off" } else { LEVEL };
    let level = args.log_level.clone().unwrap_or_else(|| default_level.to_owned());
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let (layer, rosout) = rosout();
    tracing_subscriber::registry()
        .with(filter)
        .with(log.layer(io::stderr().is_terminal()))
        .with(layer)
        .init();
    note_panics();
    if let [help, "parameters"] = args.rest.iter().map(String::as_str).collect::<Vec<_>>()[..]
        && ["--help", "-h", "help"].contains(&help)
    {
        return write_out(params::render_help()).map(|()| ExitCode::SUCCESS);
    }
    let rest = std::iter::once("rfly_bridge".to_owned()).chain(args.rest.clone());
    let cli = match cli_command().try_get_matches_from(rest) {
        Ok(matches) => Cli::from_arg_matches(&matches)?,
        Err(error) => {
            error.print().context(OUTPUT_ERROR)?;
            std::process::exit(error.exit_code());
        }
    };
    match cli.command {
        Some(CliCommand::Doctor(doctor)) => return show_doctor(args, &doctor),
        None => run_bridge(args, rosout, |signals| {
            signals.wait();
            Ok(())
        }),
        Some(CliCommand::Replay(options)) => replay(args, options, rosout),
        Some(CliCommand::Record(options)) => record(args, options),
        Some(CliCommand::View(options)) => view::show(args, options),
        Some(CliCommand::Top(top)) => show_top(&args, top),
        Some(CliCommand::Call(call)) => graph::call_service(&args, call),
        Some(CliCommand::Echo(echo)) => graph::echo_topic(&args, echo),
        Some(CliCommand::Pub(publish)) => graph::publish_topic(&args, publish),
        Some(CliCommand::Topics(topics)) => graph::list_topics(&args, topics),
        Some(CliCommand::Param(param)) => graph::run_param(&args, param),
        Some(CliCommand::Router) => router::run(),
        Some(CliCommand::Urdf(urdf)) => print_urdf(&args, &urdf),
        Some(CliCommand::Calib(calib)) => calib::write(&args, calib),
        Some(CliCommand::Inspect(arguments)) => inspect_file(&arguments),
        Some(CliCommand::Anonymise(arguments)) => anonymise_file(&arguments),
        Some(CliCommand::Completions { shell }) => write_out(completions(cli_command(), shell)),
        Some(CliCommand::Docs(docs)) => match docs.man {
            Some(dir) => man_pages(cli_command(), &dir).context(OUTPUT_ERROR),
            None => write_docs(&docs.write),
        },
    }
    .map(|()| ExitCode::SUCCESS)
}

const OUTPUT_ERROR: &str = "cannot write the output";

fn run_bridge(
    args: ros_args::RosArgs,
    rosout: Rosout,
    work: impl FnOnce(&mut Signals) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut signals = Signals::listen()?;
    // A signal ends the process at once: nothing is open yet, and reading a file may block on a FIFO.
    let loaded = signals.during(Duration::ZERO, move |_| {
        let settings = Settings::load(&args);
        (args, settings)
    })?;
    let Ended::Done((args, settings)) = loaded else { return log_interrupted_start(loaded) };
    let settings = settings?;
    let vehicles = u32::try_from(settings.vehicles().len()).unwrap_or(u32::MAX);
    let grace = END_GRACE.saturating_add(END_GRACE_PER_VEHICLE.saturating_mul(vehicles));
    let started = signals.during(START_GRACE, move |_| start(&args, &settings, rosout))?;
    let (running, worked) = match started {
        Ended::Done(running) => {
            let running = running?;
            tell_ready();
            (running, work(&mut signals))
        }
        Ended::Stopped(running) => (running?, Ok(())),
        other => return log_interrupted_start(other),
    };
    tell_stopping();
    let ended = within(grace, move || {
        let (bridge, _rosout) = running;
        let departure = bridge.departure();
        drop(bridge);
        departure.wait();
        tracing::info!("stopped");
    });
    anyhow::ensure!(ended, "stopping takes longer than {grace:?}");
    worked
}

/// Returns the result of work. Errors: it was interrupted or panicked.
fn expect_done<T>(ended: Ended<T>, what: &str) -> anyhow::Result<T> {
    match ended {
        Ended::Done(result) => Ok(result),
        Ended::Stopped(_) | Ended::Abandoned => anyhow::bail!("interrupted"),
        Ended::Panicked => anyhow::bail!("a panic ended the {what}"),
    }
}

/// Logs how an interrupted start ended; only a panic is an error.
fn log_interrupted_start<T>(ended: Ended<T>) -> anyhow::Result<()> {
    match ended {
        Ended::Panicked => anyhow::bail!("a panic ended the start; the limit of {}", limits()),
        Ended::Abandoned => tracing::warn!("stopped while the start was still blocked"),
        Ended::Stopped(_) | Ended::Done(_) => tracing::info!("stopped while starting"),
    }
    Ok(())
}

fn start(
    args: &ros_args::RosArgs,
    settings: &Settings,
    rosout: Rosout,
) -> anyhow::Result<(Bridge, RosoutPublisher)> {
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    if !settings.sensors.is_empty() {
        let (unit, reason) = (settings.angle_unit.unit, &settings.angle_unit.reason);
        tracing::info!("mounting angles are in {unit:?}: {reason}");
    }
    settings.needs().check()?;
    let middleware = join_graph(args, &settings.node_name(), Some(&settings.params))?;
    let rosout = rosout.publish(&middleware)?;
    let bridge = Bridge::start(settings, &middleware)?;
    let writers = middleware.report();
    let topics: Vec<_> = writers.iter().map(|writer| writer.topic.as_str()).collect();
    for warning in settings.params.qos.problems_of_topics(&topics) {
        tracing::warn!("{warning}");
    }
    tracing::info!(
        "sensors: {}, vehicles: {}, simulator at {}",
        settings.sensors.len(),
        settings.vehicles().len(),
        settings.params.simulator_address
    );
    Ok((bridge, rosout))
}

fn show_doctor(args: ros_args::RosArgs, options: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let limit = Duration::from_secs_f64(options.seconds);
    // Nothing is open that must be closed: the process may end at once.
    let examined = signals.during(Duration::ZERO, move |_| {
        examine(&args, limit, || join_graph(&args, "rfly_bridge_doctor", None))
    })?;
    let found = expect_done(examined, "doctor")??;
    let json = options.json.then(|| format!("{:#}\n", doctor::to_json(&found)));
    write_out(json.unwrap_or_else(|| doctor::to_table(&found)))?;
    Ok(ExitCode::from(doctor::worst(&found) as u8))
}

fn show_top(args: &ros_args::RosArgs, options: top::TopOptions) -> anyhow::Result<()> {
    let mut signals = Signals::listen()?;
    let middleware = join_graph(args, "rfly_bridge_top", None)?;
    // `during` handles signals even while a suspended terminal blocks the output.
    let shown = signals.during(START_GRACE, move |stop| {
        runtime("the runtime")?.block_on(async {
            tokio::select! {
                shown = top::run(&middleware, &options) => shown,
                _ = stop => Ok(()),
            }
        })
    })?;
    match shown {
        Ended::Stopped(_) | Ended::Abandoned => Ok(()),
        ended => expect_done(ended, "table")?.context("cannot show the table"),
    }
}

fn print_urdf(args: &ros_args::RosArgs, urdf: &UrdfArgs) -> anyhow::Result<()> {
    let settings = Settings::load(args)?;
    let first = settings.vehicles().first().copied().unwrap_or(1);
    let form = if urdf.xacro { UrdfForm::Xacro } else { UrdfForm::Urdf };
    write_out(robot_description(&settings, urdf.vehicle.unwrap_or(first), form)?)
}

fn write_docs(root: &Path) -> anyhow::Result<()> {
    for (name, text) in [
        ("config/bridge.yaml", params::render_yaml()),
        ("docs/parameters.md", params::render_markdown()),
        ("docs/topics.md", rfly_bridge::node::topics_markdown()),
    ] {
        let path = root.join(name);
        let is_current = std::fs::read_to_string(&path).is_ok_and(|found| found == text);
        if !is_current {
            std::fs::write(&path, text)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        let state = if is_current { "is current" } else { "written" };
        write_out(format!("{name}: {state}\n"))?;
    }
    Ok(())
}

fn write_out(output: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(output.as_ref()).and_then(|()| out.flush()).context(OUTPUT_ERROR)
}

/// Joins the ROS graph; only a node that offers topics and services passes `params`.
fn join_graph(
    args: &ros_args::RosArgs,
    node_name: &str,
    params: Option<&Params>,
) -> Result<Middleware, RosError> {
    let megabytes = params.map_or(0, |params| params.zenoh_shared_memory_mb);
    let options = Options {
        middleware: args.middleware.as_deref().map(|name| match name {
            "zenoh" => MiddlewareKind::Zenoh,
            _ => MiddlewareKind::Dds,
        }),
        zenoh: ZenohOptions {
            shared_memory_bytes: usize::from(megabytes) * 1_000_000,
            ..ZenohOptions::default()
        },
        namespace: args.namespace.clone().unwrap_or_else(|| "/".to_owned()),
        remaps: args.remaps.clone(),
        fast_dds_services: params.is_some_and(|params| params.fast_dds_services),
        ..Options::new(args.node_name.as_deref().unwrap_or(node_name))
    };
    Middleware::join(&options.with_environment(|name| std::env::var(name).ok())?)
}
