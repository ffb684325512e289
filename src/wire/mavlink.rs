//! MAVLink frames: boundaries, sender and message.
//!
//! The codec is the `mavlink` crate (dialect `common`, with message extensions). It maps enumerations to names and rejects
//! a message with an unknown number; autopilots are newer than any dialect, so messages whose numbers must pass
//! unchanged (commands, modes, mission items and others) are read and written here by offset: [`raw`].
//!
//! Source: <https://mavlink.io/en/guide/serialization.html>.
pub mod numbers;
pub mod raw;

pub use mavlink::MessageData;
pub use mavlink::dialects::common as dialect;
pub use mavlink::dialects::common::MavMessage;

use mavlink::{MAVLinkV2MessageRaw, MavHeader, MavlinkVersion, Message as _, calculate_crc};
use thiserror::Error;

const STX_V1: u8 = 0xfe;
const STX_V2: u8 = 0xfd;
const HEADER_V1: usize = 6;
const HEADER_V2: usize = 10;
const CHECKSUM: usize = 2;
const SIGNATURE: usize = 13;
/// The only defined incompatibility flag: a signature follows.
const FLAG_SIGNED: u8 = 1;
/// Longest frame.
pub const MAX_FRAME: usize = HEADER_V2 + 255 + CHECKSUM + SIGNATURE;

/// Why bytes are not a frame.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
#[expect(missing_docs, reason = "the messages explain the fields")]
pub enum FrameError {
    /// Bytes before the next start of a frame.
    #[error("{0} bytes outside any frame")]
    Noise(usize),
    /// A datagram that ends within a frame.
    #[error("the frame is truncated")]
    Truncated,
    /// Wrong checksum.
    #[error("wrong checksum in message {id}")]
    Checksum { id: u32 },
    /// A message outside the dialect; its checksum cannot be verified.
    #[error("message {id} is not in the dialect")]
    Unknown { id: u32 },
    /// Unknown incompatibility flags.
    #[error("incompatibility flags {0:#04x}")]
    Flags(u8),
}

/// A message that does not decode: a number outside the dialect.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("message {id} has a value outside the dialect")]
pub struct MessageError {
    /// Message id.
    pub id: u32,
}

/// One frame with a valid checksum.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Frame<'a> {
    /// The whole frame, signature included.
    pub bytes: &'a [u8],
    /// Payload as sent: MAVLink 2 truncates trailing zeros.
    pub payload: &'a [u8],
    /// Message id.
    pub id: u32,
    /// Sending system.
    pub system: u8,
    /// Sending component.
    pub component: u8,
    /// Sequence number of the sender's frames.
    pub sequence: u8,
    /// MAVLink 1 or 2.
    pub version: MavlinkVersion,
    /// Signed; the signature is not verified (there is no key).
    pub signed: bool,
}

impl Frame<'_> {
    /// Decodes the message.
    pub fn message(&self) -> Result<MavMessage, MessageError> {
        MavMessage::parse(self.version, self.id, self.payload)
            .map_err(|_unknown_value| MessageError { id: self.id })
    }

    /// Decodes one message type; the caller has checked the id.
    pub fn data<M: MessageData>(&self) -> Result<M, MessageError> {
        M::deser(self.version, self.payload).map_err(|_unknown_value| MessageError { id: self.id })
    }

    /// The payload's bytes from `at`; zeros where the sender truncated them.
    pub fn bytes_at<const N: usize>(&self, at: usize) -> [u8; N] {
        bytes_at(self.payload, at)
    }
}

fn bytes_at<const N: usize>(payload: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|i| payload.get(at + i).copied().unwrap_or(0))
}

/// Result of parsing the beginning of a buffer.
#[derive(Debug)]
pub enum Taken<'a> {
    /// A frame with a valid checksum.
    Frame(Frame<'a>),
    /// Incomplete: more bytes are needed.
    Incomplete,
    /// Number of bytes to skip, and the reason.
    Skip(usize, FrameError),
}

fn is_start(byte: u8) -> bool {
    matches!(byte, STX_V1 | STX_V2)
}

/// Parses one frame at the beginning of `buffer`.
pub fn take(buffer: &[u8]) -> Taken<'_> {
    let start = buffer.iter().position(|byte| is_start(*byte));
    let (stx, len) = match (start, buffer) {
        (None, []) => return Taken::Incomplete,
        (None, _) => return Taken::Skip(buffer.len(), FrameError::Noise(buffer.len())),
        (Some(0), [stx, len, ..]) => (*stx, usize::from(*len)),
        (Some(0), _) => return Taken::Incomplete,
        (Some(noise), _) => return Taken::Skip(noise, FrameError::Noise(noise)),
    };
    let header = if stx == STX_V1 { HEADER_V1 } else { HEADER_V2 };
    let Some(head) = buffer.get(..header) else { return Taken::Incomplete };
    let mut signed = false;
    let (id, sequence, system, component, version) = match *head {
        [_, _, sequence, system, component, id] => {
            (u32::from(id), sequence, system, component, MavlinkVersion::V1)
        }
        [_, _, flags, _, sequence, system, component, a, b, c] => {
            if flags & !FLAG_SIGNED != 0 {
                return Taken::Skip(1, FrameError::Flags(flags));
            }
            signed = flags & FLAG_SIGNED != 0;
            let id = u32::from_le_bytes([a, b, c, 0]);
            (id, sequence, system, component, MavlinkVersion::V2)
        }
        _ => return Taken::Incomplete,
    };
    let end = header + len + CHECKSUM + if signed { SIGNATURE } else { 0 };
    let Some(bytes) = buffer.get(..end) else { return Taken::Incomplete };
    let extra = MavMessage::extra_crc(id);
    // The CRC seed of an unknown message is 0, but a few known messages have the same seed.
    if extra == 0 && MavMessage::default_message_from_id(id).is_none() {
        // A frame of a newer dialect is followed by another frame or the end of the data; noise seldom is.
        let is_frame = buffer.get(end).is_none_or(|next| is_start(*next));
        return Taken::Skip(if is_frame { end } else { 1 }, FrameError::Unknown { id });
    }
    let (Some(checked), Some(&[low, high])) =
        (bytes.get(1..header + len), bytes.get(header + len..).and_then(<[u8]>::first_chunk::<2>))
    else {
        return Taken::Incomplete;
    };
    if calculate_crc(checked, extra) != u16::from_le_bytes([low, high]) {
        // Skip one byte: a real frame may start inside this false one.
        return Taken::Skip(1, FrameError::Checksum { id });
    }
    Taken::Frame(Frame {
        bytes,
        payload: bytes.get(header..header + len).unwrap_or_default(),
        id,
        system,
        component,
        sequence,
        version,
        signed,
    })
}

