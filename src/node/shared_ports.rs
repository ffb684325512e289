//! Other programs on shared ports. A unicast datagram reaches only one of the sockets: the log and `/diagnostics` warn.
use super::section::{Finding, Level, Section, value};
use crate::doctor::BridgeFacts;
use crate::transport::{BindOptions, Holder, Holders};
use std::collections::{BTreeMap, BTreeSet};

/// Limit of sockets named in the log.
const MAX_LOGGED: usize = 32;

/// Ports of this bridge that other programs may bind too.
#[derive(Debug, Default)]
pub(super) struct SharedPorts {
    ports: BTreeMap<u16, WatchedPort>,
    holders: Holders,
    /// Sockets found by the last search.
    found: BTreeSet<u64>,
    logged: BTreeSet<u64>,
    /// Ports and other programs of the last check.
    shared: Vec<(u16, Holder)>,
}

#[derive(Debug)]
struct WatchedPort {
    what: String,
    /// Whether the port also receives multicast, which reaches every socket.
    is_multicast: bool,
}

impl SharedPorts {
    /// Watches the port; `what` names its data.
    pub(super) fn watch(&mut self, options: &BindOptions, what: &str) {
        let (what, is_multicast) = (what.to_owned(), !options.groups.is_empty());
        self.ports.insert(options.port, WatchedPort { what, is_multicast });
    }

    /// Logs new sockets; returns the ports on which another socket receives datagrams of the bridge, with its owner.
    /// A socket counts only if the previous search found it, too: a closing socket has no owner.
    fn search(&mut self) -> Vec<(u16, Holder)> {
        let mut shared = Vec::new();
        let last_found = std::mem::take(&mut self.found);
        let ports = self.ports.keys().copied().collect();
        for (port, holder) in self.holders.on(&ports) {
            self.found.insert(holder.inode);
            if !last_found.contains(&holder.inode) {
                continue;
            }
            let Some(WatchedPort { what, is_multicast }) = self.ports.get(&port) else { continue };
            let is_new = self.logged.len() < MAX_LOGGED && self.logged.insert(holder.inode);
            if !is_multicast {
                if is_new {
                    tracing::warn!(
                        "{holder} listens on UDP port {port} as well ({what}): each datagram reaches only one of the two. \
                         Serve each vehicle by one bridge (vehicles; docs/ros2.md), or end the other program"
                    );
                }
                shared.push((port, holder));
            } else if is_new {
                // Normal with several bridges or vendor programs: multicast reaches all of them.
                tracing::info!(
                    "{holder} listens on UDP port {port} as well ({what}): unicast datagrams of CopterSim, not sent to \
                     its group, reach only one of the two"
                );
            }
        }
        shared
    }
}

impl Section for SharedPorts {
    fn check(&mut self) -> Finding {
        self.shared = self.search();
        let (level, message) = match self.shared.len() {
            0 => (Level::Ok, "no other listeners".to_owned()),
            n => (Level::Warn, format!("{n} other sockets receive on the bridge's ports")),
        };
        let shared = self.shared.iter();
        Finding {
            level,
            message,
            values: shared.map(|(port, holder)| value(port, holder)).collect(),
        }
    }

    fn add_facts(&self, facts: &mut BridgeFacts) {
        facts.shared_ports.clone_from(&self.shared);
    }
}
