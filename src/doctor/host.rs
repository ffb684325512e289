//! Checks the settings against this host: addresses, routes, buffers, shared memory.
use super::arrangement::{arrangement, own_address};
use super::setup::{SensorSetup, Setup, is_own, route_to};
use super::{Code, Finding};
use crate::transport::{BlockFile, Firewall, HostFacts, NetworkInterface, Route};
use crate::wire::NETWORK_GROUP;
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddrV4};

/// The simulator as seen from this host, for the remedies.
#[derive(Clone, Debug)]
pub struct Simulator {
    /// Address of the renderer.
    pub renderer: SocketAddrV4,
    /// Its ports that the bridge sends to.
    pub ports: BTreeSet<u16>,
    /// Whether it may run on Windows: on another host, or on the Windows whose guest this host is.
    pub may_be_windows: bool,
    /// Address from which this host sends to it.
    pub bridge: Option<Ipv4Addr>,
    /// The firewall of this host.
    pub firewall: Option<Firewall>,
    /// IP packets per second that the kernel of this host received and gave to no program.
    pub undelivered_hz: f64,
}

impl Simulator {
    /// Derives it from the settings and this host.
    pub fn new(setup: &Setup, host: &HostFacts) -> Self {
        let address = *setup.renderer.ip();
        let may_be_guest = arrangement(address, host).may_be_guest();
        Self {
            renderer: setup.renderer,
            ports: setup.sends_to.clone(),
            may_be_windows: may_be_guest || !is_own(host, address),
            bridge: match may_be_guest || !is_own(host, address) {
                true => own_address(host, address),
                false => Some(address),
            },
            firewall: host.firewall.clone(),
            undelivered_hz: 0.0,
        }
    }
}

/// Checks the settings against the facts of the host.
pub fn check_host(setup: &Setup, host: &HostFacts) -> Vec<Finding> {
    let mut found = Vec::new();
    let simulator = *setup.renderer.ip();
    let is_local = is_own(host, simulator);
    let route = route_to(host, simulator);
    let own = match is_local {
        true => Some(simulator),
        false => own_address(host, simulator),
    };
    found.extend(arrangement(simulator, host).findings(setup, host));
    if !is_local && !host.interfaces.is_empty() && route.is_none() {
        let what = "this host has no route to the simulator";
        let remedy = "`ip -br addr` shows this host's networks: give this host an address in the simulator's network, or set \
            simulator_address to the simulator's address in one of these networks";
        found.push(Finding::new(Code::NoRoute, simulator.to_string(), what, remedy));
    }
    if let Some(route) = route.filter(|_| !is_local) {
        check_networks(setup, host, route, &mut found);
    }
    check_receive_address(setup, host, own, &mut found);
    check_multicast(host, route.filter(|_| !is_local), &mut found);
    check_buffers(setup, host, &mut found);
    for sensor in &setup.sensors {
        check_shared_memory(setup, host, sensor, is_local, &mut found);
    }
    let other_users: Vec<_> = host
        .fast_dds_owners
        .iter()
        .filter(|owner| **owner != host.user)
        .map(u32::to_string)
        .collect();
    if !other_users.is_empty() {
        let what = format!(
            "Fast DDS of user id {} uses shared memory on this host; Fast DDS programs of different users, or in containers with the \
             host's network, discover each other but exchange no data",
            other_users.join(", ")
        );
        let remedy = "export FASTDDS_BUILTIN_TRANSPORTS=UDPv4 for all of them, or run all of them as the same user (docs/dds.md)";
        found.push(Finding::new(Code::FastDdsShm, "/dev/shm/fastrtps_*", what, remedy));
    }
    found
}

/// Returns the interfaces to other hosts: neither loopback nor virtual.
fn outward_interfaces(host: &HostFacts) -> impl Iterator<Item = &NetworkInterface> {
    let virtual_prefixes = ["docker", "br-", "veth", "virbr", "lxc"];
    host.interfaces.iter().filter(move |interface| {
        let is_virtual = virtual_prefixes.iter().any(|prefix| interface.name.starts_with(prefix));
        interface.up && !interface.loopback && !is_virtual
    })
}

fn check_networks(setup: &Setup, host: &HostFacts, route: &Route, found: &mut Vec<Finding>) {
    let on_route = outward_interfaces(host).find(|interface| interface.name == route.interface);
    let Some(on_route) = on_route else { return };
    for sensor in setup.sensors.iter().filter(|sensor| sensor.block.is_none()) {
        let destination = sensor.destination;
        let mut elsewhere = outward_interfaces(host).filter(|i| i.name != route.interface);
        let Some(interface) = elsewhere.find(|i| i.network.addr() == destination) else { continue };
        let what = format!(
            "the request tells the simulator to send to {destination} ({}), but this host reaches the simulator through {}",
            interface.name, route.interface
        );
        let remedy = format!("-p receive_address:={}", on_route.network.addr());
        found.push(Finding::new(Code::TwoNetworks, &sensor.name, what, remedy));
    }
}

