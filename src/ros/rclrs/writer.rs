//! Publishers that count.
use super::{error, graph};
use crate::{
    msgs::{Message, Native},
    ros::{Incompatible, Outcome, Qos, RosError, WriterReport, WriterStats, bulk::View, pacing},
};
use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// One rcl publisher. What it publishes is a message as the type support lays it out, kept from call to call.
pub(in super::super) struct Writer<M: Message> {
    publisher: rclrs::Publisher<M::RmwMsg>,
    kept: Mutex<M::RmwMsg>,
    pacing_bytes_per_s: u64,
    endpoint: Arc<Endpoint>,
}

/// What `/diagnostics` wants to know of a publisher of any type.
pub(super) struct Endpoint {
    pub(super) topic: String,
    pub(super) qos: Qos,
    type_name: &'static str,
    matched: Box<dyn Fn() -> usize + Send + Sync>,
    /// Readers that do not match, as they were counted last, and what they ask for.
    pub(super) unmatched: Mutex<(usize, Incompatible)>,
    published: AtomicU64,
    bytes: AtomicU64,
    torn: AtomicU64,
    paused_ns: AtomicU64,
}

impl<M: Message> Writer<M> {
    pub(super) fn new(
        node: &rclrs::Node,
        topic: &str,
        qos: Qos,
        pacing_bytes_per_s: u64,
    ) -> Result<Self, RosError> {
        let publisher = node
            .create_publisher::<M::RmwMsg>(graph::options::<rclrs::PublisherOptions<'_>>(
                topic, qos,
            ))
            .map_err(|e| error("rcl_publisher_init", topic, &e))?;
        let counted = publisher.clone();
        Ok(Self {
            publisher,
            kept: Mutex::default(),
            pacing_bytes_per_s,
            endpoint: Arc::new(Endpoint {
                topic: topic.to_owned(),
                qos,
                type_name: M::TYPE,
                matched: Box::new(move || counted.get_subscription_count().unwrap_or(0)),
                unmatched: Mutex::default(),
                published: AtomicU64::new(0),
                bytes: AtomicU64::new(0),
                torn: AtomicU64::new(0),
                paused_ns: AtomicU64::new(0),
            }),
        })
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint> {
        &self.endpoint
    }

    pub(in super::super) fn publish(&self, message: &M) -> Result<Outcome, RosError> {
        let native = <M as Native>::into_rmw_message(Cow::Borrowed(message));
        self.send(&native, 0)
    }

    pub(in super::super) fn publish_view<V: View<Message = M>>(
        &self,
        view: &V,
        intact: &dyn Fn() -> bool,
    ) -> Result<Outcome, RosError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        view.fill(&mut kept);
        if !intact() {
            self.endpoint.torn.fetch_add(1, Ordering::Relaxed);
            return Ok(Outcome::Torn);
        }
        // Asked only where it matters: it is a call into the middleware.
        let readers = match self.pacing_bytes_per_s {
            0 => 0,
            _ => self.subscribers(),
        };
        let bytes = view.data().len();
        let (sent, paused) = pacing::paced(self.pacing_bytes_per_s, readers, bytes, || {
            self.send(&kept, bytes)
        });
        self.endpoint
            .paused_ns
            .fetch_add(paused.as_nanos() as u64, Ordering::Relaxed);
        sent
    }

    fn send(&self, native: &M::RmwMsg, bytes: usize) -> Result<Outcome, RosError> {
        self.publisher
            .publish(native)
            .map_err(|e| error("rcl_publish", &self.endpoint.topic, &e))?;
        self.endpoint.published.fetch_add(1, Ordering::Relaxed);
        self.endpoint
            .bytes
            .fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(Outcome::Sent)
    }

    pub(in super::super) fn subscribers(&self) -> usize {
        self.endpoint.matched()
    }

    pub(in super::super) fn stats(&self) -> WriterStats {
        self.endpoint.stats()
    }

    pub(in super::super) fn topic(&self) -> &str {
        &self.endpoint.topic
    }

    pub(in super::super) fn qos(&self) -> Qos {
        self.endpoint.qos
    }
}

impl Endpoint {
    /// Readers that match now.
    pub(super) fn matched(&self) -> usize {
        (self.matched)()
    }

    fn stats(&self) -> WriterStats {
        WriterStats {
            published: self.published.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            torn: self.torn.load(Ordering::Relaxed),
            paused: Duration::from_nanos(self.paused_ns.load(Ordering::Relaxed)),
            ..WriterStats::default()
        }
    }

    pub(super) fn report(&self, incompatible: Incompatible) -> WriterReport {
        WriterReport {
            topic: self.topic.clone(),
            type_name: self.type_name,
            qos: self.qos,
            subscribers: self.matched(),
            incompatible,
            stats: self.stats(),
        }
    }
}
