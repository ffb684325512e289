//! Topics (MCAP channels) of a recording, and the metadata.yaml that a rosbag2 bag has next to its MCAP file.
use std::{collections::BTreeMap, fmt::Write as _, io, path::PathBuf};

/// Key of the channel's metadata from which rosbag2 reads the offered QoS.
pub(super) const QOS: &str = "offered_qos_profiles";

pub(super) struct McapTopic {
    pub(super) name: String,
    pub(super) encoding: &'static str,
    /// Name and `ros2msg` definition of its type.
    pub(super) schema: Option<(String, String)>,
    pub(super) metadata: BTreeMap<String, String>,
}

impl McapTopic {
    pub(super) fn raw(name: &str, encoding: &'static str) -> Self {
        Self { name: name.to_owned(), encoding, schema: None, metadata: BTreeMap::new() }
    }
}

/// The contents of metadata.yaml, in the format version of Humble, which later distributions read, too.
pub(super) struct BagMetadata {
    directory: PathBuf,
    file: String,
    /// Name, type, QoS profile and number of messages by channel id.
    topics: BTreeMap<u16, (String, String, String, u64)>,
    count: u64,
    /// Times of the first and the last message in ns.
    first: u64,
    last: u64,
}

impl BagMetadata {
    /// `directory` exists; `file` is the name of the MCAP file in it.
    pub(super) fn new(directory: PathBuf, file: String) -> Self {
        Self { directory, file, topics: BTreeMap::new(), count: 0, first: u64::MAX, last: 0 }
    }

    pub(super) fn add_topic(&mut self, id: u16, topic: &McapTopic) {
        let type_name = topic.schema.as_ref().map(|(name, _)| name.clone());
        let qos = topic.metadata.get(QOS).cloned();
        self.topics.entry(id).or_insert((
            topic.name.clone(),
            type_name.unwrap_or_default(),
            qos.unwrap_or_default(),
            0,
        ));
    }

    pub(super) fn count_message(&mut self, id: u16, time: u64) {
        if let Some((.., count)) = self.topics.get_mut(&id) {
            *count += 1;
        }
        self.count += 1;
        self.first = self.first.min(time);
        self.last = self.last.max(time);
    }

    /// Replaces metadata.yaml atomically: a reader sees the old file or the new one.
    pub(super) fn write(&self) -> io::Result<()> {
        let next = self.directory.join(".metadata.yaml.next");
        std::fs::write(&next, self.yaml())?;
        std::fs::rename(next, self.directory.join("metadata.yaml"))
    }

    fn yaml(&self) -> String {
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

/// A YAML string: JSON strings are valid YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
