//! Commands that let the simulator's datagrams through a firewall: of Linux on this host, of Windows on the simulator's.
use crate::transport::Firewall;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// UDP ports of this host, by the sender that they are opened for.
pub(super) type PortsBySender = BTreeMap<Ipv4Addr, BTreeSet<u16>>;

/// Ports of one rule of iptables or ufw; a range counts as two.
const MULTIPORT: usize = 15;

/// Lists ports; neighbours form a range with `to` between its ends.
pub(super) fn port_ranges(ports: &BTreeSet<u16>, to: &str) -> Vec<String> {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for &port in ports {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(port) => *last = port,
            _ => ranges.push((port, port)),
        }
    }
    let text = |(first, last): (u16, u16)| match first == last {
        true => first.to_string(),
        false => format!("{first}{to}{last}"),
    };
    ranges.into_iter().map(text).collect()
}

/// Lists ports for rules of iptables or ufw.
fn multiport_lists(ports: &BTreeSet<u16>) -> Vec<String> {
    let mut lists: Vec<(usize, Vec<String>)> = Vec::new();
    for range in port_ranges(ports, ":") {
        let count = if range.contains(':') { 2 } else { 1 };
        match lists.last_mut() {
            Some((used, list)) if *used + count <= MULTIPORT => {
                *used += count;
                list.push(range);
            }
            _ => lists.push((count, vec![range])),
        }
    }
    lists.into_iter().map(|(_, list)| list.join(",")).collect()
}

/// Returns the commands for the firewall of this host. Without knowledge of it, those for iptables and nftables.
pub(super) fn open_ports(firewall: Option<&Firewall>, senders: &PortsBySender) -> String {
    let commands = senders.iter().map(|(sender, ports)| open_to(firewall, *sender, ports));
    commands.collect::<Vec<_>>().join("; ")
}

fn open_to(firewall: Option<&Firewall>, sender: Ipv4Addr, ports: &BTreeSet<u16>) -> String {
    let multiport = |command: &dyn Fn(String) -> String| {
        multiport_lists(ports).into_iter().map(command).collect::<Vec<_>>().join("; ")
    };
    let nft = |chain: &str| {
        let ports = port_ranges(ports, "-").join(", ");
        format!("sudo nft insert rule {chain} ip saddr {sender} udp dport '{{ {ports} }}' accept")
    };
    match firewall {
        Some(Firewall::Ufw) => {
            multiport(&|list| format!("sudo ufw allow proto udp from {sender} to any port {list}"))
        }
        Some(Firewall::Firewalld) => {
            let rule = |port: String| {
                format!(
                    " --add-rich-rule='rule family=ipv4 source address={sender} port port={port} protocol=udp accept'"
                )
            };
            let rules: String = port_ranges(ports, "-").into_iter().map(rule).collect();
            format!("sudo firewall-cmd{rules}")
        }
        Some(Firewall::Nftables(chain)) => nft(chain),
        None => format!(
            "{}; if `sudo nft list ruleset` shows the rule in a table of nftables: {}",
            multiport(&|list| format!(
                "sudo iptables -I INPUT -p udp -s {sender} -m multiport --dports {list} -j ACCEPT"
            )),
            nft("<family> <table> <chain>")
        ),
    }
}

/// Returns the line for PowerShell on the simulator's Windows that lets its programs receive what the bridge sends.
pub(super) fn windows_rule(
    programs: &str,
    ports: &BTreeSet<u16>,
    bridge: Option<Ipv4Addr>,
) -> String {
    let bridge = match bridge {
        // At each start, Windows gives WSL and Hyper-V's default switch another network in this range.
        Some(ip) if matches!(ip.octets(), [172, 16..=31, ..]) => "172.16.0.0/12".to_owned(),
        Some(ip) => ip.to_string(),
        None => "<address of this host>".to_owned(),
    };
    format!(
        "in PowerShell as administrator, while they run: Get-Process {programs} | % Path | sort -Unique | % {{ New-NetFirewallRule \
         -DisplayName RflySim -Direction Inbound -Program $_ -Protocol UDP -LocalPort {} -RemoteAddress {bridge} -Action Allow }}",
        port_ranges(ports, "-").join(",")
    )
}

/// Returns the line for PowerShell that lets datagrams of another PC reach a mirrored WSL. Datagrams of its own Windows need no
/// rule (`LoopbackEnabled` of `Get-NetFirewallHyperVVMSetting`). The rule names no program: the firewall is at WSL's port of a
/// virtual switch, and does not know the programs behind it.
pub(super) fn hyper_v_rule(ports: &BTreeSet<u16>, sender: Option<Ipv4Addr>) -> String {
    let sender = sender.map_or_else(|| "<its address>".to_owned(), |ip| ip.to_string());
    format!(
        "in PowerShell as administrator: New-NetFirewallHyperVRule -Name RflySim -DisplayName RflySim -Direction Inbound -VMCreatorId \
         '{{40E0AC32-46A5-438A-A0B2-2B479E8F2E90}}' -Protocol UDP -LocalPorts {} -RemoteAddresses {sender} -Action Allow",
        port_ranges(ports, "-").join(",")
    )
}

/// Returns the command that shows whether datagrams arrive on these ports, before any firewall.
pub(super) fn capture(ports: &BTreeSet<u16>) -> String {
    let terms = port_ranges(ports, "-").into_iter().map(|range| match range.contains('-') {
        true => format!("portrange {range}"),
        false => format!("port {range}"),
    });
    format!("sudo tcpdump -ni any 'udp and ({})'", terms.collect::<Vec<_>>().join(" or "))
}
