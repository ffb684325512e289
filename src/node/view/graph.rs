//! `rfly_bridge view`: the same page and server as a program of its own, beside any bridge, by subscriptions.
use super::hub::{Feed, Guard, Topic};
use super::session::Shared;
use super::{THREAD, serve};
use crate::config::params::ViewParams;
use crate::msgs::definition;
use crate::node::binder::Binder;
use crate::node::error::NodeError;
use crate::node::tasks::{self, Endless};
use crate::node::threads::{RunningThreads, Threads};
use crate::ros::{Durability, Middleware, TapReader};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Time between two looks for new topics.
const LOOK: Duration = Duration::from_secs(1);
/// Samples of a latched topic that a late client gets, if its publishers keep so many.
const KEPT: u16 = 100;

/// Serves until it is dropped.
pub struct Viewer {
    _threads: RunningThreads,
}

/// Serves the topics of the graph on a port of this host.
pub fn view(middleware: &Middleware, params: &ViewParams) -> Result<Viewer, NodeError> {
    let mut binder = Binder::default();
    let listener = binder.bind_tcp(params.port, "view (--port)");
    binder.finish()?;
    let mut threads = Threads::default();
    if let Some(listener) = listener {
        let feed = Box::new(GraphFeed(middleware.clone()));
        let report = serve(middleware, params, listener, feed, &mut threads)?;
        let search = Search {
            middleware: middleware.clone(),
            shared: report.shared,
        };
        tasks::start(&threads.runtime(THREAD)?, search);
    }
    Ok(Viewer {
        _threads: threads.start()?,
    })
}

/// Tells the hub of the topics of the graph.
struct Search {
    middleware: Middleware,
    shared: Arc<Shared>,
}

impl Endless for Search {
    fn name(&self) -> String {
        "view: topics".to_owned()
    }

    async fn work(&mut self) {
        let mut look = tokio::time::interval(LOOK);
        loop {
            look.tick().await;
            for topic in self.middleware.topics() {
                // Without its definition no client can read a message.
                if definition(&topic.type_name).is_some() {
                    let qos = match topic.offered.durability {
                        Durability::TransientLocal => topic.offered.with_depth(KEPT),
                        Durability::Volatile => topic.offered,
                    };
                    self.shared.hub.add(&topic.name, &topic.type_name, qos);
                }
            }
        }
    }
}

/// What others publish.
struct GraphFeed(Middleware);

impl Feed for GraphFeed {
    fn attach(&self, topic: &Topic, reader: Arc<dyn TapReader>) -> Option<Guard> {
        let subscribed =
            self.0
                .subscribe_raw(&topic.name, &topic.type_name, topic.qos, move |sample| {
                    reader.sample(&[sample.cdr]);
                });
        match subscribed {
            Ok(subscription) => Some(Box::new(subscription)),
            Err(error) => {
                tracing::error!("view: {}: {error}", topic.name);
                None
            }
        }
    }

    fn offered(&self) -> BTreeSet<(String, String)> {
        let topics = self.0.topics().into_iter();
        topics.map(|topic| (topic.name, topic.type_name)).collect()
    }
}
