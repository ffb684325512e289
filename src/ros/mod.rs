//! A facade over the middleware, independent of the back end.
//!
//! * `dds` (feature, default): Cyclone DDS inside this process, with ROS names and types; needs no ROS.
//! * `zenoh` (feature, beside `dds`): Zenoh inside this process, on the wire of `rmw_zenoh_cpp`.
//! * `rclrs` (feature): the middleware of a sourced ROS 2 workspace.
//! * [`recorder`]: stores published messages, for tests and dry runs.
//!
//! Publishing never blocks on a reader. Images and clouds go from the caller's slice to the middleware in one copy, or
//! without a copy from a publisher's loan.
mod action;
mod backend;
mod block;
mod bulk;
pub mod call;
mod callback;
mod client;
mod error;
mod loan;
mod local;
pub mod names;
mod options;
mod pacing;
mod publisher;
mod qos;
pub mod recorder;
mod report;
mod service;
mod subscription;
mod tap;

#[cfg(feature = "dds")]
mod dds;
#[cfg(feature = "rclrs")]
mod rclrs;
#[cfg(feature = "zenoh")]
mod zenoh;

#[cfg(all(feature = "dds", feature = "rclrs"))]
compile_error!(
    "features `dds` and `rclrs` exclude each other: add --no-default-features to --features rclrs"
);
#[cfg(not(any(feature = "dds", feature = "rclrs")))]
compile_error!("a back end is needed: feature `dds` (default) or `rclrs`");

pub use action::{ActionHandle, GoalRequest, KEPT_RESULTS, RunningGoal};
pub use block::Cdr;
pub use bulk::{Bulk, BulkHead, Bytes, CloudHead, CompressedHead, ImageHead, Tail};
pub use client::Client;
pub use error::RosError;
pub use loan::Loan;
pub use local::Payload;
pub use options::{Discovery, Distro, MiddlewareKind, Options, ZenohOptions};
pub use publisher::{
    BulkPublisher, CloudPublisher, CompressedPublisher, ImagePublisher, Outcome, Publisher,
};
pub use qos::{Durability, History, Policy, Qos, Reliability};
pub use recorder::{PendingResponse, Recorder};
pub use report::{
    Connections, ConnectionsWatch, Incompatible, NodesByName, ServiceInfo, ServiceReport,
    SubscribedTopic, TopicInfo, WriterReport, WriterStats,
};
pub use service::{Responder, ServiceHandle, ServiceStats};
pub use subscription::{RawSample, Subscription, Watched};
pub use tap::{Tap, TapGuard, TapReader, TapTopic};
#[cfg(feature = "zenoh")]
pub use zenoh::Router;

use crate::msgs::Message;
use backend::{CdrNode, GraphNode};
use publisher::BackendWriter;
use std::any::Any;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A resource that ends on drop.
type Guard = Box<dyn Any + Send + Sync>;

/// Calls a closure on drop.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The back end of a node.
enum Backend {
    Cdr(Box<dyn CdrNode>),
    #[cfg(feature = "rclrs")]
    Rclrs(rclrs::RclNode),
}

impl Backend {
    fn node(&self) -> &dyn GraphNode {
        match self {
            Self::Cdr(node) => &**node,
            #[cfg(feature = "rclrs")]
            Self::Rclrs(node) => node,
        }
    }
}

/// One ROS node on one middleware. Cheap to clone; the node leaves the graph when the last clone and the last of its
/// publishers, subscriptions, services and clients are gone.
#[derive(Clone)]
pub struct Middleware {
    shared: Arc<NodeState>,
}

/// See [`Middleware::hold_graph`].
#[must_use = "graph updates are held back until this is dropped"]
pub struct GraphHold {
    _hold: Guard,
}

/// A further node of [`Middleware::node`]; leaves the graph on drop.
pub struct NodeHandle {
    _node: Guard,
}

struct NodeState {
    names: names::Resolver,
    backend: Backend,
    services: service::ServiceRegistry,
    taps: Arc<tap::TapRegistry>,
    subscriptions: local::LocalSubscriptions,
    /// Dropped after the back end has ended.
    presence: Arc<()>,
}

/// See [`Middleware::departure`].
#[must_use = "does nothing unless `wait` is called"]
pub struct Departure(Weak<()>);

