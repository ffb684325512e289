//! The sender address of a connected vehicle.
use std::net::SocketAddrV4;

/// The address of a connected vehicle: other senders are refused until it falls silent.
#[derive(Debug, Default)]
pub struct Peer {
    address: Option<SocketAddrV4>,
    /// A refused sender was logged since the connection.
    logged: bool,
}

impl Peer {
    /// Whether to accept a datagram; `connected`: state before it.
    pub fn accepts(&mut self, from: SocketAddrV4, connected: bool, vehicle: u16) -> bool {
        let Some(address) = self.address.filter(|address| connected && *address != from) else {
            return true;
        };
        if !std::mem::replace(&mut self.logged, true) {
            tracing::warn!(
                vehicle,
                "the vehicle is connected from {address}: datagrams from {from} are dropped until {address} falls silent"
            );
        }
        false
    }

    /// Records an accepted datagram; `connected`: state after it.
    pub fn heard(&mut self, from: SocketAddrV4, connected: bool) {
        if self.address != Some(from) && connected {
            *self = Self { address: Some(from), logged: false };
        }
    }
}
