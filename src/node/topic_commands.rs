//! The commands `echo`, `pub` and `topics`, as `ros2 topic`.
use super::clock::host_now;
use super::service_call::{CommandError, poll_until};
use crate::config::did_you_mean;
use crate::config::params::{Choice as _, QosChange, QosPreset};
use crate::program::parse_seconds;
use crate::ros::call::{CallError, MessageType, MessageValue, ShortenOptions};
use crate::ros::{
    ConnectionsWatch, Durability, Middleware, Outcome, Qos, Reliability, SubscribedTopic, TopicInfo,
};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _, ValueParser};
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fmt::Write as _, sync::Arc, time::Duration};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};

/// The graph counts as discovered when it has not changed for this time.
const SETTLED: Duration = Duration::from_secs(1);
/// Messages that wait for the output.
const QUEUE: usize = 64;
/// Interval of checks for losses.
const CHECK_PERIOD: Duration = Duration::from_secs(1);

/// Changes of a QoS.
#[derive(Clone, Debug, Args)]
pub struct QosOptions {
    /// Profile to start from.
    #[arg(long, value_name = "PROFILE", value_parser = profiles())]
    pub qos_profile: Option<QosPreset>,
    /// Depth of the history.
    #[arg(long, value_name = "N")]
    pub qos_depth: Option<u16>,
    /// `reliable` or `best_effort`.
    #[arg(long, value_name = "POLICY", value_parser = words(Reliability::CHOICES))]
    pub qos_reliability: Option<Reliability>,
    /// `volatile` or `transient_local`.
    #[arg(long, value_name = "POLICY", value_parser = words(Durability::CHOICES))]
    pub qos_durability: Option<Durability>,
}

impl QosOptions {
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

/// Options of [`echo`].
#[derive(Clone, Debug, Args)]
pub struct EchoOptions {
    /// Name of the topic.
    pub topic: String,
    /// Its type; by default that of its publishers.
    #[arg(value_name = "TYPE")]
    pub type_name: Option<String>,
    /// Ends after the first message.
    #[arg(long)]
    pub once: bool,
    /// Prints only this field, such as `pose.position` or `ranges[3]`.
    #[arg(long, value_name = "PATH")]
    pub field: Option<String>,
    /// Prints the values of a message in one line, separated by commas.
    #[arg(long)]
    pub csv: bool,
    /// Prints arrays and texts of any length.
    #[arg(short, long)]
    pub full_length: bool,
    /// Maximum length of arrays and texts; `...` replaces the rest.
    #[arg(short = 'l', long, value_name = "N", default_value_t = 128)]
    pub truncate_length: usize,
    /// Prints only the length of arrays.
    #[arg(long)]
    pub no_arr: bool,
    /// Prints only the length of texts.
    #[arg(long)]
    pub no_str: bool,
    /// Time limit of the search for the topic (default: 5), and of the first message (default: none).
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Option<f64>,
    /// Changes of the QoS that fits all publishers.
    #[command(flatten)]
    pub qos: QosOptions,
}

impl EchoOptions {
    fn shorten(&self) -> ShortenOptions {
        ShortenOptions {
            length: (!self.full_length).then_some(self.truncate_length),
            no_arrays: self.no_arr,
            no_texts: self.no_str,
        }
    }
}

/// Prints the messages of a topic.
pub async fn echo(middleware: &Middleware, options: &EchoOptions) -> Result<(), CommandError> {
    let topic = middleware.resolve(&options.topic)?;
    let given = options.type_name.as_deref().map(MessageType::by_name).transpose()?;
    if let Some(message) = given {
        check_field(&message, options)?;
    }
    let (limit, shorten) = (options.timeout.map(Duration::from_secs_f64), options.shorten());
    let search = limit.unwrap_or(Duration::from_secs(5));
    let message = published_type(middleware, &topic, given, search).await?;
    check_field(&message, options)?;
    let offered = middleware.offered(&topic);
    let qos = options.qos.change().apply(offered.unwrap_or(Qos::SENSOR_DATA).with_depth(10));
    warn_of_mismatch(&topic, offered, qos);

    let (sender, mut messages) = mpsc::channel(QUEUE);
    let lost = Arc::new(AtomicU64::new(0));
    let count = lost.clone();
    // One element more than is shown, so that the output marks the array as cut off.
    let most = match (&options.field, shorten.no_arrays, shorten.length) {
        (None, false, Some(length)) => length.saturating_add(1),
        _ => usize::MAX,
    };
    let subscription = message.subscribe(middleware, &topic, qos, most, move |value| {
        if sender.try_send(value).is_err() {
            count.fetch_add(1, Ordering::Relaxed);
        }
    })?;
    let mut losses = Losses::default();
    let deadline = limit.map(|limit| Instant::now() + limit);
    let mut is_first = true;
    loop {
        losses.log(&topic, lost.load(Ordering::Relaxed), subscription.undecodable());
        let Ok(received) = tokio::time::timeout(CHECK_PERIOD, messages.recv()).await else {
            if is_first && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                let seconds = limit.unwrap_or_default().as_secs_f64();
                let text = format!("no message on {topic} within {seconds} s");
                return Err(CommandError::Graph(text));
            }
            continue;
        };
        // The channel does not close: the subscription holds the sender.
        let Some(value) = received else { return Ok(()) };
        print(&text_of(value?, &message, options)?)?;
        is_first = false;
        if options.once {
            return Ok(());
        }
    }
}

