//! `rfly_bridge view`: the same page and server as a separate program, which subscribes to the topics of the graph.
use super::hub::{SampleSource, SourceGuard, ViewTopic};
use super::session::ViewState;
use super::{THREAD, serve};
use crate::config::params::ViewParams;
use crate::msgs::definition;
use crate::node::binder::Binder;
use crate::node::error::NodeError;
use crate::node::tasks::{self, Endless};
use crate::node::threads::{RunningThreads, Threads};
use crate::ros::{Durability, Middleware, RawSample, TapReader};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const DISCOVERY_PERIOD: Duration = Duration::from_secs(1);
/// Depth of subscriptions to latched topics: a late client gets up to this many samples, if the publishers store them.
const LATCHED_DEPTH: u16 = 100;

/// The running server; it stops on drop.
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
        let source = Box::new(GraphSource(middleware.clone()));
        // Only the bridge subscribes to topics that clients may publish.
        let report = serve(middleware, params, listener, source, false, &mut threads)?;
        let discovery = TopicDiscovery { middleware: middleware.clone(), state: report.state };
        tasks::start(&threads.runtime(THREAD)?, discovery);
    }
    Ok(Viewer { _threads: threads.start()? })
}

struct TopicDiscovery {
    middleware: Middleware,
    state: Arc<ViewState>,
}

impl Endless for TopicDiscovery {
    fn name(&self) -> String {
        "view: topics".to_owned()
    }

    async fn work(&mut self) {
        let mut period = tokio::time::interval(DISCOVERY_PERIOD);
        loop {
            period.tick().await;
            for topic in self.middleware.topics() {
                // Clients cannot decode a message without its definition.
                if definition(&topic.type_name).is_some() {
                    let qos = match topic.offered.durability {
                        Durability::TransientLocal => topic.offered.with_depth(LATCHED_DEPTH),
                        Durability::Volatile => topic.offered,
                    };
                    self.state.hub.add(&topic.name, &topic.type_name, qos);
                }
            }
        }
    }
}

struct GraphSource(Middleware);

impl SampleSource for GraphSource {
    fn attach(&self, topic: &ViewTopic, reader: Arc<dyn TapReader>) -> Option<SourceGuard> {
        let ViewTopic { name, type_name, qos, .. } = topic;
        let forward = move |sample: &RawSample<'_>| reader.sample(&[sample.cdr]);
        let subscribed = self.0.subscribe_raw(name, type_name, *qos, forward);
        let logged = subscribed.inspect_err(|error| tracing::error!("view: {name}: {error}"));
        Some(Box::new(logged.ok()?))
    }

    fn published(&self) -> BTreeSet<(String, String)> {
        let topics = self.0.topics().into_iter();
        topics.map(|topic| (topic.name, topic.type_name)).collect()
    }
}
