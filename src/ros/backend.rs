//! Back-end interface. A back end for CDR bytes implements [`CdrNode`]; rclrs takes messages instead.
use super::{
    Bytes, Connections, Guard, Outcome, Qos, RosError, ServiceInfo, SubscribedTopic, Subscription,
    TopicInfo, WriterReport, WriterStats,
    block::Block,
    bulk::Tail,
    service::{CdrService, ServiceTypes},
    subscription::Callback,
    tap::TapChannel,
};
use std::sync::Arc;

/// A node in a ROS graph.
pub(super) trait GraphNode: Send + Sync {
    /// State of every writer.
    fn report(&self) -> Vec<WriterReport>;

    /// Topics of the graph that have a publisher.
    fn topics(&self) -> Vec<TopicInfo>;

    /// The QoS that all publishers of a topic offer; `None` without a publisher.
    fn offered(&self, topic: &str) -> Option<Qos> {
        let topics = self.topics().into_iter().filter(|info| info.name == topic);
        topics.map(|info| info.offered).reduce(Qos::weaker)
    }

    /// Services of the graph that have a client.
    fn clients(&self) -> Vec<ServiceInfo>;

    /// Services of the graph that have a server.
    fn servers(&self) -> Vec<ServiceInfo>;

    /// Watches the endpoints of each node.
    fn connections(&self) -> Result<Box<dyn Watch>, RosError>;

    /// Batches graph updates until the guard is dropped, in a back end where each one is expensive.
    fn hold(&self) -> Guard;

    /// Adds another node name to the graph.
    fn further_node(&self, namespace: &str, name: &str) -> Result<Guard, RosError>;
}

/// See [`ConnectionsWatch`](super::ConnectionsWatch).
pub(super) trait Watch: Send {
    fn current(&mut self) -> Connections;

    /// Topics of the graph that have a subscription.
    fn subscribed_topics(&mut self) -> Vec<SubscribedTopic>;
}

/// A back end that moves CDR bytes with their encapsulation header.
pub(super) trait CdrNode: GraphNode {
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

    fn client(&self, name: &str, service: ServiceTypes) -> Result<Box<dyn CdrClient>, RosError>;
}

/// A client of one service, in CDR bytes.
pub(super) trait CdrClient: Send + Sync {
    /// Whether a server is matched, for requests and for responses.
    fn is_ready(&self) -> bool;

    /// Sends a request; `answer` gets the response on the middleware's receive thread.
    fn call(&self, request: &[u8], answer: CdrAnswer) -> Result<(), RosError>;
}

/// Gets the CDR of a response.
pub(super) type CdrAnswer = Box<dyn FnOnce(&[u8]) + Send>;

/// A writer of CDR bytes. It never waits for an answer of a reader; on DDS large samples are paced.
pub(super) trait CdrWriter: Send + Sync {
    /// Memory for `room` bytes of a sample, to be passed to [`Self::write_block`]; a head is not part of `room`.
    fn block(&self, room: usize) -> Block;

    /// Writes the concatenated `parts`, unless `intact` returns false after the copy; also passes them to `taps`.
    fn write(
        &self,
        parts: &[Bytes<'_>],
        intact: &dyn Fn() -> bool,
        taps: &TapChannel,
    ) -> Result<Outcome, RosError>;

    /// Writes one sample: `head`, the first `len` bytes of `block` (of [`Self::block`]), and `tail`; also passes it to `taps`.
    fn write_block(
        &self,
        block: Block,
        head: &[u8],
        len: usize,
        tail: &Tail,
        taps: &TapChannel,
    ) -> Result<Outcome, RosError> {
        let data = block.data().get(..len).unwrap_or_default();
        self.write(&[head, data, tail.as_slice()].map(Bytes::Own), &|| true, taps)
    }

    /// Number of matched readers; cheap.
    fn subscribers(&self) -> usize;

    fn stats(&self) -> WriterStats;
}
