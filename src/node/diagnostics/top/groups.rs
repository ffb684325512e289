//! Topics and statuses, grouped by sensor and vehicle.
use crate::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use crate::node::diagnostics::health::BELOW_ASKED;
use serde::{Serialize, Serializer};
use std::{collections::BTreeMap, str::FromStr};

/// Figures of a topic, measured by a subscription of this program.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TopicFigures {
    /// Full name.
    pub name: String,
    /// Type, such as `sensor_msgs/msg/Imu`.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Messages per second since the last table.
    pub hz: f64,
    /// Megabytes per second.
    pub mb_per_s: f64,
    /// Median and 99th percentile of the stamps' age on arrival in ms, of messages with a stamp.
    #[serde(serialize_with = "quantiles")]
    pub age_ms: Option<[f64; 2]>,
    /// Messages since the start.
    #[serde(rename = "received")]
    pub total: u64,
}

/// A topic of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TopicLine {
    /// Measured figures.
    #[serde(flatten)]
    pub figures: TopicFigures,
    /// Offered QoS, if `/diagnostics` has it.
    pub qos: Option<String>,
    /// Number of subscribers except this program, if `/diagnostics` has it.
    pub subscribers: Option<u64>,
    /// Subscribers that request a QoS that is not offered.
    pub incompatible: u64,
    /// Messages that the publisher dropped.
    pub dropped: u64,
}

/// State of a group, the best first.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupState {
    /// No fault.
    #[default]
    Ok,
    /// No data yet.
    Waiting,
    /// Data is dropped, or a subscriber gets none because of its QoS.
    Drops,
    /// Below the requested rate.
    Slow,
    /// Data stopped.
    Lost,
}

impl GroupState {
    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Waiting => "waiting",
            Self::Drops => "drops",
            Self::Slow => "slow",
            Self::Lost => "LOST",
        }
    }
}

/// A sensor, a vehicle, or the rest of the bridge.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Group {
    /// `sensor0 img_rgb`, `vehicle 1`, `bridge`.
    pub name: String,
    /// The worst state of its sources and topics.
    pub state: GroupState,
    /// Rate in Hz.
    pub hz: f64,
    /// Requested rate in Hz.
    pub asked_hz: Option<f64>,
    /// Age of the stamps of its main topic.
    #[serde(serialize_with = "quantiles")]
    pub age_ms: Option<[f64; 2]>,
    /// Megabytes per second of all its topics.
    pub mb_per_s: f64,
    /// Drops by cause, without zeros.
    pub drops: BTreeMap<String, u64>,
    /// Ignored messages by cause, without zeros; these are not losses.
    pub ignored: BTreeMap<String, u64>,
    /// Number of subscribers of all its topics, except this program.
    pub subscribers: u64,
    /// Its topics by name.
    pub topics: Vec<TopicLine>,
}

impl Group {
    /// Sum of all drops.
    pub fn dropped(&self) -> u64 {
        self.drops.values().sum()
    }
}

/// Serializes the median and the 99th percentile.
fn quantiles<S: Serializer>(ms: &Option<[f64; 2]>, serializer: S) -> Result<S::Ok, S::Error> {
    ms.map(|[p50, p99]| BTreeMap::from([("p50", p50), ("p99", p99)])).serialize(serializer)
}

/// Returns the groups, the worst first.
pub fn groups_of(topics: &[TopicFigures], report: &DiagnosticArray) -> Vec<Group> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    let statuses: Vec<_> = report.status.iter().map(|s| (short_name(s), s)).collect();
    for (name, status) in &statuses {
        let Some(key) = group_of_status(name) else { continue };
        add_status(groups.entry(key).or_default(), name, status);
    }
    for figures in topics {
        let status =
            statuses.iter().find(|(name, _)| name.strip_prefix("topic ") == Some(&figures.name));
        let key = group_of_topic(&figures.name, &groups);
        groups
            .entry(key)
            .or_default()
            .topics
            .push(line_of_topic(figures, status.map(|(_, status)| *status)));
    }
    let group = |(name, mut group): (String, Group)| {
        group.name = name;
        finish(&mut group);
        group
    };
    let mut groups: Vec<_> = groups.into_iter().map(group).collect();
    sort(&mut groups, SortOrder::Worst);
    groups
}

/// Sort order of groups.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SortOrder {
    /// The worst first.
    #[default]
    Worst,
    /// By name; numbers by value.
    Name,
    /// The most bytes first.
    Bytes,
    /// The oldest stamps first.
    Latency,
}

impl SortOrder {
    /// All orders with their names, in the sequence of the key `s`.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Worst, "worst"),
        (Self::Name, "name"),
        (Self::Bytes, "MB/s"),
        (Self::Latency, "latency"),
    ];
}

/// Sorts groups.
pub fn sort(groups: &mut [Group], order: SortOrder) {
    let name_key = |name: &str| {
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let number = digits.get(..end).and_then(|digits| digits.parse::<u64>().ok());
        let kind = name.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
        // Sensors, then vehicles, then the rest.
        let rank = ["sensor", "vehicle "].iter().position(|known| *known == kind);
        (rank.unwrap_or(2), number.unwrap_or(0), name.to_owned())
    };
    groups.sort_by_key(|group| name_key(&group.name));
    let age = |group: &Group| group.age_ms.map_or(-1.0, |[p50, _]| p50);
    match order {
        SortOrder::Name => {}
        SortOrder::Worst => groups.sort_by_key(|group| std::cmp::Reverse(group.state)),
        SortOrder::Bytes => groups.sort_by(|a, b| b.mb_per_s.total_cmp(&a.mb_per_s)),
        SortOrder::Latency => groups.sort_by(|a, b| age(b).total_cmp(&age(a))),
    }
}

