//! The sender address of a connected vehicle.
use std::net::SocketAddrV4;

/// The address of a connected vehicle: other senders are refused until it falls silent.
#[derive(Debug, Default)]
pub struct Peer {
    address: Option<SocketAddrV4>,
    /// Whether a refused sender was logged since the connection.
    is_logged: bool,
}

impl Peer {
    /// Whether to accept a datagram; `is_connected`: state before it.
    pub fn accepts(&mut self, from: SocketAddrV4, is_connected: bool, vehicle: u16) -> bool {
        let Some(address) = self.address.filter(|address| is_connected && *address != from) else {
            return true;
        };
        if !std::mem::replace(&mut self.is_logged, true) {
            tracing::warn!(
                vehicle,
                "the vehicle is connected from {address}: datagrams from {from} are dropped until {address} falls silent"
            );
        }
        false
    }

    /// Records an accepted datagram; `is_connected`: state after it.
    pub fn record(&mut self, from: SocketAddrV4, is_connected: bool) {
        if self.address != Some(from) && is_connected {
            *self = Self { address: Some(from), is_logged: false };
        }
    }
}
