//! Vehicles announced on the heartbeat port, and whether the bridge serves them at the address that sends their heartbeats.
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// CopterIDs with assigned ports.
pub(super) const IDS: std::ops::RangeInclusive<i32> = 1..=10_000;
/// Limit of unserved vehicles that are logged one by one; others are only counted.
const MAX_NAMED: usize = 100;

/// Address of a vehicle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct VehicleAddress {
    /// Address of the host that simulates it.
    pub address: Ipv4Addr,
    /// The address belongs to this host.
    pub local: bool,
}

impl VehicleAddress {
    fn is_same(self, other: Self) -> bool {
        self.address == other.address || (self.local && other.local)
    }
}

/// Result of a heartbeat.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Announcement {
    /// A served vehicle at its configured address.
    Served,
    /// A vehicle of another bridge.
    OfAnotherBridge,
    /// A vehicle that is not served.
    NotServed {
        /// First heartbeat of this vehicle; false for CopterIDs without ports, and beyond the limit of logged vehicles.
        first: bool,
    },
    /// A served vehicle at another address.
    Elsewhere {
        /// Address the bridge sends to.
        sent_to: Ipv4Addr,
        /// First heartbeat from another address.
        first: bool,
    },
}

/// The served vehicles, and the announced vehicles that are not served.
#[derive(Clone, Debug)]
pub struct HeartbeatDirectory {
    served: BTreeMap<u16, Option<VehicleAddress>>,
    others: BTreeSet<u16>,
    unserved: BTreeSet<i32>,
    elsewhere: BTreeSet<u16>,
}

impl HeartbeatDirectory {
    /// `served`: vehicles with the address that the bridge sends to (`None`: heartbeats may come from any address); `others`:
    /// vehicles of other bridges.
    pub fn new(
        served: impl IntoIterator<Item = (u16, Option<VehicleAddress>)>,
        others: impl IntoIterator<Item = u16>,
    ) -> Self {
        Self {
            served: served.into_iter().collect(),
            others: others.into_iter().collect(),
            unserved: BTreeSet::new(),
            elsewhere: BTreeSet::new(),
        }
    }

    /// Records and classifies a heartbeat of vehicle `id`.
    pub fn hear(&mut self, id: i32, from: VehicleAddress) -> Announcement {
        let number = u16::try_from(id).ok();
        let served = number.and_then(|id| Some((id, *self.served.get(&id)?)));
        let Some((id, expected)) = served else {
            if number.is_some_and(|id| self.others.contains(&id)) {
                return Announcement::OfAnotherBridge;
            }
            let first = IDS.contains(&id) && self.unserved.len() < MAX_NAMED;
            let first = first && self.unserved.insert(id);
            return Announcement::NotServed { first };
        };
        match expected {
            Some(expected) if !expected.is_same(from) => Announcement::Elsewhere {
                sent_to: expected.address,
                first: self.elsewhere.insert(id),
            },
            _ => Announcement::Served,
        }
    }
}
