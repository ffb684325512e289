//! Zenoh inside this process, on the wire of `rmw_zenoh_cpp` (docs/zenoh.md).
mod client;
mod config;
mod graph;
mod keys;
mod router;
mod service;
mod shared;
mod writer;

pub use router::Router;

use super::{
    Bytes, Distro, Durability, Guard, Options, Qos, RawSample, Reliability, RosError, ServiceInfo,
    Subscription, TopicInfo, WriterReport,
    backend::{self, CdrClient, CdrNode, CdrWriter},
    callback,
    names::Resolver,
    service::{CdrService, ServiceTypes},
    subscription::Callback,
};
use crate::time::RosTime;
use graph::Graph;
use keys::{Attachment, EntityKind, NodeIdentity};
use parking_lot::Mutex;
use regex_lite::Regex;
use service::ReplyThread;
use shared::SharedPool;
use std::{
    net::SocketAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, LazyLock, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use writer::ZenohWriter;
use zenoh::{
    Session, Wait as _,
    liveliness::LivelinessToken,
    pubsub::Subscriber,
    sample::{Sample, SampleKind},
    session::{Link, Transport},
};
use zenoh_ext::{AdvancedSubscriberBuilderExt as _, HistoryConfig, RecoveryConfig};

/// Period of the checks for a router, and number of checks per attempt (`ZENOH_ROUTER_CHECK_ATTEMPTS`), which takes a second.
const ROUTER_CHECK: Duration = Duration::from_millis(50);
const ROUTER_CHECKS: u64 = 20;
/// Endpoints of one node of a session. Zenoh compares a new token with all others of its node, so that a node with 9,000 would
/// need minutes to start; further endpoints belong to further nodes (`NAME_2`).
const ENDPOINTS_OF_A_NODE: u64 = 400;

/// One session as one ROS node. Fields are dropped in this order.
pub(super) struct ZenohNode {
    _node: LivelinessToken,
    _tokens: Subscriber<()>,
    writers: Mutex<Vec<Weak<ZenohWriter>>>,
    /// Whether the log has named a node that reads shared samples through a socket.
    has_logged_socket_reader: AtomicBool,
    shared: Arc<NodeSession>,
}

/// Shared by all endpoints of a node; the session ends with the last of them.
struct NodeSession {
    session: Session,
    graph: Arc<Graph>,
    identity: NodeIdentity,
    distro: Distro,
    /// Number of the next node or endpoint.
    next: AtomicU64,
    /// The nodes that endpoints after the first [`ENDPOINTS_OF_A_NODE`] belong to.
    further: Mutex<Vec<(NodeIdentity, LivelinessToken)>>,
    replies: ReplyThread,
    /// Shared memory of the publishers.
    pool: Option<SharedPool>,
}

fn failed(call: &'static str, subject: &str, error: &zenoh::Error) -> RosError {
    RosError::Zenoh { call, subject: subject.to_owned(), message: plain(error) }
}

/// Text of an error of Zenoh, without the locations in its source.
fn plain(error: &zenoh::Error) -> String {
    static PLACE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r" at \S+\.rs:\d+\.?").ok());
    let text = error.to_string();
    let cut = PLACE.as_ref().map(|place| place.replace_all(&text, "").into_owned());
    cut.unwrap_or(text)
}

/// Runs a blocking call of Zenoh on another thread: such a call must not run on a thread of a current-thread runtime.
fn beside_runtimes<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| match scope.spawn(work).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// A value whose drop waits for tasks of Zenoh.
struct WithTasks<T: Send>(Option<T>);

impl<T: Send> Drop for WithTasks<T> {
    fn drop(&mut self) {
        let ended = self.0.take();
        beside_runtimes(|| drop(ended));
    }
}

/// Runs a callback of a receiving thread; a panic of the callback does not end the thread.
fn guarded(callback: impl FnOnce()) {
    // The panic hook has logged it.
    let _panic = catch_unwind(AssertUnwindSafe(callback));
}

