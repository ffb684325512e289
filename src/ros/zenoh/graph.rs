//! The graph: liveliness tokens of all endpoints of a domain.
use super::keys::{self, AnnouncedEndpoint, EntityKind};
use crate::ros::{
    Connections, NodesByName, Qos, ServiceInfo, SubscribedTopic, TopicInfo, backend::Watch,
};
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Limit of known endpoints: more are left out.
const MAX_ENDPOINTS: usize = 100_000;

#[derive(Default)]
pub(super) struct Graph(Mutex<KnownEndpoints>);

#[derive(Default)]
struct KnownEndpoints {
    by_token: BTreeMap<String, AnnouncedEndpoint>,
    /// Number of subscriptions by topic and type, for the topics of our publishers.
    counted: HashMap<(String, String), Arc<AtomicUsize>>,
}

impl Graph {
    /// A token appeared.
    pub(super) fn add(&self, token: &str) {
        let Some(endpoint) = keys::endpoint_of(token) else { return };
        let mut known = self.0.lock();
        if known.by_token.len() >= MAX_ENDPOINTS {
            return;
        }
        let key = (endpoint.name.clone(), endpoint.typed.clone());
        let subscribes = endpoint.kind == EntityKind::Subscription;
        let is_new = known.by_token.insert(token.to_owned(), endpoint).is_none();
        if let Some(count) = known.counted.get(&key).filter(|_| is_new && subscribes) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A token is gone.
    pub(super) fn remove(&self, token: &str) {
        let mut known = self.0.lock();
        let Some(endpoint) = known.by_token.remove(token) else { return };
        let subscribes = endpoint.kind == EntityKind::Subscription;
        let key = (endpoint.name, endpoint.typed);
        if let Some(count) = known.counted.get(&key).filter(|_| subscribes) {
            count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The number of subscriptions to a topic, kept up to date.
    pub(super) fn count_subscriptions(&self, topic: &str, typed: &str) -> Arc<AtomicUsize> {
        let mut known = self.0.lock();
        known.counted.retain(|_, count| Arc::strong_count(count) > 1);
        let present = known.by_token.values().filter(|endpoint| {
            endpoint.kind == EntityKind::Subscription
                && (endpoint.name == topic && endpoint.typed == typed)
        });
        let present = present.count();
        let count = known.counted.entry((topic.to_owned(), typed.to_owned()));
        count.or_insert_with(|| Arc::new(AtomicUsize::new(present))).clone()
    }

    pub(super) fn topics(&self) -> Vec<TopicInfo> {
        let known = self.0.lock();
        let mut topics = BTreeMap::<_, (usize, Qos)>::new();
        for endpoint in known.of(EntityKind::Publisher) {
            let key = (&endpoint.name, &endpoint.type_name);
            let (publishers, offered) = topics.entry(key).or_insert((0, endpoint.qos));
            *publishers += 1;
            *offered = offered.weaker(endpoint.qos);
        }
        let topic = |((name, type_name), (publishers, offered)): ((&String, &String), _)| {
            TopicInfo { name: name.clone(), type_name: type_name.clone(), publishers, offered }
        };
        topics.into_iter().map(topic).collect()
    }

    /// Services with a server, or with a client.
    pub(super) fn services(&self, kind: EntityKind) -> Vec<ServiceInfo> {
        let known = self.0.lock();
        let service = |endpoint: &AnnouncedEndpoint| ServiceInfo {
            name: endpoint.name.clone(),
            type_name: endpoint.type_name.clone(),
        };
        known.of(kind).map(service).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

impl KnownEndpoints {
    fn of(&self, kind: EntityKind) -> impl Iterator<Item = &AnnouncedEndpoint> {
        self.by_token.values().filter(move |endpoint| endpoint.kind == kind)
    }

    fn nodes(&self, kind: EntityKind) -> NodesByName {
        let mut nodes = NodesByName::new();
        for endpoint in self.of(kind) {
            nodes.entry(endpoint.name.clone()).or_default().insert(endpoint.node.clone());
        }
        nodes
    }
}

impl Watch for Arc<Graph> {
    fn current(&mut self) -> Connections {
        let known = self.0.lock();
        Connections {
            publishers: known.nodes(EntityKind::Publisher),
            subscribers: known.nodes(EntityKind::Subscription),
            servers: known.nodes(EntityKind::Server),
        }
    }

    fn subscribed_topics(&mut self) -> Vec<SubscribedTopic> {
        let known = self.0.lock();
        let mut topics = BTreeMap::<_, usize>::new();
        for endpoint in known.of(EntityKind::Subscription) {
            *topics.entry((endpoint.name.clone(), endpoint.type_name.clone())).or_default() += 1;
        }
        let topic =
            |((name, type_name), subscribers)| SubscribedTopic { name, type_name, subscribers };
        topics.into_iter().map(topic).collect()
    }
}
