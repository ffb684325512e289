use super::Packet;
use zerocopy::little_endian::I32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// `Ue4Req`, 8 bytes: `CopterSim` asks on port 20008 whether a renderer listens, the renderer answers with `index` 1.
///
/// The check word of this exchange is not published (docs/wire/traps.md, check-word), so it is not checked: an
/// answer copies the one of its question.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct HandshakePacket {
    /// Unpublished check word.
    pub checksum: I32,
    /// Request index; 1 in an answer when vehicle data are present.
    pub index: I32,
}

impl HandshakePacket {
    /// Creates a question or an answer.
    pub fn new(checksum: i32, index: i32) -> Self {
        Self { checksum: checksum.into(), index: index.into() }
    }
}

impl Packet for HandshakePacket {
    const NAME: &'static str = "renderer handshake";
}