impl ZenohNode {
    pub(super) fn new(options: &Options, names: &Resolver) -> Result<Self, RosError> {
        let shares = options.zenoh.shared_memory_bytes > 0;
        let mut config = config::of_session(&options.zenoh, shares)?;
        let routers = config::endpoints(&config, config::CONNECT);
        let bytes = options.zenoh.shared_memory_bytes;
        let pool = (shares && config::shares_memory(&config)).then(|| SharedPool::new(bytes));
        let pool = pool.and_then(|pool| {
            pool.inspect_err(|error| {
                tracing::warn!(
                    "images and clouds go through sockets, also to readers on this host: {error}; Zenoh locks shared memory into RAM: \
                     set `ulimit -l unlimited` before the start of the bridge and its readers (systemd: \
                     LimitMEMLOCK=infinity) and make room in /dev/shm, or set -p zenoh.shared_memory_mb:=0"
                );
            })
            .ok()
        });
        if shares && pool.is_none() {
            config = config::of_session(&options.zenoh, false)?;
        }
        let session = beside_runtimes(|| {
            let session = zenoh::open(config).wait();
            session.map_err(|error| failed("open", "session", &error))
        })?;
        let shared = Arc::new(NodeSession {
            identity: NodeIdentity {
                domain: options.domain_id,
                session: session.zid().to_string(),
                id: 0,
                namespace: names.namespace().to_owned(),
                name: names.base_name().to_owned(),
            },
            session,
            graph: Arc::default(),
            distro: options.distro,
            next: AtomicU64::new(1),
            further: Mutex::default(),
            replies: ReplyThread::default(),
            pool,
        });
        look_for_router(&shared, options.zenoh.router_check_attempts, routers);
        let graph = shared.graph.clone();
        let tokens = keys::all_tokens(options.domain_id);
        let liveliness = shared.session.liveliness();
        let tokens = liveliness.declare_subscriber(&tokens).history(true).callback(move |sample| {
            let token = sample.key_expr().as_str();
            match sample.kind() {
                SampleKind::Put => graph.add(token),
                SampleKind::Delete => graph.remove(token),
            }
        });
        let tokens = tokens.wait().map_err(|error| failed("subscribe", "liveliness", &error))?;
        let node = shared.announce(&shared.identity.token())?;
        Ok(Self {
            _node: node,
            _tokens: tokens,
            writers: Mutex::default(),
            has_logged_socket_reader: AtomicBool::new(false),
            shared,
        })
    }

    fn writers(&self) -> Vec<Arc<ZenohWriter>> {
        self.writers.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Logs once which node on this host reads shared samples through a socket, and possible reasons.
    fn log_socket_reader(&self, writers: &[Arc<ZenohWriter>]) {
        if self.has_logged_socket_reader.load(Ordering::Relaxed) {
            return;
        }
        let shared = writers.iter().filter(|writer| writer.shares()).map(|writer| writer.topic());
        let readers = self.shared.graph.readers(&shared.collect());
        if readers.is_empty() {
            return;
        }
        let session = &self.shared.session;
        let found = beside_runtimes(|| {
            let mut transports = session.info().transports().wait();
            transports.find_map(|transport| {
                let reader = readers.get(&transport.zid().to_string())?;
                (!transport.is_shm() && is_local(session, &transport)).then_some(reader)
            })
        });
        let Some((reader, topic)) = found else { return };
        self.has_logged_socket_reader.store(true, Ordering::Relaxed);
        tracing::info!(
            "{reader} reads {topic} through a socket, not in shared memory: its session has not \
             transport/shared_memory/enabled=true, may not lock memory (ulimit -l), or is of another user, another \
             container or another version of Zenoh (docs/zenoh.md)"
        );
    }
}

/// Whether the session at the other end runs on this host.
fn is_local(session: &Session, transport: &Transport) -> bool {
    let mut links = session.info().links().transport(transport.clone()).wait();
    let is_loopback = |link: Link| {
        let address = link.dst().address().as_str().parse::<SocketAddr>();
        address.is_ok_and(|address| address.ip().to_canonical().is_loopback())
    };
    links.any(is_loopback)
}

/// Nodes find each other through a router: logs after `attempts` seconds that there is none, and what to do.
fn look_for_router(node: &Arc<NodeSession>, attempts: Option<u64>, routers: Vec<String>) {
    let Some(attempts) = attempts else { return };
    let node = Arc::downgrade(node);
    // The start waits only if `attempts` has no limit.
    let look = move || {
        for _ in 0..attempts.saturating_mul(ROUTER_CHECKS) {
            let Some(node) = node.upgrade() else { return };
            if node.session.info().routers_zid().wait().next().is_some() {
                return;
            }
            drop(node);
            std::thread::sleep(ROUTER_CHECK);
        }
        tracing::warn!(
            "no Zenoh router: {}; without one nodes do not find each other",
            router::absence(routers)
        );
    };
    match attempts {
        u64::MAX => beside_runtimes(look),
        _ => router::start_search(look),
    }
}

impl NodeSession {
    fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn announce(&self, token: &str) -> Result<LivelinessToken, RosError> {
        let announced = self.session.liveliness().declare_token(token).wait();
        announced.map_err(|error| failed("announce", token, &error))
    }

    /// Announces an endpoint of the node; also returns its id.
    fn endpoint(
        &self,
        kind: EntityKind,
        name: &str,
        typed: &str,
        qos: Qos,
    ) -> Result<(LivelinessToken, [u8; 16]), RosError> {
        self.graph.add_own(name, typed);
        let id = self.next_id();
        let token = self.node_of(id)?.endpoint_token(id, kind, name, typed, qos);
        Ok((self.announce(&token)?, keys::gid(&token)))
    }

    /// Returns the node that an endpoint belongs to.
    fn node_of(&self, endpoint: u64) -> Result<NodeIdentity, RosError> {
        let Some(group) =
            usize::try_from(endpoint / ENDPOINTS_OF_A_NODE).unwrap_or(usize::MAX).checked_sub(1)
        else {
            return Ok(self.identity.clone());
        };
        let mut further = self.further.lock();
        while further.len() <= group {
            let node = NodeIdentity {
                id: self.next_id(),
                name: format!("{}_{}", self.identity.name, further.len() + 2),
                ..self.identity.clone()
            };
            further.push((node.clone(), self.announce(&node.token())?));
        }
        Ok(further[group].0.clone())
    }

