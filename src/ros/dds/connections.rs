//! The endpoints of each node: discovered writers and readers, with the nodes that their participants announce. The
//! DDS readers of this module exist only while the graph is watched.
use super::super::{
    self as ros, Distro, History, NodesByName, Qos, RosError, SubscribedTopic, backend, names,
};
use super::discovered::{Discovered, EndpointRole};
use super::ffi::{self, Participant, SampleKind, Side};
use super::{graph, identity::Guid, user_data};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Limit of participants whose node names are stored.
const PARTICIPANTS: usize = 1000;

/// First bytes of the GUIDs of a participant.
type Prefix = [u8; 12];

/// The newest sample of `ros_discovery_info` from each participant.
type LatestSamples = BTreeMap<Prefix, Arc<[u8]>>;

/// The connections of the whole graph.
pub(super) struct DdsConnections {
    writers: Arc<Mutex<Discovered>>,
    readers: Discovered,
    samples: Arc<Mutex<LatestSamples>>,
    _reader: ffi::Reader,
}

fn prefix(guid: &Guid) -> Prefix {
    std::array::from_fn(|i| guid[i])
}

impl DdsConnections {
    pub(super) fn new(
        participant: &Arc<Participant>,
        writers: Arc<Mutex<Discovered>>,
        distro: Distro,
    ) -> Result<Self, RosError> {
        let samples = Arc::<Mutex<LatestSamples>>::default();
        let latest = samples.clone();
        // The topic has no key: a reader of depth 1 would keep the sample of only one participant.
        let qos = Qos { history: History::KeepAll, ..Qos::LATCHED };
        let reader = ffi::Reader::new(
            participant,
            SampleKind::Opaque,
            graph::TOPIC,
            &names::dds_type(graph::TYPE),
            qos,
            &user_data(distro, graph::TYPE),
            Box::new(move |sample, _| {
                // The GID of the participant follows the header.
                let Some(from) = sample.cdr.get(4..).and_then(|body| body.first_chunk()) else {
                    return;
                };
                let mut latest = latest.lock();
                if latest.len() < PARTICIPANTS || latest.contains_key(from) {
                    latest.insert(*from, sample.cdr.into());
                }
            }),
        )?;
        Ok(Self {
            writers,
            readers: Discovered::new(participant, Side::Readers)?,
            samples,
            _reader: reader,
        })
    }
}

impl backend::Watch for DdsConnections {
    fn current(&mut self) -> ros::Connections {
        // Copied before the writers are read: a participant without a writer has left, and is not new.
        let samples = self.samples.lock().clone();
        let mut owners = EndpointOwners::default();
        for node in samples.values().flat_map(|cdr| graph::nodes(cdr)) {
            let name: Arc<str> = node.name.into();
            let owned = node.endpoints.into_iter().map(|guid| (guid, name.clone()));
            owners.0.extend(owned);
        }
        let mut writers = self.writers.lock();
        let present: BTreeSet<_> =
            writers.of(EndpointRole::Nodes).map(|(guid, _)| prefix(guid)).collect();
        let now = ros::Connections {
            publishers: owners.of(&mut writers, EndpointRole::Publisher),
            subscribers: owners.of(&mut self.readers, EndpointRole::Subscription),
            servers: owners.of(&mut writers, EndpointRole::Server),
        };
        drop(writers);
        let gone = samples.keys().filter(|from| !present.contains(*from));
        let mut latest = self.samples.lock();
        gone.for_each(|from| drop(latest.remove(from)));
        now
    }

    fn subscribed_topics(&mut self) -> Vec<SubscribedTopic> {
        self.readers.subscribed()
    }
}

/// The node of each endpoint.
#[derive(Default)]
struct EndpointOwners(BTreeMap<Guid, Arc<str>>);

impl EndpointOwners {
    fn of(&self, discovered: &mut Discovered, role: EndpointRole) -> NodesByName {
        let mut nodes = NodesByName::new();
        for (guid, known) in discovered.of(role) {
            // Not a ROS node, or not announced yet.
            let owner =
                self.0.get(guid).map_or_else(|| participant_name(guid), ToString::to_string);
            nodes.entry(known.name.clone()).or_default().insert(owner);
        }
        nodes
    }
}

fn participant_name(guid: &Guid) -> String {
    let hex = prefix(guid).map(|byte| format!("{byte:02x}"));
    format!("participant {}", hex.concat())
}