/// Sets the checksum of a frame whose payload was changed.
pub fn seal(frame: &mut [u8]) {
    let (header, id) = match *frame {
        [STX_V1, _, _, _, _, id, ..] => (HEADER_V1, u32::from(id)),
        [STX_V2, _, _, _, _, _, _, a, b, c, ..] => (HEADER_V2, u32::from_le_bytes([a, b, c, 0])),
        _ => return,
    };
    let end = header + frame.get(1).copied().map_or(0, usize::from);
    let Some(checked) = frame.get(1..end) else { return };
    let checksum = calculate_crc(checked, MavMessage::extra_crc(id)).to_le_bytes();
    if let Some(field) = frame.get_mut(end..end + CHECKSUM) {
        field.copy_from_slice(&checksum);
    }
}

/// Returns every frame of a datagram, and an error for each range of skipped bytes. Frames do not span datagrams.
pub fn frames(datagram: &[u8]) -> impl Iterator<Item = Result<Frame<'_>, FrameError>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let (used, item) = match take(rest) {
            Taken::Incomplete if rest.is_empty() => return None,
            Taken::Incomplete => (rest.len(), Err(FrameError::Truncated)),
            Taken::Skip(used, error) => (used, Err(error)),
            Taken::Frame(frame) => (frame.bytes.len(), Ok(frame)),
        };
        rest = rest.get(used..).unwrap_or_default();
        Some(item)
    })
}

/// Frames from a stream of bytes, for example a serial line. Stores the bytes of an incomplete frame only.
#[derive(Debug, Default)]
pub struct ByteStream {
    buffer: Vec<u8>,
}

impl ByteStream {
    /// Adds bytes and passes each frame or skipped range to `each`.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Result<Frame<'_>, FrameError>)) {
        self.buffer.extend_from_slice(bytes);
        let mut used = 0;
        loop {
            let rest = self.buffer.get(used..).unwrap_or_default();
            used += match take(rest) {
                Taken::Incomplete => break,
                Taken::Skip(skipped, error) => {
                    each(Err(error));
                    skipped
                }
                Taken::Frame(frame) => {
                    each(Ok(frame));
                    frame.bytes.len()
                }
            };
        }
        self.buffer.drain(..used);
    }
}

/// An outgoing message: one of the dialect, or an id and its payload.
#[derive(Clone, Debug, PartialEq)]
pub enum Outbound {
    /// A message of the dialect.
    Message(MavMessage),
    /// A message with numbers that may be outside the dialect.
    Raw(raw::RawMessage),
}

impl From<MavMessage> for Outbound {
    fn from(message: MavMessage) -> Self {
        Self::Message(message)
    }
}

impl From<raw::RawMessage> for Outbound {
    fn from(message: raw::RawMessage) -> Self {
        Self::Raw(message)
    }
}

impl Outbound {
    /// Message id.
    pub fn id(&self) -> u32 {
        match self {
            Self::Message(message) => message.message_id(),
            Self::Raw(message) => message.id,
        }
    }
}

/// Writes MAVLink 2 frames of one sender.
#[derive(Clone, Copy, Debug)]
pub struct Encoder {
    /// System id.
    pub system: u8,
    /// Component id.
    pub component: u8,
    sequence: u8,
}

/// One encoded frame.
#[derive(Clone, Copy)]
pub struct EncodedFrame(MAVLinkV2MessageRaw);

impl EncodedFrame {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.raw_bytes()
    }
}

impl Encoder {
    /// The first frame has sequence 0.
    pub const fn new(system: u8, component: u8) -> Self {
        Self { system, component, sequence: 0 }
    }

    /// Encodes a message as a frame.
    pub fn encode(&mut self, message: &Outbound) -> EncodedFrame {
        let header = MavHeader {
            system_id: self.system.into(),
            component_id: self.component,
            sequence: self.sequence,
        };
        self.sequence = self.sequence.wrapping_add(1);
        let mut packet = MAVLinkV2MessageRaw::new();
        match message {
            Outbound::Message(message) => packet.serialize_message(header, message),
            Outbound::Raw(message) => message.write(&mut packet, header),
        }
        EncodedFrame(packet)
    }
}
