//! Which node publishes, subscribes to and serves what: the discovery of writers and readers, with the nodes that their
//! participants tell of. Opened while somebody wants to know.
use super::super::{self as ros, Ends, History, Qos, RosError, backend};
use super::discovered::{Discovered, End};
use super::ffi::{self, Guid, Participant, Side};
use super::graph;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Participants beyond this stay without names of nodes.
const PARTICIPANTS: usize = 1000;

/// What all endpoints of a participant have in front.
type Prefix = [u8; 12];

/// The newest sample of each participant.
type Samples = BTreeMap<Prefix, Arc<[u8]>>;

/// The connections of the whole graph.
pub(super) struct Connections {
    written: Arc<Mutex<Discovered>>,
    read: Discovered,
    samples: Arc<Mutex<Samples>>,
    _reader: ffi::Reader,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn prefix(guid: &Guid) -> Prefix {
    std::array::from_fn(|i| guid[i])
}

impl Connections {
    pub(super) fn new(
        participant: &Arc<Participant>,
        written: Arc<Mutex<Discovered>>,
    ) -> Result<Self, RosError> {
        let samples = Arc::<Mutex<Samples>>::default();
        let kept = samples.clone();
        // The topic has no key: a reader of depth 1 would keep one participant's sample.
        let qos = Qos { history: History::KeepAll, ..Qos::LATCHED };
        let reader = ffi::Reader::new(
            participant,
            graph::TOPIC,
            graph::TYPE,
            qos,
            "",
            Box::new(move |sample, _| {
                // Behind the head begins the GID of the participant.
                let Some(from) = sample.cdr.get(4..).and_then(|body| body.first_chunk()) else {
                    return;
                };
                let mut kept = lock(&kept);
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

impl backend::Watch for Connections {
    fn look(&mut self) -> ros::Connections {
        // Before the writers: whoever is missing there has left.
        let samples = lock(&self.samples).clone();
        let mut owners = Owners::default();
        for node in samples.values().flat_map(|cdr| graph::nodes(cdr)) {
            let name: Arc<str> = node.name.into();
            let owned = node.ends.into_iter().map(|end| (end, name.clone()));
            owners.0.extend(owned);
        }
        let mut written = lock(&self.written);
        let there: BTreeSet<_> = written.of(End::Nodes).map(|(guid, _)| prefix(guid)).collect();
        let now = ros::Connections {
            publishers: owners.of(&mut written, End::Publisher),
            subscribers: owners.of(&mut self.read, End::Subscription),
            servers: owners.of(&mut written, End::Server),
        };
        drop(written);
        let gone = samples.keys().filter(|from| !there.contains(*from));
        let mut kept = lock(&self.samples);
        gone.for_each(|from| drop(kept.remove(from)));
        now
    }
}

/// The nodes of endpoints.
#[derive(Default)]
struct Owners(BTreeMap<Guid, Arc<str>>);

impl Owners {
    fn of(&self, discovered: &mut Discovered, end: End) -> Ends {
        let mut ends = Ends::new();
        for (guid, known) in discovered.of(end) {
            // A participant that is no ROS node, or whose nodes are not known yet.
            let owner = self.0.get(guid).map_or_else(|| unnamed(guid), ToString::to_string);
            ends.entry(known.name.clone()).or_default().insert(owner);
        }
        ends
    }
}

fn unnamed(guid: &Guid) -> String {
    let hex = prefix(guid).map(|byte| format!("{byte:02x}"));
    format!("participant {}", hex.concat())
}
