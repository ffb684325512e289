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
    seen: BTreeSet<u64>,
    logged: BTreeSet<u64>,
    /// Ports and other programs of the last check.
    shared: Vec<(u16, Holder)>,
}

#[derive(Debug)]
struct WatchedPort {
    what: String,
    /// The port also receives multicast, which reaches every socket.
    multicast: bool,
}

impl SharedPorts {
    /// Watches the port; `what` names its data.
    pub(super) fn watch(&mut self, options: &BindOptions, what: &str) {
        let watched = WatchedPort { what: what.to_owned(), multicast: !options.groups.is_empty() };
        self.ports.insert(options.port, watched);
    }

    /// Logs new sockets; returns the ports on which another socket takes datagrams of the bridge, with its owner.
    /// A socket counts from the second search on, because a closing socket has no owner.
    fn search(&mut self) -> Vec<(u16, Holder)> {
        let mut found = Vec::new();
        let before = std::mem::take(&mut self.seen);
        let ports = self.ports.keys().copied().collect();
        for (port, holder) in self.holders.on(&ports) {
            self.seen.insert(holder.inode);
            if !before.contains(&holder.inode) {
                continue;
            }
            let Some(WatchedPort { what, multicast }) = self.ports.get(&port) else { continue };
            let new = self.logged.len() < MAX_LOGGED && self.logged.insert(holder.inode);
            if !multicast {
                if new {
                    tracing::warn!(
                        "{holder} listens on UDP port {port} as well ({what}): each datagram reaches only one of the two. \
                         Serve each vehicle by one bridge (vehicles; docs/ros2.md), or end the other program"
                    );
                }
                found.push((port, holder));
            } else if new {
                // Normal with several bridges or vendor programs: multicast reaches all of them.
                tracing::info!(
                    "{holder} listens on UDP port {port} as well ({what}): unicast datagrams of CopterSim, not sent to \
                     its group, reach only one of the two"
                );
            }
        }
        found
    }
}

impl Section for SharedPorts {
    fn name(&self) -> &'static str {
        "shared ports"
    }

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
