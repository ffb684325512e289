use super::{Packet, WireError, packet::wrong_length};
use zerocopy::little_endian::{F32, I32};
use zerocopy::{FromBytes, IntoBytes};

packets! {
    /// One detected object in an image (TypeID 30), 24 bytes.
    BoxEntry("box entry") {
        copter_id: I32 = "Vehicle id.",
        credibility: F32 = "Confidence.",
        min_x: F32 = "Left edge in px.",
        min_y: F32 = "Top edge in px.",
        max_x: F32 = "Right edge in px.",
        max_y: F32 = "Bottom edge in px.",
    }
    /// One target position (TypeID 31), 16 bytes.
    TargetEntry("target entry", new) {
        copter_id: I32 = "Vehicle id.",
        position: [F32; 3] = "Position in m.",
    }
}

impl BoxEntry {
    /// Creates an entry; `edges` are left, top, right, bottom in px.
    pub fn new(copter_id: i32, credibility: f32, edges: [f32; 4]) -> Self {
        let (copter_id, credibility) = (copter_id.into(), credibility.into());
        let [min_x, min_y, max_x, max_y] = edges.map(F32::new);
        Self { copter_id, credibility, min_x, min_y, max_x, max_y }
    }
}

/// Appends the payload of TypeID 30 or 31 to `out`; allocates only if `out` must grow.
pub fn append_list<T: Packet>(entries: &[T], out: &mut Vec<u8>) {
    let count = i32::try_from(entries.len()).unwrap_or(i32::MAX);
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(entries.as_bytes());
}

/// A counted list, the payload of TypeID 30 and 31: i32 count, then the entries. Surplus bytes are ignored.
#[derive(Clone, Copy, Debug)]
pub struct ListView<'a, T> {
    entries: &'a [T],
}

impl<'a, T: Packet> ListView<'a, T> {
    /// Views a payload as a list.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let too_short = |expected| wrong_length(T::NAME, expected, payload);
        let (count, rest) = I32::ref_from_prefix(payload).map_err(|_cast| too_short(4))?;
        let count = usize::try_from(count.get()).map_err(|_cast| WireError::Field {
            what: T::NAME,
            field: "count",
            found: count.get().into(),
        })?;
        let entries = <[T]>::ref_from_prefix_with_elems(rest, count);
        let (entries, _) =
            entries.map_err(|_cast| too_short(count.saturating_mul(T::LEN).saturating_add(4)))?;
        Ok(Self { entries })
    }

    /// Returns the entries.
    pub fn entries(&self) -> &'a [T] {
        self.entries
    }
}
