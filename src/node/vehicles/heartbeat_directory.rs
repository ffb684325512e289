//! Who announces itself on the heartbeats' port, and whether it is served where it is.
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// CopterIDs that have ports.
pub(super) const IDS: std::ops::RangeInclusive<i32> = 1..=10_000;
/// Vehicles that are named one by one; more are counted only.
const NAMED: usize = 100;

/// Where a vehicle is, or is said to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Whereabouts {
    /// Its address.
    pub address: Ipv4Addr,
    /// It is one of this host's.
    pub local: bool,
}

impl Whereabouts {
    fn same(self, other: Self) -> bool {
        self.address == other.address || (self.local && other.local)
    }
}

/// What a heartbeat shows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Announcement {
    /// A vehicle that is served, where it is.
    Served,
    /// A vehicle that another bridge serves.
    OfAnotherBridge,
    /// A vehicle that is not served.
    NotServed {
        /// It was not heard before.
        first: bool,
    },
    /// A vehicle that is served, but not there.
    Elsewhere {
        /// Where it is sent to.
        sent_to: Ipv4Addr,
        /// It was not heard from elsewhere before.
        first: bool,
    },
}

/// The vehicles that are served, and those that were heard and are not.
#[derive(Clone, Debug)]
pub struct HeartbeatDirectory {
    served: BTreeMap<u16, Option<Whereabouts>>,
    others: BTreeSet<u16>,
    strangers: BTreeSet<i32>,
    elsewhere: BTreeSet<u16>,
}

impl HeartbeatDirectory {
    /// Vehicles that are served, and where their datagrams are sent to (`None` if to nobody that sends heartbeats); and
    /// those that other bridges serve.
    pub fn new(
        served: impl IntoIterator<Item = (u16, Option<Whereabouts>)>,
        others: impl IntoIterator<Item = u16>,
    ) -> Self {
        Self {
            served: served.into_iter().collect(),
            others: others.into_iter().collect(),
            strangers: BTreeSet::new(),
            elsewhere: BTreeSet::new(),
        }
    }

    /// Takes a heartbeat of vehicle `id`.
    pub fn hear(&mut self, id: i32, from: Whereabouts) -> Announcement {
        let number = u16::try_from(id).ok();
        let known = number.and_then(|id| Some((id, *self.served.get(&id)?)));
        let Some((id, place)) = known else {
            if number.is_some_and(|id| self.others.contains(&id)) {
                return Announcement::OfAnotherBridge;
            }
            let first = IDS.contains(&id) && self.strangers.len() < NAMED;
            let first = first && self.strangers.insert(id);
            return Announcement::NotServed { first };
        };
        match place {
            Some(place) if !place.same(from) => Announcement::Elsewhere {
                sent_to: place.address,
                first: self.elsewhere.insert(id),
            },
            _ => Announcement::Served,
        }
    }
}