fn check_field(message: &MessageType, options: &EchoOptions) -> Result<(), CommandError> {
    if let Some(path) = &options.field {
        message.default_value()?.at(path).map_err(CommandError::Field)?;
    }
    Ok(())
}

/// The message as it is printed.
fn text_of(
    mut value: MessageValue,
    message: &MessageType,
    options: &EchoOptions,
) -> Result<String, CommandError> {
    if let Some(path) = &options.field {
        let found = value.at(path).map_err(CommandError::Field)?.cloned();
        let Some(found) = found else { return Ok(format!("# no {path} in this message\n---\n")) };
        value = found;
    }
    value.shorten(options.shorten());
    if options.csv {
        return Ok(value.to_csv() + "\n");
    }
    let yaml = value.to_yaml();
    let yaml =
        yaml.map_err(|why| CallError::Contents { type_name: message.name(), message: why })?;
    Ok(format!("{}\n---\n", yaml.trim_end_matches('\n')))
}

pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Messages that are not printed; the first ones are logged at once, later ones at most every 10 s.
#[derive(Default)]
struct Losses {
    logged: u64,
    last: Option<Instant>,
}

impl Losses {
    fn log(&mut self, topic: &str, slow: u64, undecodable: u64) {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= CHECK_PERIOD * 10);
        if slow + undecodable > self.logged && is_due {
            (self.logged, self.last) = (slow + undecodable, Some(Instant::now()));
            tracing::warn!(
                "{topic}: {slow} messages are not printed because the output is too slow, {undecodable} because they do not decode"
            );
        }
    }
}

fn warn_of_mismatch(topic: &str, offered: Option<Qos>, wanted: Qos) {
    let Some(offered) = offered else { return };
    let reliability = (offered.reliability, wanted.reliability);
    let durability = (offered.durability, wanted.durability);
    if reliability == (Reliability::BestEffort, Reliability::Reliable) {
        tracing::warn!(
            "{topic} has a publisher that offers best_effort: a reliable subscription receives nothing from it"
        );
    }
    if durability == (Durability::Volatile, Durability::TransientLocal) {
        tracing::warn!(
            "{topic} has a publisher that offers volatile: a transient_local subscription receives nothing from it"
        );
    }
}

/// Finds the type of a topic by its publishers; without publishers it is the given one.
async fn published_type(
    middleware: &Middleware,
    topic: &str,
    given: Option<MessageType>,
    limit: Duration,
) -> Result<MessageType, CommandError> {
    let types = || {
        let topics = middleware.topics().into_iter().filter(|info| info.name == topic);
        let types: Vec<_> = topics.map(|info| info.type_name).collect();
        (!types.is_empty()).then_some(types)
    };
    let found = poll_until(limit, types).await;
    let other = |types: &[String], advice: &str| {
        CommandError::Graph(format!("{topic} is {}; {advice}", types.join(" and ")))
    };
    match (given, found.as_deref()) {
        (Some(message), Some(types)) if !types.iter().any(|found| found == message.name()) => {
            Err(other(types, &format!("expected {}", message.name())))
        }
        (Some(message), _) => Ok(message),
        (None, Some([name])) => Ok(MessageType::by_name(name)?),
        (None, Some(types)) => Err(other(types, "write one of these types after the topic")),
        (None, None) => {
            let topics = middleware.topics();
            let hint = did_you_mean(topic, topics.iter().map(|info| info.name.as_str()));
            let seconds = limit.as_secs_f64();
            let text = format!("nobody publishes {topic} within {seconds} s{hint}");
            Err(CommandError::Graph(text))
        }
    }
}

