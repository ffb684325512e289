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
    /// The `CopterSim` of one vehicle, and the group of all.
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

/// The datagrams of a request, in order, and its effects on other subsystems.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Outbox {
    /// Datagrams.
    pub datagrams: Vec<Datagram>,
    /// The map changed: sensors must be requested again.
    pub map_changed: bool,
    /// Datagrams to the windows of `scene.windows` are sent to every renderer of the network.
    pub to_network: bool,
}

impl Outbox {
    fn route(&self, to: Recipient) -> Recipient {
        match to {
            Recipient::Windows if self.to_network => Recipient::Network,
            to => to,
        }
    }

    /// Adds a packet.
    pub fn packet(&mut self, to: Recipient, packet: &impl Packet) {
        let bytes = packet.as_bytes().to_vec();
        self.datagrams.push(Datagram { to: self.route(to), bytes });
    }

    /// Adds a console command; false if it is too long. Callers whose text is short enough may ignore the result.
    pub fn command(&mut self, to: Recipient, text: &str) -> bool {
        let mut buffer = [0; CONSOLE_LONG_LEN];
        let for_window = |buffer| console_command(text, buffer).map(<[u8]>::to_vec);
        let for_network = || console_command_for_network(text).map(Vec::from);
        let bytes = match (to, self.route(to)) {
            (Recipient::Network, _) => for_network(),
            // The group's port also accepts the longer form for windows.
            (_, Recipient::Network) => for_network().or_else(|| for_window(&mut buffer)),
            _ => for_window(&mut buffer),
        };
        let to = self.route(to);
        let datagram = bytes.map(|bytes| Datagram { to, bytes });
        let fits = datagram.is_some();
        self.datagrams.extend(datagram);
        fits
    }
}
