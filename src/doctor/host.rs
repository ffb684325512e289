//! The set-up against this host: addresses, routes, WSL, buffers, shared memory.
use super::{Code, Finding};
use crate::transport::{BlockFile, HostFacts, Interface, Route};
use crate::wire::NETWORK_GROUP;
use std::net::Ipv4Addr;

/// One sensor, as configured.
#[derive(Clone, Debug)]
pub struct SensorSetup {
    /// As in `/diagnostics`.
    pub name: String,
    /// Where the simulator is told to send to.
    pub destination: Ipv4Addr,
    /// Bytes that arrive at once: a frame of raw pixels.
    pub burst: u64,
    /// Its block, if it comes through shared memory: name, smallest length, what is there.
    pub block: Option<(String, u64, BlockFile)>,
}

/// What was configured.
#[derive(Clone, Debug)]
pub struct Setup {
    /// `simulator_address`.
    pub simulator: Ipv4Addr,
    /// `receive_buffer_bytes`.
    pub receive_buffer: u64,
    /// All enabled sensors.
    pub sensors: Vec<SensorSetup>,
}

/// Checks the set-up.
pub fn check_host(setup: &Setup, host: &HostFacts) -> Vec<Finding> {
    let mut found = Vec::new();
    let own = |address: Ipv4Addr| {
        address.is_loopback() || host.interfaces.iter().any(|i| i.network.addr() == address)
    };
    let local = own(setup.simulator);
    let route = route_to(host, setup.simulator);
    wsl(setup, host, &mut found);
    if !local && !host.interfaces.is_empty() && route.is_none() {
        found.push(Finding::new(
            Code::NoRoute,
            setup.simulator.to_string(),
            "no network of this host leads to the simulator",
            "`ip -br addr` shows this host's networks: give this host an address in the simulator's network, or set \
             simulator_address to the address that the simulator has there",
        ));
    }
    if let Some(route) = route.filter(|_| !local) {
        networks(setup, host, route, &mut found);
    }
    multicast(host, route.filter(|_| !local), &mut found);
    buffers(setup, host, &mut found);
    for sensor in &setup.sensors {
        shared_memory(setup, host, sensor, local, &mut found);
    }
    let others: Vec<_> = host
        .fast_dds_owners
        .iter()
        .filter(|owner| **owner != host.user)
        .map(u32::to_string)
        .collect();
    if !others.is_empty() {
        found.push(Finding::new(
            Code::FastDdsShm,
            "/dev/shm/fastrtps_*",
            format!(
                "Fast DDS of user id {} shares memory on this host; its programs of other users, or in containers with the host's \
                 network, find each other and exchange nothing",
                others.join(", ")
            ),
            "export FASTDDS_BUILTIN_TRANSPORTS=UDPv4 for all of them, or run them as one user (docs/dds.md)",
        ));
    }
    found
}

/// The row of the routing table that a datagram takes.
fn route_to(host: &HostFacts, address: Ipv4Addr) -> Option<&Route> {
    let fitting = host
        .routes
        .iter()
        .filter(|route| route.network.contains(&address));
    fitting.min_by_key(|route| (u8::MAX - route.network.prefix_len(), route.metric))
}

/// Networks that lead out of this host.
fn outward(host: &HostFacts) -> impl Iterator<Item = &Interface> {
    let bridged = ["docker", "br-", "veth", "virbr", "lxc"];
    host.interfaces.iter().filter(move |interface| {
        let made = bridged
            .iter()
            .any(|prefix| interface.name.starts_with(prefix));
        interface.up && !interface.loopback && !made
    })
}

fn wsl(setup: &Setup, host: &HostFacts, found: &mut Vec<Finding>) {
    if !host.kernel.to_ascii_lowercase().contains("microsoft") {
        return;
    }
    let gateway = host
        .routes
        .iter()
        .find(|route| route.network.prefix_len() == 0);
    let gateway = gateway.and_then(|route| route.gateway);
    let mirrored = host
        .interfaces
        .iter()
        .any(|interface| interface.name == "loopback0");
    // Windows gives the network of NAT an address of this block.
    let behind = |gateway: &Ipv4Addr| matches!(gateway.octets(), [172, 16..=31, ..]);
    let (mode, text) = match gateway.filter(behind) {
        _ if mirrored => (
            "mirrored",
            "this host has the addresses of Windows: simulator_address stays 127.0.0.1; Hyper-V's firewall drops what Windows \
             did not ask for",
        ),
        Some(_) => (
            "NAT",
            "Windows is the default gateway; multicast does not get through, so CopterSim has to send to this host's address",
        ),
        None => (
            "bridged",
            "this host has an address of the LAN: simulator_address is the LAN address of Windows, and its firewall has to let \
             UDP through",
        ),
    };
    let remedy = match mode {
        "mirrored" => {
            "in PowerShell as administrator: Set-NetFirewallHyperVVMSetting -Name '{40E0AC32-46A5-438A-A0B2-2B479E8F2E90}' \
             -DefaultInboundAction Allow"
        }
        "NAT" => {
            "or set networkingMode=mirrored in %UserProfile%\\.wslconfig and run `wsl --shutdown`"
        }
        _ => {
            "in PowerShell as administrator: New-NetFirewallRule -DisplayName RflySim -Direction Inbound -Protocol UDP -Action Allow"
        }
    };
    found.push(Finding::new(
        Code::Wsl,
        format!("WSL, {mode} network"),
        text,
        remedy,
    ));
    if let Some(gateway) = gateway.filter(|_| mode == "NAT" && setup.simulator.is_loopback()) {
        found.push(Finding::new(
            Code::WslAddress,
            "simulator_address",
            format!(
                "is {}, which is this Linux and not Windows",
                setup.simulator
            ),
            format!("rfly_bridge --ros-args -p simulator_address:={gateway}"),
        ));
    }
}