/// Finds sensors whose data goes to another host. `own`: the address of this host that the simulator can send to.
fn check_receive_address(
    setup: &Setup,
    host: &HostFacts,
    own: Option<Ipv4Addr>,
    found: &mut Vec<Finding>,
) {
    let own = own.map_or_else(|| "<address of this host>".to_owned(), |own| own.to_string());
    for sensor in setup.sensors.iter().filter(|sensor| sensor.block.is_none()) {
        let destination = sensor.destination;
        let is_fine = destination.is_unspecified() || is_own(host, destination);
        if host.interfaces.is_empty() || is_fine || destination.is_multicast() {
            continue;
        }
        let what = format!(
            "its request tells the simulator to send to {destination} (SendProtocol[1] to [4] of Config.json, or receive_address), \
             which is not an address of this host"
        );
        let remedy = format!("-p receive_address:={own}; behind NAT, the address that leads here");
        found.push(Finding::new(Code::ReceiveAddress, &sensor.name, what, remedy));
    }
}

fn check_multicast(host: &HostFacts, route: Option<&Route>, found: &mut Vec<Finding>) {
    if let Some(route) = route
        && let Some(interface) = outward_interfaces(host).find(|i| i.name == route.interface)
        && !interface.multicast
    {
        let what =
            "does not carry multicast: neither heartbeats nor the discovery of ROS 2 nodes work";
        let remedy = format!("sudo ip link set dev {} multicast on", interface.name);
        found.push(Finding::new(Code::MulticastOff, &interface.name, what, remedy));
    }
    if !host.interfaces.is_empty() && route_to(host, NETWORK_GROUP).is_none() {
        let device = route.map(|route| route.interface.as_str());
        let device = device.or_else(|| outward_interfaces(host).next().map(|i| i.name.as_str()));
        let what = "this host has no route to the multicast groups: it cannot send requests to CopterSim and start signals";
        let remedy = format!("sudo ip route add 224.0.0.0/4 dev {}", device.unwrap_or("lo"));
        found.push(Finding::new(Code::MulticastRoute, NETWORK_GROUP.to_string(), what, remedy));
    }
}

fn check_buffers(setup: &Setup, host: &HostFacts, found: &mut Vec<Finding>) {
    let Some(max) = host.receive_buffer_max else { return };
    let granted = max.min(setup.receive_buffer);
    let too_large: Vec<_> = setup.sensors.iter().filter(|s| s.burst > granted).collect();
    let Some(largest) = too_large.iter().map(|sensor| sensor.burst).max() else { return };
    let names: Vec<_> = too_large.iter().map(|sensor| sensor.name.as_str()).collect();
    // Two frames should fit: the next one arrives while the first is read.
    let needed = setup.receive_buffer.max(2 * largest);
    let what = format!(
        "the receive buffer holds {granted} bytes, a frame has {largest}: frames will be lost"
    );
    let remedy = if max < needed {
        format!("sudo sysctl -w net.core.rmem_max={needed}")
    } else {
        format!("-p receive_buffer_bytes:={needed}")
    };
    found.push(Finding::new(Code::Buffers, names.join(", "), what, remedy));
}

fn check_shared_memory(
    setup: &Setup,
    host: &HostFacts,
    sensor: &SensorSetup,
    is_local: bool,
    found: &mut Vec<Finding>,
) {
    let Some((block, min_len, file)) = &sensor.block else { return };
    let udp = "or -p transport_mode:=1 for UDP";
    let mut report = |code, what: String, remedy: String| {
        found.push(Finding::new(code, &sensor.name, what, remedy));
    };
    if !is_local {
        return report(
            Code::ShmRemote,
            format!("uses shared memory, but the simulator runs on {}", setup.renderer.ip()),
            "-p transport_mode:=1 for UDP".to_owned(),
        );
    }
    match file {
        BlockFile::Missing if host.container => report(
            Code::ShmContainer,
            format!("/dev/shm/{block} does not exist: a container has its own /dev/shm"),
            format!("docker run --ipc=host ..., {udp}"),
        ),
        BlockFile::Missing => report(
            Code::ShmMissing,
            format!(
                "/dev/shm/{block} does not exist: the simulator creates it with its first frame, on its own machine only"
            ),
            format!("check that RflySim3D runs on this machine, {udp}"),
        ),
        BlockFile::Denied { owner } => report(
            Code::ShmDenied,
            format!(
                "/dev/shm/{block} belongs to user id {owner}; its permissions do not let this user read and write it"
            ),
            format!("sudo chmod a+rw /dev/shm/{block}, or run both programs as the same user"),
        ),
        BlockFile::NotAFile => report(
            Code::ShmType,
            format!("/dev/shm/{block} is not a regular file"),
            format!("rm -r /dev/shm/{block}"),
        ),
        BlockFile::File { len } if len < min_len => report(
            Code::ShmType,
            format!(
                "/dev/shm/{block} has {len} bytes, this type and size need {min_len}: it belongs to another sensor or an older run"
            ),
            format!(
                "rm /dev/shm/{block}, and compare TypeID, DataWidth and DataHeight with the Config.json that the simulator loaded"
            ),
        ),
        BlockFile::File { .. } => {}
    }
}
