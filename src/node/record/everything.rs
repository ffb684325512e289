//! Every topic of this node, as its publishers write it.
use super::file::Sink;
use super::topic::{QOS, Topic};
use crate::msgs::definition;
use crate::node::clock::host_now;
use crate::ros::{Durability, History, Qos, Reliability, Tap, TapReader, TapTopic};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The numbers are those of rmw; a duration without limit is what Humble and later ones write for it.
fn profile(qos: &Qos) -> String {
    let history = match qos.history {
        History::KeepLast => 1,
        History::KeepAll => 2,
    };
    let reliability = match qos.reliability {
        Reliability::Reliable => 1,
        Reliability::BestEffort => 2,
    };
    let durability = match qos.durability {
        Durability::TransientLocal => 1,
        Durability::Volatile => 2,
    };
    let depth = qos.depth;
    let endless = "\n    sec: 9223372036\n    nsec: 854775807";
    format!(
        "- history: {history}\n  depth: {depth}\n  reliability: {reliability}\n  durability: {durability}\n  \
         deadline:{endless}\n  lifespan:{endless}\n  liveliness: 1\n  liveliness_lease_duration:{endless}\n  \
         avoid_ros_namespace_conventions: false"
    )
}

/// Records every topic of this node.
pub(super) struct Everything(pub(super) Arc<Sink>);

impl Tap for Everything {
    fn open(&self, topic: &TapTopic<'_>) -> Option<Arc<dyn TapReader>> {
        let schema = (topic.type_name.to_owned(), definition(topic.type_name)?.to_owned());
        let id = self.0.topic(Topic {
            name: topic.name.to_owned(),
            encoding: "cdr",
            schema: Some(schema),
            metadata: BTreeMap::from([(QOS.to_owned(), profile(&topic.qos))]),
        })?;
        Some(Arc::new(Channel {
            sink: self.0.clone(),
            id,
            count: AtomicU32::new(0),
        }))
    }
}

struct Channel {
    sink: Arc<Sink>,
    id: u16,
    count: AtomicU32,
}

impl TapReader for Channel {
    fn wanted(&self) -> bool {
        self.sink.is_open()
    }

    fn sample(&self, parts: &[&[u8]]) {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        self.sink.message(self.id, number, host_now().0, parts);
    }
}
