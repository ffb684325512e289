//! Cyclone DDS inside this process.
mod client;
mod connections;
mod discovered;
mod early;
mod ffi;
mod graph;
mod identity;
mod log;
mod service;
mod settings;

use super::{
    Bytes, Cdr, Distro, Incompatible, Options, Outcome, Qos, RosError, ServiceInfo, Subscription,
    TopicInfo, WriterReport, WriterStats,
    backend::{self, CdrClient, CdrNode, CdrWriter, Guard, ServiceTypes},
    bulk::Tail,
    loan::{Block, Pool},
    names::{self, Resolver},
    pacing,
    service::CdrService,
    subscription::Callback,
    tap::Channel,
};
use crate::msgs;
use connections::Connections;
use discovered::Discovered;
use ffi::{Domain, Participant, Side, Written};
use graph::{Graph, Kind};
use std::{
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

/// One DDS participant as one ROS node.
pub(super) struct Node {
    graph: Arc<Graph>,
    participant: Arc<Participant>,
    written: Arc<Mutex<Discovered>>,
    distro: Distro,
    pacing_bytes_per_s: u64,
    writers: Mutex<Vec<Weak<Writer>>>,
    services: AtomicU32,
    /// Also answer clients on Fast DDS.
    answers_all: bool,
}

impl Node {
    pub(super) fn new(options: &Options, names: &Resolver) -> Result<Self, RosError> {
        let domain = Domain::new(options.domain_id, &settings::configuration(options))?;
        let participant = Arc::new(Participant::new(domain, "enclave=/;")?);
        let graph = Arc::new(Graph::new(&participant, names, options.distro)?);
        pacing::change_small_packets(early::outgoing);
        Ok(Self {
            graph,
            written: Arc::new(Mutex::new(Discovered::new(&participant, Side::Writers)?)),
            participant,
            distro: options.distro,
            pacing_bytes_per_s: options.pacing_bytes_per_s,
            writers: Mutex::default(),
            services: AtomicU32::new(0),
            answers_all: options.fast_dds_services && ffi::can_answer(),
        })
    }

    /// Peers since Iron compare type hashes; older ones ignore the key.
    fn user_data(&self, type_name: &str) -> String {
        match (self.distro, msgs::type_hash(type_name)) {
            (Distro::Newer | Distro::Unknown, Some(hash)) => format!("typehash=RIHS01_{hash};"),
            _ => String::new(),
        }
    }

    fn written(&self) -> MutexGuard<'_, Discovered> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writers(&self) -> Vec<Arc<Writer>> {
        let writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        writers.iter().filter_map(Weak::upgrade).collect()
    }
}

impl backend::Node for Node {
    fn report(&self) -> Vec<WriterReport> {
        self.writers().iter().map(|writer| writer.report()).collect()
    }

    fn topics(&self) -> Vec<TopicInfo> {
        self.written().topics()
    }

    fn clients(&self) -> Vec<ServiceInfo> {
        self.written().clients()
    }

    fn servers(&self) -> Vec<ServiceInfo> {
        self.written().servers()
    }

    fn connections(&self) -> Result<Box<dyn backend::Watch>, RosError> {
        let written = self.written.clone();
        Ok(Box::new(Connections::new(&self.participant, written)?))
    }

    fn hold(&self) -> Guard {
        Box::new(self.graph.hold())
    }

    fn further_node(&self, namespace: &str, name: &str) -> Result<Guard, RosError> {
        Ok(Box::new(self.graph.node(namespace, name)?))
    }
}

impl CdrNode for Node {
    fn as_node(&self) -> &dyn backend::Node {
        self
    }

    fn writer(
        &self,
        topic: &str,
        type_name: &'static str,
        qos: Qos,
    ) -> Result<Arc<dyn CdrWriter>, RosError> {
        let inner = ffi::Writer::new(
            &self.participant,
            &names::dds_topic(topic),
            &names::dds_type(type_name),
            qos,
            &self.user_data(type_name),
        )?;
        self.graph.add(Kind::Writer, inner.guid())?;
        let writer = Arc::new(Writer {
            inner,
            topic: topic.to_owned(),
            type_name,
            qos,
            pacing_bytes_per_s: self.pacing_bytes_per_s,
            pool: Arc::default(),
            counters: Counters::default(),
            graph: self.graph.clone(),
        });
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        writers.retain(|writer| writer.strong_count() > 0);
        writers.push(Arc::downgrade(&writer));
        Ok(writer)
    }

