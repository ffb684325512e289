//! Records the topics of this node in a bag: the serialized messages of its publishers.
use super::bag::{McapTopic, QOS};
use super::mcap_file::McapSink;
use crate::config::{Params, params::RecordDepth};
use crate::msgs::definition;
use crate::node::clock::host_now;
use crate::ros::{Durability, History, Qos, Reliability, Tap, TapReader, TapTopic};
use regex_lite::Regex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{collections::BTreeMap, sync::Arc};

/// A QoS profile in the YAML of rosbag2: enum values of rmw, and infinite durations as in Humble and later.
fn qos_profile(qos: &Qos) -> String {
    let history = if qos.history == History::KeepAll { 2 } else { 1 };
    let reliability = if qos.reliability == Reliability::BestEffort { 2 } else { 1 };
    let durability = if qos.durability == Durability::Volatile { 2 } else { 1 };
    let depth = qos.depth;
    let infinite = "\n    sec: 9223372036\n    nsec: 854775807";
    format!(
        "- history: {history}\n  depth: {depth}\n  reliability: {reliability}\n  durability: {durability}\n  \
         deadline:{infinite}\n  lifespan:{infinite}\n  liveliness: 1\n  liveliness_lease_duration:{infinite}\n  \
         avoid_ros_namespace_conventions: false"
    )
}

/// Suffixes of the topics of one depth image.
const DEPTH_SUFFIXES: [&str; 4] =
    ["/img_depth", "/img_depth_float", "/img_depth/compressed", "/img_depth/compressedDepth"];

/// Chooses the topics of a bag.
pub(super) struct TopicFilter {
    include: Option<Regex>,
    exclude: Option<Regex>,
    /// Suffix of the depth topic that replaces the others in the bag; `None` records all.
    depth: Option<&'static str>,
}

impl TopicFilter {
    /// The regular expressions are valid, because the parameters are checked.
    pub(super) fn new(params: &Params) -> Self {
        let record = &params.record;
        let regex = |text: &str| Regex::new(text).ok().filter(|_| !text.is_empty());
        let depth = match record.depth {
            RecordDepth::All => None,
            RecordDepth::Float if params.depth.publish_float => Some("/img_depth_float"),
            RecordDepth::Float | RecordDepth::Millimetres => Some("/img_depth"),
        };
        Self { include: regex(&record.regex), exclude: regex(&record.exclude_regex), depth }
    }

    fn accepts(&self, name: &str) -> bool {
        let is_chosen = |name: &str| {
            self.include.as_ref().is_none_or(|regex| regex.is_match(name))
                && self.exclude.as_ref().is_none_or(|regex| !regex.is_match(name))
        };
        let is_replaced_by = |depth: &str| {
            let others = DEPTH_SUFFIXES.iter().filter(|suffix| **suffix != depth);
            let mut sensors = others.filter_map(|suffix| name.strip_suffix(suffix));
            sensors.any(|sensor| is_chosen(&format!("{sensor}{depth}")))
        };
        is_chosen(name) && !self.depth.is_some_and(is_replaced_by)
    }
}

pub(super) struct BagTap {
    pub(super) sink: Arc<McapSink>,
    pub(super) filter: TopicFilter,
}

impl Tap for BagTap {
    fn open(&self, topic: &TapTopic<'_>) -> Option<Arc<dyn TapReader>> {
        if !self.filter.accepts(topic.name) {
            return None;
        }
        let schema = (topic.type_name.to_owned(), definition(topic.type_name)?.to_owned());
        let id = self.sink.add_topic(McapTopic {
            name: topic.name.to_owned(),
            encoding: "cdr",
            schema: Some(schema),
            metadata: BTreeMap::from([(QOS.to_owned(), qos_profile(&topic.qos))]),
        })?;
        Some(Arc::new(BagChannel { sink: self.sink.clone(), id, sequence: AtomicU32::new(0) }))
    }
}

struct BagChannel {
    sink: Arc<McapSink>,
    id: u16,
    sequence: AtomicU32,
}

impl TapReader for BagChannel {
    fn wanted(&self) -> bool {
        self.sink.is_open()
    }

    fn sample(&self, parts: &[&[u8]]) {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        self.sink.add_message(self.id, sequence, host_now().0, parts);
    }
}
