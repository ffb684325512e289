//! The subcommands `record`, `replay`, `inspect` and `anonymise`.
use super::{START_GRACE, expect_done, join_graph, run_bridge, write_out};
use anyhow::Context as _;
use clap::Args;
use rfly_bridge::config::ParamValue;
use rfly_bridge::config::ros_args::{self, ParamSource};
use rfly_bridge::node::{
    Bridge, PassiveRecorder, PlaybackOptions, Replay, Rosout, Settings, anonymise, inspect,
    read_steps,
};
use rfly_bridge::program::{Ended, Signals, parse_seconds};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::oneshot::error::TryRecvError;

#[derive(Args)]
pub(super) struct RecordArgs {
    /// The new recording, which must not exist.
    file: PathBuf,
    /// Ends after N seconds; otherwise Ctrl-C ends the recording.
    #[arg(long, value_name = "N", value_parser = parse_seconds)]
    seconds: Option<f64>,
}

#[derive(Args)]
pub(super) struct InspectArgs {
    /// The recording.
    file: PathBuf,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct AnonymiseArgs {
    /// The recording.
    file: PathBuf,
    /// The copy, which must not exist.
    copy: PathBuf,
    /// Masks this word, too, such as the name of a company; may be repeated.
    #[arg(long = "hide", value_name = "WORD")]
    words: Vec<String>,
}

#[derive(Args)]
pub(super) struct ReplayArgs {
    /// The recording.
    file: PathBuf,
    /// Factor of the recorded speed; 0: as fast as the bridge processes it, without losses.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = parse_seconds)]
    speed: f64,
    /// Starts N seconds after the start of the recording.
    #[arg(long, value_name = "N", default_value_t = 0.0, value_parser = parse_seconds)]
    from: f64,
    /// Plays N seconds of the recording; otherwise to its end.
    #[arg(long, value_name = "N", value_parser = parse_seconds)]
    seconds: Option<f64>,
    /// Waits N seconds before the first message, for subscribers to discover the topics, and after the last.
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = parse_seconds)]
    delay: f64,
    /// Plays in steps, from the standard input (Enter, 20, 0.5s, go) or the service `step_simulation`.
    #[arg(long)]
    step: bool,
    /// Plays also if another bridge is in the graph.
    #[arg(long)]
    beside: bool,
}

const DISCOVERY_TIME: Duration = Duration::from_secs(1);
/// Packages of the service types that only bridges and mavros serve.
const BRIDGE_PACKAGES: [&str; 2] = ["rfly_bridge_msgs/", "mavros_msgs/"];

/// How often `record` checks whether the recording has ended.
const CHECK_PERIOD: Duration = Duration::from_millis(200);

pub(super) fn record(args: ros_args::RosArgs, options: RecordArgs) -> anyhow::Result<()> {
    let name = options.file.display().to_string();
    let mut signals = Signals::listen()?;
    let started = signals.during(Duration::ZERO, move |_| {
        let settings = Settings::load(&args)?;
        for warning in &settings.warnings {
            tracing::warn!("{warning}");
        }
        let (settings, endpoints) = Bridge::endpoints(&settings)?;
        let counts = (endpoints.ports.len(), endpoints.blocks.len());
        let recorder = PassiveRecorder::start(&options.file, &settings, endpoints);
        let recorder =
            recorder.with_context(|| format!("cannot record {}", options.file.display()))?;
        anyhow::Ok((recorder, counts))
    })?;
    let (recorder, (ports, blocks)) = expect_done(started, "start")??;
    tracing::info!("recording {name}: {ports} ports, {blocks} blocks of shared memory");
    let start = Instant::now();
    let limit = options.seconds.map(Duration::from_secs_f64);
    while recorder.is_running() && limit.is_none_or(|limit| start.elapsed() < limit) {
        let left = limit.map_or(CHECK_PERIOD, |limit| limit.saturating_sub(start.elapsed()));
        if signals.wait_for(left.min(CHECK_PERIOD)) {
            break;
        }
    }
    let losses = recorder.end();
    for (count, why) in [
        (losses.disk, "datagrams and frames are not in the recording: the disk is too slow"),
        (losses.overflows, "datagrams were lost in the receive buffer: raise net.core.rmem_max"),
        (losses.refused, "datagrams of other senders were refused; accept_from accepts them"),
    ] {
        if count > 0 {
            tracing::warn!("{count} {why}");
        }
    }
    match losses.error {
        Some(error) => anyhow::bail!("the recording {name} has ended: {error}"),
        None => Ok(()),
    }
}

