//! The subcommands on the ROS graph: `call`, `echo`, `pub`, `param` and `topics`.
use super::{START_GRACE, expect_done, join_graph, parse_seconds, write_out};
use clap::builder::{PossibleValuesParser, TypedValueParser as _, ValueParser};
use clap::{Args, Subcommand};
use rfly_bridge::config::params::{Choice, Durability, QosChange, QosPreset, Reliability};
use rfly_bridge::node::{
    EchoOptions, ParameterNode, PublishOptions, TopicsOptions, call, echo, labelled,
    parameter_nodes, publish, runtime, topics,
};
use rfly_bridge::program::{Ended, Signals};
use rfly_bridge::{config::ros_args::RosArgs, ros::Middleware, ros::call::ShortenOptions};
use std::time::Duration;

#[derive(Args)]
pub(super) struct CallArgs {
    /// Name of the service.
    service: String,
    /// Its type, such as `std_srvs/srv/Trigger`; by default that of the graph.
    #[arg(value_name = "TYPE")]
    type_name: Option<String>,
    /// The request in YAML, such as `{points: [{x: 1.5}]}`; missing fields have their defaults.
    #[arg(value_name = "YAML")]
    request: Option<String>,
    #[command(flatten)]
    wait: WaitArgs,
}

impl CallArgs {
    /// A single argument is the type if it contains `/srv/`, else the request.
    fn type_and_request(&self) -> (Option<&str>, &str) {
        match (self.type_name.as_deref(), self.request.as_deref()) {
            (Some(word), None) if !word.contains("/srv/") => (None, word),
            (type_name, request) => (type_name, request.unwrap_or_default()),
        }
    }
}

#[derive(Args)]
struct WaitArgs {
    /// Time limit of the search in the graph, and of each response.
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 5.0, value_parser = parse_seconds)]
    timeout: f64,
}

impl WaitArgs {
    fn limit(&self) -> Duration {
        Duration::from_secs_f64(self.timeout)
    }
}

#[derive(Args)]
struct QosArgs {
    /// Profile to start from.
    #[arg(long, value_name = "PROFILE", value_parser = profiles())]
    qos_profile: Option<QosPreset>,
    /// Depth of the history.
    #[arg(long, value_name = "N")]
    qos_depth: Option<u16>,
    /// `reliable` or `best_effort`.
    #[arg(long, value_name = "POLICY", value_parser = words(Reliability::CHOICES))]
    qos_reliability: Option<Reliability>,
    /// `volatile` or `transient_local`.
    #[arg(long, value_name = "POLICY", value_parser = words(Durability::CHOICES))]
    qos_durability: Option<Durability>,
}

impl QosArgs {
    fn change(&self) -> QosChange {
        QosChange {
            preset: self.qos_profile,
            reliability: self.qos_reliability,
            durability: self.qos_durability,
            history: None,
            depth: self.qos_depth,
        }
    }
}