    fn subscribe(
        &self,
        topic: &str,
        type_name: &str,
        qos: Qos,
        mut callback: Callback,
    ) -> Result<Subscription, RosError> {
        let inner = ffi::Reader::new(
            &self.participant,
            &names::dds_topic(topic),
            &names::dds_type(type_name),
            qos,
            &self.user_data(type_name),
            Box::new(move |sample, _| callback(sample)),
        )?;
        self.graph.add(Kind::Reader, inner.guid())?;
        Ok(Subscription::new(Reader { inner, graph: self.graph.clone() }))
    }

    fn service(&self, name: &str, service: CdrService) -> Result<Guard, RosError> {
        Ok(Box::new(self.server(name, service)?))
    }

    fn client(&self, name: &str, service: ServiceTypes) -> Result<Box<dyn CdrClient>, RosError> {
        Ok(Box::new(self.caller(name, service)?))
    }
}

/// One DDS writer.
pub(super) struct Writer {
    inner: ffi::Writer,
    topic: String,
    type_name: &'static str,
    qos: Qos,
    pacing_bytes_per_s: u64,
    pool: Arc<Pool>,
    counters: Counters,
    graph: Arc<Graph>,
}

#[derive(Default)]
struct Counters {
    published: AtomicU64,
    bytes: AtomicU64,
    dropped: AtomicU64,
    torn: AtomicU64,
    paused_ns: AtomicU64,
}

impl Writer {
    fn send(&self, block: Block, range: Range<usize>, taps: &Channel) -> Result<Outcome, RosError> {
        let bytes = range.len() as u64;
        let cdr = Cdr::new(block, range);
        taps.offer_whole(&cdr);
        let written = self.inner.write(&self.topic, cdr, self.pacing_bytes_per_s)?;
        let (counter, outcome) = match written {
            Written::Sent { .. } => (&self.counters.published, Outcome::Sent),
            Written::Refused => (&self.counters.dropped, Outcome::Dropped),
        };
        counter.fetch_add(1, Ordering::Relaxed);
        if let Written::Sent { paused } = written {
            self.counters.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.counters.paused_ns.fetch_add(paused.as_nanos() as u64, Ordering::Relaxed);
        }
        Ok(outcome)
    }

    fn report(&self) -> WriterReport {
        let (count, last_policy) = self.inner.events().incompatible();
        WriterReport {
            topic: self.topic.clone(),
            type_name: self.type_name,
            qos: self.qos,
            subscribers: self.subscribers(),
            incompatible: Incompatible { count, last_policy },
            stats: self.stats(),
        }
    }
}

impl CdrWriter for Writer {
    fn write(
        &self,
        parts: &[Bytes<'_>],
        intact: &dyn Fn() -> bool,
        taps: &Channel,
    ) -> Result<Outcome, RosError> {
        let size = parts.iter().map(Bytes::len).sum::<usize>();
        let mut block = self.block(size);
        let range = block.gather(parts);
        if !intact() {
            self.counters.torn.fetch_add(1, Ordering::Relaxed);
            return Ok(Outcome::Torn);
        }
        self.send(block, range, taps)
    }

    /// Memory for a sample.
    fn block(&self, room: usize) -> Block {
        self.pool.take(room)
    }

    /// Writes `head`, the first `len` bytes of a block, and `tail`.
    fn write_block(
        &self,
        mut block: Block,
        head: &[u8],
        len: usize,
        tail: &Tail,
        taps: &Channel,
    ) -> Result<Outcome, RosError> {
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
        self.inner.events().matched()
    }

    fn stats(&self) -> WriterStats {
        WriterStats {
            published: self.counters.published.load(Ordering::Relaxed),
            bytes: self.counters.bytes.load(Ordering::Relaxed),
            dropped: self.counters.dropped.load(Ordering::Relaxed),
            torn: self.counters.torn.load(Ordering::Relaxed),
            paused: Duration::from_nanos(self.counters.paused_ns.load(Ordering::Relaxed)),
            retransmitted_bytes: self.inner.retransmitted_bytes(),
        }
    }

    fn topic(&self) -> &str {
        &self.topic
    }

    fn qos(&self) -> Qos {
        self.qos
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Err(error) = self.graph.remove(Kind::Writer, self.inner.guid()) {
            tracing::debug!(topic = self.topic, %error, "graph information not updated");
        }
    }
}

/// One DDS reader.
struct Reader {
    inner: ffi::Reader,
    graph: Arc<Graph>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Err(error) = self.graph.remove(Kind::Reader, self.inner.guid()) {
            tracing::debug!(%error, "graph information not updated");
        }
    }
}
