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

use super::backend::{self, CdrClient, CdrNode, CdrWriter};
use super::block::{Block, Pool};
use super::names::{self, Resolver};
use super::service::{CdrService, ServiceTypes};
use super::{
    Bytes, Cdr, Distro, Guard, Incompatible, Options, Outcome, Qos, RosError, ServiceInfo,
    Subscription, TopicInfo, WriterReport, WriterStats, pacing,
};
use super::{bulk::Tail, subscription::Callback, tap::TapChannel};
use crate::msgs;
use connections::DdsConnections;
use discovered::{Discovered, EndpointRole};
use ffi::{Domain, Participant, SampleKind, Side, Written};
use graph::{EndpointKind, Graph};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::{ops::Range, sync::atomic::AtomicU32};

/// One DDS participant as one ROS node.
pub(super) struct DdsNode {
    graph: Arc<Graph>,
    participant: Arc<Participant>,
    discovered_writers: Arc<Mutex<Discovered>>,
    distro: Distro,
    pacing_bytes_per_s: u64,
    writers: Mutex<Vec<Weak<DdsWriter>>>,
    last_endpoint_id: AtomicU32,
    /// Services also answer clients on Fast DDS.
    answers_fast_dds: bool,
}

impl DdsNode {
    pub(super) fn new(options: &Options, names: &Resolver) -> Result<Self, RosError> {
        let domain = Domain::new(options.domain_id, &settings::configuration(options))?;
        let participant = Arc::new(Participant::new(domain, "enclave=/;")?);
        let graph = Arc::new(Graph::new(&participant, names, options.distro)?);
        pacing::change_small_packets(early::outgoing);
        Ok(Self {
            graph,
            discovered_writers: Arc::new(Mutex::new(Discovered::new(&participant, Side::Writers)?)),
            participant,
            distro: options.distro,
            pacing_bytes_per_s: options.pacing_bytes_per_s,
            writers: Mutex::default(),
            last_endpoint_id: AtomicU32::new(0),
            answers_fast_dds: options.fast_dds_services && ffi::can_answer(),
        })
    }

    fn user_data(&self, type_name: &str) -> String {
        user_data(self.distro, type_name)
    }

    fn writers(&self) -> Vec<Arc<DdsWriter>> {
        let writers = self.writers.lock();
        writers.iter().filter_map(Weak::upgrade).collect()
    }
}

/// USER_DATA of an endpoint. Peers since Iron compare type hashes, and `rmw_cyclonedds_cpp` warns of empty data; older peers
/// ignore the key.
fn user_data(distro: Distro, type_name: &str) -> String {
    match (distro, msgs::type_hash(type_name)) {
        (Distro::Newer | Distro::Unknown, Some(hash)) => format!("typehash=RIHS01_{hash};"),
        _ => String::new(),
    }
}

impl backend::GraphNode for DdsNode {
    fn report(&self) -> Vec<WriterReport> {
        self.writers().iter().map(|writer| writer.report()).collect()
    }

    fn topics(&self) -> Vec<TopicInfo> {
        self.discovered_writers.lock().topics()
    }

    fn clients(&self) -> Vec<ServiceInfo> {
        self.discovered_writers.lock().services(EndpointRole::Client)
    }

    fn servers(&self) -> Vec<ServiceInfo> {
        self.discovered_writers.lock().services(EndpointRole::Server)
    }

    fn connections(&self) -> Result<Box<dyn backend::Watch>, RosError> {
        let writers = self.discovered_writers.clone();
        Ok(Box::new(DdsConnections::new(&self.participant, writers, self.distro)?))
    }

    fn hold(&self) -> Guard {
        self.graph.hold()
    }

    fn further_node(&self, namespace: &str, name: &str) -> Result<Guard, RosError> {
        self.graph.node(namespace, name)
    }
}

impl CdrNode for DdsNode {
    fn writer(
        &self,
        topic: &str,
        type_name: &'static str,
        qos: Qos,
    ) -> Result<Arc<dyn CdrWriter>, RosError> {
        let inner = ffi::Writer::new(
            &self.participant,
            SampleKind::Blocks,
            &names::dds_topic(topic),
            &names::dds_type(type_name),
            qos,
            &self.user_data(type_name),
        )?;
        let writer = Arc::new(DdsWriter {
            _entry: self.graph.add(EndpointKind::Writer, inner.guid())?,
            inner,
            topic: topic.to_owned(),
            type_name,
            qos,
            pacing_bytes_per_s: self.pacing_bytes_per_s,
            pool: Arc::default(),
            stats: Mutex::default(),
        });
        let mut writers = self.writers.lock();
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
            SampleKind::Opaque,
            &names::dds_topic(topic),
            &names::dds_type(type_name),
            qos,
            &self.user_data(type_name),
            Box::new(move |sample, _| callback(sample)),
        )?;
        let entry = self.graph.add(EndpointKind::Reader, inner.guid())?;
        // Dropped in this order.
        Ok(Subscription::new((entry, inner)))
    }

    fn service(&self, name: &str, service: CdrService) -> Result<Guard, RosError> {
        Ok(Box::new(self.server(name, service)?))
    }

    fn client(&self, name: &str, service: ServiceTypes) -> Result<Box<dyn CdrClient>, RosError> {
        Ok(Box::new(self.caller(name, service)?))
    }
}

/// One DDS writer. Fields are dropped in this order.
pub(super) struct DdsWriter {
    _entry: Guard,
    inner: ffi::Writer,
    topic: String,
    type_name: &'static str,
    qos: Qos,
    pacing_bytes_per_s: u64,
    pool: Arc<Pool>,
    /// Without [`WriterStats::retransmitted_bytes`].
    stats: Mutex<WriterStats>,
}

impl DdsWriter {
    fn send(
        &self,
        block: Block,
        range: Range<usize>,
        taps: &TapChannel,
    ) -> Result<Outcome, RosError> {
        let bytes = range.len() as u64;
        let cdr = Cdr::new(block, range);
        taps.offer_whole(&cdr);
        let written = self.inner.write(&self.topic, cdr, self.pacing_bytes_per_s)?;
        let mut stats = self.stats.lock();
        Ok(match written {
            Written::Sent { paused } => {
                stats.published += 1;
                stats.bytes += bytes;
                stats.paused += paused;
                Outcome::Sent
            }
            Written::Refused => {
                stats.dropped += 1;
                Outcome::Dropped
            }
        })
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

impl CdrWriter for DdsWriter {
    fn write(
        &self,
        parts: &[Bytes<'_>],
        intact: &dyn Fn() -> bool,
        taps: &TapChannel,
    ) -> Result<Outcome, RosError> {
        let size = parts.iter().map(Bytes::len).sum::<usize>();
        let mut block = self.block(size);
        let range = block.gather(parts);
        if !intact() {
            self.stats.lock().torn += 1;
            return Ok(Outcome::Torn);
        }
        self.send(block, range, taps)
    }

    fn block(&self, room: usize) -> Block {
        self.pool.take(room)
    }

    fn write_block(
        &self,
        mut block: Block,
        head: &[u8],
        len: usize,
        tail: &Tail,
        taps: &TapChannel,
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
        WriterStats { retransmitted_bytes: self.inner.retransmitted_bytes(), ..*self.stats.lock() }
    }
}
