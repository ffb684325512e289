//! Other programs on ports that several may bind: what is sent there reaches only one of them, so both say so.
use super::section::{Finding, Level, Section, value};
use crate::transport::{BindOptions, Holder, holders};
use std::collections::{BTreeMap, BTreeSet};

/// Sockets that are named one by one.
const NAMED: usize = 32;

/// The ports of this bridge that others may bind, too.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    ports: BTreeMap<u16, Watched>,
    /// Sockets that were there at the last look.
    seen: BTreeSet<u64>,
    told: BTreeSet<u64>,
}

#[derive(Debug)]
struct Watched {
    what: String,
    /// It comes by multicast too, which reaches everybody.
    grouped: bool,
}

impl Neighbours {
    /// Watches a port that `what` comes to.
    pub(super) fn watch(&mut self, options: &BindOptions, what: &str) {
        let watched = Watched {
            what: what.to_owned(),
            grouped: !options.groups.is_empty(),
        };
        self.ports.insert(options.port, watched);
    }

    /// Names those who are new in the log; returns the ports on which another socket takes what is meant for us, with whose.
    /// They count from the second look on: a socket that is just being closed belongs to nobody.
    fn search(&mut self) -> Vec<(u16, Holder)> {
        let mut found = Vec::new();
        let before = std::mem::take(&mut self.seen);
        for (port, Watched { what, grouped }) in &self.ports {
            for holder in holders(*port) {
                self.seen.insert(holder.inode);
                if !before.contains(&holder.inode) {
                    continue;
                }
                let new = self.told.len() < NAMED && self.told.insert(holder.inode);
                if !grouped {
                    if new {
                        tracing::warn!(
                            "{holder} listens on UDP port {port} as well ({what}): what is sent there reaches only one of the two. \
                             Serve each vehicle by one bridge (vehicles; docs/ros2.md), or end the other program"
                        );
                    }
                    found.push((*port, holder));
                } else if new {
                    // Usual: several bridges, programs of the vendor. The group reaches all of them.
                    tracing::info!(
                        "{holder} listens on UDP port {port} as well ({what}): those that CopterSim sends to this host alone, not to \
                         its group, reach only one of the two"
                    );
                }
            }
        }
        found
    }
}

impl Section for Neighbours {
    fn name(&self) -> &'static str {
        "shared ports"
    }

    fn look(&mut self) -> Finding {
        let shared = self.search();
        let (level, message) = match shared.len() {
            0 => (Level::Ok, "nobody else listens".to_owned()),
            n => (
                Level::Warn,
                format!("{n} other sockets take what is sent here"),
            ),
        };
        let shared = shared.iter();
        Finding {
            level,
            message,
            values: shared.map(|(port, holder)| value(port, holder)).collect(),
        }
    }
}
