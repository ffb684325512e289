//! The topics and services of the graph, kept up to date by the discovery of writers or of readers.
use super::super::{Qos, RosError, ServiceInfo, SubscribedTopic, TopicInfo, names};
use super::ffi::{Endpoint, Endpoints, Participant, Side};
use super::{graph, identity::Guid};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Role of an endpoint in ROS.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum EndpointRole {
    Publisher,
    Subscription,
    Client,
    Server,
    /// Announces the nodes of its participant.
    Nodes,
}

pub(super) struct DiscoveredEndpoint {
    role: EndpointRole,
    pub(super) name: String,
    type_name: String,
    qos: Qos,
}

impl DiscoveredEndpoint {
    /// `None` if it is not of ROS. Services are counted by their writers: of responses (server) and of requests (client).
    fn of(side: Side, endpoint: &Endpoint) -> Option<Self> {
        let type_name = names::ros_type(&endpoint.type_name)?;
        let known = |role, name: &str, type_name: &str| Self {
            role,
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            qos: endpoint.qos,
        };
        let topic = names::ros_topic(&endpoint.topic);
        if side == Side::Readers {
            return Some(known(EndpointRole::Subscription, topic?, &type_name));
        }
        if let Some(name) = topic {
            return Some(known(EndpointRole::Publisher, name, &type_name));
        }
        if endpoint.topic == graph::TOPIC {
            return Some(known(EndpointRole::Nodes, graph::TOPIC, &type_name));
        }
        if let Some(name) = names::ros_service(&endpoint.topic) {
            return Some(known(EndpointRole::Client, name, type_name.strip_suffix("_Request")?));
        }
        let name = names::ros_reply(&endpoint.topic)?;
        Some(known(EndpointRole::Server, name, type_name.strip_suffix("_Response")?))
    }
}

/// Discovered writers or readers of ROS.
pub(super) struct Discovered {
    side: Side,
    endpoints: Endpoints,
    known: BTreeMap<Guid, DiscoveredEndpoint>,
}

impl Discovered {
    pub(super) fn new(participant: &Arc<Participant>, side: Side) -> Result<Self, RosError> {
        Ok(Self { side, endpoints: Endpoints::new(participant, side)?, known: BTreeMap::new() })
    }

    pub(super) fn topics(&mut self) -> Vec<TopicInfo> {
        let mut topics = BTreeMap::<_, (usize, Qos)>::new();
        for (_, writer) in self.of(EndpointRole::Publisher) {
            let (publishers, offered) =
                topics.entry((&writer.name, &writer.type_name)).or_insert((0, writer.qos));
            *publishers += 1;
            *offered = offered.weaker(writer.qos);
        }
        let topic = |((name, type_name), (publishers, offered)): ((&String, &String), _)| {
            TopicInfo { name: name.clone(), type_name: type_name.clone(), publishers, offered }
        };
        topics.into_iter().map(topic).collect()
    }

    pub(super) fn subscribed(&mut self) -> Vec<SubscribedTopic> {
        let mut topics = BTreeMap::<_, usize>::new();
        for (_, reader) in self.of(EndpointRole::Subscription) {
            *topics.entry((reader.name.clone(), reader.type_name.clone())).or_default() += 1;
        }
        let topic =
            |((name, type_name), subscribers)| SubscribedTopic { name, type_name, subscribers };
        topics.into_iter().map(topic).collect()
    }

    /// Services with an endpoint of this role.
    pub(super) fn services(&mut self, role: EndpointRole) -> Vec<ServiceInfo> {
        let services: BTreeSet<_> =
            (self.of(role)).map(|(_, writer)| (&writer.name, &writer.type_name)).collect();
        let service = |(name, type_name): (&String, &String)| ServiceInfo {
            name: name.clone(),
            type_name: type_name.clone(),
        };
        services.into_iter().map(service).collect()
    }

    /// Returns the present endpoints with this role.
    pub(super) fn of(
        &mut self,
        role: EndpointRole,
    ) -> impl Iterator<Item = (&Guid, &DiscoveredEndpoint)> {
        let (side, known) = (self.side, &mut self.known);
        // After an error the next call reads the rest.
        let _later = self.endpoints.changes(|guid, endpoint| {
            match endpoint.and_then(|endpoint| DiscoveredEndpoint::of(side, &endpoint)) {
                Some(endpoint) => known.insert(guid, endpoint),
                None => known.remove(&guid),
            };
        });
        known.iter().filter(move |(_, known)| known.role == role)
    }
}
