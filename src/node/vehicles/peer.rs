//! Which socket a vehicle speaks from.
use std::net::SocketAddrV4;

/// Who a vehicle is connected from: nobody else is listened to until it falls silent.
#[derive(Debug, Default)]
pub struct Peer {
    address: Option<SocketAddrV4>,
    /// Somebody else was named since.
    named: bool,
}

impl Peer {
    /// Whether a datagram is taken, given the state of the connection before it.
    pub fn takes(&mut self, from: SocketAddrV4, connected: bool, vehicle: u16) -> bool {
        let Some(address) = self.address.filter(|address| connected && *address != from) else {
            return true;
        };
        if !std::mem::replace(&mut self.named, true) {
            tracing::warn!(
                vehicle,
                "the vehicle is connected from {address}: what {from} sends is dropped until {address} falls silent"
            );
        }
        false
    }

    /// A datagram of `from` was taken, and this is the connection after it.
    pub fn heard(&mut self, from: SocketAddrV4, connected: bool) {
        if self.address != Some(from) && connected {
            *self = Self {
                address: Some(from),
                named: false,
            };
        }
    }
}
