//! Publishers with counters.
use super::{error, qos, sequence};
use crate::msgs::{BackendMessage, Message};
use crate::ros::bulk::{Bulk, BulkHead};
use crate::ros::{Bytes, Incompatible, Outcome, Qos, RosError, WriterReport, WriterStats, pacing};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{borrow::Cow, time::Duration};

/// One rcl publisher. Messages are reused from call to call.
pub(in super::super) struct RclWriter<M: Message> {
    publisher: rclrs::Publisher<M::RmwMsg>,
    spare: Mutex<Vec<ReusedMessage<M>>>,
    pacing_bytes_per_s: u64,
    pub(super) endpoint: Arc<RclEndpoint>,
}

/// Data of a publisher of any type for `/diagnostics`.
pub(super) struct RclEndpoint {
    pub(super) topic: String,
    pub(super) qos: Qos,
    type_name: &'static str,
    matched: Box<dyn Fn() -> usize + Send + Sync>,
    /// Number of unmatched readers at the last count, and their incompatible policies.
    pub(super) unmatched: Mutex<(usize, Incompatible)>,
    published: AtomicU64,
    bytes: AtomicU64,
    torn: AtomicU64,
    paused_ns: AtomicU64,
}

impl<M: Message> RclWriter<M> {
    pub(super) fn new(
        node: &rclrs::Node,
        topic: &str,
        qos: Qos,
        pacing_bytes_per_s: u64,
    ) -> Result<Self, RosError> {
        let publisher = node
            .create_publisher::<M::RmwMsg>(qos::options::<rclrs::PublisherOptions<'_>>(topic, qos))
            .map_err(|e| error("rcl_publisher_init", topic, &e))?;
        let counted = publisher.clone();
        Ok(Self {
            publisher,
            spare: Mutex::default(),
            pacing_bytes_per_s,
            endpoint: Arc::new(RclEndpoint {
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

    pub(in super::super) fn publish(&self, message: &M) -> Result<Outcome, RosError> {
        let native = <M as BackendMessage>::into_rmw_message(Cow::Borrowed(message));
        self.send(&native, 0)
    }

    fn send_paced(&self, message: &M::RmwMsg, bytes: usize) -> Result<Outcome, RosError> {
        // Queried only if needed: it is a call into the middleware.
        let readers = if self.pacing_bytes_per_s == 0 { 0 } else { self.subscribers() };
        let (sent, paused) =
            pacing::paced(self.pacing_bytes_per_s, readers, bytes, || self.send(message, bytes));
        self.endpoint.paused_ns.fetch_add(paused.as_nanos() as u64, Ordering::Relaxed);
        sent
    }

    fn send(&self, native: &M::RmwMsg, bytes: usize) -> Result<Outcome, RosError> {
        self.publisher
            .publish(native)
            .map_err(|e| error("rcl_publish", &self.endpoint.topic, &e))?;
        self.endpoint.published.fetch_add(1, Ordering::Relaxed);
        self.endpoint.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(Outcome::Sent)
    }

    pub(in super::super) fn subscribers(&self) -> usize {
        self.endpoint.matched()
    }

    pub(in super::super) fn stats(&self) -> WriterStats {
        self.endpoint.stats()
    }
}

impl<M: Bulk> RclWriter<M> {
    /// Publishes with one copy of the array, unless `intact` returns false after the copy.
    pub(in super::super) fn publish_copy<H: BulkHead<Message = M>>(
        &self,
        head: &H,
        data: Bytes<'_>,
        intact: &dyn Fn() -> bool,
    ) -> Result<Outcome, RosError> {
        let mut message = self.take();
        sequence::copy(data, M::array(&mut message.0));
        let outcome = if intact() {
            head.fill(&mut message.0);
            self.send_paced(&message.0, data.len())
        } else {
            self.endpoint.torn.fetch_add(1, Ordering::Relaxed);
            Ok(Outcome::Torn)
        };
        self.keep(message);
        outcome
    }

    /// A message with at least `room` bytes in its array.
    pub(in super::super) fn loan(&self, room: usize) -> ReusedMessage<M> {
        let mut message = self.take();
        sequence::make_room(M::array(&mut message.0), room);
        message
    }

    fn take(&self) -> ReusedMessage<M> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.pop().unwrap_or_else(|| ReusedMessage(Box::default()))
    }

    /// Keeps the message for reuse; two are enough, because one is filled while the other is published.
    fn keep(&self, message: ReusedMessage<M>) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < 2 {
            spare.push(message);
        }
    }

    /// Publishes a loaned message with the first `len` bytes of its array.
    pub(in super::super) fn publish_loan<H: BulkHead<Message = M>>(
        &self,
        head: &H,
        mut message: ReusedMessage<M>,
        len: usize,
    ) -> Result<Outcome, RosError> {
        sequence::set_len(M::array(&mut message.0), len);
        head.fill(&mut message.0);
        let outcome = self.send_paced(&message.0, len);
        self.keep(message);
        outcome
    }
}

/// A message in the type support's layout, reused for the memory of its array.
pub(in super::super) struct ReusedMessage<M: Message>(Box<M::RmwMsg>);

impl<M: Bulk> ReusedMessage<M> {
    pub(in super::super) fn data(&self) -> &[u8] {
        M::array_of(&self.0).as_slice()
    }

    pub(in super::super) fn data_mut(&mut self) -> &mut [u8] {
        M::array(&mut self.0).as_mut_slice()
    }
}

impl RclEndpoint {
    /// Number of matched readers.
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
