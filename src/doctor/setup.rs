//! Settings of a bridge, and the addresses and routes of this host.
use crate::transport::{BlockFile, HostFacts, Route};
use ipnet::Ipv4Net;
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddrV4};

/// Settings of one sensor.
#[derive(Clone, Debug)]
pub struct SensorSetup {
    /// Its name in `/diagnostics`.
    pub name: String,
    /// Address to which the request makes the simulator send.
    pub destination: Ipv4Addr,
    /// Bytes of a frame that arrives over UDP in one burst; 0 for compressed images and blocks.
    pub burst: u64,
    /// Its block, if it uses shared memory: name, minimum length, and the file that exists.
    pub block: Option<(String, u64, BlockFile)>,
}

/// Settings of a bridge.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Address of the renderer: `simulator_address` and its port.
    pub renderer: SocketAddrV4,
    /// Ports of the simulator that the bridge sends to.
    pub sends_to: BTreeSet<u16>,
    /// UDP ports of this host that the simulator sends to.
    pub listens: BTreeSet<u16>,
    /// `receive_buffer_bytes`.
    pub receive_buffer: u64,
    /// All enabled sensors.
    pub sensors: Vec<SensorSetup>,
}

pub(super) fn is_own(host: &HostFacts, address: Ipv4Addr) -> bool {
    address.is_loopback() || host.interfaces.iter().any(|i| i.network.addr() == address)
}

/// Returns the address of the interface of a route, with its network.
pub(super) fn network_of(host: &HostFacts, route: &Route) -> Option<Ipv4Net> {
    let interface = host.interfaces.iter().find(|i| i.name == route.interface);
    interface.map(|interface| interface.network)
}

/// Returns the route of a datagram: the longest prefix, then the lowest metric.
pub(super) fn route_to(host: &HostFacts, address: Ipv4Addr) -> Option<&Route> {
    let matching = host.routes.iter().filter(|route| route.network.contains(&address));
    matching.min_by_key(|route| (u8::MAX - route.network.prefix_len(), route.metric))
}
