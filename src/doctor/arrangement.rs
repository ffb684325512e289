//! Relation of this host to the simulator's host: WSL, virtual machine, container, second PC.
use super::firewall::{hyper_v_rule, port_ranges, windows_rule};
use super::setup::{Setup, is_own, network_of, route_to};
use super::{Code, Finding};
use crate::transport::HostFacts;
use ipnet::Ipv4Net;
use std::net::Ipv4Addr;

/// A row of the table in `docs/hosts.md`, with its name there.
#[derive(Clone, Copy, Debug, Eq, PartialEq, strum::IntoStaticStr, strum::VariantNames)]
pub enum Arrangement {
    /// The simulator runs on this host.
    #[strum(serialize = "one Linux PC")]
    OnePc,
    /// WSL 2 behind Windows' NAT, as it is by default.
    #[strum(serialize = "WSL 2, NAT")]
    WslNat,
    /// WSL 2 with the addresses of Windows.
    #[strum(serialize = "WSL 2, mirrored")]
    WslMirrored,
    /// WSL 2 with an address in the LAN.
    #[strum(serialize = "WSL 2, bridged")]
    WslBridged,
    /// A virtual machine behind the NAT of VMware or Hyper-V, which Windows itself reaches.
    #[strum(serialize = "virtual machine, NAT")]
    VmNat,
    /// A virtual machine behind the NAT of VirtualBox, to which no other host can send.
    #[strum(serialize = "VirtualBox, NAT")]
    VirtualBoxNat,
    /// A virtual machine with an address in the network of the simulator.
    #[strum(serialize = "virtual machine, bridged")]
    VmBridged,
    /// Another PC.
    #[strum(serialize = "second PC")]
    SecondPc,
    /// A Jetson.
    #[strum(serialize = "Jetson")]
    Jetson,
    /// A container with the network of its host, which is not the simulator's.
    #[strum(serialize = "container, the host's network")]
    ContainerHostNetwork,
    /// A container behind the NAT of its host.
    #[strum(serialize = "container, own network")]
    ContainerNetwork,
}

/// Recognises the arrangement of this host and the simulator at `simulator`.
pub fn arrangement(simulator: Ipv4Addr, host: &HostFacts) -> Arrangement {
    use Arrangement::*;
    let machine = |names: &[&str]| names.iter().any(|name| host.machine.contains(name));
    let (gateway, network) = default_gateway(host).unzip();
    let ends_with = |last| gateway.is_some_and(|gateway: Ipv4Addr| gateway.octets()[3] == last);
    if host.container && network.zip(gateway).is_some_and(is_container_network) {
        return ContainerNetwork;
    }
    let is_windows_nat = network.zip(gateway).is_some_and(is_windows_nat);
    if is_wsl(host) {
        let is_mirrored = host.interfaces.iter().any(|interface| interface.name == "loopback0");
        return match is_windows_nat {
            _ if is_mirrored => WslMirrored,
            true => WslNat,
            false => WslBridged,
        };
    }
    if machine(&["VirtualBox"]) && ends_with(2) {
        VirtualBoxNat
    } else if (machine(&["VMware"]) && ends_with(2)) || (machine(&[HYPER_V]) && is_windows_nat) {
        VmNat
    } else if is_own(host, simulator) {
        OnePc
    } else if host.container {
        ContainerHostNetwork
    } else if machine(&["VirtualBox", "VMware", HYPER_V, "QEMU", "KVM", "Parallels", "Xen"]) {
        VmBridged
    } else if machine(&["Jetson"]) {
        Jetson
    } else {
        SecondPc
    }
}

/// Maker and product of a virtual machine of Hyper-V.
const HYPER_V: &str = "Microsoft Corporation Virtual Machine";

impl Arrangement {
    /// Whether this host may be a guest of Windows.
    pub(super) fn may_be_guest(self) -> bool {
        use Arrangement::*;
        matches!(self, WslNat | WslMirrored | WslBridged | VmNat | VirtualBoxNat | ContainerNetwork)
    }

