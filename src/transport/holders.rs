//! Sockets of other processes on a UDP port.
use super::imp;
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

/// Sockets of other processes bound to a UDP port on any address; empty if the system does not tell.
pub fn holders(port: u16) -> Vec<Holder> {
    imp::holders::of(port)
}
