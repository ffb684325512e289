//! The subcommands `record`, `replay`, `inspect` and `anonymise`.
use super::{START_GRACE, bridge, middleware, seconds, write_out};
use anyhow::Context as _;
use clap::Args;
use rfly_bridge::config::ParamValue;
use rfly_bridge::config::ros_args::{self, ParamSource};
use rfly_bridge::node::{
    Beside, Bridge, Pace, Replay, Rosout, Settings, anonymise, follow_input, inspect,
};
use rfly_bridge::program::{Ended, Signals};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::oneshot::error::TryRecvError;

#[derive(Args)]
pub(super) struct RecordArgs {
    /// The recording, which must not exist.
    file: PathBuf,
    /// Ends after this number of seconds; by default with Ctrl-C.
    #[arg(long, value_name = "N", value_parser = seconds)]
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
    /// Another word to hide, such as the name of a company; may be given several times.
    #[arg(long = "hide", value_name = "WORD")]
    words: Vec<String>,
}

#[derive(Args)]
pub(super) struct ReplayArgs {
    /// The recording.
    file: PathBuf,
    /// Speed relative to the recording; 0: as fast as the bridge receives, without loss.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = seconds)]
    speed: f64,
    /// Begins this number of seconds after the beginning of the recording.
    #[arg(long, value_name = "N", default_value_t = 0.0, value_parser = seconds)]
    from: f64,
    /// Plays this number of seconds of the recording; by default all.
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: Option<f64>,
    /// Pause in seconds, for subscribers to find the topics before the first message, and to receive the last one.
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = seconds)]
    delay: f64,
    /// Waits for steps, typed (Enter, 20, 0.5s, go) or by the service `step_simulation`.
    #[arg(long)]
    step: bool,
    /// Plays although another bridge is in the graph.
    #[arg(long)]
    beside: bool,
}

/// Time to discover another bridge in the graph.
const DISCOVERY: Duration = Duration::from_secs(1);
/// Packages of the types of services of a bridge or of mavros.
const TYPES_OF_BRIDGES: [&str; 2] = ["rfly_bridge_msgs/", "mavros_msgs/"];

/// Interval of checks whether a recording has ended.
const LOOK: Duration = Duration::from_millis(200);

pub(super) fn record(args: ros_args::RosArgs, asked: RecordArgs) -> anyhow::Result<()> {
    let name = asked.file.display().to_string();
    let mut signals = Signals::listen()?;
    let started = signals.during(Duration::ZERO, move |_| {
        let settings = Settings::load(&args)?;
        for warning in &settings.warnings {
            tracing::warn!("{warning}");
        }
        let (settings, endpoints) = Bridge::endpoints(&settings)?;
        let places = (endpoints.ports.len(), endpoints.blocks.len());
        let beside = Beside::start(&asked.file, &settings, endpoints);
        let beside = beside.with_context(|| format!("cannot record {}", asked.file.display()))?;
        anyhow::Ok((beside, places))
    })?;
    let (beside, (ports, blocks)) = match started {
        Ended::Done(started) | Ended::Stopped(started) => started?,
        Ended::Abandoned => anyhow::bail!("interrupted"),
        Ended::Panicked => anyhow::bail!("a panic ended the start"),
    };
    tracing::info!("recording {name}: {ports} ports, {blocks} blocks of shared memory");
    let start = Instant::now();
    let limit = asked.seconds.map(Duration::from_secs_f64);
    while beside.runs() && limit.is_none_or(|limit| start.elapsed() < limit) {
        let left = limit.map_or(LOOK, |limit| limit.saturating_sub(start.elapsed()));
        if signals.wait_for(left.min(LOOK)) {
            break;
        }
    }
    let missed = beside.end();
    for (count, why) in [
        (
            missed.disk,
            "datagrams and frames are not in it: the disk is too slow",
        ),
        (
            missed.overflows,
            "datagrams arrived faster than they were read: raise net.core.rmem_max",
        ),
        (
            missed.refused,
            "datagrams are of other senders (accept_from)",
        ),
    ] {
        if count > 0 {
            tracing::warn!("{count} {why}");
        }
    }
    match missed.error {
        Some(error) => anyhow::bail!("the recording {name} has ended: {error}"),
        None => Ok(()),
    }
}

