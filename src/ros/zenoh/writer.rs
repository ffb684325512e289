//! Publishers.
use super::{Bytes, NodeSession, WithTasks, failed, keys::EntityKind, shared::Taken};
use crate::ros::{
    Cdr, Durability, Incompatible, Outcome, Qos, Reliability, RosError, WriterReport, WriterStats,
    backend::CdrWriter,
    block::{Block, Pool},
    bulk::Tail,
    tap::TapChannel,
};
use parking_lot::Mutex;
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};
use zenoh::{
    Wait as _, liveliness::LivelinessToken, matching::MatchingListener, qos::CongestionControl,
};
use zenoh_ext::{
    AdvancedPublisher, AdvancedPublisherBuilderExt as _, CacheConfig, MissDetectionConfig,
};

/// Period at which a latched topic announces its last sample.
const HEARTBEAT: Duration = Duration::from_millis(500);

/// One publisher. Fields are dropped in this order.
pub(super) struct ZenohWriter {
    _token: LivelinessToken,
    _listener: MatchingListener<()>,
    publisher: WithTasks<AdvancedPublisher<'static>>,
    gid: [u8; 16],
    topic: String,
    type_name: &'static str,
    qos: Qos,
    sequence: AtomicI64,
    /// Number of subscriptions that ROS nodes announce.
    announced: Arc<AtomicUsize>,
    /// Whether there is a subscription, even one that no ROS node announces.
    is_matched: Arc<AtomicBool>,
    pool: Arc<Pool>,
    /// Bytes before the data in the last sample; a loan leaves as much room.
    head: AtomicUsize,
    stats: Mutex<WriterStats>,
    /// Whether a sample has been in shared memory.
    shares: AtomicBool,
    session: Arc<NodeSession>,
}

impl ZenohWriter {
    pub(super) fn new(
        session: &Arc<NodeSession>,
        topic: &str,
        type_name: &'static str,
        qos: Qos,
    ) -> Result<Self, RosError> {
        let error = |error: zenoh::Error| failed("publish", topic, &error);
        let typed = session.typed(type_name);
        let reliability = match qos.reliability {
            Reliability::Reliable => zenoh::qos::Reliability::Reliable,
            Reliability::BestEffort => zenoh::qos::Reliability::BestEffort,
        };
        let builder = session.session.declare_publisher(session.key(topic, &typed));
        // `rmw_zenoh_cpp` blocks with keep all; here nothing waits for a reader.
        let builder = builder.congestion_control(CongestionControl::Drop).reliability(reliability);
        let builder = match qos.durability {
            Durability::Volatile => builder.advanced(),
            Durability::TransientLocal => {
                let depth = CacheConfig::default().max_samples(usize::from(qos.depth.max(1)));
                let builder = builder.cache(depth).publisher_detection();
                match qos.reliability {
                    Reliability::Reliable => builder.sample_miss_detection(
                        MissDetectionConfig::default().sporadic_heartbeat(HEARTBEAT),
                    ),
                    Reliability::BestEffort => builder,
                }
            }
        };
        let publisher = builder.wait().map_err(error)?;
        let is_matched = Arc::<AtomicBool>::default();
        let matched = is_matched.clone();
        let listener = publisher
            .matching_listener()
            .callback(move |status| matched.store(status.matching(), Ordering::Release))
            .wait()
            .map_err(error)?;
        let (token, gid) = session.endpoint(EntityKind::Publisher, topic, &typed, qos)?;
        Ok(Self {
            _token: token,
            _listener: listener,
            publisher: WithTasks(Some(publisher)),
            gid,
            topic: topic.to_owned(),
            type_name,
            qos,
            sequence: AtomicI64::new(1),
            announced: session.graph.count_subscriptions(topic, &typed),
            is_matched,
            pool: Arc::default(),
            head: AtomicUsize::new(0),
            stats: Mutex::default(),
            shares: AtomicBool::new(false),
            session: session.clone(),
        })
    }

    pub(super) fn topic(&self) -> &str {
        &self.topic
    }

    pub(super) fn shares(&self) -> bool {
        self.shares.load(Ordering::Relaxed)
    }

    /// Takes shared memory, or memory of the heap if there is none.
    fn block_with_head(&self, head: usize, room: usize) -> Block {
        match self.session.pool.as_ref().map(|pool| pool.take(head, room)) {
            Some(Taken::Shared(block)) => {
                self.shares.store(true, Ordering::Relaxed);
                return block;
            }
            Some(Taken::Exhausted) => self.stats.lock().unshared += 1,
            Some(Taken::Small) | None => {}
        }
        self.pool.take(room)
    }

    fn send(
        &self,
        block: Block,
        range: Range<usize>,
        taps: &TapChannel,
    ) -> Result<Outcome, RosError> {
        let bytes = range.len() as u64;
        let cdr = Cdr::new(block, range);
        taps.offer_whole(&cdr);
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let attachment = self.session.attachment(sequence, self.gid);
        if let Some(publisher) = &self.publisher.0 {
            let sent = publisher.put(cdr.payload()).attachment(attachment.bytes()).wait();
            sent.map_err(|error| failed("put", &self.topic, &error))?;
        }
        let mut stats = self.stats.lock();
        stats.published += 1;
        stats.bytes += bytes;
        Ok(Outcome::Sent)
    }

    pub(super) fn report(&self) -> WriterReport {
        WriterReport {
            topic: self.topic.clone(),
            type_name: self.type_name,
            qos: self.qos,
            subscribers: self.subscribers(),
            // Zenoh matches endpoints of any QoS.
            incompatible: Incompatible::default(),
            stats: self.stats(),
        }
    }
}

impl CdrWriter for ZenohWriter {
    fn write(
        &self,
        parts: &[Bytes<'_>],
        intact: &dyn Fn() -> bool,
        taps: &TapChannel,
    ) -> Result<Outcome, RosError> {
        let size = parts.iter().map(Bytes::len).sum::<usize>();
        let mut block = self.block_with_head(0, size);
        let range = block.gather(parts);
        if !intact() {
            self.stats.lock().torn += 1;
            return Ok(Outcome::Torn);
        }
        self.send(block, range, taps)
    }

    fn block(&self, room: usize) -> Block {
        self.block_with_head(self.head.load(Ordering::Relaxed), room)
    }

    fn write_block(
        &self,
        mut block: Block,
        head: &[u8],
        len: usize,
        tail: &Tail,
        taps: &TapChannel,
    ) -> Result<Outcome, RosError> {
        self.head.store(head.len(), Ordering::Relaxed);
        match block.frame(head, len, tail.as_slice()) {
            Some(range) => self.send(block, range, taps),
            None => {
                let data = block.data().get(..len).unwrap_or_default();
                let parts = [head, data, tail.as_slice()].map(Bytes::Own);
                self.write(&parts, &|| true, taps)
            }
        }
    }

    fn subscribers(&self) -> usize {
        let announced = self.announced.load(Ordering::Relaxed);
        announced.max(usize::from(self.is_matched.load(Ordering::Acquire)))
    }

    fn stats(&self) -> WriterStats {
        *self.stats.lock()
    }
}
