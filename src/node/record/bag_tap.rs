//! Records every topic of this node in a bag: the serialized messages of its publishers.
use super::bag::{McapTopic, QOS};
use super::mcap_file::McapSink;
use crate::msgs::definition;
use crate::node::clock::host_now;
use crate::ros::{Durability, History, Qos, Reliability, Tap, TapReader, TapTopic};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

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

pub(super) struct BagTap(pub(super) Arc<McapSink>);

impl Tap for BagTap {
    fn open(&self, topic: &TapTopic<'_>) -> Option<Arc<dyn TapReader>> {
        let schema = (topic.type_name.to_owned(), definition(topic.type_name)?.to_owned());
        let id = self.0.add_topic(McapTopic {
            name: topic.name.to_owned(),
            encoding: "cdr",
            schema: Some(schema),
            metadata: BTreeMap::from([(QOS.to_owned(), qos_profile(&topic.qos))]),
        })?;
        Some(Arc::new(BagChannel { sink: self.0.clone(), id, sequence: AtomicU32::new(0) }))
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