pub(super) fn replay(
    mut args: ros_args::RosArgs,
    options: ReplayArgs,
    rosout: Rosout,
) -> anyhow::Result<()> {
    let name = options.file.display().to_string();
    let failed = || format!("cannot play {name}");
    let mut recording = Replay::open(&options.file).with_context(failed)?;
    let recorded = ros_args::parse(recording.arguments().with_context(failed)?)?;
    args.sources.splice(0..0, recorded.sources);
    // The page shows recorded vehicles; it must not command real ones.
    let is_control = |source: &ParamSource| matches!(source, ParamSource::Value(name, _) if name == "view.control");
    if args.sources.iter().any(is_control) {
        tracing::warn!("view.control is ignored: a replay sends no commands");
    }
    args.sources.push(ParamSource::Value("view.control".to_owned(), ParamValue::Bool(false)));
    if !options.beside {
        ensure_no_other_bridge(&args)?;
    }
    let player = recording.install().with_context(failed)?;
    let gate = options.step.then(|| recording.step_by_step());
    let playback = PlaybackOptions {
        speed: options.speed,
        from: Duration::from_secs_f64(options.from),
        duration: options.seconds.map(Duration::from_secs_f64),
    };
    let delay = Duration::from_secs_f64(options.delay);
    run_bridge(args, rosout, |signals| {
        if signals.wait_for(delay) {
            return Ok(());
        }
        tracing::info!("playing {name}, {:.1} s", recording.length().as_secs_f64());
        if let Some(gate) = gate {
            read_steps(gate)?;
        }
        let played = signals.during(START_GRACE, move |mut stop| {
            let is_stopped = || !matches!(stop.try_recv(), Err(TryRecvError::Empty));
            let report = recording.play(player, playback, is_stopped);
            player.end();
            report
        })?;
        let (Ended::Done(report) | Ended::Stopped(report)) = played else {
            anyhow::bail!("the replay does not end");
        };
        let report = report.with_context(failed)?;
        for (topic, count) in &report.not_received {
            tracing::warn!(
                "{count} messages of {topic} are not received: the bridge does not open this port or block with these parameters"
            );
        }
        for (key, count) in &report.invalid {
            tracing::warn!("{count} messages cannot be played: {key}");
        }
        if let Some(why) = &report.cut_off {
            tracing::warn!("the recording is cut off: {why}");
        }
        tracing::info!("played {} datagrams and frames", report.received);
        signals.wait_for(delay);
        Ok(())
    })
}

/// Refuses a replay next to a bridge: both would publish the same topics, and the replay a `/clock` of the past.
fn ensure_no_other_bridge(args: &ros_args::RosArgs) -> anyhow::Result<()> {
    let middleware = join_graph(args, "rfly_bridge_replay", None)?;
    std::thread::sleep(DISCOVERY_TIME);
    let is_bridge = |type_name: &str| BRIDGE_PACKAGES.iter().any(|p| type_name.starts_with(p));
    match middleware.servers().into_iter().find(|server| is_bridge(&server.type_name)) {
        None => Ok(()),
        Some(other) => anyhow::bail!(
            "a bridge or mavros runs in this graph (it serves {}): its topics and /clock would mix with those of the recording. Choose \
             another ROS_DOMAIN_ID, or replay with --beside",
            other.name
        ),
    }
}

pub(super) fn inspect_file(arguments: &InspectArgs) -> anyhow::Result<()> {
    let name = arguments.file.display();
    let report = inspect(&arguments.file).with_context(|| format!("cannot read {name}"))?;
    if arguments.json {
        return write_out(serde_json::to_string_pretty(&report)? + "\n");
    }
    write_out(report.text())
}

pub(super) fn anonymise_file(arguments: &AnonymiseArgs) -> anyhow::Result<()> {
    let (file, copy) = (&arguments.file, &arguments.copy);
    let failed = || format!("cannot copy {} to {}", file.display(), copy.display());
    let report = anonymise(file, copy, &arguments.words).with_context(failed)?;
    write_out(report.text())
}