impl Departure {
    /// Returns when the last clone is gone and the threads of the node have ended.
    pub fn wait(&self) {
        while !self.is_over() {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Whether [`Self::wait`] would return at once.
    pub fn is_over(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl Middleware {
    /// Joins the ROS graph with the back end of this build.
    pub fn join(options: &Options) -> Result<Self, RosError> {
        let names = names::Resolver::new(&options.node_name, &options.namespace, &options.remaps)?;
        #[cfg(feature = "dds")]
        let backend = Backend::Cdr(match options.middleware.unwrap_or_default() {
            MiddlewareKind::Dds => Box::new(dds::DdsNode::new(options, &names)?),
            #[cfg(feature = "zenoh")]
            MiddlewareKind::Zenoh => Box::new(zenoh::ZenohNode::new(options, &names)?),
            #[cfg(not(feature = "zenoh"))]
            MiddlewareKind::Zenoh => return Err(RosError::WithoutZenoh),
        });
        #[cfg(feature = "rclrs")]
        let backend = Backend::Rclrs(rclrs::RclNode::new(options, &names)?);
        Ok(Self::new(names, backend))
    }

    /// Creates a node that publishes into memory only.
    pub fn recorder(options: &Options) -> Result<(Self, Recorder), RosError> {
        let names = names::Resolver::new(&options.node_name, &options.namespace, &options.remaps)?;
        let recorder = Recorder::default();
        let backend = Backend::Cdr(Box::new(recorder.clone()));
        Ok((Self::new(names, backend), recorder))
    }

    fn new(names: names::Resolver, backend: Backend) -> Self {
        Self {
            shared: Arc::new(NodeState {
                names,
                backend,
                services: service::ServiceRegistry::default(),
                taps: Arc::default(),
                subscriptions: local::LocalSubscriptions::default(),
                presence: Arc::default(),
            }),
        }
    }

    /// Returns a handle to wait until the last clone of this node is dropped and its threads have ended. `main` must
    /// not return earlier: the global destructors of the middleware would run beside its threads.
    pub fn departure(&self) -> Departure {
        Departure(Arc::downgrade(&self.shared.presence))
    }

    /// Returns the full topic name after expansion (`img` and `~/img` become absolute) and remapping.
    pub fn resolve(&self, topic: &str) -> Result<String, RosError> {
        self.shared.names.resolve(topic)
    }

    /// Full name of this node.
    pub fn node_name(&self) -> &str {
        self.shared.names.node()
    }

    /// Publisher of small messages.
    pub fn publisher<M: Message>(&self, topic: &str, qos: Qos) -> Result<Publisher<M>, RosError> {
        let topic = self.resolve(topic)?;
        let writer = match &self.shared.backend {
            Backend::Cdr(node) => {
                BackendWriter::Cdr(node.writer(&topic, M::TYPE, qos)?, PhantomData)
            }
            #[cfg(feature = "rclrs")]
            Backend::Rclrs(node) => BackendWriter::Rclrs(node.writer(&topic, qos)?),
        };
        Ok(Publisher::new(writer, self.shared.taps.channel(&topic, M::TYPE, qos)))
    }

    /// Publisher of `sensor_msgs/msg/Image`.
    pub fn image(&self, topic: &str, qos: Qos) -> Result<ImagePublisher, RosError> {
        self.publisher(topic, qos).map(BulkPublisher)
    }

    /// Publisher of `sensor_msgs/msg/CompressedImage`.
    pub fn compressed(&self, topic: &str, qos: Qos) -> Result<CompressedPublisher, RosError> {
        self.publisher(topic, qos).map(BulkPublisher)
    }

    /// Publisher of `sensor_msgs/msg/PointCloud2`.
    pub fn cloud(&self, topic: &str, qos: Qos) -> Result<CloudPublisher, RosError> {
        self.publisher(topic, qos).map(BulkPublisher)
    }

    /// Calls `callback` with each message, on the middleware's receive thread: it must return quickly. Samples that
    /// do not decode are only counted.
    pub fn subscribe<M: Message>(
        &self,
        topic: &str,
        qos: Qos,
        callback: impl FnMut(M) + Send + 'static,
    ) -> Result<Subscription, RosError> {
        let topic = self.resolve(topic)?;
        let (callback, end) = callback::split(callback);
        let local = self.shared.subscriptions.add(&topic, callback.clone());
        let subscription = match &self.shared.backend {
            Backend::Cdr(node) => {
                let undecodable = Arc::new(AtomicU64::new(0));
                let count = undecodable.clone();
                let forward = move |sample: &RawSample<'_>| match sample.decode() {
                    Ok(message) => {
                        callback.run(|callback| callback(message));
                    }
                    Err(_) => {
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                };
                let subscription = node.subscribe(&topic, M::TYPE, qos, Box::new(forward))?;
                subscription.with_undecodable(undecodable)
            }
            #[cfg(feature = "rclrs")]
            Backend::Rclrs(node) => node.subscribe(&topic, qos, callback)?,
        };
        Ok(subscription.with_local((end, local)))
    }

    /// Topics that this node subscribes to by [`Self::subscribe`], with their types.
    pub fn subscribed(&self) -> BTreeMap<String, &'static str> {
        self.shared.subscriptions.types()
    }

    /// Passes a message to the subscriptions of this node, as if a writer had sent it; false if none has this topic and type. The
    /// callbacks run on the caller's thread.
    pub fn deliver(
        &self,
        topic: &str,
        type_name: &str,
        payload: Payload<'_>,
    ) -> Result<bool, RosError> {
        self.shared.subscriptions.deliver(topic, type_name, payload)
    }

    /// Calls `callback` with size and stamp of each message of a type known only at run time; for measuring tools.
    pub fn watch(
        &self,
        topic: &str,
        type_name: &str,
        qos: Qos,
        mut callback: impl FnMut(Watched) + Send + 'static,
    ) -> Result<Subscription, RosError> {
        #[cfg(feature = "rclrs")]
        if let Backend::Rclrs(node) = &self.shared.backend {
            return node.watch(&self.resolve(topic)?, type_name, qos, callback);
        }
        let owned_name = type_name.to_owned();
        self.subscribe_raw(topic, type_name, qos, move |sample| {
            callback(Watched::of_cdr(sample.cdr, &owned_name));
        })
    }

    /// Calls `callback` with the CDR bytes of each sample; fails with rclrs, which has only decoded messages.
    pub fn subscribe_raw(
        &self,
        topic: &str,
        type_name: &str,
        qos: Qos,
        callback: impl FnMut(&RawSample<'_>) + Send + 'static,
    ) -> Result<Subscription, RosError> {
        let topic = self.resolve(topic)?;
        match &self.shared.backend {
            Backend::Cdr(node) => node.subscribe(&topic, type_name, qos, Box::new(callback)),
            #[cfg(feature = "rclrs")]
            Backend::Rclrs(_) => {
                Err(RosError::Unsupported { backend: "rclrs", what: "return CDR bytes" })
            }
        }
    }

    /// State of every publisher of this node, for `/diagnostics`.
    pub fn report(&self) -> Vec<WriterReport> {
        self.shared.backend.node().report()
    }

    /// Passes everything that this node publishes to `tap`, in this process, until the result is dropped.
    pub fn tap(&self, tap: Arc<dyn Tap>) -> TapGuard {
        self.shared.taps.add(tap)
    }

    /// Batches graph updates until the result is dropped: opening many topics one by one would announce all endpoints each time.
    pub fn hold_graph(&self) -> GraphHold {
        GraphHold { _hold: self.shared.backend.node().hold() }
    }

    /// Adds another node name to the graph, for tools that look for a node before they call its services.
    pub fn node(&self, name: &str) -> Result<NodeHandle, RosError> {
        let full = self.resolve(name)?;
        let (namespace, base) = full.rsplit_once('/').unwrap_or(("", &full));
        let namespace = if namespace.is_empty() { "/" } else { namespace };
        Ok(NodeHandle { _node: self.shared.backend.node().further_node(namespace, base)? })
    }

    /// State of every service of this node, for `/diagnostics`.
    pub fn services(&self) -> Vec<ServiceReport> {
        self.shared.services.report()
    }

    /// Topics of the whole ROS graph that have a publisher, as far as discovered.
    pub fn topics(&self) -> Vec<TopicInfo> {
        self.shared.backend.node().topics()
    }

    /// The reliability and durability that all discovered publishers of a topic offer, so a subscription that requests them
    /// matches each; `None` without a publisher. In a workspace each call queries the graph, so it must not be polled.
    pub fn offered(&self, topic: &str) -> Option<Qos> {
        self.shared.backend.node().offered(topic)
    }

    /// Services of the whole ROS graph that have a client, as far as discovered.
    pub fn clients(&self) -> Vec<ServiceInfo> {
        self.shared.backend.node().clients()
    }
}
