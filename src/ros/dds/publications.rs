//! The topics and services of the graph, kept up to date by the discovery of writers.
use super::super::{Qos, RosError, ServiceInfo, TopicInfo, names};
use super::ffi::{self, Guid, Participant, Publication};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a writer is in ROS.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Publisher,
    Client,
    Server,
}

struct Known {
    end: End,
    name: String,
    type_name: String,
    offered: Qos,
}

impl Known {
    /// `None` for what is not of ROS.
    fn of(writer: &Publication) -> Option<Self> {
        let type_name = names::ros_type(&writer.type_name)?;
        let known = |end, name: &str, type_name: &str| Self {
            end,
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            offered: writer.offered,
        };
        if let Some(name) = names::ros_topic(&writer.topic) {
            return Some(known(End::Publisher, name, &type_name));
        }
        if let Some(name) = names::ros_service(&writer.topic) {
            return Some(known(
                End::Client,
                name,
                type_name.strip_suffix("_Request")?,
            ));
        }
        let name = names::ros_reply(&writer.topic)?;
        Some(known(
            End::Server,
            name,
            type_name.strip_suffix("_Response")?,
        ))
    }
}

/// Every writer of ROS that was discovered.
pub(super) struct Publications {
    reader: ffi::Publications,
    known: BTreeMap<Guid, Known>,
}

impl Publications {
    pub(super) fn new(participant: &Arc<Participant>) -> Result<Self, RosError> {
        Ok(Self {
            reader: ffi::Publications::new(participant)?,
            known: BTreeMap::new(),
        })
    }

    pub(super) fn topics(&mut self) -> Vec<TopicInfo> {
        let mut topics = BTreeMap::<_, (usize, Qos)>::new();
        for writer in self.of(End::Publisher) {
            let (publishers, offered) = topics
                .entry((&writer.name, &writer.type_name))
                .or_insert((0, writer.offered));
            *publishers += 1;
            *offered = offered.weaker(writer.offered);
        }
        let topic =
            |((name, type_name), (publishers, offered)): ((&String, &String), _)| TopicInfo {
                name: name.clone(),
                type_name: type_name.clone(),
                publishers,
                offered,
            };
        topics.into_iter().map(topic).collect()
    }

    pub(super) fn clients(&mut self) -> Vec<ServiceInfo> {
        self.services(End::Client)
    }

    pub(super) fn servers(&mut self) -> Vec<ServiceInfo> {
        self.services(End::Server)
    }

    fn services(&mut self, end: End) -> Vec<ServiceInfo> {
        let services: BTreeSet<_> = (self.of(end))
            .map(|writer| (&writer.name, &writer.type_name))
            .collect();
        let service = |(name, type_name): (&String, &String)| ServiceInfo {
            name: name.clone(),
            type_name: type_name.clone(),
        };
        services.into_iter().map(service).collect()
    }

    /// As of now.
    fn of(&mut self, end: End) -> impl Iterator<Item = &Known> {
        let known = &mut self.known;
        // What cannot be read now is read by the next call.
        let _later = self.reader.changes(|guid, writer| {
            match writer.as_ref().and_then(Known::of) {
                Some(writer) => known.insert(guid, writer),
                None => known.remove(&guid),
            };
        });
        known.values().filter(move |writer| writer.end == end)
    }
}