/// Options of [`publish`].
#[derive(Clone, Debug, Args)]
pub struct PublishOptions {
    /// Name of the topic.
    pub topic: String,
    /// Its type, such as `geometry_msgs/msg/PoseStamped`.
    #[arg(value_name = "TYPE")]
    pub type_name: String,
    /// The message in YAML; missing fields have their defaults, `header: auto` and `stamp: now` the time of publishing.
    #[arg(value_name = "YAML", default_value = "")]
    pub message: String,
    /// Messages per second.
    #[arg(short, long, value_name = "HZ", default_value_t = 1.0, value_parser = parse_rate)]
    pub rate: f64,
    /// Publishes one message.
    #[arg(short = '1', long, conflicts_with = "times")]
    pub once: bool,
    /// Publishes N messages.
    #[arg(short, long, value_name = "N")]
    pub times: Option<u64>,
    /// Waits for N subscriptions (default: 1 with --once and --times, else 0).
    #[arg(short, long, value_name = "N")]
    pub wait_matching_subscriptions: Option<usize>,
    /// Time limit of the wait for subscriptions.
    #[arg(long, alias = "max-wait-time-secs", value_name = "SECONDS", default_value_t = 5.0, value_parser = parse_seconds)]
    pub timeout: f64,
    /// Prints every Nth message; 0 prints none.
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub print: u64,
    /// Waits N seconds after the last message, for its delivery.
    #[arg(long, value_name = "N", default_value_t = 0.1, value_parser = parse_seconds)]
    pub keep_alive: f64,
    /// Changes of the default QoS: reliable, transient local, depth 1.
    #[command(flatten)]
    pub qos: QosOptions,
}

impl PublishOptions {
    /// Returns the number of messages; `None` means endless.
    pub fn count(&self) -> Option<u64> {
        if self.once { Some(1) } else { self.times }
    }
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| (0.001..=10_000.0).contains(rate));
    rate.ok_or_else(|| "must be a number from 0.001 to 10000".to_owned())
}

/// Publishes a message once, several times, or without end.
pub async fn publish(
    middleware: &Middleware,
    options: &PublishOptions,
) -> Result<(), CommandError> {
    let message = MessageType::by_name(&options.type_name)?;
    let qos = options.qos.change().apply(Qos::LATCHED);
    let publisher = message.publisher(middleware, &options.topic, qos, &options.message)?;
    let topic = publisher.topic().to_owned();
    let times = options.count();
    let wanted = options.wait_matching_subscriptions.unwrap_or(times.map_or(0, |_| 1));
    let matched = || (publisher.subscribers() >= wanted).then_some(());
    if matched().is_none() {
        let mut connections = middleware.connections()?;
        if poll_until(Duration::from_secs_f64(options.timeout), matched).await.is_none() {
            let (name, found, seconds) = (message.name(), publisher.subscribers(), options.timeout);
            let hint = subscribed_hint(&mut connections, &topic, name);
            return Err(CommandError::Graph(format!(
                "{topic} has {found} subscriptions of type {name} after {seconds} s, expected {wanted}{hint} (-w 0 waits for none)"
            )));
        }
    }
    let period = Duration::from_secs_f64(options.rate.recip());
    let mut clock = tokio::time::interval(period.max(Duration::from_micros(1)));
    clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let (mut sent, mut refused) = (0, 0_u64);
    while times.is_none_or(|times| sent < times) {
        clock.tick().await;
        if publisher.publish(host_now())? != Outcome::Sent {
            refused += 1;
            tracing::warn!(
                "{topic}: message {} is not sent, a reader is too slow; {refused} so far",
                sent + 1
            );
        }
        sent += 1;
        if options.print > 0 && sent % options.print == 0 {
            print(&format!("publishing #{sent}\n"))?;
        }
    }
    tokio::time::sleep(Duration::from_secs_f64(options.keep_alive)).await;
    Ok(())
}

