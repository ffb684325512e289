//! `ros_discovery_info`: source of the endpoint owners in `ros2 node list` and `ros2 topic info --verbose`.
use super::{
    super::{Bytes, Cdr, Distro, Qos, RosError, bulk, loan::Pool, names::Resolver},
    ffi::{Guid, Participant, Writer},
};
use serde::Serialize;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

const TOPIC: &str = "ros_discovery_info";
const TYPE: &str = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";

/// Publishes the endpoints of this node, latched, again after each change.
pub(super) struct Graph {
    writer: Writer,
    participant: Guid,
    distro: Distro,
    namespace: String,
    name: String,
    endpoints: Mutex<Endpoints>,
    pool: Arc<Pool>,
}

#[derive(Default)]
struct Endpoints {
    readers: BTreeSet<Guid>,
    writers: BTreeSet<Guid>,
    /// Namespaces and names of further nodes.
    nodes: BTreeSet<(String, String)>,
    /// Number of [`Hold`]s; while there is one, changes are not published.
    holds: u32,
}

/// Postpones publication of changes until dropped: each update carries all endpoints, and a bridge with 50 vehicles
/// opens thousands.
pub(in super::super) struct Hold(Arc<Graph>);

impl Drop for Hold {
    fn drop(&mut self) {
        let updated = self
            .0
            .update(|endpoints| endpoints.holds = endpoints.holds.saturating_sub(1));
        if let Err(error) = updated {
            tracing::debug!(%error, "graph information not updated");
        }
    }
}

/// A further node; leaves the graph on drop.
pub(in super::super) struct FurtherNode {
    graph: Arc<Graph>,
    key: (String, String),
}

impl Drop for FurtherNode {
    fn drop(&mut self) {
        let removed = self.graph.update(|endpoints| {
            endpoints.nodes.remove(&self.key);
        });
        if let Err(error) = removed {
            tracing::debug!(node = self.key.1, %error, "graph information not updated");
        }
    }
}

/// List that an endpoint belongs to.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Reader,
    Writer,
}

/// `rmw_dds_common/msg/Gid` has `char[24]` up to Humble, `char[16]` since Iron; the first 16 bytes are the GUID.
#[derive(Serialize)]
#[serde(untagged)]
enum Gid {
    Long(Guid, [u8; 8]),
    Short(Guid),
}

/// `rmw_dds_common/msg/ParticipantEntitiesInfo`.
#[derive(Serialize)]
struct ParticipantEntitiesInfo<'a> {
    gid: Gid,
    node_entities_info_seq: Vec<NodeEntitiesInfo<'a>>,
}

/// `rmw_dds_common/msg/NodeEntitiesInfo`.
#[derive(Serialize)]
struct NodeEntitiesInfo<'a> {
    node_namespace: &'a str,
    node_name: &'a str,
    reader_gid_seq: Vec<Gid>,
    writer_gid_seq: Vec<Gid>,
}

impl Graph {
    pub(super) fn new(
        participant: &Arc<Participant>,
        names: &Resolver,
        distro: Distro,
    ) -> Result<Self, RosError> {
        let graph = Self {
            writer: Writer::new(participant, TOPIC, TYPE, Qos::LATCHED, "")?,
            participant: participant.guid(),
            distro,
            namespace: names.namespace().to_owned(),
            name: names.base_name().to_owned(),
            endpoints: Mutex::default(),
            pool: Arc::default(),
        };
        graph.update(|_| ())?;
        Ok(graph)
    }

    pub(super) fn add(&self, kind: Kind, guid: Guid) -> Result<(), RosError> {
        self.update(|endpoints| {
            endpoints.of(kind).insert(guid);
        })
    }

    pub(super) fn remove(&self, kind: Kind, guid: Guid) -> Result<(), RosError> {
        self.update(|endpoints| {
            endpoints.of(kind).remove(&guid);
        })
    }

    pub(super) fn hold(self: &Arc<Self>) -> Hold {
        let mut endpoints = self
            .endpoints
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        endpoints.holds = endpoints.holds.saturating_add(1);
        drop(endpoints);
        Hold(self.clone())
    }

    /// Adds a node without endpoints: tools look only for its name.
    pub(super) fn node(
        self: &Arc<Self>,
        namespace: &str,
        name: &str,
    ) -> Result<FurtherNode, RosError> {
        let key = (namespace.to_owned(), name.to_owned());
        self.update(|endpoints| {
            endpoints.nodes.insert(key.clone());
        })?;
        let graph = self.clone();
        Ok(FurtherNode { graph, key })
    }

    fn update(&self, change: impl FnOnce(&mut Endpoints)) -> Result<(), RosError> {
        // Locked during the write (which never blocks), or an older state could overtake a newer one.
        let mut endpoints = self
            .endpoints
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        change(&mut endpoints);
        if endpoints.holds > 0 {
            return Ok(());
        }
        let cdr = self.encode(&endpoints)?;
        let mut block = self.pool.take(cdr.len());
        let range = block.gather(&[Bytes::Own(&cdr)]);
        self.writer
            .write(TOPIC, Cdr::new(block, range), 0)
            .map(|_| ())
    }

    fn encode(&self, endpoints: &Endpoints) -> Result<Vec<u8>, RosError> {
        let gid = |guid: &Guid| match self.distro {
            Distro::Humble | Distro::Unknown => Gid::Long(*guid, [0; 8]),
            Distro::Newer => Gid::Short(*guid),
        };
        let node = NodeEntitiesInfo {
            node_namespace: &self.namespace,
            node_name: &self.name,
            reader_gid_seq: endpoints.readers.iter().map(gid).collect(),
            writer_gid_seq: endpoints.writers.iter().map(gid).collect(),
        };
        let further = endpoints
            .nodes
            .iter()
            .map(|(namespace, name)| NodeEntitiesInfo {
                node_namespace: namespace,
                node_name: name,
                reader_gid_seq: Vec::new(),
                writer_gid_seq: Vec::new(),
            });
        let mut cdr = Vec::new();
        let type_name = "rmw_dds_common/msg/ParticipantEntitiesInfo";
        let info = ParticipantEntitiesInfo {
            gid: gid(&self.participant),
            node_entities_info_seq: std::iter::once(node).chain(further).collect(),
        };
        bulk::encode(&mut cdr, type_name, &info)?;
        bulk::pad(&mut cdr);
        Ok(cdr)
    }
}

impl Endpoints {
    fn of(&mut self, kind: Kind) -> &mut BTreeSet<Guid> {
        match kind {
            Kind::Reader => &mut self.readers,
            Kind::Writer => &mut self.writers,
        }
    }
}
