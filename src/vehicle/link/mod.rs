//! Ways to talk to an autopilot. Inside the bridge everything is MAVLink; a link of another kind translates.
mod mavlink;
mod read_only;
mod udp;
mod udp_full;
mod udp_simple;

pub use mavlink::MavlinkLink;
pub use read_only::ReadOnlyLink;
pub use udp_full::UdpFullLink;
pub use udp_simple::UdpSimpleLink;

use crate::vehicle::Counter;
use crate::wire::mavlink::Outbound;
use thiserror::Error;

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
pub enum Refusal {
    /// The link has no datagram for it.
    #[error("{link} cannot carry this: {what}")]
    Unsupported {
        /// Kind of link.
        link: &'static str,
        /// What is missing, for the person who asked.
        what: &'static str,
    },
    /// The socket or line did not take it.
    #[error("the link did not take the datagram")]
    Io,
}

/// What reaches the other side of a link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Abilities {
    /// Name for messages to people.
    pub name: &'static str,
    /// The vehicle sends HEARTBEATs, hence its mode and whether it is armed.
    pub heartbeat: bool,
    /// Commands are answered by COMMAND_ACK.
    pub acks: bool,
    /// Parameters and missions.
    pub services: bool,
    /// TIMESYNC is answered.
    pub timesync: bool,
}

impl Abilities {
    /// Everything that MAVLink has.
    pub const MAVLINK: Self = Self {
        name: "MAVLink",
        heartbeat: true,
        acks: true,
        services: true,
        timesync: true,
    };
}

/// Takes bytes to the other side; `false` if it could not. Must not wait.
pub type Sink = Box<dyn FnMut(&[u8]) -> bool + Send>;

/// Translates between MAVLink and what is on the wire.
pub trait Link: Send {
    /// What the other side can do.
    fn abilities(&self) -> Abilities;

    /// Sends a message. `system` and `component` are those of this bridge.
    fn send(&mut self, message: &Outbound, system: u8, component: u8) -> Result<(), Refusal>;

    /// Turns received bytes into MAVLink frames: these bytes, or what it writes to `buffer`. An error is what was wrong
    /// with the datagram.
    fn incoming<'a>(
        &mut self,
        bytes: &'a [u8],
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], Counter>;

    /// The vehicle has fallen silent: what was commanded may not be so any more.
    fn lost(&mut self) {}
}
