//! The ROS graph for clients that subscribe to it (`connectionGraph`): publishers, subscriptions and servers by name. One reader
//! serves all such clients, and exists while there are any.
use crate::ros::{self, ConnectionsWatch, Middleware, NodesByName, RosError};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Maximum age of a reused snapshot.
const MAX_AGE: Duration = Duration::from_secs(1);
/// Maximum number of names with publishers, of names with subscriptions, and of services; further ones are left out.
const MAX_NAMES: usize = 10_000;

/// Opens the graph reader for the first client, and closes it after the last.
pub(super) struct ConnectionGraph {
    middleware: Middleware,
    reader: Mutex<Weak<Mutex<GraphReader>>>,
}

struct GraphReader {
    watch: ConnectionsWatch,
    last: Option<(Instant, Arc<ros::Connections>)>,
}

/// The subscription of one client to the graph.
pub(super) struct GraphFollower {
    reader: Arc<Mutex<GraphReader>>,
    /// The snapshot that the last update described.
    sent: Option<Arc<ros::Connections>>,
}

impl ConnectionGraph {
    pub(super) fn new(middleware: &Middleware) -> Self {
        Self { middleware: middleware.clone(), reader: Mutex::default() }
    }

    pub(super) fn follow(&self) -> Result<GraphFollower, RosError> {
        let mut current = self.reader.lock();
        let reader = match current.upgrade() {
            Some(reader) => reader,
            None => {
                let watch = self.middleware.connections()?;
                let reader = Arc::new(Mutex::new(GraphReader { watch, last: None }));
                *current = Arc::downgrade(&reader);
                reader
            }
        };
        Ok(GraphFollower { reader, sent: None })
    }
}

impl GraphReader {
    fn read(&mut self) -> Arc<ros::Connections> {
        let fresh = (self.last.as_ref()).filter(|(at, _)| at.elapsed() < MAX_AGE);
        if let Some((_, graph)) = fresh {
            return graph.clone();
        }
        let mut graph = self.watch.look();
        for nodes in [&mut graph.publishers, &mut graph.subscribers, &mut graph.servers] {
            while nodes.len() > MAX_NAMES {
                nodes.pop_last();
            }
        }
        let graph = Arc::new(graph);
        self.last = Some((Instant::now(), graph.clone()));
        graph
    }
}

impl GraphFollower {
    /// The changes since the last update; at first the whole graph.
    pub(super) fn update(&mut self) -> Option<Value> {
        let mut reader = self.reader.lock();
        let now = reader.read();
        let update = update(self.sent.as_deref(), &now);
        self.sent = Some(now);
        update
    }
}

/// `connectionGraphUpdate`; `None` if nothing has changed.
fn update(sent: Option<&ros::Connections>, now: &ros::Connections) -> Option<Value> {
    let empty = ros::Connections::default();
    let before = sent.unwrap_or(&empty);
    let topics: BTreeSet<&String> = now.publishers.keys().chain(now.subscribers.keys()).collect();
    let is_removed = |name: &&String| !topics.contains(name);
    let removed_topics: BTreeSet<_> =
        (before.publishers.keys()).chain(before.subscribers.keys()).filter(is_removed).collect();
    let removed_services: Vec<_> =
        (before.servers.keys()).filter(|name| !now.servers.contains_key(*name)).collect();
    let changed_topics = |before, now, ids| changed(before, now, ids, |name| topics.contains(name));
    let published = changed_topics(&before.publishers, &now.publishers, "publisherIds");
    let subscribed = changed_topics(&before.subscribers, &now.subscribers, "subscriberIds");
    let served = changed(&before.servers, &now.servers, "providerIds", |_| false);
    let is_same = [&published, &subscribed, &served].iter().all(|list| list.is_empty())
        && removed_topics.is_empty()
        && removed_services.is_empty();
    (sent.is_none() || !is_same).then(|| {
        json!({
            "op": "connectionGraphUpdate",
            "publishedTopics": published,
            "subscribedTopics": subscribed,
            "advertisedServices": served,
            "removedTopics": removed_topics,
            "removedServices": removed_services,
        })
    })
}

