//! Messages with numbers that may be outside the dialect: commands, modes, mission items, heartbeats, setpoints.
use super::{Frame, MavMessage, Outbound, bytes_at};
use mavlink::error::{EncoderError, ParserError};
use mavlink::{Dialect, MAVLinkV2MessageRaw, MavHeader, MavlinkVersion, Message as _};

/// Longest payload.
const MAX_PAYLOAD: usize = 255;

/// A message as id and payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RawMessage {
    /// Message id.
    pub id: u32,
    payload: [u8; MAX_PAYLOAD],
    len: usize,
}

impl RawMessage {
    /// `None` if the dialect has no checksum for the id, or the payload is too long.
    pub fn new(id: u32, payload: &[u8]) -> Option<Self> {
        MavMessage::default_message_from_id(id)?;
        Self::of(id, payload)
    }

    fn of(id: u32, bytes: &[u8]) -> Option<Self> {
        let mut payload = [0; MAX_PAYLOAD];
        payload.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self::of_padded(id, payload))
    }

    fn of_padded(id: u32, payload: [u8; MAX_PAYLOAD]) -> Self {
        // MAVLink 2 truncates trailing zeros, but not the first byte.
        let len = payload.iter().rposition(|byte| *byte != 0).unwrap_or(0) + 1;
        Self { id, payload, len }
    }

    /// The payload without trailing zeros.
    pub fn payload(&self) -> &[u8] {
        self.payload.get(..self.len).unwrap_or_default()
    }

    pub(super) fn write(&self, packet: &mut MAVLinkV2MessageRaw, header: MavHeader) {
        let written = packet.serialize_message_with_dialect(header, &AnyNumber, self);
        debug_assert!(written.is_ok(), "the id was checked");
    }
}

/// Declares messages: `Name(id) { field: type = offset "documentation", }`.
macro_rules! raw_messages {
    ($($(#[$doc:meta])* $name:ident($id:literal) {
        $($field:ident: $type:ty = $at:literal $($field_doc:literal)?,)+
    })+) => {
        $(
            #[doc = concat!("MAVLink message ", $id, ".")]
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq)]
            #[allow(missing_docs, reason = "ids of the addressed system and component")]
            pub struct $name {
                $($(#[doc = $field_doc])? pub $field: $type,)+
            }

            // Deriving does not support long arrays.
            impl Default for $name {
                fn default() -> Self {
                    Self { $($field: PayloadField::get(&[], $at),)+ }
                }
            }

            impl $name {
                /// Message id.
                pub const ID: u32 = $id;

                /// Parses the message; `None` if the frame is another one.
                pub fn parse(frame: &Frame<'_>) -> Option<Self> {
                    (frame.id == Self::ID).then(|| Self { $($field: PayloadField::get(frame.payload, $at),)+ })
                }

                /// Returns the message as id and payload.
                pub fn to_raw(&self) -> RawMessage {
                    let mut payload = [0; $crate::wire::mavlink::raw::MAX_PAYLOAD];
                    $(self.$field.put(&mut payload, $at);)+
                    RawMessage::of_padded(Self::ID, payload)
                }
            }

            impl From<$name> for Outbound {
                fn from(message: $name) -> Self {
                    Self::Raw(message.to_raw())
                }
            }
        )+
    };
}

/// A field at an offset of the payload; zero where the sender truncated it.
trait PayloadField {
    fn get(payload: &[u8], at: usize) -> Self;
    fn put(&self, payload: &mut [u8], at: usize);
}

macro_rules! number_fields {
    ($($type:ty)+) => {$(
        impl PayloadField for $type {
            fn get(payload: &[u8], at: usize) -> Self {
                Self::from_le_bytes(bytes_at(payload, at))
            }

            fn put(&self, payload: &mut [u8], at: usize) {
                let field = payload.get_mut(at..).and_then(<[u8]>::first_chunk_mut);
                field.into_iter().for_each(|field| *field = self.to_le_bytes());
            }
        }
    )+};
}

number_fields! { u8 u16 u32 u64 i8 i16 i32 i64 f32 }

impl<T: PayloadField, const N: usize> PayloadField for [T; N] {
    fn get(payload: &[u8], at: usize) -> Self {
        std::array::from_fn(|i| T::get(payload, at + size_of::<T>() * i))
    }

    fn put(&self, payload: &mut [u8], at: usize) {
        for (i, value) in self.iter().enumerate() {
            value.put(payload, at + size_of::<T>() * i);
        }
    }
}

