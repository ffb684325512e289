//! `view`: a page for browsers, and the same topics for Foxglove and Lichtblick, on one port of this host.
//!
//! What the bridge publishes comes from a tap (`ros/tap.rs`), so nobody is asked to receive it twice; a topic counts as
//! subscribed while a client reads it. Packets never wait for a client: each has a bounded queue of the newest samples.
//! The same as a program beside a bridge (`graph.rs`) subscribes instead.
mod asset;
mod calls;
mod connections;
mod crowd;
mod errands;
mod graph;
mod hub;
mod outbox;
mod parameters;
mod picture;
mod pictures;
mod server;
mod session;

use crate::config::params::ViewParams;
use crate::node::assembly::Assembly;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::section::{Finding, Level, Section, value};
use crate::node::subsystem::{Subsystem, TopicPage};
use crate::node::tasks;
use crate::node::threads::Threads;
use crate::ros::{Middleware, Tap, TapReader, TapTopic};
use calls::Calls;
use connections::Connections;
use errands::Capacity;
pub use graph::{Viewer, view};
use hub::{Feed, Guard, Hub, Topic};
use outbox::Outbox;
use parameters::Parameters;
use pictures::Pictures;
use server::Server;
use session::Shared;
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{Semaphore, watch};

/// The thread of all clients.
const THREAD: &str = "rfly-view";
/// The thread that makes pictures.
const PICTURES: &str = "rfly-pictures";

/// It has no topics.
pub(super) const SUBSYSTEM: Subsystem = Subsystem {
    open,
    topics: |_: &mut TopicPage| {},
};

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let params = &context.settings.params.view;
    if params.port == 0 {
        return Ok(());
    }
    let listener = assembly.binder.bind_tcp(params.port, "view (view.port)");
    let Some(listener) = listener else {
        return Ok(());
    };
    let middleware = context.middleware;
    let feed = Box::new(TapFeed(middleware.clone()));
    let report = serve(middleware, params, listener, feed, &mut assembly.threads)?;
    let directory = middleware.tap(Arc::new(Directory(report.shared.clone())));
    assembly.guards.push(Box::new(directory));
    assembly.sections.push(Box::new(report));
    Ok(())
}

/// Adds what serves clients to `threads`; the topics are to be added to the hub of the result.
fn serve(
    middleware: &Middleware,
    params: &ViewParams,
    listener: TcpListener,
    feed: Box<dyn Feed>,
    threads: &mut Threads,
) -> Result<Report, NodeError> {
    let pictures = Arc::new(Pictures::default());
    let shared = Arc::new(Shared {
        name: middleware.node_name().to_owned(),
        hub: Hub::new(feed, pictures.clone()),
        calls: params.control.then(|| Calls::new(middleware)),
        parameters: Parameters::new(middleware),
        connections: Connections::new(middleware),
        figures: Figures::default(),
        lives: watch::Sender::new(()),
        places: Arc::new(Semaphore::new(server::CLIENTS)),
        capacity: Capacity::default(),
    });
    let server = Server {
        listener,
        shared: shared.clone(),
        origins: Arc::new(params.origins.clone()),
    };
    tasks::start(&threads.runtime(THREAD)?, server);
    let made = pictures.clone();
    threads.add(PICTURES, move |stop| made.work(stop));
    tracing::info!("view: http://127.0.0.1:{}/", params.port);
    Ok(Report { shared, pictures })
}

/// Tells the hub of every topic of this node.
struct Directory(Arc<Shared>);

impl Tap for Directory {
    fn open(&self, topic: &TapTopic<'_>) -> Option<Arc<dyn TapReader>> {
        self.0.hub.add(topic.name, topic.type_name, topic.qos);
        None
    }
}

/// What this node publishes.
struct TapFeed(Middleware);

/// One topic for one reader.
struct One {
    name: String,
    type_name: String,
    reader: Arc<dyn TapReader>,
}

