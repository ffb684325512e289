//! Fields of a received frame by their offsets in MAVLink's definition. The emulator does not share the
//! bridge's message codec.
use crate::wire::mavlink::Frame;

/// Reads a byte.
pub(super) fn u8(frame: &Frame<'_>, at: usize) -> u8 {
    let [byte] = frame.bytes_at(at);
    byte
}

/// Reads a u16.
pub(super) fn u16(frame: &Frame<'_>, at: usize) -> u16 {
    u16::from_le_bytes(frame.bytes_at(at))
}

/// Reads an i16.
pub(super) fn i16(frame: &Frame<'_>, at: usize) -> i16 {
    i16::from_le_bytes(frame.bytes_at(at))
}

/// Reads a u32.
pub(super) fn u32(frame: &Frame<'_>, at: usize) -> u32 {
    u32::from_le_bytes(frame.bytes_at(at))
}

/// Reads an i32.
pub(super) fn i32(frame: &Frame<'_>, at: usize) -> i32 {
    i32::from_le_bytes(frame.bytes_at(at))
}

/// Reads an i64.
pub(super) fn i64(frame: &Frame<'_>, at: usize) -> i64 {
    i64::from_le_bytes(frame.bytes_at(at))
}

/// Reads an f32.
pub(super) fn f32(frame: &Frame<'_>, at: usize) -> f32 {
    f32::from_le_bytes(frame.bytes_at(at))
}

/// Reads a text of up to `N` bytes, zero-terminated if shorter.
pub(super) fn text<const N: usize>(frame: &Frame<'_>, at: usize) -> String {
    let bytes: [u8; N] = frame.bytes_at(at);
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(N);
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