fn words<T: Copy + Send + Sync + 'static>(words: &'static [(&'static str, T)]) -> ValueParser {
    let value = move |word: String| words.iter().find(|(known, _)| *known == word).map(|(_, v)| *v);
    let names = words.iter().map(|(word, _)| *word);
    PossibleValuesParser::new(names).try_map(move |word| value(word).ok_or("unknown")).into()
}

fn profiles() -> ValueParser {
    words(&[
        ("default", QosPreset::Default),
        ("sensor_data", QosPreset::SensorData),
        ("system_default", QosPreset::SystemDefault),
    ])
}

#[derive(Args)]
pub(super) struct EchoArgs {
    /// Name of the topic.
    topic: String,
    /// Its type; by default that of its publishers.
    #[arg(value_name = "TYPE")]
    type_name: Option<String>,
    /// Ends after the first message.
    #[arg(long)]
    once: bool,
    /// Prints only this field, such as `pose.position` or `ranges[3]`.
    #[arg(long, value_name = "PATH")]
    field: Option<String>,
    /// Prints the values of a message in one line, separated by commas.
    #[arg(long)]
    csv: bool,
    /// Prints arrays and texts of any length.
    #[arg(short, long)]
    full_length: bool,
    /// Length from which arrays and texts are cut off.
    #[arg(short = 'l', long, value_name = "N", default_value_t = 128)]
    truncate_length: usize,
    /// Prints only the length of arrays.
    #[arg(long)]
    no_arr: bool,
    /// Prints only the length of texts.
    #[arg(long)]
    no_str: bool,
    /// Time limit of the search for the topic (default: 5), and of the first message (default: none).
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<f64>,
    #[command(flatten)]
    qos: QosArgs,
}

#[derive(Args)]
pub(super) struct PubArgs {
    /// Name of the topic.
    topic: String,
    /// Its type, such as `geometry_msgs/msg/PoseStamped`.
    #[arg(value_name = "TYPE")]
    type_name: String,
    /// The message in YAML; missing fields have their defaults, `header: auto` and `stamp: now` the time of publishing.
    #[arg(value_name = "YAML", default_value = "")]
    message: String,
    /// Messages per second.
    #[arg(short, long, value_name = "HZ", default_value_t = 1.0, value_parser = parse_rate)]
    rate: f64,
    /// Publishes one message.
    #[arg(short = '1', long, conflicts_with = "times")]
    once: bool,
    /// Publishes N messages.
    #[arg(short, long, value_name = "N")]
    times: Option<u64>,
    /// Waits for N subscriptions (default: 1 with --once and --times, else 0).
    #[arg(short, long, value_name = "N")]
    wait_matching_subscriptions: Option<usize>,
    /// Time limit of that wait.
    #[arg(long, alias = "max-wait-time-secs", value_name = "SECONDS", default_value_t = 5.0, value_parser = parse_seconds)]
    timeout: f64,
    /// Prints every Nth message; 0 none.
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    print: u64,
    /// Waits N seconds after the last message, for its delivery.
    #[arg(long, value_name = "N", default_value_t = 0.1, value_parser = parse_seconds)]
    keep_alive: f64,
    #[command(flatten)]
    qos: QosArgs,
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| (0.001..=10_000.0).contains(rate));
    rate.ok_or_else(|| "must be a number from 0.001 to 10000".to_owned())
}

#[derive(Args)]
pub(super) struct TopicsArgs {
    /// Prints the types as well.
    #[arg(short = 't', long)]
    show_types: bool,
    /// Prints only the number of topics.
    #[arg(short, long)]
    count_topics: bool,
    /// Prints publishers and subscriptions with their numbers, and the offered QoS.
    #[arg(short, long)]
    verbose: bool,
    /// Time limit of discovery, which otherwise ends when nothing is new for 1 s.
    #[arg(long, alias = "spin-time", value_name = "SECONDS", default_value_t = 5.0, value_parser = parse_seconds)]
    timeout: f64,
}

#[derive(Args)]
pub(super) struct ParamArgs {
    #[command(subcommand)]
    command: ParamCommand,
    #[command(flatten)]
    wait: WaitArgs,
}