impl Tap for One {
    fn open(&self, topic: &TapTopic<'_>) -> Option<Arc<dyn TapReader>> {
        let same = topic.name == self.name && topic.type_name == self.type_name;
        same.then(|| self.reader.clone())
    }
}

impl Feed for TapFeed {
    fn attach(&self, topic: &Topic, reader: Arc<dyn TapReader>) -> Option<Guard> {
        Some(Box::new(self.0.tap(Arc::new(One {
            name: topic.name.clone(),
            type_name: topic.type_name.clone(),
            reader,
        }))))
    }

    fn offered(&self) -> BTreeSet<(String, String)> {
        let writers = self.0.report().into_iter();
        let named = writers.map(|writer| (writer.topic, writer.type_name.to_owned()));
        named.collect()
    }
}

/// What is counted.
#[derive(Default)]
pub(super) struct Figures {
    clients: Mutex<Vec<Weak<Outbox>>>,
    /// Messages given to clients.
    sent: AtomicU64,
    /// Messages that clients which have left were too slow for.
    dropped: AtomicU64,
    /// Requests of other hosts and origins.
    refused: AtomicU64,
    /// Connections and clients beyond the limits.
    crowded: AtomicU64,
    /// Why no connection can be accepted now.
    refusing: Mutex<Option<String>>,
}

impl Figures {
    /// Counts a client until the result is dropped.
    fn enter(&self, outbox: &Arc<Outbox>) -> Present<'_> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.push(Arc::downgrade(outbox));
        Present(self, outbox.clone())
    }

    /// Notes why no connection can be accepted; returns whether that is new.
    fn refuse(&self, why: Option<String>) -> bool {
        let mut refusing = self.refusing.lock().unwrap_or_else(PoisonError::into_inner);
        let new = *refusing != why;
        *refusing = why;
        new
    }

    /// Number of clients, of their subscriptions, of samples that clients were too slow for.
    fn now(&self) -> (usize, usize, u64) {
        let clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let clients: Vec<_> = clients.iter().filter_map(Weak::upgrade).collect();
        let dropped: u64 = clients.iter().map(|client| client.dropped()).sum();
        (
            clients.len(),
            clients.iter().map(|client| client.subscriptions()).sum(),
            self.dropped.load(Ordering::Relaxed) + dropped,
        )
    }
}

/// A client that is there.
struct Present<'a>(&'a Figures, Arc<Outbox>);

impl Drop for Present<'_> {
    fn drop(&mut self) {
        let Self(figures, outbox) = self;
        let mut clients = figures
            .clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let gone = Arc::downgrade(outbox);
        clients.retain(|other| !other.ptr_eq(&gone));
        figures
            .dropped
            .fetch_add(outbox.dropped(), Ordering::Relaxed);
    }
}

/// The status in `/diagnostics`.
struct Report {
    shared: Arc<Shared>,
    pictures: Arc<Pictures>,
}

impl Section for Report {
    fn name(&self) -> &'static str {
        "view"
    }

    fn check(&mut self) -> Finding {
        let figures = &self.shared.figures;
        let (clients, subscriptions, dropped) = figures.now();
        let refusing = figures.refusing.lock();
        let (level, message) = match &*refusing.unwrap_or_else(PoisonError::into_inner) {
            None => (Level::Ok, format!("{clients} clients")),
            Some(why) => (Level::Warn, format!("no connection can be accepted: {why}")),
        };
        Finding {
            level,
            message,
            values: vec![
                value("clients", clients),
                value("subscriptions", subscriptions),
                value("sent", figures.sent.load(Ordering::Relaxed)),
                value("dropped for slow clients", dropped),
                value("refused", figures.refused.load(Ordering::Relaxed)),
                value("too many", figures.crowded.load(Ordering::Relaxed)),
                value("images without picture", self.pictures.unreadable()),
            ],
        }
    }
}
