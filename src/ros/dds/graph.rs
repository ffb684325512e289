//! `ros_discovery_info`: nodes with their endpoints, for `ros2 node list` and `ros2 topic info --verbose`.
use super::super::block::Pool;
use super::super::names::{self, Resolver};
use super::super::{Bytes, Cdr, Distro, Guard, OnDrop, Qos, RosError, bulk};
use super::ffi::{Participant, SampleKind, Writer};
use super::{identity::Guid, user_data};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{collections::BTreeSet, sync::Arc};

pub(super) const TOPIC: &str = "ros_discovery_info";
pub(super) const TYPE: &str = "rmw_dds_common/msg/ParticipantEntitiesInfo";

/// Publishes the endpoints of this node, latched, after each change.
pub(super) struct Graph {
    writer: Writer,
    participant: Guid,
    distro: Distro,
    namespace: String,
    name: String,
    endpoints: Mutex<NodeEndpoints>,
    pool: Arc<Pool>,
}

#[derive(Default)]
struct NodeEndpoints {
    readers: BTreeSet<Guid>,
    writers: BTreeSet<Guid>,
    /// Namespaces and names of further nodes.
    nodes: BTreeSet<(String, String)>,
    /// Number of guards of [`Graph::hold`]; while there is one, changes are not published.
    holds: u32,
}

/// List that an endpoint belongs to.
#[derive(Clone, Copy)]
pub(super) enum EndpointKind {
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
#[derive(Deserialize, Serialize)]
struct ParticipantEntitiesInfo<S, G> {
    gid: G,
    node_entities_info_seq: Vec<NodeEntitiesInfo<S, G>>,
}

/// `rmw_dds_common/msg/NodeEntitiesInfo`.
#[derive(Deserialize, Serialize)]
struct NodeEntitiesInfo<S, G> {
    node_namespace: S,
    node_name: S,
    reader_gid_seq: Vec<G>,
    writer_gid_seq: Vec<G>,
}

/// A node in the announcement of a participant.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct AnnouncedNode {
    /// With its namespace.
    pub(super) name: String,
    /// Readers and writers, also those of services.
    pub(super) endpoints: Vec<Guid>,
}

/// Reads the nodes of a sample of [`TOPIC`]; none if it is malformed. A domain may have participants with both lengths of
/// [`Gid`], and a sample does not tell its own: only with the right length does decoding end where the sample ends.
pub(super) fn nodes(cdr: &[u8]) -> Vec<AnnouncedNode> {
    let short = decode::<Guid>(cdr).map(|info| announced_nodes(info, |gid| gid));
    let long = || decode::<(Guid, [u8; 8])>(cdr).map(|info| announced_nodes(info, |(gid, _)| gid));
    short.or_else(long).unwrap_or_default()
}

fn decode<G: DeserializeOwned>(cdr: &[u8]) -> Option<ParticipantEntitiesInfo<String, G>> {
    let (head, body) = cdr.split_first_chunk::<4>()?;
    let (info, read) = match head {
        [0, 1, ..] => cdr_encoding::from_bytes::<_, byteorder::LittleEndian>(body),
        [0, 0, ..] => cdr_encoding::from_bytes::<_, byteorder::BigEndian>(body),
        _ => return None,
    }
    .ok()?;
    (body.len().saturating_sub(read) < 4).then_some(info)
}

fn announced_nodes<G>(
    info: ParticipantEntitiesInfo<String, G>,
    guid: impl Fn(G) -> Guid,
) -> Vec<AnnouncedNode> {
    let node = |node: NodeEntitiesInfo<String, G>| AnnouncedNode {
        name: format!("{}/{}", node.node_namespace.trim_end_matches('/'), node.node_name),
        endpoints: node.reader_gid_seq.into_iter().chain(node.writer_gid_seq).map(&guid).collect(),
    };
    info.node_entities_info_seq.into_iter().map(node).collect()
}