#[derive(Subcommand)]
enum ParamCommand {
    /// Lists the parameters of a node, or of all nodes.
    List {
        /// Name of the node, such as `/rfly_bridge`.
        node: Option<String>,
    },
    /// Prints values.
    Get {
        /// Name of the node.
        node: String,
        /// Names of the parameters.
        #[arg(required = true)]
        names: Vec<String>,
        /// Prints only the values.
        #[arg(long)]
        hide_type: bool,
    },
    /// Sets a parameter.
    Set {
        /// Name of the node.
        node: String,
        /// Name of the parameter.
        name: String,
        /// The value in YAML.
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Prints types, ranges and meaning.
    Describe {
        /// Name of the node.
        node: String,
        /// Names of the parameters.
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Prints all values of a node as a parameter file.
    Dump {
        /// Name of the node.
        node: String,
    },
}

pub(super) fn call_service(args: &RosArgs, arguments: CallArgs) -> anyhow::Result<()> {
    let response = on_graph(args, "rfly_bridge_call", async move |middleware| {
        let (type_name, request) = arguments.type_and_request();
        let limit = arguments.wait.limit();
        Ok(call(middleware, &arguments.service, type_name, request, limit).await?)
    })?;
    finish(response)
}

pub(super) fn echo_topic(args: &RosArgs, arguments: EchoArgs) -> anyhow::Result<()> {
    let limit = arguments.timeout.map(Duration::from_secs_f64);
    let options = EchoOptions {
        qos: arguments.qos.change(),
        topic: arguments.topic,
        type_name: arguments.type_name,
        once: arguments.once,
        field: arguments.field,
        csv: arguments.csv,
        shorten: ShortenOptions {
            length: (!arguments.full_length).then_some(arguments.truncate_length),
            no_arrays: arguments.no_arr,
            no_texts: arguments.no_str,
        },
        search: limit.unwrap_or(Duration::from_secs(5)),
        limit,
    };
    let is_endless = !options.once;
    let shown = on_graph(args, "rfly_bridge_echo", async move |middleware| {
        Ok(echo(middleware, &options).await?)
    })?;
    finish_endless(shown, is_endless)
}

pub(super) fn publish_topic(args: &RosArgs, arguments: PubArgs) -> anyhow::Result<()> {
    let times = if arguments.once { Some(1) } else { arguments.times };
    let options = PublishOptions {
        qos: arguments.qos.change(),
        topic: arguments.topic,
        type_name: arguments.type_name,
        message: arguments.message,
        period: Duration::from_secs_f64(arguments.rate.recip()),
        times,
        wait: arguments.wait_matching_subscriptions.unwrap_or(times.map_or(0, |_| 1)),
        limit: Duration::from_secs_f64(arguments.timeout),
        print: arguments.print,
        keep_alive: Duration::from_secs_f64(arguments.keep_alive),
    };
    let published = on_graph(args, "rfly_bridge_pub", async move |middleware| {
        Ok(publish(middleware, &options).await?)
    })?;
    finish_endless(published, times.is_none())
}

pub(super) fn list_topics(args: &RosArgs, arguments: TopicsArgs) -> anyhow::Result<()> {
    let options = TopicsOptions {
        types: arguments.show_types,
        count: arguments.count_topics,
        verbose: arguments.verbose,
        limit: Duration::from_secs_f64(arguments.timeout),
    };
    let listed = on_graph(args, "rfly_bridge_topics", async move |middleware| {
        Ok(topics(middleware, options).await?)
    })?;
    finish(listed)
}

pub(super) fn run_param(args: &RosArgs, arguments: ParamArgs) -> anyhow::Result<()> {
    let text = on_graph(args, "rfly_bridge_param", async move |middleware| {
        parameters_text(middleware, arguments).await
    })?;
    finish(text)
}

async fn parameters_text(middleware: &Middleware, arguments: ParamArgs) -> anyhow::Result<String> {
    let limit = arguments.wait.limit();
    let node_at = |node: &str| ParameterNode::new(middleware, node, limit);
    let lines =
        |lines: Vec<String>| lines.iter().map(|line| format!("  {line}\n")).collect::<String>();
    Ok(match arguments.command {
        ParamCommand::List { node: Some(node) } => lines(node_at(&node)?.list().await?),
        ParamCommand::List { node: None } => {
            let mut text = String::new();
            for node in parameter_nodes(middleware, limit).await? {
                // A node that does not answer must not hide the others.
                match node.list().await.map(lines) {
                    Ok(names) => text += &format!("{}:\n{names}", node.name()),
                    Err(error) => tracing::warn!("{error}"),
                }
            }
            text
        }
        ParamCommand::Get { node, names, hide_type } => {
            let values = node_at(&node)?.get(&names).await?;
            let shown = |value| if hide_type { format!("{value}") } else { labelled(value) };
            values.iter().map(|value| shown(value) + "\n").collect()
        }
        ParamCommand::Set { node, name, value } => {
            node_at(&node)?.set(&name, &value).await?;
            "Set parameter successful\n".to_owned()
        }
        ParamCommand::Describe { node, names } => node_at(&node)?.describe(&names).await?,
        ParamCommand::Dump { node } => node_at(&node)?.dump().await?,
    })
}

/// Runs work as a node of the graph; `None` if a signal ends it.
fn on_graph<T: Send + 'static>(
    args: &RosArgs,
    name: &str,
    work: impl AsyncFnOnce(&Middleware) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<Ended<anyhow::Result<Option<T>>>> {
    let mut signals = Signals::listen()?;
    let middleware = join_graph(args, name, None)?;
    let ended = signals.during(START_GRACE, move |stop| {
        runtime("the runtime")?.block_on(async {
            tokio::select! {
                done = work(&middleware) => done.map(Some),
                _ = stop => Ok(None),
            }
        })
    })?;
    Ok(ended)
}

fn finish(ended: Ended<anyhow::Result<Option<String>>>) -> anyhow::Result<()> {
    match expect_done(ended, "command")?? {
        Some(text) => write_out(text),
        None => anyhow::bail!("interrupted"),
    }
}

/// As [`finish`] without an output; a signal is the normal end of an endless command.
fn finish_endless(end: Ended<anyhow::Result<Option<()>>>, is_endless: bool) -> anyhow::Result<()> {
    match end {
        Ended::Stopped(Ok(None)) | Ended::Abandoned if is_endless => Ok(()),
        end => expect_done(end, "command")?.map(drop),
    }
}