/// The name of a status without the name of the node.
pub(super) fn short_name(status: &DiagnosticStatus) -> &str {
    let name = &status.name;
    name.split_once(": ").map_or(name, |(_, rest)| rest)
}

fn value<'a>(status: &'a DiagnosticStatus, key: &str) -> Option<&'a str> {
    let found = status.values.iter().find(|value| value.key == key);
    found.map(|value| value.value.as_str())
}

fn number<T: FromStr>(status: &DiagnosticStatus, key: &str) -> Option<T> {
    value(status, key)?.parse().ok()
}

fn group_of_status(name: &str) -> Option<String> {
    if is_sensor(name.split(' ').next().unwrap_or_default()) {
        return Some(name.to_owned());
    }
    if name.starts_with("clock of") {
        return None;
    }
    let (_, vehicle) = name.rsplit_once(" of vehicle ")?;
    Some(format!("vehicle {vehicle}"))
}

fn is_sensor(word: &str) -> bool {
    let number = word.strip_prefix("sensor");
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Topics below the prefix that belong to the only vehicle.
const VEHICLE_TOPICS: [&str; 4] = ["imu", "ground_truth", "model", "coptersim"];

fn group_of_topic(topic: &str, groups: &BTreeMap<String, Group>) -> String {
    let parts: Vec<_> = topic.split('/').filter(|part| !part.is_empty()).collect();
    if let Some(part) = parts.iter().find(|part| is_sensor(part)) {
        let known = groups.keys().find(|name| name.split(' ').next() == Some(part));
        return known.cloned().unwrap_or_else(|| (*part).to_owned());
    }
    let number_after = |part: &str, word: &str| part.strip_prefix(word)?.parse::<u16>().ok();
    let sole = || {
        let mut vehicles = groups.keys().filter(|name| name.starts_with("vehicle "));
        vehicles.next().filter(|_| vehicles.next().is_none()).cloned()
    };
    for (at, part) in parts.iter().enumerate() {
        let vehicle = number_after(part, "copter").or_else(|| number_after(part, "mavros"));
        if let Some(vehicle) = vehicle {
            return format!("vehicle {vehicle}");
        }
        if *part == "mavros" || (at > 0 && VEHICLE_TOPICS.contains(part)) {
            return sole().unwrap_or_else(|| "vehicle 1".to_owned());
        }
    }
    "bridge".to_owned()
}

fn add_status(group: &mut Group, name: &str, status: &DiagnosticStatus) {
    for (prefix, counts) in [("drop_", &mut group.drops), ("ignored_", &mut group.ignored)] {
        for found in &status.values {
            let Some(cause) = found.key.strip_prefix(prefix) else { continue };
            let count = found.value.parse::<u64>().ok();
            let Some(count) = count.filter(|count| *count > 0) else { continue };
            *counts.entry(cause.to_owned()).or_default() += count;
        }
    }
    let state = match value(status, "state") {
        Some("lost") => GroupState::Lost,
        Some("waiting") => GroupState::Waiting,
        _ if value(status, BELOW_ASKED).is_some() => GroupState::Slow,
        // Any other warning of a source with data is about new drops.
        Some(_) if status.level > 0 => GroupState::Drops,
        _ => GroupState::Ok,
    };
    group.state = group.state.max(state);
    // The rate of a vehicle is that of its autopilot.
    if name.starts_with("sensor") || name.starts_with("autopilot") {
        group.hz = number(status, "rate_hz").unwrap_or(group.hz);
        group.asked_hz = number(status, "asked_hz");
    }
}

fn line_of_topic(figures: &TopicFigures, status: Option<&DiagnosticStatus>) -> TopicLine {
    let count_of = |key| status.and_then(|status| number(status, key)).unwrap_or(0);
    TopicLine {
        figures: figures.clone(),
        qos: status.and_then(|status| value(status, "qos")).map(str::to_owned),
        // Except the subscription of this program.
        subscribers: status
            .and_then(|status| number(status, "subscribers"))
            .map(|all: u64| all.saturating_sub(1)),
        incompatible: count_of("incompatible_qos"),
        dropped: count_of("dropped") + count_of("torn"),
    }
}

/// Computes the sums and the state from the topics.
fn finish(group: &mut Group) {
    group.topics.sort_by(|a, b| a.figures.name.cmp(&b.figures.name));
    // `sum` would give -0 without topics.
    group.mb_per_s =
        group.topics.iter().map(|line| line.figures.mb_per_s).fold(0.0, |sum, rate| sum + rate);
    group.subscribers = group.topics.iter().filter_map(|line| line.subscribers).sum();
    let suffix = group.name.split(' ').nth(1).unwrap_or("imu").to_owned();
    let main = group.topics.iter().filter(|line| line.figures.age_ms.is_some());
    let main = main.max_by(|a, b| {
        let is_main = |line: &TopicLine| line.figures.name.ends_with(&format!("/{suffix}"));
        is_main(a).cmp(&is_main(b)).then(a.figures.hz.total_cmp(&b.figures.hz))
    });
    group.age_ms = main.and_then(|line| line.figures.age_ms);
    if group.hz == 0.0 && group.asked_hz.is_none() {
        group.hz = group.topics.iter().map(|line| line.figures.hz).fold(0.0, f64::max);
    }
    for line in &group.topics {
        if line.dropped > 0 {
            *group.drops.entry("published".to_owned()).or_default() += line.dropped;
        }
        if line.incompatible > 0 {
            group.state = group.state.max(GroupState::Drops);
        }
    }
}
