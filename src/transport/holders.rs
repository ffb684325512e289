//! Sockets of other processes on UDP ports.
use super::imp::holders as imp;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A socket of another process.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Holder {
    /// Inode of the socket.
    pub inode: u64,
    /// Process id and name; `None` without permission to see them.
    pub process: Option<(u32, String)>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.process {
            Some((id, name)) => write!(f, "process {id} ({})", name.escape_debug()),
            None => f.write_str("a process that this user cannot see"),
        }
    }
}

/// Finds sockets of other processes. Repeated searches are cheap: the owner of a socket is looked up once.
#[derive(Debug, Default)]
pub struct Holders {
    /// Known sockets of this process.
    own_sockets: BTreeSet<u64>,
    /// Sockets of other processes at the last search.
    others: BTreeMap<u64, Holder>,
}

impl Holders {
    /// Returns the sockets of other processes that are bound to these ports on any address, with their port; none if the
    /// system does not list them.
    pub fn on(&mut self, ports: &BTreeSet<u16>) -> Vec<(u16, Holder)> {
        let mut bound = imp::bound_sockets(ports);
        let known = |inode| self.own_sockets.contains(&inode) || self.others.contains_key(&inode);
        if !bound.iter().all(|(_, inode)| known(*inode)) {
            self.own_sockets = imp::own_sockets();
        }
        bound.retain(|(_, inode)| !self.own_sockets.contains(inode));
        let mut before = std::mem::take(&mut self.others);
        let mut found = Vec::new();
        for (port, inode) in bound {
            let new_holder = || Holder { inode, process: imp::owner_of(inode) };
            let holder = before.remove(&inode).unwrap_or_else(new_holder);
            self.others.insert(inode, holder.clone());
            found.push((port, holder));
        }
        found
    }
}
