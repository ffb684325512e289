//! The ROS graph as discovered by the node.
use super::writer::RclEndpoint;
use crate::ros::{
    self, Durability, Incompatible, NodesByName, Policy, Qos, Reliability, ServiceInfo,
    SubscribedTopic, TopicInfo, backend::Watch,
};
use rclrs::{
    Node, NodeNameInfo, QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy, RclrsError,
    TopicNamesAndTypes,
};
use std::sync::PoisonError;

/// Counts subscriptions that request more than `endpoint` offers. rclrs has no event for them, so the graph is queried.
///
/// Their QoS is queried only when the number of unmatched subscriptions changes: the query is expensive, and rclrs prints an
/// error for every reader of Fast DDS, whose discovery omits the history.
pub(super) fn incompatible(node: &Node, endpoint: &RclEndpoint) -> Incompatible {
    let all = node.count_subscriptions(&endpoint.topic).unwrap_or(0);
    let unmatched = all.saturating_sub(endpoint.matched());
    let mut known = endpoint.unmatched.lock().unwrap_or_else(PoisonError::into_inner);
    if known.0 != unmatched {
        *known = match unmatched {
            0 => (0, Incompatible::default()),
            _ => (unmatched, query_incompatible(node, endpoint)),
        };
    }
    known.1
}

fn query_incompatible(node: &Node, endpoint: &RclEndpoint) -> Incompatible {
    let offered = endpoint.qos;
    let incompatible_policy = |wanted: &QoSProfile| {
        if offered.reliability == Reliability::BestEffort
            && wanted.reliability == QoSReliabilityPolicy::Reliable
        {
            Some(Policy::Reliability)
        } else if offered.durability == Durability::Volatile
            && wanted.durability == QoSDurabilityPolicy::TransientLocal
        {
            Some(Policy::Durability)
        } else {
            None
        }
    };
    let readers = node.get_subscriptions_info_by_topic(&endpoint.topic).unwrap_or_default();
    let policies: Vec<_> =
        readers.iter().filter_map(|reader| incompatible_policy(&reader.qos_profile)).collect();
    Incompatible {
        count: u32::try_from(policies.len()).unwrap_or(u32::MAX),
        last_policy: policies.last().copied(),
    }
}

/// Topics that have a publisher.
pub(super) fn topics(node: &Node) -> Vec<TopicInfo> {
    let mut topics: Vec<_> = node
        .get_topic_names_and_types()
        .unwrap_or_default()
        .into_iter()
        .flat_map(|(name, types)| types.into_iter().map(move |t| (name.clone(), t)))
        .map(|(name, type_name)| TopicInfo {
            publishers: node.count_publishers(&name).unwrap_or(0),
            name,
            type_name,
            // Not queried for every topic: see `offered`.
            offered: Qos::DEFAULT,
        })
        .filter(|topic| topic.publishers > 0)
        .collect();
    topics.sort_by(|a, b| (&a.name, &a.type_name).cmp(&(&b.name, &b.type_name)));
    topics
}

/// The QoS that all publishers of a topic offer.
pub(super) fn offered(node: &Node, topic: &str) -> Option<Qos> {
    let qos = |profile: &QoSProfile| Qos {
        reliability: match profile.reliability {
            QoSReliabilityPolicy::BestEffort => Reliability::BestEffort,
            _ => Reliability::Reliable,
        },
        durability: match profile.durability {
            QoSDurabilityPolicy::TransientLocal => Durability::TransientLocal,
            _ => Durability::Volatile,
        },
        ..Qos::DEFAULT
    };
    let writers = node.get_publishers_info_by_topic(topic).unwrap_or_default();
    writers.iter().map(|writer| qos(&writer.qos_profile)).reduce(Qos::weaker)
}

/// Services that have a server. (`get_service_names_and_types` of rclrs returns only those of its own node.)
pub(super) fn servers(node: &Node) -> Vec<ServiceInfo> {
    services(node, |other| node.get_service_names_and_types_by_node(&other.name, &other.namespace))
}

/// Services that have a client.
pub(super) fn clients(node: &Node) -> Vec<ServiceInfo> {
    services(node, |other| node.get_client_names_and_types_by_node(&other.name, &other.namespace))
}

/// The services that `of_node` returns for every node of the graph; none for a node that has just left.
fn services<T: IntoIterator<Item = (String, Vec<String>)> + Default>(
    node: &Node,
    of_node: impl Fn(&NodeNameInfo) -> Result<T, RclrsError>,
) -> Vec<ServiceInfo> {
    let nodes = node.get_node_names().unwrap_or_default();
    let mut services: Vec<_> = nodes
        .iter()
        .flat_map(|other| of_node(other).unwrap_or_default())
        .flat_map(|(name, types)| types.into_iter().map(move |t| (name.clone(), t)))
        .map(|(name, type_name)| ServiceInfo { name, type_name })
        .collect();
    services.sort();
    services.dedup();
    services
}

/// The connections of the graph, queried node by node: to query the endpoints of a topic would make rclrs print an error for
/// each reader of Fast DDS ([`incompatible`]).
pub(super) struct RclConnections(pub(super) Node);

impl Watch for RclConnections {
    fn current(&mut self) -> ros::Connections {
        let node = &self.0;
        let nodes = node.get_node_names().unwrap_or_default();
        ros::Connections {
            publishers: nodes_by_name(&nodes, |other| {
                node.get_publisher_names_and_types_by_node(&other.name, &other.namespace)
            }),
            subscribers: nodes_by_name(&nodes, |other| {
                node.get_subscription_names_and_types_by_node(&other.name, &other.namespace)
            }),
            servers: nodes_by_name(&nodes, |other| {
                node.get_service_names_and_types_by_node(&other.name, &other.namespace)
            }),
        }
    }

    fn subscribed_topics(&mut self) -> Vec<SubscribedTopic> {
        let node = &self.0;
        let all = node.get_topic_names_and_types().unwrap_or_default().into_iter();
        let each = all.flat_map(|(name, types)| types.into_iter().map(move |t| (name.clone(), t)));
        let mut topics: Vec<_> = each
            .map(|(name, type_name)| SubscribedTopic {
                subscribers: node.count_subscriptions(&name).unwrap_or(0),
                name,
                type_name,
            })
            .filter(|topic| topic.subscribers > 0)
            .collect();
        topics.sort();
        topics
    }
}

/// The names that `of_node` returns for each node, with these nodes; none for a node that has just left.
fn nodes_by_name(
    nodes: &[NodeNameInfo],
    of_node: impl Fn(&NodeNameInfo) -> Result<TopicNamesAndTypes, RclrsError>,
) -> NodesByName {
    let mut by_name = NodesByName::new();
    for other in nodes {
        let owner = format!("{}/{}", other.namespace.trim_end_matches('/'), other.name);
        for name in of_node(other).unwrap_or_default().into_keys() {
            by_name.entry(name).or_default().insert(owner.clone());
        }
    }
    by_name
}
