//! What goes out, and to whom.
use crate::wire::{CONSOLE_LONG_LEN, Packet, console_command, console_command_for_network};

/// Who gets a datagram.
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
    /// Who gets it.
    pub to: Recipient,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// What a request has to send, in order, and what else follows from it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Outbox {
    /// Datagrams.
    pub datagrams: Vec<Datagram>,
    /// Captures end: sensors have to be asked for again.
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
