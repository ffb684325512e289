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
    /// Left edge in px.
    pub min_x: F32,
    /// Top edge in px.
    pub min_y: F32,
    /// Right edge in px.
    pub max_x: F32,
    /// Bottom edge in px.
    pub max_y: F32,
}

impl BoxEntry {
    /// Creates an entry; `edges` are left, top, right, bottom in px.
    pub fn new(copter_id: i32, credibility: f32, edges: [f32; 4]) -> Self {
        let [min_x, min_y, max_x, max_y] = edges.map(F32::new);
        Self {
            copter_id: copter_id.into(),
            credibility: credibility.into(),
            min_x,
            min_y,
            max_x,
            max_y,
        }
    }
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

impl TargetEntry {
    /// Creates an entry; `position` is in m.
    pub fn new(copter_id: i32, position: [f32; 3]) -> Self {
        Self { copter_id: copter_id.into(), position: position.map(F32::new) }
    }
}

impl Packet for TargetEntry {
    const NAME: &'static str = "target entry";
}

/// Appends the payload of TypeID 30 or 31 to `out`; allocates only if `out` must grow.
pub fn append_list<T: Packet>(entries: &[T], out: &mut Vec<u8>) {
    let count = i32::try_from(entries.len()).unwrap_or(i32::MAX);
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(entries.as_bytes());
}

/// A counted list, the payload of TypeID 30 and 31: i32 count, then the entries. Bytes after them are ignored.
#[derive(Clone, Copy, Debug)]
pub struct ListView<'a, T> {
    entries: &'a [T],
}

impl<'a, T: Packet> ListView<'a, T> {
    /// Views a payload as a list.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let (count, rest) = I32::ref_from_prefix(payload).map_err(|_cast| WireError::Length {
            what: T::NAME,
            expected: 4,
            found: payload.len(),
        })?;
        let count = usize::try_from(count.get()).map_err(|_cast| WireError::Field {
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
        let entries = <[T]>::ref_from_bytes(bytes).map_err(|_cast| WireError::Length {
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
