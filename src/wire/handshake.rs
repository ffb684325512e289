use zerocopy::little_endian::I32;

packets! {
    /// `Ue4Req`, 8 bytes: `CopterSim` asks on port 20008 whether a renderer listens, the renderer answers with `index` 1.
    ///
    /// The check word of this exchange is not published (docs/wire/traps.md, check-word), so it is not checked: an
    /// answer copies the check word of its request.
    HandshakePacket("renderer handshake", new) {
        checksum: I32 = "Unpublished check word.",
        index: I32 = "Request index; 1 in an answer when vehicle data are present.",
    }
}
