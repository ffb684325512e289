//! Links to an autopilot. The bridge uses MAVLink internally; other links translate.
mod mavlink;
pub(super) mod read_only;
mod udp;
mod udp_full;
mod udp_simple;
mod udp_ultra_simple;

pub use mavlink::MavlinkLink;
pub use udp_full::UdpFullLink;
pub use udp_simple::UdpSimpleLink;
pub use udp_ultra_simple::UdpUltraSimpleLink;

use crate::vehicle::Counter;
use crate::{wire::TrueState, wire::mavlink::Outbound, wire::mavlink::raw::SetAttitudeTarget};
use thiserror::Error;

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
pub enum SendError {
    /// The link has no datagram for the message.
    #[error("{link} cannot carry this: {why}")]
    Unsupported {
        /// Kind of link.
        link: &'static str,
        /// Why, and what to do instead, for the user.
        why: &'static str,
    },
    /// The socket or line did not accept the message.
    #[error("the link could not send the datagram")]
    Io,
}

/// What a link can carry.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Abilities {
    /// Name in logs.
    pub name: &'static str,
    /// The vehicle sends HEARTBEATs, which carry the mode and whether it is armed.
    pub heartbeat: bool,
    /// The vehicle answers commands with COMMAND_ACK.
    pub acks: bool,
    /// The link carries parameters and missions.
    pub services: bool,
    /// The vehicle answers TIMESYNC.
    pub timesync: bool,
    /// The receiver of the link follows positions relative to the body. PX4 does not, so the bridge converts them for MAVLink.
    pub body_position: bool,
}

impl Abilities {
    /// Abilities of MAVLink.
    pub const MAVLINK: Self = Self {
        name: "MAVLink",
        heartbeat: true,
        acks: true,
        services: true,
        timesync: true,
        body_position: false,
    };
}

/// Sends bytes; `false` if that failed. Must not block.
pub type Sink = Box<dyn FnMut(&[u8]) -> bool + Send>;

/// Translates between MAVLink and the datagrams of a link.
pub trait Link: Send {
    /// What the link can carry.
    fn abilities(&self) -> Abilities;

    /// Sends a message. `system` and `component` are those of the sender: this bridge, or a client that it sends for.
    fn send(&mut self, message: &Outbound, system: u8, component: u8) -> Result<(), SendError>;

    /// Sends an attitude whose thrust is a change of the throttle, which MAVLink has no message for.
    fn send_throttle_step(&mut self, _: &SetAttitudeTarget) -> Result<(), SendError> {
        Err(SendError::Unsupported {
            link: self.abilities().name,
            why: "only UDP_Simple and UDP_UltraSimple have changes of the throttle; send a thrust (setpoint_raw/attitude)",
        })
    }

    /// Converts received bytes to MAVLink frames: returns these bytes, or those that it writes to `out`. An error is the
    /// counter of a datagram that is not converted.
    fn incoming<'a>(&mut self, bytes: &'a [u8], out: &'a mut Vec<u8>) -> Result<&'a [u8], Counter>;

    /// Converts a true state to MAVLink frames, for a link that has no other state.
    fn true_state<'a>(&mut self, _: &TrueState, _: &'a mut Vec<u8>) -> Result<&'a [u8], Counter> {
        Ok(&[])
    }

    /// The vehicle fell silent: forgets its commanded state.
    fn lost(&mut self) {}
}
