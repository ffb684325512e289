//! The endpoints of each node: discovered writers and readers, with the nodes that their participants announce. Open only while
//! it is watched.
use super::super::{self as ros, History, NodesByName, Qos, RosError, backend};
use super::discovered::{Discovered, EndpointRole};
use super::ffi::{self, Participant, SampleKind, Side};
use super::graph;
use super::identity::Guid;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of participants with names of nodes.
const PARTICIPANTS: usize = 1000;

/// First bytes of the GUIDs of a participant.
type Prefix = [u8; 12];

/// The newest sample of each participant.
type LatestSamples = BTreeMap<Prefix, Arc<[u8]>>;

/// The connections of the whole graph.
pub(super) struct DdsConnections {
    written: Arc<Mutex<Discovered>>,
    read: Discovered,
    samples: Arc<Mutex<LatestSamples>>,
    _reader: ffi::Reader,
}

fn prefix(guid: &Guid) -> Prefix {
    std::array::from_fn(|i| guid[i])
}

impl DdsConnections {
    pub(super) fn new(
        participant: &Arc<Participant>,
        written: Arc<Mutex<Discovered>>,
    ) -> Result<Self, RosError> {
        let samples = Arc::<Mutex<LatestSamples>>::default();
        let kept = samples.clone();
        // The topic has no key: a reader of depth 1 would keep one participant's sample.
        let qos = Qos { history: History::KeepAll, ..Qos::LATCHED };
        let reader = ffi::Reader::new(
            participant,
            SampleKind::Opaque,
            graph::TOPIC,
            graph::TYPE,
            qos,
            "",
            Box::new(move |sample, _| {
                // The GID of the participant follows the header.
                let Some(from) = sample.cdr.get(4..).and_then(|body| body.first_chunk()) else {
                    return;
                };
                let mut kept = kept.lock();
                if kept.len() < PARTICIPANTS || kept.contains_key(from) {
                    kept.insert(*from, sample.cdr.into());
                }
            }),
        )?;
        Ok(Self {
            written,
            read: Discovered::new(participant, Side::Readers)?,
            samples,
            _reader: reader,
        })
    }
}

impl backend::Watch for DdsConnections {
    fn look(&mut self) -> ros::Connections {
        // Before the writers: a participant that is missing there has left.
        let samples = self.samples.lock().clone();
        let mut owners = EndpointOwners::default();
        for node in samples.values().flat_map(|cdr| graph::nodes(cdr)) {
            let name: Arc<str> = node.name.into();
            let owned = node.ends.into_iter().map(|end| (end, name.clone()));
            owners.0.extend(owned);
        }
        let mut written = self.written.lock();
        let there: BTreeSet<_> =
            written.of(EndpointRole::Nodes).map(|(guid, _)| prefix(guid)).collect();
        let now = ros::Connections {
            publishers: owners.of(&mut written, EndpointRole::Publisher),
            subscribers: owners.of(&mut self.read, EndpointRole::Subscription),
            servers: owners.of(&mut written, EndpointRole::Server),
        };
        drop(written);
        let gone = samples.keys().filter(|from| !there.contains(*from));
        let mut kept = self.samples.lock();
        gone.for_each(|from| drop(kept.remove(from)));
        now
    }
}

/// The nodes of endpoints.
#[derive(Default)]
struct EndpointOwners(BTreeMap<Guid, Arc<str>>);

impl EndpointOwners {
    fn of(&self, discovered: &mut Discovered, end: EndpointRole) -> NodesByName {
        let mut ends = NodesByName::new();
        for (guid, known) in discovered.of(end) {
            // Not a ROS node, or not announced yet.
            let owner =
                self.0.get(guid).map_or_else(|| participant_name(guid), ToString::to_string);
            ends.entry(known.name.clone()).or_default().insert(owner);
        }
        ends
    }
}

fn participant_name(guid: &Guid) -> String {
    let hex = prefix(guid).map(|byte| format!("{byte:02x}"));
    format!("participant {}", hex.concat())
}
