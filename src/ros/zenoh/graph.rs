//! The ROS graph, from the liveliness tokens of all endpoints of a domain.
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

/// Limit of known endpoints; further ones are ignored.
const MAX_ENDPOINTS: usize = 100_000;

#[derive(Default)]
pub(super) struct Graph(Mutex<KnownEndpoints>);

#[derive(Default)]
struct KnownEndpoints {
    by_token: BTreeMap<String, AnnouncedEndpoint>,
    /// Number of subscriptions by topic and type, for the topics of our publishers.
    counted: HashMap<(String, String), Arc<AtomicUsize>>,
    /// Type with hash of each topic and service of this node, by name.
    own: HashMap<String, String>,
    /// Kinds of mismatch that were logged.
    logged: BTreeSet<Mismatch>,
}

/// Why two endpoints of one type exchange nothing.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Mismatch {
    /// The other endpoint has no type hash, as on Humble.
    Older,
    /// Only the other endpoint has a type hash.
    Newer,
    /// Both have a type hash, and the hashes differ.
    Definition,
}

impl Graph {
    /// Adds the endpoint of a token that appeared.
    pub(super) fn add(&self, token: &str) {
        let Some(endpoint) = keys::endpoint_of(token) else { return };
        let mut known = self.0.lock();
        if known.by_token.len() >= MAX_ENDPOINTS {
            return;
        }
        let key = (endpoint.name.clone(), endpoint.typed.clone());
        let subscribes = endpoint.kind == EntityKind::Subscription;
        known.log_mismatch(&endpoint);
        let is_new = known.by_token.insert(token.to_owned(), endpoint).is_none();
        if let Some(count) = known.counted.get(&key).filter(|_| is_new && subscribes) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Removes the endpoint of a token that is gone.
    pub(super) fn remove(&self, token: &str) {
        let mut known = self.0.lock();
        let Some(endpoint) = known.by_token.remove(token) else { return };
        let subscribes = endpoint.kind == EntityKind::Subscription;
        let key = (endpoint.name, endpoint.typed);
        if let Some(count) = known.counted.get(&key).filter(|_| subscribes) {
            count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Adds the type of an endpoint of this node; logs why known endpoints of this name exchange nothing with it.
    pub(super) fn add_own(&self, name: &str, typed: &str) {
        let mut known = self.0.lock();
        if known.own.len() < MAX_ENDPOINTS {
            known.own.insert(name.to_owned(), typed.to_owned());
        }
        let others = known.by_token.values().filter(|endpoint| endpoint.name == name);
        for other in others.cloned().collect::<Vec<_>>() {
            known.log_mismatch(&other);
        }
    }

    /// Returns, for each session that subscribes to any of these topics, one subscribing node and its topic.
    pub(super) fn readers(&self, topics: &BTreeSet<&str>) -> HashMap<String, (String, String)> {
        let known = self.0.lock();
        let tokens = known.by_token.iter().filter(|(_, endpoint)| {
            endpoint.kind == EntityKind::Subscription && topics.contains(endpoint.name.as_str())
        });
        let reader = |(token, endpoint): (&String, &AnnouncedEndpoint)| {
            let reader = (endpoint.node.clone(), endpoint.name.clone());
            Some((keys::session_of(token)?.to_owned(), reader))
        };
        tokens.filter_map(reader).collect()
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
    /// Logs each kind of mismatch once.
    fn log_mismatch(&mut self, other: &AnnouncedEndpoint) {
        let Some(mismatch) = self.own.get(&other.name).and_then(|own| mismatch(own, other)) else {
            return;
        };
        if !self.logged.insert(mismatch) {
            return;
        }
        let AnnouncedEndpoint { node, name, type_name, .. } = other;
        let why = match mismatch {
            Mismatch::Older => {
                "is of Humble or older, without type hashes: start this program with ROS_DISTRO=humble"
            }
            Mismatch::Newer => {
                "is of Jazzy or later, with type hashes: start this program without ROS_DISTRO=humble"
            }
            Mismatch::Definition => {
                "has another definition of the type: build both with the same message packages"
            }
        };
        tracing::warn!(
            "{node} and this node exchange nothing on {name} ({type_name}): {node} {why}"
        );
    }

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

fn mismatch(own: &str, other: &AnnouncedEndpoint) -> Option<Mismatch> {
    let (own_type, own_hash) = own.split_once('/')?;
    let (other_type, other_hash) = other.typed.split_once('/')?;
    match (keys::is_hash(own_hash), keys::is_hash(other_hash)) {
        _ if own_type != other_type || own_hash == other_hash || own_hash == keys::ANY_HASH => None,
        (_, false) => Some(Mismatch::Older),
        (false, true) => Some(Mismatch::Newer),
        (true, true) => Some(Mismatch::Definition),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exchanges_nothing_is_known_by_the_hashes() {
        const HASH: &str =
            "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
        let token = |hash: &str| {
            format!(
                "@ros2_lv/0/a1/0/3/MS/%/%/listener/%chatter/std_msgs::msg::dds_::String_/{hash}/::,10:,:,:,,"
            )
        };
        let with = |own: &str, other: &str| {
            let other = keys::endpoint_of(&token(other)).expect("a token");
            mismatch(&format!("std_msgs::msg::dds_::String_/{own}"), &other)
        };
        let none = "TypeHashNotSupported";
        assert_eq!(with(HASH, HASH), None);
        assert_eq!(with(none, none), None);
        assert_eq!(with("*", HASH), None);
        assert_eq!(with(HASH, none), Some(Mismatch::Older));
        assert_eq!(with(none, HASH), Some(Mismatch::Newer));
        assert_eq!(with(HASH, &HASH.replace("df", "00")), Some(Mismatch::Definition));
        let other = keys::endpoint_of(&token(none)).expect("a token");
        assert_eq!(mismatch(&format!("std_msgs::msg::dds_::Bool_/{HASH}"), &other), None);
    }
}
