//! The MAVLink link: no translation.
use super::{Abilities, Link, SendError, Sink};
use crate::vehicle::Counter;
use crate::wire::mavlink::{Encoder, Outbound};

/// The MAVLink link.
pub struct MavlinkLink {
    encoder: Encoder,
    sink: Sink,
}

impl MavlinkLink {
    /// Creates a link that writes frames to `sink`.
    pub fn new(sink: Sink) -> Self {
        Self { encoder: Encoder::new(0, 0), sink }
    }
}

impl Link for MavlinkLink {
    fn abilities(&self) -> Abilities {
        Abilities::MAVLINK
    }

    fn send(&mut self, message: &Outbound, system: u8, component: u8) -> Result<(), SendError> {
        (self.encoder.system, self.encoder.component) = (system, component);
        let packet = self.encoder.encode(message);
        if (self.sink)(packet.as_bytes()) { Ok(()) } else { Err(SendError::Io) }
    }

    fn incoming<'a>(&mut self, bytes: &'a [u8], _: &'a mut Vec<u8>) -> Result<&'a [u8], Counter> {
        Ok(bytes)
    }
}
