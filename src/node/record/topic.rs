//! A topic as the file describes it.
use std::collections::BTreeMap;

/// Where rosbag2 looks for the offered QoS of a topic.
pub(super) const QOS: &str = "offered_qos_profiles";

/// A topic of a file.
pub(super) struct Topic {
    pub(super) name: String,
    pub(super) encoding: &'static str,
    /// Name and text of its `ros2msg`.
    pub(super) schema: Option<(String, String)>,
    pub(super) metadata: BTreeMap<String, String>,
}
