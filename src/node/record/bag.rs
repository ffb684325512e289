//! What is published, as a bag of rosbag2: the MCAP file, and metadata.yaml beside it.
use super::file::{Sink, Topic};
use crate::msgs::definition;
use crate::node::clock::host_now;
use crate::ros::{Durability, History, Qos, Reliability, Tap, TapReader, TapTopic};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// metadata.yaml, in the version that Humble writes and all later ones read.
pub(super) struct Bag {
    directory: PathBuf,
    file: String,
    topics: BTreeMap<u16, (String, String, String, u64)>,
    count: u64,
    first: u64,
    last: u64,
}

impl Bag {
    /// Of a directory that exists, and of the name of the file in it.
    pub(super) fn new(directory: PathBuf, file: String) -> Self {
        Self {
            directory,
            file,
            topics: BTreeMap::new(),
            count: 0,
            first: u64::MAX,
            last: 0,
        }
    }

    pub(super) fn topic(&mut self, id: u16, topic: &Topic) {
        let type_name = topic.schema.as_ref().map(|(name, _)| name.clone());
        let qos = topic.metadata.get(QOS).cloned();
        self.topics.entry(id).or_insert((
            topic.name.clone(),
            type_name.unwrap_or_default(),
            qos.unwrap_or_default(),
            0,
        ));
    }

    pub(super) fn message(&mut self, id: u16, time: u64) {
        if let Some((.., count)) = self.topics.get_mut(&id) {
            *count += 1;
        }
        self.count += 1;
        self.first = self.first.min(time);
        self.last = self.last.max(time);
    }

    /// Replaces the file as a whole: a reader sees the old or the new one.
    pub(super) fn write(&self) -> io::Result<()> {
        let next = self.directory.join(".metadata.yaml.next");
        std::fs::write(&next, self.text())?;
        std::fs::rename(next, self.directory.join("metadata.yaml"))
    }

    fn text(&self) -> String {
        let (first, last) = match self.count {
            0 => (0, 0),
            _ => (self.first, self.last),
        };
        let (count, duration, file) = (self.count, last - first, quoted(&self.file));
        let mut topics = String::new();
        for (name, type_name, qos, count) in self.topics.values() {
            let (name, qos) = (quoted(name), quoted(qos));
            let _ = write!(
                topics,
                "
    - topic_metadata:
        name: {name}
        type: {type_name}
        serialization_format: cdr
        offered_qos_profiles: {qos}
      message_count: {count}"
            );
        }
        if topics.is_empty() {
            topics += " []";
        }
        format!(
            "rosbag2_bagfile_information:
  version: 5
  storage_identifier: mcap
  duration:
    nanoseconds: {duration}
  starting_time:
    nanoseconds_since_epoch: {first}
  message_count: {count}
  topics_with_message_count:{topics}
  compression_format: \"\"
  compression_mode: \"\"
  relative_file_paths:
    - {file}
  files:
    - path: {file}
      starting_time:
        nanoseconds_since_epoch: {first}
      duration:
        nanoseconds: {duration}
      message_count: {count}
"
        )
    }
}

/// A text of YAML; JSON's are among them.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

const QOS: &str = "offered_qos_profiles";

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
        let schema = (topic.type_name.to_owned(), definition(topic.type_name)?);
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
