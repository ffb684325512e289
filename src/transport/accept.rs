//! Accepted senders. Datagrams from other addresses are counted by address and dropped unread.
use super::imp::interfaces;
use ipnet::Ipv4Net;
use parking_lot::{Mutex, MutexGuard, RwLock};
use std::collections::{BTreeMap, BTreeSet};
use std::{net::Ipv4Addr, sync::Arc};

/// Limit of refused senders counted individually; the others share one sum, which bounds memory against spoofed addresses.
const MAX_SENDERS: usize = 32;

/// Addresses from which datagrams are accepted. Clones share their counts.
#[derive(Clone, Debug)]
pub struct Accept(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    networks: Vec<Ipv4Net>,
    /// Addresses of this host's interfaces, if the simulator is on this host: it may send from any of them.
    own_host: Option<RwLock<BTreeSet<Ipv4Addr>>>,
    refused: Mutex<Refused>,
}

/// Refused datagrams by sender.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Refused {
    /// By address, up to a limit.
    pub senders: BTreeMap<Ipv4Addr, RefusedSender>,
    /// Number of datagrams of all other senders.
    pub others: u64,
}

/// One address that is not accepted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RefusedSender {
    /// UDP port of this host that it sent to first.
    pub port: u16,
    /// Number of its datagrams.
    pub count: u64,
}

impl Refused {
    /// Number of refused datagrams.
    pub fn total(&self) -> u64 {
        self.others + self.senders.values().map(|sender| sender.count).sum::<u64>()
    }
}

impl Accept {
    /// Accepts these networks and, with `own_host`, every address of this host.
    pub fn new(networks: impl IntoIterator<Item = Ipv4Net>, own_host: bool) -> Self {
        Self(Arc::new(Inner {
            networks: Ipv4Net::aggregate(&networks.into_iter().collect()),
            own_host: own_host.then(|| RwLock::new(own_addresses())),
            refused: Mutex::default(),
        }))
    }

    /// Accepts every sender.
    pub fn anybody() -> Self {
        Self::new([Ipv4Net::default()], false)
    }

    /// Whether datagrams from this address are accepted.
    pub fn takes(&self, from: Ipv4Addr) -> bool {
        let is_known = |host: &RwLock<BTreeSet<Ipv4Addr>>| host.read().contains(&from);
        self.0.networks.iter().any(|network| network.contains(&from))
            || self.0.own_host.as_ref().is_some_and(is_known)
    }

    /// Like [`Self::takes`], but counts a refused datagram to `port`.
    pub(super) fn take_or_count(&self, from: Ipv4Addr, port: u16) -> bool {
        if self.takes(from) {
            return true;
        }
        let mut refused = self.lock();
        let has_room = refused.senders.len() < MAX_SENDERS;
        if let Some(sender) = refused.senders.get_mut(&from) {
            sender.count += 1;
        } else if has_room {
            let first = RefusedSender { port, count: 1 };
            refused.senders.insert(from, first);
        } else {
            refused.others += 1;
        }
        false
    }

    /// Refreshes this host's addresses, which can change.
    pub fn look_up_own_addresses(&self) {
        if let Some(addresses) = &self.0.own_host {
            *addresses.write() = own_addresses();
        }
    }

    /// The senders refused so far.
    pub fn refused(&self) -> Refused {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Refused> {
        self.0.refused.lock()
    }
}

fn own_addresses() -> BTreeSet<Ipv4Addr> {
    interfaces::addresses().unwrap_or_default()
}

/// Whether an address belongs to this machine.
pub fn is_local_address(address: Ipv4Addr) -> bool {
    address.is_loopback() || own_addresses().contains(&address)
}
