//! Accepted senders and listening addresses, for the whole bridge: every receiving UDP socket gets its options here.
use super::section::{Finding, Level, Section, value};
use crate::config::{ControlLink, Params, params::VehicleParams};
use crate::transport::{Accept, BindOptions, Refused, is_local_address};
use crate::{doctor::BridgeFacts, wire::NETWORK_GROUP};
use ipnet::Ipv4Net;
use parking_lot::Mutex;
use std::{collections::BTreeSet, net::Ipv4Addr, sync::Arc};

/// Accepted senders, and refused senders that were logged.
#[derive(Debug)]
pub struct Senders {
    accept: Accept,
    /// Address to which unicast-only ports are bound.
    listen: Ipv4Addr,
    bind_address: Option<Ipv4Addr>,
    /// Value of the parameter; [`Self::advice`] suggests it with one more address.
    accept_from: Vec<Ipv4Net>,
    logged: Mutex<Logged>,
}

#[derive(Debug, Default)]
struct Logged {
    addresses: BTreeSet<Ipv4Addr>,
    has_others: bool,
}

impl Senders {
    /// Accepts the machines that parameters name. If this host is one of them, all its addresses are accepted: a simulator
    /// on this host may send from any of them.
    pub fn new(params: &Params) -> Self {
        let named = named_machines(params);
        let accepts_own_host = named.iter().any(|address| is_local_address(*address));
        let networks = named.iter().copied().map(Ipv4Net::from);
        let networks: Vec<_> = networks.chain(params.accept_from.iter().copied()).collect();
        let is_loopback = |network: &Ipv4Net| {
            network.network().is_loopback() && network.broadcast().is_loopback()
        };
        let is_all_loopback = networks.iter().all(is_loopback)
            && params.receive_address.is_none_or(|ip| ip.is_loopback());
        let default = if is_all_loopback { Ipv4Addr::LOCALHOST } else { Ipv4Addr::UNSPECIFIED };
        Self {
            accept: Accept::new(networks, accepts_own_host),
            listen: params.bind_address.unwrap_or(default),
            bind_address: params.bind_address,
            accept_from: params.accept_from.clone(),
            logged: Mutex::default(),
        }
    }

    /// Whether datagrams from this address are accepted.
    pub fn accepts(&self, from: Ipv4Addr) -> bool {
        self.accept.takes(from)
    }

    /// Address to which unicast-only ports are bound.
    pub fn listen(&self) -> Ipv4Addr {
        self.listen
    }

    pub(super) fn port(&self, port: u16) -> BindOptions {
        BindOptions { address: self.listen, accept: self.accept.clone(), ..BindOptions::port(port) }
    }

    /// As [`Self::port`], for a stream whose request names `destination` as the address to send to.
    pub(super) fn port_at(&self, destination: Ipv4Addr, port: u16) -> BindOptions {
        // The simulator replaces an unspecified destination with the address of the bridge.
        let is_on_listen_address = destination.is_loopback() || destination.is_unspecified();
        let address = match self.bind_address {
            None if !is_on_listen_address => Ipv4Addr::UNSPECIFIED,
            _ => self.listen,
        };
        BindOptions { address, ..self.port(port) }
    }

    /// Options of a port of the platform's multicast group: heartbeats, reports. A socket bound to a unicast address does not
    /// receive multicast.
    pub(super) fn group(&self, port: u16) -> BindOptions {
        BindOptions {
            address: Ipv4Addr::UNSPECIFIED,
            reuse: true,
            groups: vec![NETWORK_GROUP],
            join_at: self.bind_address.filter(|address| !address.is_unspecified()),
            ..self.port(port)
        }
    }

    /// Logs newly refused senders, with a remedy.
    pub(super) fn log_refused(&self) {
        let refused = self.accept.refused();
        let mut logged = self.logged.lock();
        for (address, sender) in &refused.senders {
            if logged.addresses.insert(*address) {
                tracing::warn!("{}", self.advice(*address, sender.port));
            }
        }
        if refused.others > 0 && !std::mem::replace(&mut logged.has_others, true) {
            let most = refused.senders.len();
            tracing::warn!(
                "more than {most} addresses send to the bridge and are not accepted: further ones are only counted"
            );
        }
    }

    /// Log text for a refused sender.
    pub fn advice(&self, address: Ipv4Addr, port: u16) -> String {
        let mut list: Vec<_> = self.accept_from.iter().map(network_text).collect();
        list.push(address.to_string());
        format!(
            "{address} sends to UDP port {port} and is not accepted: its datagrams are dropped. If it is a simulator of yours, start \
            the bridge with -p 'accept_from:=[{}]', or give its address as simulator_address or vehicle<CopterID>.address",
            list.join(",")
        )
    }

    /// The senders refused so far. Also refreshes the list of this host's addresses.
    fn report(&self) -> Refused {
        self.accept.look_up_own_addresses();
        self.accept.refused()
    }
}

pub(super) struct RefusedSenders {
    senders: Arc<Senders>,
    /// Refused senders at the last check, and how many of their datagrams were new.
    last: (Refused, u64),
}

impl RefusedSenders {
    pub(super) fn new(senders: Arc<Senders>) -> Self {
        Self { senders, last: Default::default() }
    }
}

impl Section for RefusedSenders {
    fn check(&mut self) -> Finding {
        let refused = self.senders.report();
        let total = refused.total();
        let new = total - self.last.0.total();
        let mut values = vec![value("refused", total)];
        let senders = refused.senders.iter();
        values.extend(senders.map(|(address, sender)| value(address, sender.count)));
        if refused.others > 0 {
            values.push(value("others", refused.others));
        }
        let (level, message) = match (new, total) {
            (0, 0) => (Level::Ok, "no datagrams refused".to_owned()),
            (0, _) => (Level::Ok, format!("{total} datagrams refused, none since the last report")),
            _ => (Level::Warn, format!("{new} datagrams refused; accept_from accepts senders")),
        };
        self.last = (refused, new);
        Finding { level, message, values }
    }

    fn add_facts(&self, facts: &mut BridgeFacts) {
        facts.refused = self.last.clone();
    }
}

fn named_machines(params: &Params) -> BTreeSet<Ipv4Addr> {
    let vehicles = params.per_vehicle.values();
    let links = vehicles.clone().filter_map(|vehicle| vehicle.link.as_ref());
    let direct = links.chain([&params.control.link]).filter_map(|link| match link {
        ControlLink::Direct { address, .. } => *address,
        _ => None,
    });
    let has_local = vehicles.clone().any(VehicleParams::is_flown_here);
    let addresses = vehicles.filter_map(|vehicle| vehicle.address);
    addresses
        .chain(has_local.then_some(Ipv4Addr::LOCALHOST))
        .chain(direct)
        .chain([params.simulator_address])
        .collect()
}

/// A network in the syntax of `accept_from`.
fn network_text(network: &Ipv4Net) -> String {
    match network.prefix_len() {
        0 => "any".to_owned(),
        32 => network.addr().to_string(),
        _ => network.to_string(),
    }
}
