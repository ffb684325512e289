//! Facts about this host, from `/proc`, `/sys` and `/dev/shm`.
use super::shm::{options, path_of};
use crate::transport::{BlockFile, Firewall, HostFacts, NetworkInterface, PacketCounts, Route};
use ipnet::Ipv4Net;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::unistd::{Uid, User};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::{fs, io, net::Ipv4Addr, path::Path};

/// Maximum number of inspected files of Fast DDS.
const MAX_FILES: usize = 1000;

pub(in crate::transport) fn read() -> HostFacts {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let buffer = text("/proc/sys/net/core/rmem_max");
    HostFacts {
        kernel: text("/proc/version").trim().to_owned(),
        machine: ["sys_vendor", "product_name"]
            .map(|name| format!("/sys/class/dmi/id/{name}"))
            .iter()
            .map(String::as_str)
            .chain(["/proc/device-tree/model"])
            .map(|path| text(path).trim_matches(['\0', '\n']).to_owned())
            .filter(|name| !name.is_empty())
            .collect::<Vec<_>>()
            .join(" "),
        container: ["/.dockerenv", "/run/.containerenv"]
            .iter()
            .any(|path| Path::new(path).exists()),
        receive_buffer_max: buffer.trim().parse().ok(),
        interfaces: interfaces(),
        routes: routes(&text("/proc/net/route")),
        fast_dds_owners: fast_dds_owners(),
        user: Uid::effective().as_raw(),
        firewall: firewall(),
    }
}

/// Finds the active firewall; only root can read the rules in effect.
fn firewall() -> Option<Firewall> {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    // systemd keeps such a link while the service is active.
    let is_active = |name: &str| {
        Path::new(&format!("/run/systemd/units/invocation:{name}.service")).is_symlink()
    };
    if text("/etc/ufw/ufw.conf").lines().any(|line| line.trim() == "ENABLED=yes") {
        Some(Firewall::Ufw)
    } else if is_active("firewalld") {
        Some(Firewall::Firewalld)
    } else if is_active("nftables") {
        input_chain(&text("/etc/nftables.conf")).map(Firewall::Nftables)
    } else {
        None
    }
}

/// Returns family, table and chain of the hook `input` in a configuration of nftables.
fn input_chain(rules: &str) -> Option<String> {
    let (mut table, mut chain) = ("", "");
    for line in rules.lines().map(str::trim) {
        let head = |word: &str| Some(line.strip_prefix(word)?.split('{').next()?.trim());
        table = head("table ").unwrap_or(table);
        chain = head("chain ").unwrap_or(chain);
        if line.contains("hook input") {
            return Some(format!("{table} {chain}"));
        }
    }
    None
}

/// Reads `/proc/net`; `None` if this system does not have the counts.
pub(in crate::transport) fn packet_counts() -> Option<PacketCounts> {
    /// Column of `/proc/net/dev` after the name of the interface.
    const MULTICAST: usize = 7;
    let ip = counts("/proc/net/snmp", "Ip: ")?;
    let sum = |names: &[&str]| names.iter().filter_map(|name| ip.get(*name)).sum::<u64>();
    // A reassembled packet counts once in place of its fragments.
    let received = sum(&["InReceives", "ReasmOKs"]);
    let ended = ["InDelivers", "InHdrErrors", "InAddrErrors", "InDiscards", "InUnknownProtos"];
    let accounted = sum(&ended) + sum(&["ForwDatagrams", "ReasmReqds"]);
    let devices = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let of_device =
        |line: &str| line.split_once(':')?.1.split_whitespace().nth(MULTICAST)?.parse::<u64>().ok();
    let ipv6 = fs::read_to_string("/proc/net/snmp6").unwrap_or_default();
    let ipv6 = ipv6.lines().find_map(|line| line.strip_prefix("Ip6InMcastPkts"));
    let extended = counts("/proc/net/netstat", "IpExt: ").unwrap_or_default();
    let extended = |name| extended.get(name).copied().unwrap_or(0);
    Some(PacketCounts {
        undelivered: received.saturating_sub(accounted),
        device_multicast: devices.lines().filter_map(of_device).sum(),
        ipv6_multicast: ipv6.and_then(|count| count.trim().parse().ok()).unwrap_or(0),
        joined_multicast: extended("InMcastPkts"),
        sent_multicast: extended("OutMcastPkts"),
    })
}

