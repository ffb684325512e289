//! Back-end interface. A back end for CDR bytes implements [`CdrNode`] in one file; rclrs, which takes messages, is the
//! other kind.
#[cfg(feature = "rclrs")]
use super::rclrs;
use super::{
    Bytes, ClientInfo, Outcome, Qos, RosError, Subscription, TopicInfo, WriterReport, WriterStats,
    bulk::Tail, loan::Block, service::CdrService, subscription::Callback,
};
use std::{any::Any, sync::Arc};

/// A resource that ends on drop.
pub(super) type Guard = Box<dyn Any + Send + Sync>;

/// The back end of a node.
pub(super) enum Backend {
    Cdr(Box<dyn CdrNode>),
    #[cfg(feature = "rclrs")]
    Rclrs(rclrs::Node),
}

impl Backend {
    pub(super) fn node(&self) -> &dyn Node {
        match self {
            Self::Cdr(node) => node.as_node(),
            #[cfg(feature = "rclrs")]
            Self::Rclrs(node) => node,
        }
    }
}

/// A node in a ROS graph.
pub(super) trait Node: Send + Sync {
    /// Figures of every writer.
    fn report(&self) -> Vec<WriterReport>;

    /// Topics of the graph that have a publisher.
    fn topics(&self) -> Vec<TopicInfo>;

    /// Services of the graph that have a client.
    fn clients(&self) -> Vec<ClientInfo>;

    /// Batches graph updates while the guard lives, where they are expensive.
    fn hold(&self) -> Guard;

    /// Adds another node name to the graph.
    fn further_node(&self, namespace: &str, name: &str) -> Result<Guard, RosError>;
}

/// A back end that moves CDR bytes with their encapsulation header.
pub(super) trait CdrNode: Node {
    fn as_node(&self) -> &dyn Node;

    fn writer(
        &self,
        topic: &str,
        type_name: &'static str,
        qos: Qos,
    ) -> Result<Arc<dyn CdrWriter>, RosError>;

    fn subscribe(
        &self,
        topic: &str,
        type_name: &str,
        qos: Qos,
        callback: Callback,
    ) -> Result<Subscription, RosError>;

    fn service(&self, name: &str, service: CdrService) -> Result<Guard, RosError>;
}

/// A writer of CDR bytes. It never waits for a reader.
pub(super) trait CdrWriter: Send + Sync {
    /// Memory for a sample.
    fn block(&self, room: usize) -> Block;

    /// Writes the concatenated `parts`, unless `intact` returns false after the copy.
    fn write(&self, parts: &[Bytes<'_>], intact: &dyn Fn() -> bool) -> Result<Outcome, RosError>;

    /// Writes `head`, the first `len` bytes of a block of this writer, and `tail`.
    fn write_block(
        &self,
        block: Block,
        head: &[u8],
        len: usize,
        tail: &Tail,
    ) -> Result<Outcome, RosError>;

    /// Number of matched readers; cheap.
    fn subscribers(&self) -> usize;

    fn stats(&self) -> WriterStats;

    fn topic(&self) -> &str;

    fn qos(&self) -> Qos;
}