pub(super) fn replay(
    mut args: ros_args::RosArgs,
    asked: ReplayArgs,
    rosout: Rosout,
) -> anyhow::Result<()> {
    let name = asked.file.display().to_string();
    let failed = || format!("cannot play {name}");
    let mut recording = Replay::open(&asked.file).with_context(failed)?;
    let recorded = ros_args::parse(recording.arguments().with_context(failed)?)?;
    args.sources.splice(0..0, recorded.sources);
    // The page of a recording must not command vehicles of the present.
    let control = |source: &ParamSource| matches!(source, ParamSource::Value(name, _) if name == "view.control");
    if args.sources.iter().any(control) {
        tracing::warn!("view.control is ignored: a replay sends no commands");
    }
    let no_control = ParamSource::Value("view.control".to_owned(), ParamValue::Bool(false));
    args.sources.push(no_control);
    if !asked.beside {
        ensure_alone(&args)?;
    }
    let player = recording.install().with_context(failed)?;
    let gate = asked.step.then(|| recording.step_by_step());
    let pace = Pace {
        speed: asked.speed,
        from: Duration::from_secs_f64(asked.from),
        most: asked.seconds.map(Duration::from_secs_f64),
    };
    let delay = Duration::from_secs_f64(asked.delay);
    bridge(args, rosout, |signals| {
        if signals.wait_for(delay) {
            return Ok(());
        }
        tracing::info!("playing {name}, {:.1} s", recording.length().as_secs_f64());
        if let Some(gate) = gate {
            follow_input(gate)?;
        }
        let played = signals.during(START_GRACE, move |mut stop| {
            let ends = || !matches!(stop.try_recv(), Err(TryRecvError::Empty));
            let replayed = recording.play(player, pace, ends);
            player.end();
            replayed
        })?;
        let (Ended::Done(replayed) | Ended::Stopped(replayed)) = played else {
            anyhow::bail!("the replay does not end");
        };
        let replayed = replayed.with_context(failed)?;
        for (topic, count) in &replayed.unheard {
            tracing::warn!(
                "{count} messages of {topic} are not received: with these parameters the bridge does not listen there"
            );
        }
        for (what, count) in &replayed.bad {
            tracing::warn!("{count} messages cannot be played: {what}");
        }
        if let Some(why) = &replayed.cut_off {
            tracing::warn!("the recording is cut off: {why}");
        }
        tracing::info!("played {} datagrams and frames", replayed.taken);
        signals.wait_for(delay);
        Ok(())
    })
}

/// Two bridges in one graph would publish the same topics, and `/clock` of the past.
fn ensure_alone(args: &ros_args::RosArgs) -> anyhow::Result<()> {
    let middleware = middleware(args, "rfly_bridge_replay", false)?;
    std::thread::sleep(DISCOVERY);
    let mut servers = middleware.servers().into_iter();
    let other = servers.find(|server| {
        TYPES_OF_BRIDGES
            .iter()
            .any(|types| server.type_name.starts_with(types))
    });
    let Some(other) = other else {
        return Ok(());
    };
    anyhow::bail!(
        "a bridge or mavros runs in this graph (it serves {}): the topics of the recording, and /clock, would mix with its own. Choose another \
        ROS_DOMAIN_ID, or play with --beside",
        other.name
    )
}

pub(super) fn inspect_file(arguments: &InspectArgs) -> anyhow::Result<()> {
    let name = arguments.file.display();
    let found = inspect(&arguments.file).with_context(|| format!("cannot read {name}"))?;
    if arguments.json {
        return write_out(serde_json::to_string_pretty(&found)? + "\n");
    }
    write_out(found.text())
}

pub(super) fn anonymise_file(arguments: &AnonymiseArgs) -> anyhow::Result<()> {
    let (file, copy) = (&arguments.file, &arguments.copy);
    let failed = || format!("cannot copy {} to {}", file.display(), copy.display());
    let done = anonymise(file, copy, &arguments.words).with_context(failed)?;
    write_out(done.text())
}