/// Reads the counters of `protocol` from a table like `/proc/net/snmp`: one line of names, one of values.
fn counts(path: &str, protocol: &str) -> Option<BTreeMap<String, u64>> {
    let table = fs::read_to_string(path).ok()?;
    let mut lines = table.lines().filter_map(|line| line.strip_prefix(protocol));
    let (names, values) = (lines.next()?.split(' '), lines.next()?.split(' '));
    let count = |(name, value): (&str, &str)| Some((name.to_owned(), value.parse().ok()?));
    Some(names.zip(values).filter_map(count).collect())
}

/// Names of this host and of this user.
pub fn own_names() -> Vec<String> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let user = User::from_uid(Uid::effective()).ok().flatten();
    let mut names = vec![host.trim().to_owned()];
    names.extend(user.map(|user| user.name));
    names.extend(["SUDO_USER", "HOSTNAME"].iter().filter_map(|name| std::env::var(name).ok()));
    names
}

fn interfaces() -> Vec<NetworkInterface> {
    let Ok(all) = getifaddrs() else { return Vec::new() };
    let interface = |found: nix::ifaddrs::InterfaceAddress| {
        let address = found.address?.as_sockaddr_in()?.ip();
        let mask = found.netmask.and_then(|mask| Some(mask.as_sockaddr_in()?.ip()));
        let network = Ipv4Net::with_netmask(address, mask.unwrap_or(Ipv4Addr::BROADCAST));
        let has = |flag| found.flags.contains(flag);
        Some(NetworkInterface {
            network: network.unwrap_or(Ipv4Net::from(address)),
            up: has(InterfaceFlags::IFF_UP) && has(InterfaceFlags::IFF_RUNNING),
            loopback: has(InterfaceFlags::IFF_LOOPBACK),
            multicast: has(InterfaceFlags::IFF_MULTICAST),
            name: found.interface_name,
        })
    };
    all.filter_map(interface).collect()
}

/// Reads `/proc/net/route`: hexadecimal addresses in the byte order of the host.
fn routes(table: &str) -> Vec<Route> {
    /// RTF_UP and RTF_REJECT of route(8).
    const UP: u32 = 1;
    const REJECT: u32 = 0x200;
    let route = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let [name, network, gateway, flags, _, _, metric, mask, ..] = fields[..] else {
            return None;
        };
        let address = |hex| {
            let number = u32::from_str_radix(hex, 16).ok()?;
            Some(Ipv4Addr::from(number.to_ne_bytes()))
        };
        let flags = u32::from_str_radix(flags, 16).ok()?;
        let gateway = address(gateway)?;
        (flags & (UP | REJECT) == UP).then_some(Route {
            network: Ipv4Net::with_netmask(address(network)?, address(mask)?).ok()?,
            gateway: (!gateway.is_unspecified()).then_some(gateway),
            interface: name.to_owned(),
            metric: metric.parse().ok()?,
        })
    };
    table.lines().skip(1).filter_map(route).collect()
}

fn fast_dds_owners() -> Vec<u32> {
    let Ok(files) = fs::read_dir("/dev/shm") else { return Vec::new() };
    let is_fast_dds = |file: &fs::DirEntry| {
        let name = file.file_name();
        name.to_string_lossy().starts_with("fastrtps_")
    };
    let owned = files.flatten().filter(is_fast_dds).take(MAX_FILES);
    let owners: BTreeSet<_> = owned.filter_map(|f| Some(f.metadata().ok()?.uid())).collect();
    owners.into_iter().collect()
}

/// Returns the state of a block's file.
pub fn block_file(name: &str) -> BlockFile {
    let path = path_of(name);
    let Ok(metadata) = fs::symlink_metadata(&path) else { return BlockFile::Missing };
    if !metadata.is_file() {
        return BlockFile::NotAFile;
    }
    match options().open(&path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            BlockFile::Denied { owner: metadata.uid() }
        }
        _ => BlockFile::File { len: metadata.len() },
    }
}