/// Returns the other type with which the topic is subscribed to, else a similar name of a topic that has subscribers.
fn subscribed_hint(connections: &mut ConnectionsWatch, topic: &str, type_name: &str) -> String {
    let subscribed = connections.subscribed();
    let same_name =
        subscribed.iter().find(|other| other.name == topic && other.type_name != type_name);
    match same_name {
        Some(other) => format!("; it is subscribed to as {}", other.type_name),
        None => did_you_mean(topic, subscribed.iter().map(|other| other.name.as_str())),
    }
}

/// Options of [`topics`].
#[derive(Clone, Copy, Debug, Args)]
pub struct TopicsOptions {
    /// Prints the types as well.
    #[arg(short = 't', long)]
    pub show_types: bool,
    /// Prints only the number of topics.
    #[arg(short, long)]
    pub count_topics: bool,
    /// Prints publishers and subscriptions with their numbers, and the offered QoS.
    #[arg(short, long)]
    pub verbose: bool,
    /// Time limit of discovery, which otherwise ends when nothing is new for 1 s.
    #[arg(long, alias = "spin-time", value_name = "SECONDS", default_value_t = 5.0, value_parser = parse_seconds)]
    pub timeout: f64,
}

/// Lists the topics of the graph.
pub async fn topics(
    middleware: &Middleware,
    options: TopicsOptions,
) -> Result<String, CommandError> {
    let limit = Duration::from_secs_f64(options.timeout);
    let mut connections = middleware.connections()?;
    let (published, subscribed) = discovered(middleware, &mut connections, limit).await;
    if published.is_empty() && subscribed.is_empty() {
        let seconds = options.timeout;
        return Err(CommandError::Graph(format!(
            "no topics in the graph within {seconds} s; set ROS_DOMAIN_ID as in the other programs"
        )));
    }
    let mut text = String::new();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    if options.verbose {
        text.push_str("Published topics:\n");
        for TopicInfo { name, type_name, publishers, .. } in &published {
            let offered = middleware.offered(name).unwrap_or_default();
            let qos = format!("{}, {}", offered.reliability.name(), offered.durability.name());
            let s = plural(*publishers);
            let _ = writeln!(text, " * {name} [{type_name}] {publishers} publisher{s}, {qos}");
        }
        text.push_str("\nSubscribed topics:\n");
        for SubscribedTopic { name, type_name, subscribers } in &subscribed {
            let s = plural(*subscribers);
            let _ = writeln!(text, " * {name} [{type_name}] {subscribers} subscriber{s}");
        }
        return Ok(text);
    }
    let published = published.iter().map(|topic| (&topic.name, &topic.type_name));
    let subscribed = subscribed.iter().map(|topic| (&topic.name, &topic.type_name));
    let all: std::collections::BTreeSet<_> = published.chain(subscribed).collect();
    if options.count_topics {
        return Ok(format!("{}\n", all.len()));
    }
    for (name, type_name) in all {
        let _ = match options.show_types {
            true => writeln!(text, "{name} [{type_name}]"),
            false => writeln!(text, "{name}"),
        };
    }
    Ok(text)
}

/// Returns the topics, without hidden ones, when the graph has not changed for [`SETTLED`].
async fn discovered(
    middleware: &Middleware,
    connections: &mut ConnectionsWatch,
    limit: Duration,
) -> (Vec<TopicInfo>, Vec<SubscribedTopic>) {
    let is_shown = |name: &str| !name.split('/').any(|part| part.starts_with('_'));
    let mut last = (Vec::new(), Vec::new());
    let mut since = Instant::now();
    let settled = poll_until(limit, || {
        let (mut published, mut subscribed) = (middleware.topics(), connections.subscribed());
        published.retain(|topic| is_shown(&topic.name));
        subscribed.retain(|topic| is_shown(&topic.name));
        let now = (published, subscribed);
        if now != last {
            (last, since) = (now, Instant::now());
        }
        (last != (Vec::new(), Vec::new()) && since.elapsed() >= SETTLED).then_some(())
    });
    settled.await;
    last
}