raw_messages! {
    Heartbeat(0) {
        custom_mode: u32 = 0 "Mode, as the autopilot defines it.",
        kind: u8 = 4 "MAV_TYPE.",
        autopilot: u8 = 5 "MAV_AUTOPILOT.",
        base_mode: u8 = 6 "MAV_MODE_FLAG bits.",
        system_status: u8 = 7 "MAV_STATE.",
        mavlink_version: u8 = 8 "Version of the protocol, 3.",
    }
    SetMode(11) {
        custom_mode: u32 = 0 "Mode, as the autopilot defines it.",
        target_system: u8 = 4,
        base_mode: u8 = 5 "MAV_MODE_FLAG bits.",
    }
    CommandInt(75) {
        params: [f32; 4] = 0 "param1 to param4.",
        x: i32 = 16 "Local x in 1e-4 m, or latitude in 1e-7 degrees.",
        y: i32 = 20 "Local y in 1e-4 m, or longitude in 1e-7 degrees.",
        z: f32 = 24 "Altitude or z in m.",
        command: u16 = 28 "MAV_CMD.",
        target_system: u8 = 30, target_component: u8 = 31,
        frame: u8 = 32 "MAV_FRAME.",
        current: u8 = 33 "Not used.",
        autocontinue: u8 = 34 "Not used.",
    }
    CommandLong(76) {
        params: [f32; 7] = 0 "param1 to param7.",
        command: u16 = 28 "MAV_CMD.",
        target_system: u8 = 30, target_component: u8 = 31,
        confirmation: u8 = 32 "0 the first time, then counts retransmissions.",
    }
    CommandAck(77) {
        command: u16 = 0 "Acknowledged MAV_CMD.",
        result: u8 = 2 "MAV_RESULT.",
        progress: u8 = 3 "Percent while in progress, 255 unknown.",
        result_param2: i32 = 4 "Additional result, by command.",
        target_system: u8 = 8 "System that sent the command; 0 if the autopilot does not report it.",
        target_component: u8 = 9 "Component that sent the command.",
    }
    MissionItemInt(73) {
        params: [f32; 4] = 0 "param1 to param4.",
        x: i32 = 16 "Local x in 1e-4 m, or latitude in 1e-7 degrees.",
        y: i32 = 20 "Local y in 1e-4 m, or longitude in 1e-7 degrees.",
        z: f32 = 24 "Altitude or z in m.",
        seq: u16 = 28 "Index in the mission.",
        command: u16 = 30 "MAV_CMD.",
        target_system: u8 = 32, target_component: u8 = 33,
        frame: u8 = 34 "MAV_FRAME.",
        current: u8 = 35 "1 for the current item.",
        autocontinue: u8 = 36 "Continue with the next item.",
        mission_type: u8 = 37 "MAV_MISSION_TYPE.",
    }
    /// MISSION_ITEM, for autopilots without MISSION_ITEM_INT.
    MissionItem(39) {
        params: [f32; 4] = 0 "param1 to param4.",
        x: f32 = 16 "Local x in m, or latitude in degrees.",
        y: f32 = 20 "Local y in m, or longitude in degrees.",
        z: f32 = 24 "Altitude or z in m.",
        seq: u16 = 28 "Index in the mission.",
        command: u16 = 30 "MAV_CMD.",
        target_system: u8 = 32, target_component: u8 = 33,
        frame: u8 = 34 "MAV_FRAME.",
        current: u8 = 35 "1 for the current item.",
        autocontinue: u8 = 36 "Continue with the next item.",
        mission_type: u8 = 37 "MAV_MISSION_TYPE.",
    }
}

impl MissionItem {
    /// The same item with integer coordinates.
    pub fn to_int(self, x: i32, y: i32) -> MissionItemInt {
        MissionItemInt {
            params: self.params,
            x,
            y,
            z: self.z,
            seq: self.seq,
            command: self.command,
            target_system: self.target_system,
            target_component: self.target_component,
            frame: self.frame,
            current: self.current,
            autocontinue: self.autocontinue,
            mission_type: self.mission_type,
        }
    }
}

mod protocols;
pub use protocols::*;
mod setpoint;
pub use setpoint::*;
mod telemetry;
pub use telemetry::*;

/// The dialect without its enumerations.
struct AnyNumber;

impl Dialect for AnyNumber {
    type Message = RawMessage;
    type EncodeError = EncoderError;

    fn message_id(&self, message: &RawMessage) -> u32 {
        message.id
    }

    fn extra_crc(&self, id: u32) -> Option<u8> {
        Some(MavMessage::extra_crc(id))
    }

    fn decode(&self, _: MavlinkVersion, id: u32, bytes: &[u8]) -> Result<RawMessage, ParserError> {
        RawMessage::of(id, bytes).ok_or(ParserError::UnknownMessage { id })
    }

    fn encode(
        &self,
        _: MavlinkVersion,
        message: &RawMessage,
        out: &mut [u8],
    ) -> Result<usize, EncoderError> {
        let payload = message.payload();
        if let Some(out) = out.get_mut(..payload.len()) {
            out.copy_from_slice(payload);
        }
        Ok(payload.len())
    }
}
