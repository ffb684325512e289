use super::{Packet, WireError};
use zerocopy::little_endian::{F32, I32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// One detected object in an image (TypeID 30), 24 bytes.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct BoxEntry {
    /// Vehicle id.
    pub copter_id: I32,
    /// Confidence.
    pub credibility: F32,
    /// Left, top, right, bottom edge in px.
    pub min_x: F32,
    /// Top edge in px.
    pub min_y: F32,
    /// Right edge in px.
    pub max_x: F32,
    /// Bottom edge in px.
    pub max_y: F32,
}

impl Packet for BoxEntry {
    const NAME: &'static str = "box entry";
}

/// One target position (TypeID 31), 16 bytes.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct TargetEntry {
    /// Vehicle id.
    pub copter_id: I32,
    /// Position in m.
    pub position: [F32; 3],
}

impl Packet for TargetEntry {
    const NAME: &'static str = "target entry";
}

/// A counted list, the payload of TypeID 30 and 31: i32 count, then the entries. Bytes after them are ignored.
#[derive(Clone, Copy, Debug)]
pub struct ListView<'a, T> {
    entries: &'a [T],
}

impl<'a, T: Packet> ListView<'a, T> {
    /// Views a payload as a list.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let (count, rest) = I32::ref_from_prefix(payload).map_err(|_| WireError::Length {
            what: T::NAME,
            expected: 4,
            found: payload.len(),
        })?;
        let count = usize::try_from(count.get()).map_err(|_| WireError::Field {
            what: T::NAME,
            field: "count",
            found: count.get().into(),
        })?;
        let wanted = count.saturating_mul(T::LEN);
        let bytes = rest.get(..wanted).ok_or(WireError::Length {
            what: T::NAME,
            expected: wanted.saturating_add(4),
            found: payload.len(),
        })?;
        let entries = <[T]>::ref_from_bytes(bytes).map_err(|_| WireError::Length {
            what: T::NAME,
            expected: wanted,
            found: bytes.len(),
        })?;
        Ok(Self { entries })
    }

    /// Returns the entries.
    pub fn entries(&self) -> &'a [T] {
        self.entries
    }
}
