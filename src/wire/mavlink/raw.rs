//! Messages with numbers that may be outside the dialect: commands, modes, mission items, heartbeats, setpoints.
use super::{Frame, MavMessage, Outbound};
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
        // MAVLink 2 truncates trailing zeros, but not the first byte.
        let len = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0) + 1;
        Some(Self { id, payload, len })
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

/// Writes fields at their offsets.
struct Payload<const N: usize>([u8; N]);

impl<const N: usize> Payload<N> {
    const fn new() -> Self {
        Self([0; N])
    }

    fn put<const M: usize>(mut self, at: usize, bytes: [u8; M]) -> Self {
        if let Some(field) = self.0.get_mut(at..at + M) {
            field.copy_from_slice(&bytes);
        }
        self
    }

    fn message(self, id: u32) -> RawMessage {
        const { assert!(N <= MAX_PAYLOAD) }
        let empty = RawMessage { id, payload: [0; MAX_PAYLOAD], len: 1 };
        RawMessage::of(id, &self.0).unwrap_or(empty)
    }
}

macro_rules! raw_messages {
    ($($(#[$doc:meta])* $name:ident($id:literal, $len:literal) {
        $($(#[$field_doc:meta])* $field:ident: $type:ty = $at:literal,)+
    })+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub struct $name {
                $($(#[$field_doc])* pub $field: $type,)+
            }

            // Deriving does not support long arrays.
            impl Default for $name {
                fn default() -> Self {
                    Self { $($field: Field::ZERO,)+ }
                }
            }

            impl $name {
                /// Message id.
                pub const ID: u32 = $id;

                /// Parses the message; `None` if the frame is another one.
                pub fn parse(frame: &Frame<'_>) -> Option<Self> {
                    (frame.id == Self::ID).then(|| Self { $($field: Field::get(frame, $at),)+ })
                }

                /// Returns the message as id and payload.
                pub fn to_raw(&self) -> RawMessage {
                    let payload = Payload::<$len>::new();
                    $(let payload = self.$field.put(payload, $at);)+
                    payload.message(Self::ID)
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

/// A field at an offset.
trait Field: Sized {
    const ZERO: Self;
    fn get(frame: &Frame<'_>, at: usize) -> Self;
    fn put<const N: usize>(&self, payload: Payload<N>, at: usize) -> Payload<N>;
}

macro_rules! number_fields {
    ($($type:ty)+) => {$(
        impl Field for $type {
            const ZERO: Self = 0 as Self;
            fn get(frame: &Frame<'_>, at: usize) -> Self {
                Self::from_le_bytes(frame.bytes_at(at))
            }
            fn put<const N: usize>(&self, payload: Payload<N>, at: usize) -> Payload<N> {
                payload.put(at, self.to_le_bytes())
            }
        }
    )+};
}

number_fields! { u8 u16 u32 u64 i8 i16 i32 i64 f32 }

impl<const M: usize> Field for [u8; M] {
    const ZERO: Self = [0; M];
    fn get(frame: &Frame<'_>, at: usize) -> Self {
        frame.bytes_at(at)
    }
    fn put<const N: usize>(&self, payload: Payload<N>, at: usize) -> Payload<N> {
        payload.put(at, *self)
    }
}

macro_rules! array_fields {
    ($($type:ty)+) => {$(
        impl<const M: usize> Field for [$type; M] {
            const ZERO: Self = [<$type>::ZERO; M];
            fn get(frame: &Frame<'_>, at: usize) -> Self {
                std::array::from_fn(|i| <$type>::get(frame, at + size_of::<$type>() * i))
            }
            fn put<const N: usize>(&self, payload: Payload<N>, at: usize) -> Payload<N> {
                let put = |payload, (i, value): (usize, &$type)| value.put(payload, at + size_of::<$type>() * i);
                self.iter().enumerate().fold(payload, put)
            }
        }
    )+};
}

array_fields! { u16 f32 }

raw_messages! {
    /// HEARTBEAT.
    Heartbeat(0, 9) {
        /// The autopilot's own mode.
        custom_mode: u32 = 0,
        /// MAV_TYPE.
        kind: u8 = 4,
        /// MAV_AUTOPILOT.
        autopilot: u8 = 5,
        /// MAV_MODE_FLAG bits.
        base_mode: u8 = 6,
        /// MAV_STATE.
        system_status: u8 = 7,
        /// Version of the protocol, 3.
        mavlink_version: u8 = 8,
    }
    /// SET_MODE.
    SetMode(11, 6) {
        /// The autopilot's own mode.
        custom_mode: u32 = 0,
        /// Target system.
        target_system: u8 = 4,
        /// MAV_MODE_FLAG bits.
        base_mode: u8 = 5,
    }
    /// COMMAND_INT.
    CommandInt(75, 35) {
        /// param1 to param4.
        params: [f32; 4] = 0,
        /// Local x in 1e-4 m, or latitude in 1e-7 degrees.
        x: i32 = 16,
        /// Local y in 1e-4 m, or longitude in 1e-7 degrees.
        y: i32 = 20,
        /// Altitude or z in m.
        z: f32 = 24,
        /// MAV_CMD.
        command: u16 = 28,
        /// System.
        target_system: u8 = 30,
        /// Component.
        target_component: u8 = 31,
        /// MAV_FRAME.
        frame: u8 = 32,
        /// Not used.
        current: u8 = 33,
        /// Not used.
        autocontinue: u8 = 34,
    }
    /// COMMAND_LONG.
    CommandLong(76, 33) {
        /// param1 to param7.
        params: [f32; 7] = 0,
        /// MAV_CMD.
        command: u16 = 28,
        /// System.
        target_system: u8 = 30,
        /// Component.
        target_component: u8 = 31,
        /// 0 the first time, then counts retransmissions.
        confirmation: u8 = 32,
    }
    /// COMMAND_ACK.
    CommandAck(77, 10) {
        /// Acknowledged MAV_CMD.
        command: u16 = 0,
        /// MAV_RESULT.
        result: u8 = 2,
        /// Percent while in progress, 255 unknown.
        progress: u8 = 3,
        /// Additional result, by command.
        result_param2: i32 = 4,
        /// System that sent the command; 0 if the autopilot does not report it.
        target_system: u8 = 8,
        /// Component that sent the command.
        target_component: u8 = 9,
    }
    /// MISSION_ITEM_INT.
    MissionItemInt(73, 38) {
        /// param1 to param4.
        params: [f32; 4] = 0,
        /// Local x in 1e-4 m, or latitude in 1e-7 degrees.
        x: i32 = 16,
        /// Local y in 1e-4 m, or longitude in 1e-7 degrees.
        y: i32 = 20,
        /// Altitude or z in m.
        z: f32 = 24,
        /// Index in the mission.
        seq: u16 = 28,
        /// MAV_CMD.
        command: u16 = 30,
        /// System.
        target_system: u8 = 32,
        /// Component.
        target_component: u8 = 33,
        /// MAV_FRAME.
        frame: u8 = 34,
        /// 1 for the current item.
        current: u8 = 35,
        /// Continue with the next item.
        autocontinue: u8 = 36,
        /// MAV_MISSION_TYPE.
        mission_type: u8 = 37,
    }
    /// MISSION_ITEM, for autopilots without MISSION_ITEM_INT.
    MissionItem(39, 38) {
        /// param1 to param4.
        params: [f32; 4] = 0,
        /// Local x in m, or latitude in degrees.
        x: f32 = 16,
        /// Local y in m, or longitude in degrees.
        y: f32 = 20,
        /// Altitude or z in m.
        z: f32 = 24,
        /// Index in the mission.
        seq: u16 = 28,
        /// MAV_CMD.
        command: u16 = 30,
        /// System.
        target_system: u8 = 32,
        /// Component.
        target_component: u8 = 33,
        /// MAV_FRAME.
        frame: u8 = 34,
        /// 1 for the current item.
        current: u8 = 35,
        /// Continue with the next item.
        autocontinue: u8 = 36,
        /// MAV_MISSION_TYPE.
        mission_type: u8 = 37,
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

    fn decode(
        &self,
        _: MavlinkVersion,
        id: u32,
        payload: &[u8],
    ) -> Result<RawMessage, ParserError> {
        RawMessage::of(id, payload).ok_or(ParserError::UnknownMessage { id })
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