    /// Returns the row as a finding, with the parameters to type; also finds a simulator_address that is WSL, not Windows.
    pub(super) fn findings(self, setup: &Setup, host: &HostFacts) -> Vec<Finding> {
        use Arrangement::*;
        let simulator = *setup.renderer.ip();
        let gateway = default_gateway(host).map(|(gateway, _)| gateway);
        let own = own_address(host, simulator);
        let text = |address: Option<Ipv4Addr>, unknown: &str| {
            address.map_or_else(|| unknown.to_owned(), |address| address.to_string())
        };
        let elsewhere = Some(simulator).filter(|simulator| !is_own(host, *simulator));
        let windows = match self {
            WslNat => gateway,
            // VMware gives Windows the first address, the gateway the second.
            VmNat if gateway.is_some_and(|gateway| gateway.octets()[3] == 2) => {
                gateway.map(|gateway| Ipv4Addr::from_bits(gateway.to_bits() - 1))
            }
            VmNat => gateway,
            _ => elsewhere,
        };
        let windows = text(windows, "<address of Windows>");
        let parameters = format!(
            "-p simulator_address:={windows} -p receive_address:={}",
            text(own, "<address of this host>")
        );
        let (what, remedy) = match self {
            OnePc => return Vec::new(),
            WslNat | VmNat => (
                format!("Windows is {windows}; multicast, and what other PCs send, may not arrive here"),
                parameters,
            ),
            WslMirrored => (
                "this host has the addresses of Windows: simulator_address stays 127.0.0.1; Hyper-V's firewall drops what other PCs \
                 send"
                    .to_owned(),
                format!(
                    "nothing for a simulator on this Windows; for one on another PC, {}",
                    hyper_v_rule(&setup.listens, elsewhere)
                ),
            ),
            VirtualBoxNat => (
                "nobody can send to this host, so no image arrives".to_owned(),
                "attach the network adapter of the virtual machine to `Bridged Adapter`".to_owned(),
            ),
            ContainerNetwork => (
                "neither multicast nor what is sent to unpublished ports arrives here; ROS 2 nodes outside do not find the bridge"
                    .to_owned(),
                format!(
                    "docker run --network=host --ipc=host; or {} and -p receive_address:=<address of the container's host>",
                    port_ranges(&setup.listens, "-")
                        .iter()
                        .map(|ports| format!("-p {ports}:{ports}/udp"))
                        .collect::<Vec<_>>()
                        .join(" ")
                ),
            ),
            WslBridged => (
                "this host has an address in the LAN: simulator_address is the LAN address of Windows".to_owned(),
                format!(
                    "{parameters}; {}",
                    windows_rule("RflySim3D,CopterSim", &setup.sends_to, own)
                ),
            ),
            VmBridged | SecondPc | Jetson | ContainerHostNetwork => {
                (format!("the simulator is on another host, {simulator}"), parameters)
            }
        };
        let name: &str = self.into();
        let remedy = format!("{remedy} (docs/hosts.md)");
        let mut found = vec![Finding::new(Code::Hosts, name, what, remedy)];
        if self == WslNat && simulator.is_loopback() {
            let what = format!("is {simulator}, which is WSL itself, not Windows");
            let remedy = format!("rfly_bridge --ros-args -p simulator_address:={windows}");
            found.push(Finding::new(Code::WslAddress, "simulator_address", what, remedy));
        }
        found
    }
}

/// Returns the address of this host that the simulator can send to. The simulator runs at `simulator` or, if that is this host,
/// beyond the default route.
pub(super) fn own_address(host: &HostFacts, simulator: Ipv4Addr) -> Option<Ipv4Addr> {
    let to = match is_own(host, simulator) {
        true => Ipv4Addr::UNSPECIFIED,
        false => simulator,
    };
    Some(network_of(host, route_to(host, to)?)?.addr())
}

fn is_wsl(host: &HostFacts) -> bool {
    host.kernel.to_ascii_lowercase().contains("microsoft")
}

/// Returns the default gateway and the network of its interface.
fn default_gateway(host: &HostFacts) -> Option<(Ipv4Addr, Ipv4Net)> {
    let route = route_to(host, Ipv4Addr::UNSPECIFIED)?;
    Some((route.gateway?, network_of(host, route)?))
}

/// Docker's networks are 172.17.0.0/16 to 172.31.0.0/16, Podman's is 10.88.0.0/16.
fn is_container_network((network, gateway): (Ipv4Net, Ipv4Addr)) -> bool {
    let is_pool = matches!(network.network().octets(), [172, 17..=31, ..] | [10, 88, ..]);
    is_pool && network.prefix_len() == 16 && network.hosts().next() == Some(gateway)
}

/// Windows' switches for WSL and Hyper-V have networks with prefixes of 20 bits, in 172.16.0.0/12 unless that is taken.
fn is_windows_nat((network, gateway): (Ipv4Net, Ipv4Addr)) -> bool {
    network.prefix_len() == 20 && network.hosts().next() == Some(gateway)
}
