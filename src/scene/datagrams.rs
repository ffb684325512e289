//! Outgoing datagrams and their recipients.
use crate::wire::{CONSOLE_LONG_LEN, Packet, console_command, console_command_for_network};

/// Recipient of a datagram.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Recipient {
    /// The windows of `scene.windows`.
    Windows,
    /// One window.
    Window(u16),
    /// Every renderer of the network.
    Network,
    /// `CopterSim` of one vehicle.
    CopterSim(u16),
    /// The control port of one vehicle.
    Autopilot(u16),
}

/// A datagram to send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Datagram {
    /// Recipient.
    pub to: Recipient,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// The datagrams of a request, in order, and its other effects.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Outbox {
    /// Datagrams.
    pub datagrams: Vec<Datagram>,
    /// Captures end: sensors must be requested again.
    pub map_changed: bool,
}

impl Outbox {
    /// Sends a packet.
    pub fn packet(&mut self, to: Recipient, packet: &impl Packet) {
        let bytes = packet.as_bytes().to_vec();
        self.datagrams.push(Datagram { to, bytes });
    }

    /// Sends a console command; false if it is too long.
    pub fn command(&mut self, to: Recipient, text: &str) -> bool {
        let mut buffer = [0; CONSOLE_LONG_LEN];
        let bytes = match to {
            Recipient::Network => console_command_for_network(text).map(Vec::from),
            _ => console_command(text, &mut buffer).map(<[u8]>::to_vec),
        };
        let datagram = bytes.map(|bytes| Datagram { to, bytes });
        let fits = datagram.is_some();
        self.datagrams.extend(datagram);
        fits
    }
}