fn networks(setup: &Setup, host: &HostFacts, route: &Route, found: &mut Vec<Finding>) {
    let on_route = outward(host).find(|interface| interface.name == route.interface);
    let Some(on_route) = on_route else { return };
    let others: Vec<_> = outward(host)
        .filter(|interface| interface.name != route.interface)
        .collect();
    let as_asked = |address: Ipv4Addr| address.is_loopback() || address.is_unspecified();
    for sensor in setup.sensors.iter().filter(|sensor| sensor.block.is_none()) {
        let elsewhere = others
            .iter()
            .find(|interface| interface.network.addr() == sensor.destination);
        let unknown = !as_asked(sensor.destination)
            && host
                .interfaces
                .iter()
                .all(|interface| interface.network.addr() != sensor.destination);
        let what = match elsewhere {
            Some(interface) => format!(
                "the simulator is told to send to {} ({}), but it is reached through {}",
                sensor.destination, interface.name, route.interface
            ),
            None if unknown => format!(
                "the simulator is told to send to {}, which is not an address of this host",
                sensor.destination
            ),
            None => continue,
        };
        found.push(Finding::new(
            Code::TwoNetworks,
            &sensor.name,
            what,
            format!("-p receive_address:={}", on_route.network.addr()),
        ));
    }
}

fn multicast(host: &HostFacts, route: Option<&Route>, found: &mut Vec<Finding>) {
    if let Some(route) = route
        && let Some(interface) = outward(host).find(|i| i.name == route.interface)
        && !interface.multicast
    {
        found.push(Finding::new(
            Code::MulticastOff,
            &interface.name,
            "carries no multicast: neither heartbeats nor the discovery of ROS 2 nodes get through",
            format!("sudo ip link set dev {} multicast on", interface.name),
        ));
    }
    if !host.interfaces.is_empty() && route_to(host, NETWORK_GROUP).is_none() {
        let device = route.map(|route| route.interface.as_str());
        let device = device.or_else(|| outward(host).next().map(|i| i.name.as_str()));
        found.push(Finding::new(
            Code::MulticastRoute,
            NETWORK_GROUP.to_string(),
            "no route leads to the multicast groups: requests to CopterSim and start signals cannot be sent",
            format!("sudo ip route add 224.0.0.0/4 dev {}", device.unwrap_or("lo")),
        ));
    }
}

fn buffers(setup: &Setup, host: &HostFacts, found: &mut Vec<Finding>) {
    let Some(most) = host.receive_buffer_max else {
        return;
    };
    let granted = most.min(setup.receive_buffer);
    let short: Vec<_> = setup.sensors.iter().filter(|s| s.burst > granted).collect();
    let Some(largest) = short.iter().map(|sensor| sensor.burst).max() else {
        return;
    };
    let names: Vec<_> = short.iter().map(|sensor| sensor.name.as_str()).collect();
    // The kernel grants as much as is asked for, and a frame should fit twice.
    let wanted = setup.receive_buffer.max(2 * largest);
    found.push(Finding::new(
        Code::Buffers,
        names.join(", "),
        format!(
            "a receive buffer holds {granted} bytes, a frame has {largest}: frames will be lost"
        ),
        match most < wanted {
            true => format!("sudo sysctl -w net.core.rmem_max={wanted}"),
            false => format!("-p receive_buffer_bytes:={wanted}"),
        },
    ));
}

fn shared_memory(
    setup: &Setup,
    host: &HostFacts,
    sensor: &SensorSetup,
    local: bool,
    found: &mut Vec<Finding>,
) {
    let Some((block, least, file)) = &sensor.block else {
        return;
    };
    let udp = "or -p transport_mode:=1 for UDP";
    let mut find = |code, what: String, remedy: String| {
        found.push(Finding::new(code, &sensor.name, what, remedy));
    };
    if !local {
        return find(
            Code::ShmRemote,
            format!(
                "comes through shared memory, but the simulator is on {}",
                setup.simulator
            ),
            "-p transport_mode:=1, which is UDP".to_owned(),
        );
    }
    match file {
        BlockFile::Missing if host.container => find(
            Code::ShmContainer,
            format!("/dev/shm/{block} is not there: a container has a /dev/shm of its own"),
            format!("docker run --ipc=host ..., {udp}"),
        ),
        BlockFile::Missing => find(
            Code::ShmMissing,
            format!(
                "/dev/shm/{block} is not there: the simulator makes it when it sends the first frame, on this machine only"
            ),
            format!("look whether RflySim3D runs here, {udp}"),
        ),
        BlockFile::Denied { owner } => find(
            Code::ShmDenied,
            format!(
                "/dev/shm/{block} belongs to user id {owner}, who does not let this user read and write it"
            ),
            format!("sudo chmod a+rw /dev/shm/{block}, or run both as one user"),
        ),
        BlockFile::NotAFile => find(
            Code::ShmType,
            format!("/dev/shm/{block} is no regular file"),
            format!("rm -r /dev/shm/{block}"),
        ),
        BlockFile::File { len } if len < least => find(
            Code::ShmType,
            format!(
                "/dev/shm/{block} has {len} bytes, this type and size needs {least}: it is of another sensor or an older run"
            ),
            format!(
                "rm /dev/shm/{block}, and compare TypeID, DataWidth and DataHeight with what the simulator loaded"
            ),
        ),
        BlockFile::File { .. } => {}
    }
}
