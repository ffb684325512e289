//! `view`: a page for browsers, and the same topics for Foxglove and Lichtblick, on one port of this host.
//!
//! In the bridge, samples come from a tap (`ros/tap.rs`), without a subscription; a topic counts as subscribed while a client
//! reads it. The program `rfly_bridge view` (`standalone.rs`) subscribes instead. Packets never wait for a client: each client
//! has a bounded queue of the newest samples.
mod asset;
mod call_threads;
mod client_publish;
mod client_queue;
mod connection_graph;
mod hub;
mod jpeg;
mod parameters;
mod server;
mod service_calls;
mod session;
mod standalone;
mod thumbnails;

use crate::config::params::ViewParams;
use crate::node::assembly::Assembly;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::section::{Finding, Level, Section, value};
use crate::node::subsystem::Subsystem;
use crate::node::tasks;
use crate::node::threads::Threads;
use crate::ros::{Middleware, Tap, TapReader, TapTopic};
use call_threads::CallCapacity;
use client_queue::ClientQueue;
use connection_graph::ConnectionGraph;
use hub::{Hub, SampleSource, SourceGuard, ViewTopic};
use parking_lot::Mutex;
use server::ViewServer;
use service_calls::ServiceCalls;
use session::ViewState;
pub use standalone::{Viewer, view};
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use thumbnails::Thumbnails;
use tokio::sync::{Semaphore, watch};

const THREAD: &str = "rfly-view";
const THUMBNAIL_THREAD: &str = "rfly-pictures";

/// Opens no topics.
pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics: |_| {} };

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let params = &context.settings.params.view;
    if params.port == 0 {
        return Ok(());
    }
    let listener = assembly.binder.bind_tcp(params.port, "view (view.port)");
    let Some(listener) = listener else { return Ok(()) };
    let middleware = context.middleware;
    let source = Box::new(TapSource(middleware.clone()));
    let report = serve(middleware, params, listener, source, true, &mut assembly.threads)?;
    let listener = middleware.tap(Arc::new(TopicListener(report.state.clone())));
    assembly.guards.push(Box::new(listener));
    assembly.add_section("view", report);
    Ok(())
}

/// Adds the server to `threads`. The caller adds the topics to the hub of the returned state. With `takes_messages` clients may
/// publish on topics that this node subscribes to, if `view.control` allows it.
fn serve(
    middleware: &Middleware,
    params: &ViewParams,
    listener: TcpListener,
    source: Box<dyn SampleSource>,
    takes_messages: bool,
    threads: &mut Threads,
) -> Result<ViewReport, NodeError> {
    let thumbnails = Arc::new(Thumbnails::default());
    let state = Arc::new(ViewState {
        name: middleware.node_name().to_owned(),
        hub: Hub::new(source, thumbnails.clone()),
        calls: params.control.then(|| ServiceCalls::new(middleware)),
        takes_messages,
        middleware: middleware.clone(),
        origins: params.origins.clone(),
        graph: ConnectionGraph::new(middleware),
        figures: ViewFigures::default(),
        shutdown: watch::Sender::new(()),
        client_permits: Arc::new(Semaphore::new(server::MAX_CLIENTS)),
        call_capacity: CallCapacity::default(),
    });
    tasks::start(&threads.runtime(THREAD)?, ViewServer { listener, state: state.clone() });
    let encoder = thumbnails.clone();
    threads.add(THUMBNAIL_THREAD, move |stop| encoder.run(stop));
    tracing::info!("view: http://127.0.0.1:{}/", params.port);
    Ok(ViewReport { state, thumbnails })
}

struct TopicListener(Arc<ViewState>);

impl Tap for TopicListener {
    fn open(&self, topic: &TapTopic<'_>) -> Option<Arc<dyn TapReader>> {
        self.0.hub.add(topic.name, topic.type_name, topic.qos);
        None
    }
}

struct TapSource(Middleware);

struct SingleTopicTap {
    name: String,
    type_name: String,
    reader: Arc<dyn TapReader>,
}