/// The names whose endpoints have changed. A topic that has lost its publishers but has subscriptions, or the reverse, gets an
/// empty list: a client replaces the lists of the names in the update, and keeps all other lists.
fn changed(
    before: &NodesByName,
    now: &NodesByName,
    ids: &str,
    is_kept: impl Fn(&String) -> bool,
) -> Vec<Value> {
    let differing = now.iter().filter(|(name, ends)| before.get(*name) != Some(*ends));
    let lost = before.keys().filter(|name| !now.contains_key(*name) && is_kept(name));
    let differing = differing.map(|(name, ends)| json!({"name": name, ids: ends}));
    differing.chain(lost.map(|name| json!({"name": name, ids: []}))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(list: &[(&str, &[&str])]) -> NodesByName {
        let ends = list.iter().map(|(name, nodes)| {
            let nodes = nodes.iter().map(|node| (*node).to_owned()).collect();
            ((*name).to_owned(), nodes)
        });
        ends.collect()
    }

    fn text(sent: Option<&ros::Connections>, now: &ros::Connections) -> Option<String> {
        update(sent, now).map(|update| update.to_string())
    }

    /// Keys are sorted, as `serde_json` writes them.
    #[test]
    fn the_first_update_has_the_whole_graph_and_later_ones_only_the_changes() {
        let empty = ros::Connections::default();
        let nothing = r#"{"advertisedServices":[],"op":"connectionGraphUpdate","publishedTopics":[],"removedServices":[],"removedTopics":[],"subscribedTopics":[]}"#;
        assert_eq!(text(None, &empty).as_deref(), Some(nothing));
        assert_eq!(text(Some(&empty), &empty), None);
        let first = ros::Connections {
            publishers: ends(&[("/foo", &["/node_1"]), ("/bar", &["/node_1"])]),
            subscribers: ends(&[("/foo", &["/node_2", "/node_3"]), ("/baz", &["/node_2"])]),
            servers: ends(&[("/set_bool", &["/node_2"]), ("/old", &["/node_2"])]),
        };
        let all = r#"{"advertisedServices":[{"name":"/old","providerIds":["/node_2"]},{"name":"/set_bool","providerIds":["/node_2"]}],"op":"connectionGraphUpdate","publishedTopics":[{"name":"/bar","publisherIds":["/node_1"]},{"name":"/foo","publisherIds":["/node_1"]}],"removedServices":[],"removedTopics":[],"subscribedTopics":[{"name":"/baz","subscriberIds":["/node_2"]},{"name":"/foo","subscriberIds":["/node_2","/node_3"]}]}"#;
        assert_eq!(text(None, &first).as_deref(), Some(all));
        assert_eq!(text(Some(&empty), &first).as_deref(), Some(all));
        assert_eq!(text(Some(&first), &first), None);
        // /foo loses its publisher and a subscriber, /bar and /baz end, a service ends, another moves.
        let then = ros::Connections {
            publishers: ends(&[]),
            subscribers: ends(&[("/foo", &["/node_2"])]),
            servers: ends(&[("/set_bool", &["/node_4"])]),
        };
        let difference = r#"{"advertisedServices":[{"name":"/set_bool","providerIds":["/node_4"]}],"op":"connectionGraphUpdate","publishedTopics":[{"name":"/foo","publisherIds":[]}],"removedServices":["/old"],"removedTopics":["/bar","/baz"],"subscribedTopics":[{"name":"/foo","subscriberIds":["/node_2"]}]}"#;
        assert_eq!(text(Some(&first), &then).as_deref(), Some(difference));
    }

    #[test]
    fn one_reader_serves_all_followers_and_closes_after_the_last() {
        let options = ros::Options::new("viewed");
        let (middleware, _recorder) = Middleware::recorder(&options).expect("a recorder");
        let connections = ConnectionGraph::new(&middleware);
        let _topic = middleware.cloud("/cloud", ros::Qos::IMAGE).expect("a publisher");
        let is_open = || connections.reader.lock().strong_count();
        assert_eq!(is_open(), 0);
        let mut one = connections.follow().expect("a follower");
        let mut other = connections.follow().expect("a follower");
        assert_eq!(is_open(), 2);
        for follower in [&mut one, &mut other] {
            let first = follower.update().expect("the whole graph");
            let published = &first["publishedTopics"];
            assert_eq!(*published, json!([{"name": "/cloud", "publisherIds": ["/recorder"]}]));
            assert_eq!(follower.update(), None);
        }
        drop((one, other));
        assert_eq!(is_open(), 0);
    }
}