impl Graph {
    pub(super) fn new(
        participant: &Arc<Participant>,
        names: &Resolver,
        distro: Distro,
    ) -> Result<Self, RosError> {
        let graph = Self {
            writer: Writer::new(
                participant,
                SampleKind::Blocks,
                TOPIC,
                &names::dds_type(TYPE),
                Qos::LATCHED,
                &user_data(distro, TYPE),
            )?,
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

    /// Adds an endpoint of this node until the guard is dropped.
    pub(super) fn add(self: &Arc<Self>, kind: EndpointKind, guid: Guid) -> Result<Guard, RosError> {
        self.update(|endpoints| endpoints.of(kind).insert(guid))?;
        Ok(self.guard(move |endpoints| {
            endpoints.of(kind).remove(&guid);
        }))
    }

    /// Postpones publication of changes until the guard is dropped: each update carries all endpoints, and a bridge with 50
    /// vehicles opens thousands.
    pub(super) fn hold(self: &Arc<Self>) -> Guard {
        let mut endpoints = self.endpoints.lock();
        endpoints.holds = endpoints.holds.saturating_add(1);
        drop(endpoints);
        self.guard(|endpoints| endpoints.holds = endpoints.holds.saturating_sub(1))
    }

    /// Adds a node without endpoints until the guard is dropped: tools look only for its name.
    pub(super) fn node(self: &Arc<Self>, namespace: &str, name: &str) -> Result<Guard, RosError> {
        let key = (namespace.to_owned(), name.to_owned());
        self.update(|endpoints| endpoints.nodes.insert(key.clone()))?;
        Ok(self.guard(move |endpoints| {
            endpoints.nodes.remove(&key);
        }))
    }

    /// Applies `undo` when the guard is dropped.
    fn guard(self: &Arc<Self>, undo: impl Fn(&mut NodeEndpoints) + Send + Sync + 'static) -> Guard {
        let graph = self.clone();
        Box::new(OnDrop(move || {
            if let Err(error) = graph.update(&undo) {
                tracing::debug!(%error, "graph information not updated");
            }
        }))
    }

    fn update<R>(&self, change: impl FnOnce(&mut NodeEndpoints) -> R) -> Result<(), RosError> {
        // Locked during the write (which never blocks), or an older state could overtake a newer one.
        let mut endpoints = self.endpoints.lock();
        change(&mut endpoints);
        if endpoints.holds > 0 {
            return Ok(());
        }
        let cdr = self.encode(&endpoints)?;
        let mut block = self.pool.take(cdr.len());
        let range = block.gather(&[Bytes::Own(&cdr)]);
        self.writer.write(TOPIC, Cdr::new(block, range), 0).map(|_| ())
    }

    fn encode(&self, endpoints: &NodeEndpoints) -> Result<Vec<u8>, RosError> {
        let gid = |guid: &Guid| match self.distro {
            Distro::Humble | Distro::Unknown => Gid::Long(*guid, [0; 8]),
            Distro::Newer => Gid::Short(*guid),
        };
        let node = NodeEntitiesInfo {
            node_namespace: self.namespace.as_str(),
            node_name: self.name.as_str(),
            reader_gid_seq: endpoints.readers.iter().map(gid).collect(),
            writer_gid_seq: endpoints.writers.iter().map(gid).collect(),
        };
        let further = endpoints.nodes.iter().map(|(namespace, name)| NodeEntitiesInfo {
            node_namespace: namespace.as_str(),
            node_name: name.as_str(),
            reader_gid_seq: Vec::new(),
            writer_gid_seq: Vec::new(),
        });
        let mut cdr = Vec::new();
        let info = ParticipantEntitiesInfo {
            gid: gid(&self.participant),
            node_entities_info_seq: std::iter::once(node).chain(further).collect(),
        };
        bulk::encode(&mut cdr, TYPE, &info)?;
        bulk::pad(&mut cdr);
        Ok(cdr)
    }
}

impl NodeEndpoints {
    fn of(&mut self, kind: EndpointKind) -> &mut BTreeSet<Guid> {
        match kind {
            EndpointKind::Reader => &mut self.readers,
            EndpointKind::Writer => &mut self.writers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/ns/talker` with a reader and a writer, and `/bare` without, as rmw_dds_common writes them.
    fn sample(gid: usize) -> Vec<u8> {
        let mut cdr = vec![0, 1, 0, 0];
        let id = |n: u8| [vec![n; 16], vec![0; gid - 16]].concat();
        let text = |cdr: &mut Vec<u8>, text: &str| {
            cdr.resize(cdr.len().next_multiple_of(4), 0);
            cdr.extend((text.len() as u32 + 1).to_le_bytes());
            cdr.extend(text.bytes().chain([0]));
        };
        let count = |cdr: &mut Vec<u8>, n: u32| {
            cdr.resize(cdr.len().next_multiple_of(4), 0);
            cdr.extend(n.to_le_bytes());
        };
        cdr.extend(id(1));
        count(&mut cdr, 2);
        text(&mut cdr, "/ns");
        text(&mut cdr, "talker");
        for n in [2, 3] {
            count(&mut cdr, 1);
            cdr.extend(id(n));
        }
        text(&mut cdr, "/");
        text(&mut cdr, "bare");
        count(&mut cdr, 0);
        count(&mut cdr, 0);
        cdr
    }

    #[test]
    fn nodes_are_read_with_gids_of_either_length_and_malformed_samples_have_none() {
        let node = |name: &str, endpoints: &[u8]| AnnouncedNode {
            name: name.to_owned(),
            endpoints: endpoints.iter().map(|guid| [*guid; 16]).collect(),
        };
        let wanted = [node("/ns/talker", &[2, 3]), node("/bare", &[])];
        for gid in [16, 24] {
            let cdr = sample(gid);
            assert_eq!(nodes(&cdr), wanted, "{gid}");
            for end in 0..cdr.len() {
                assert_eq!(nodes(&cdr[..end]), [], "{end} bytes of {}", cdr.len());
            }
            assert_eq!(nodes(&[&cdr[..], &[0; 8]].concat()), [], "too long");
            let none = [&[0, 1, 0, 0][..], &vec![7; gid], &[0; 4]].concat();
            assert_eq!(nodes(&none), []);
        }
    }
}