impl Tap for SingleTopicTap {
    fn open(&self, topic: &TapTopic<'_>) -> Option<Arc<dyn TapReader>> {
        let is_same = topic.name == self.name && topic.type_name == self.type_name;
        is_same.then(|| self.reader.clone())
    }
}

impl SampleSource for TapSource {
    fn attach(&self, topic: &ViewTopic, reader: Arc<dyn TapReader>) -> Option<SourceGuard> {
        Some(Box::new(self.0.tap(Arc::new(SingleTopicTap {
            name: topic.name.clone(),
            type_name: topic.type_name.clone(),
            reader,
        }))))
    }

    fn published(&self) -> BTreeSet<(String, String)> {
        let writers = self.0.report().into_iter();
        writers.map(|writer| (writer.topic, writer.type_name.to_owned())).collect()
    }
}

#[derive(Default)]
pub(super) struct ViewFigures {
    clients: Mutex<Vec<Weak<ClientQueue>>>,
    sent: AtomicU64,
    /// Samples dropped for slow clients that have left.
    dropped: AtomicU64,
    /// Messages of clients that were passed on.
    published: AtomicU64,
    /// Messages and channels of clients that were refused.
    refused_messages: AtomicU64,
    /// Requests with a foreign host or origin.
    refused: AtomicU64,
    /// Connections and clients beyond the limits.
    over_limit: AtomicU64,
    /// Why the last connection could not be accepted.
    accept_error: Mutex<Option<String>>,
}

impl ViewFigures {
    /// Counts a client until the result is dropped.
    fn add_client(&self, queue: &Arc<ClientQueue>) -> ClientCount<'_> {
        self.clients.lock().push(Arc::downgrade(queue));
        ClientCount(self, queue.clone())
    }

    /// Stores the error of the last `accept`, `None` if it succeeded; returns whether it has changed.
    fn set_accept_error(&self, new: Option<String>) -> bool {
        std::mem::replace(&mut *self.accept_error.lock(), new.clone()) != new
    }

    /// Number of clients, of their subscriptions, and of samples dropped for slow clients.
    fn totals(&self) -> (usize, usize, u64) {
        let clients: Vec<_> = self.clients.lock().iter().filter_map(Weak::upgrade).collect();
        let subscriptions = clients.iter().map(|client| client.subscriptions()).sum();
        let dropped: u64 = clients.iter().map(|client| client.dropped()).sum();
        (clients.len(), subscriptions, self.dropped.load(Ordering::Relaxed) + dropped)
    }
}

struct ClientCount<'a>(&'a ViewFigures, Arc<ClientQueue>);

impl Drop for ClientCount<'_> {
    fn drop(&mut self) {
        let Self(figures, queue) = self;
        let removed = Arc::downgrade(queue);
        figures.clients.lock().retain(|other| !other.ptr_eq(&removed));
        figures.dropped.fetch_add(queue.dropped(), Ordering::Relaxed);
    }
}

struct ViewReport {
    state: Arc<ViewState>,
    thumbnails: Arc<Thumbnails>,
}

impl Section for ViewReport {
    fn check(&mut self) -> Finding {
        let figures = &self.state.figures;
        let count = |figure: &AtomicU64| figure.load(Ordering::Relaxed);
        let (clients, subscriptions, dropped) = figures.totals();
        let (level, message) = match &*figures.accept_error.lock() {
            None => (Level::Ok, format!("{clients} clients")),
            Some(why) => (Level::Warn, format!("no connection can be accepted: {why}")),
        };
        Finding {
            level,
            message,
            values: vec![
                value("clients", clients),
                value("subscriptions", subscriptions),
                value("sent", count(&figures.sent)),
                value("dropped for slow clients", dropped),
                value("published by clients", count(&figures.published)),
                value("refused messages", count(&figures.refused_messages)),
                value("refused", count(&figures.refused)),
                value("too many", count(&figures.over_limit)),
                value("images without picture", self.thumbnails.unreadable()),
            ],
        }
    }
}
