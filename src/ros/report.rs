//! What the middleware knows about its topics.
use super::{Policy, Qos, ServiceStats};
use std::time::Duration;

/// Readers that wanted more than the writer offers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Incompatible {
    /// How many such readers were met.
    pub count: u32,
    /// What the last one wanted.
    pub last_policy: Option<Policy>,
}

/// Counters of one publisher.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct WriterStats {
    /// Samples handed to the middleware.
    pub published: u64,
    /// Their bytes, with CDR header.
    pub bytes: u64,
    /// Samples refused because the middleware would have had to wait.
    pub dropped: u64,
    /// Samples not sent because their source changed during the copy.
    pub torn: u64,
    /// For how long publishing paused in total, so that big samples fit through the readers' receive buffers.
    pub paused: Duration,
    /// Bytes sent again because a reader had lost them; `None` if the back end does not know.
    pub retransmitted_bytes: Option<u64>,
}

/// State of one publisher.
#[derive(Clone, Debug)]
pub struct WriterReport {
    /// Full name.
    pub topic: String,
    /// Type, as ROS writes it.
    pub type_name: &'static str,
    /// What is offered.
    pub qos: Qos,
    /// Readers that match now.
    pub subscribers: usize,
    /// Readers that do not match because of their QoS.
    pub incompatible: Incompatible,
    /// Counters.
    pub stats: WriterStats,
}

/// State of one service.
#[derive(Clone, Debug)]
pub struct ServiceReport {
    /// Full name.
    pub service: String,
    /// Counters.
    pub stats: ServiceStats,
}

/// A topic of the ROS graph.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct TopicInfo {
    /// Full name.
    pub name: String,
    /// Type, as ROS writes it.
    pub type_name: String,
    /// Number of publishers.
    pub publishers: usize,
}

/// A service of the ROS graph that somebody has a client for.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ClientInfo {
    /// Full name of the service.
    pub name: String,
    /// Type, as ROS writes it.
    pub type_name: String,
}
