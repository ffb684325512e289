//! States that vehicles exchange over a simulated network: 224.0.0.10, port 60000 or 60000 + id.
//!
//! Source: vendor SDK, golden `netsim_send`, `recv_netsim`.
use super::{Packet, WireError};
use zerocopy::FromZeros;
use zerocopy::little_endian::{F32, F64, I32, U64};

packets! {
    /// `NetSimHeader`, 32 bytes: sender and receivers. A datagram of the header alone requests states.
    NetSimHeader("header of the simulated network", 12_345_678) {
        copter_id: I32 = "The sender.",
        mode: I32 = "12345: request; else user-defined.",
        first_id: I32 = "Vehicle of bit 0 of `mask`.",
        mask: U64 = "Receivers: bit i is vehicle `first_id` + i.",
        unix_time: F64 = "The sender's clock in s since 1970.",
    }
    /// `NetSimState`, 104 bytes after the header.
    NetSimState("state in the simulated network") {
        time: F64 = "Time of the vehicle in s.",
        euler: [F32; 3] = "Roll, pitch, yaw in rad.",
        velocity: [F32; 3] = "Velocity in m/s, NED.",
        home: [F64; 3] = "Latitude and longitude in degrees, altitude in m, of the take-off point.",
        position: [F64; 3] = "Position in m, NED, from the take-off point.",
        global_position: [F64; 3] = "Position in m, NED, from the map centre.",
    }
}

impl NetSimHeader {
    const REQUEST: i32 = 12_345;
    /// Port of all vehicles; the port of one vehicle is higher by its id.
    pub const PORT: u16 = 60_000;

    /// Creates the header of a state or of user-defined data.
    pub fn new(copter_id: i32, (first_id, mask): (i32, u64), unix_time: f64) -> Self {
        Self {
            checksum: Self::TAG.into(),
            copter_id: copter_id.into(),
            first_id: first_id.into(),
            mask: mask.into(),
            unix_time: unix_time.into(),
            ..Self::new_zeroed()
        }
    }

    /// Returns the header of a request for the states of the vehicles in the mask.
    #[must_use]
    pub fn into_request(self) -> Self {
        Self { mode: Self::REQUEST.into(), ..self }
    }

    /// Whether a vehicle is among the receivers.
    pub fn names(&self, copter_id: i32) -> bool {
        let bit = copter_id.checked_sub(self.first_id.get());
        let bit = bit.and_then(|bit| u32::try_from(bit).ok());
        bit.and_then(|bit| self.mask.get().checked_shr(bit)).is_some_and(|rest| rest & 1 == 1)
    }
}

/// A datagram of the simulated network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NetSimMessage<'a> {
    /// 32 bytes: the sender wants the states of the vehicles in the mask.
    Request(&'a NetSimHeader),
    /// 136 bytes: a state.
    State(&'a NetSimHeader, &'a NetSimState),
    /// Any other length: user-defined data.
    Data(&'a NetSimHeader, &'a [u8]),
}

impl<'a> NetSimMessage<'a> {
    /// Reads a datagram.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        let (header, rest) = NetSimHeader::parse_prefix(bytes)?;
        Ok(if rest.is_empty() {
            Self::Request(header)
        } else if let Ok(state) = NetSimState::parse(rest) {
            Self::State(header, state)
        } else {
            Self::Data(header, rest)
        })
    }
}
