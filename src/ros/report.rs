//! Statistics of the publishers and services of this node, and the ROS graph as discovered.
use super::{Middleware, Policy, Qos, RosError, ServiceStats, backend::Watch};
use std::collections::{BTreeMap, BTreeSet};
use std::{fmt, time::Duration};

/// Readers that requested more than the writer offers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Incompatible {
    /// Number of such readers.
    pub count: u32,
    /// Incompatible policy of the last one.
    pub last_policy: Option<Policy>,
}

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} subscribers request ", self.count)?;
        match self.last_policy {
            Some(policy) => write!(f, "a value of {policy} that the topic does not offer"),
            None => f.write_str("a QoS that the topic does not offer"),
        }
    }
}

/// Counters of one publisher.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct WriterStats {
    /// Samples handed to the middleware.
    pub published: u64,
    /// Their bytes with CDR header; in a workspace only the bytes of large arrays.
    pub bytes: u64,
    /// Samples refused because the middleware would have had to block.
    pub dropped: u64,
    /// Samples that found no room in the shared memory of Zenoh, and were sent through sockets.
    pub unshared: u64,
    /// Samples not sent because their source changed during the copy.
    pub torn: u64,
    /// Total time of pauses that let large samples fit through the readers' receive buffers.
    pub paused: Duration,
    /// Bytes retransmitted to readers; `None` if the back end does not count them.
    pub retransmitted_bytes: Option<u64>,
}

/// State of one publisher.
#[derive(Clone, Debug)]
pub struct WriterReport {
    /// Full name.
    pub topic: String,
    /// Type, as ROS writes it.
    pub type_name: &'static str,
    /// Offered QoS.
    pub qos: Qos,
    /// Number of matched readers.
    pub subscribers: usize,
    /// Readers not matched because of their QoS.
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
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TopicInfo {
    /// Full name.
    pub name: String,
    /// Type, as ROS writes it.
    pub type_name: String,
    /// Number of publishers.
    pub publishers: usize,
    /// Reliability and durability that all of them offer, so a reader that requests these matches each; discovery does not
    /// announce the depth. In a workspace always the default: see [`Middleware::offered`].
    pub offered: Qos,
}

/// A topic of the ROS graph that is subscribed to.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SubscribedTopic {
    /// Full name.
    pub name: String,
    /// Type, as ROS writes it.
    pub type_name: String,
    /// Number of subscriptions.
    pub subscribers: usize,
}

/// A service of the ROS graph, as a client or a server announces it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ServiceInfo {
    /// Full name of the service.
    pub name: String,
    /// Type, as ROS writes it.
    pub type_name: String,
}

/// Full names of topics or services, each with the names of the nodes that publish, subscribe to or serve it.
pub type NodesByName = BTreeMap<String, BTreeSet<String>>;

/// Publishers, subscriptions and services of the ROS graph with their nodes, as far as discovered. An endpoint without
/// an announced node has the name of its participant.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Connections {
    /// Publishers of topics.
    pub publishers: NodesByName,
    /// Subscriptions to topics.
    pub subscribers: NodesByName,
    /// Servers of services.
    pub servers: NodesByName,
}

/// Watches the connections of the graph until it is dropped.
pub struct ConnectionsWatch(Box<dyn Watch>);

impl ConnectionsWatch {
    /// Returns the present connections; takes milliseconds in a large graph.
    pub fn look(&mut self) -> Connections {
        self.0.current()
    }

    /// Topics that have a subscription, sorted by name.
    pub fn subscribed(&mut self) -> Vec<SubscribedTopic> {
        self.0.subscribed_topics()
    }
}

impl Middleware {
    /// Watches the connections of the whole ROS graph. Names of nodes arrive a moment later.
    pub fn connections(&self) -> Result<ConnectionsWatch, RosError> {
        let watch = self.shared.backend.node().connections()?;
        Ok(ConnectionsWatch(watch))
    }
}
