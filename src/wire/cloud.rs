use super::{Packet, WireError};
use zerocopy::little_endian::{F32, I16, I32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Bytes before the points.
pub const CLOUD_HEADER_LEN: usize = 28;

/// Start of a cloud payload (TypeID 7, 20, 21, 22, 23).
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct CloudHeader {
    /// Sensor position x, y, z in m, then roll, pitch, yaw in rad at capture time; the frame is not documented.
    pub pose: [F32; 6],
    /// Number of points that follow.
    pub count: I32,
}

impl CloudHeader {
    /// Creates the header of `count` points; `pose` is x, y, z in m, then roll, pitch, yaw in rad.
    pub fn new(pose: [f32; 6], count: i32) -> Self {
        Self {
            pose: pose.map(F32::new),
            count: count.into(),
        }
    }
}

impl Packet for CloudHeader {
    const NAME: &'static str = "cloud header";
}

/// Appends a cloud payload to `out`; allocates only if `out` must grow.
///
/// The points are counted while they are written, so that a renderer needs no list of them.
pub fn append_cloud<const CHANNELS: usize>(
    pose: [f32; 6],
    points: impl IntoIterator<Item = [i16; CHANNELS]>,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.extend_from_slice(CloudHeader::new(pose, 0).as_bytes());
    let mut count = 0_i32;
    for point in points {
        out.extend(point.iter().flat_map(|channel| channel.to_le_bytes()));
        count = count.saturating_add(1);
    }
    if let Some(field) = out.get_mut(start + 24..start + CLOUD_HEADER_LEN) {
        field.copy_from_slice(&count.to_le_bytes());
    }
}

/// A cloud payload: header, then `count` points of `CHANNELS` i16, scaled so that 32767 is the sensor's range.
#[derive(Clone, Copy, Debug)]
pub struct CloudView<'a, const CHANNELS: usize> {
    header: &'a CloudHeader,
    points: &'a [[I16; CHANNELS]],
}

impl<'a, const CHANNELS: usize> CloudView<'a, CHANNELS> {
    /// Views a payload as a cloud; bytes after the last point are ignored.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        const WHAT: &str = "cloud";
        let (header, rest) = CloudHeader::parse_prefix(payload)?;
        let count = usize::try_from(header.count.get()).map_err(|_cast| WireError::Field {
            what: WHAT,
            field: "count",
            found: header.count.get().into(),
        })?;
        let wanted = count.saturating_mul(2 * CHANNELS);
        let bytes = rest.get(..wanted).ok_or(WireError::Length {
            what: WHAT,
            expected: wanted.saturating_add(CLOUD_HEADER_LEN),
            found: payload.len(),
        })?;
        let points =
            <[[I16; CHANNELS]]>::ref_from_bytes(bytes).map_err(|_cast| WireError::Length {
                what: WHAT,
                expected: wanted,
                found: bytes.len(),
            })?;
        Ok(Self { header, points })
    }

    /// Returns the header.
    pub fn header(&self) -> &'a CloudHeader {
        self.header
    }

    /// Returns the raw points.
    pub fn points(&self) -> &'a [[I16; CHANNELS]] {
        self.points
    }
}
