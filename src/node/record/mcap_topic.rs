//! A topic (MCAP: channel) of a recording.
use std::collections::BTreeMap;

/// Key of the channel's metadata from which rosbag2 reads the offered QoS.
pub(super) const QOS: &str = "offered_qos_profiles";

pub(super) struct McapTopic {
    pub(super) name: String,
    pub(super) encoding: &'static str,
    /// Name and `ros2msg` definition of its type.
    pub(super) schema: Option<(String, String)>,
    pub(super) metadata: BTreeMap<String, String>,
}