    fn typed(&self, type_name: &str) -> String {
        keys::typed(type_name, self.distro)
    }

    fn key(&self, name: &str, typed: &str) -> String {
        keys::data_key(self.identity.domain, name, typed)
    }

    /// An attachment with the current time.
    fn attachment(&self, sequence: i64, gid: [u8; 16]) -> Attachment {
        let now = self.session.new_timestamp().get_time().as_nanos();
        Attachment { sequence, stamp_ns: i64::try_from(now).unwrap_or(i64::MAX), gid }
    }
}

impl Drop for NodeSession {
    fn drop(&mut self) {
        let closed = beside_runtimes(|| self.session.close().wait());
        if let Err(error) = closed {
            tracing::debug!(%error, "Zenoh session not closed");
        }
    }
}

impl backend::GraphNode for ZenohNode {
    fn report(&self) -> Vec<WriterReport> {
        let writers = self.writers();
        self.log_socket_reader(&writers);
        writers.iter().map(|writer| writer.report()).collect()
    }

    fn topics(&self) -> Vec<TopicInfo> {
        self.shared.graph.topics()
    }

    fn clients(&self) -> Vec<ServiceInfo> {
        self.shared.graph.services(EntityKind::Client)
    }

    fn servers(&self) -> Vec<ServiceInfo> {
        self.shared.graph.services(EntityKind::Server)
    }

    fn connections(&self) -> Result<Box<dyn backend::Watch>, RosError> {
        Ok(Box::new(self.shared.graph.clone()))
    }

    /// No effect: each endpoint has its own token, so an update does not grow with their number.
    fn hold(&self) -> Guard {
        Box::new(())
    }

    fn further_node(&self, namespace: &str, name: &str) -> Result<Guard, RosError> {
        let node = NodeIdentity {
            id: self.shared.next_id(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..self.shared.identity.clone()
        };
        let token = self.shared.announce(&node.token())?;
        Ok(Box::new((token, self.shared.clone())))
    }
}

impl CdrNode for ZenohNode {
    fn writer(
        &self,
        topic: &str,
        type_name: &'static str,
        qos: Qos,
    ) -> Result<Arc<dyn CdrWriter>, RosError> {
        let writer = Arc::new(ZenohWriter::new(&self.shared, topic, type_name, qos)?);
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
        callback: Callback,
    ) -> Result<Subscription, RosError> {
        let typed = self.shared.typed(type_name);
        let key = self.shared.key(topic, &typed);
        let (callback, end) = callback::split(callback);
        let on_sample = move |sample: Sample| {
            if sample.kind() == SampleKind::Put {
                let cdr = sample.payload().to_bytes();
                callback.run(|callback| guarded(|| callback(&raw(&sample, &cdr))));
            }
        };
        let builder = self.shared.session.declare_subscriber(&key).callback(on_sample).advanced();
        let subscriber = match (qos.durability, qos.reliability) {
            (Durability::Volatile, _) => builder,
            (Durability::TransientLocal, reliability) => {
                let history = HistoryConfig::default().detect_late_publishers();
                let builder = builder
                    .history(history.max_samples(usize::from(qos.depth.max(1))))
                    .subscriber_detection();
                match reliability {
                    Reliability::Reliable => {
                        builder.recovery(RecoveryConfig::default().heartbeat())
                    }
                    Reliability::BestEffort => builder,
                }
            }
        };
        let subscriber = subscriber.wait().map_err(|error| failed("subscribe", topic, &error))?;
        let (token, _) = self.shared.endpoint(EntityKind::Subscription, topic, &typed, qos)?;
        // Dropped in this order.
        let subscriber = WithTasks(Some(subscriber));
        Ok(Subscription::new((token, subscriber, Mutex::new(end), self.shared.clone())))
    }

    fn service(&self, name: &str, service: CdrService) -> Result<Guard, RosError> {
        service::serve(&self.shared, name, service)
    }

    fn client(&self, name: &str, service: ServiceTypes) -> Result<Box<dyn CdrClient>, RosError> {
        Ok(Box::new(client::ZenohClient::new(&self.shared, name, service)?))
    }
}

/// A received sample. A sample without attachment is not from a ROS node, and gets the time stamp of Zenoh, or 0.
fn raw<'a>(sample: &Sample, cdr: &'a [u8]) -> RawSample<'a> {
    let attachment = sample.attachment().and_then(|bytes| Attachment::of(&bytes.to_bytes()));
    let zenoh_stamp = || {
        let time = sample.timestamp().map_or(0, |stamp| stamp.get_time().as_nanos());
        i64::try_from(time).unwrap_or(i64::MAX)
    };
    let stamp = attachment.map_or_else(zenoh_stamp, |attachment| attachment.stamp_ns);
    RawSample { cdr, source_stamp: RosTime(stamp) }
}
