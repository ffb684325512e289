use super::{Packet, WireError};
use zerocopy::little_endian::{F32, I16, I32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Bytes before the points.
pub const CLOUD_HEADER_LEN: usize = 28;

/// Start of a cloud payload with i16 points (TypeID 7, 20, 21, 22, 23).
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

/// A cloud payload with i16 points: header, then `count` points of `CHANNELS` i16, scaled so that 32767 is the sensor's
/// range.
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

    /// Bytes of header and points.
    fn len(&self) -> usize {
        CLOUD_HEADER_LEN + size_of_val(self.points)
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

/// Start of a cloud payload with f32 points (TypeID 7, 20, 21, 22, 23), which newer simulators send.
///
/// Source: the vendor's newer page on the transfer of sensor data; there is no recording of it.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct FloatCloudHeader {
    /// Vehicle that carries the sensor.
    pub copter_id: I32,
    /// Frame of `pose`: [`Self::LOCAL`] or [`Self::WORLD`].
    pub axis_type: I32,
    /// Odometry of the time of the cloud: x, y, z in m, then roll, pitch, yaw in rad.
    pub pose: [F32; 6],
    /// Number of points that follow.
    pub count: I32,
}

impl FloatCloudHeader {
    /// `axis_type` of a pose in the vehicle's local frame.
    pub const LOCAL: i32 = 0;
    /// `axis_type` of a pose in the world frame.
    pub const WORLD: i32 = 1;

    /// Creates the header of `count` points; `pose` is x, y, z in m, then roll, pitch, yaw in rad.
    pub fn new(copter_id: i32, axis_type: i32, pose: [f32; 6], count: i32) -> Self {
        Self {
            copter_id: copter_id.into(),
            axis_type: axis_type.into(),
            pose: pose.map(F32::new),
            count: count.into(),
        }
    }
}

impl Packet for FloatCloudHeader {
    const NAME: &'static str = "cloud header, f32 points";
}

/// Appends a cloud payload with f32 points to `out`; `header.count` is replaced by their number.
pub fn append_float_cloud(
    header: &FloatCloudHeader,
    points: impl IntoIterator<Item = [f32; 4]>,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.extend_from_slice(header.as_bytes());
    let mut count = 0_i32;
    for point in points {
        out.extend(point.iter().flat_map(|channel| channel.to_le_bytes()));
        count = count.saturating_add(1);
    }
    let end = start + FloatCloudHeader::LEN;
    if let Some(field) = out.get_mut(end - 4..end) {
        field.copy_from_slice(&count.to_le_bytes());
    }
}

/// A cloud payload with f32 points: header, then `count` points x, y, z in m and a class.
#[derive(Clone, Copy, Debug)]
pub struct FloatCloudView<'a> {
    header: &'a FloatCloudHeader,
    points: &'a [[F32; 4]],
}

impl<'a> FloatCloudView<'a> {
    /// Views the first bytes as such a cloud; `None` if they are too few, or the count is negative.
    fn prefix(bytes: &'a [u8]) -> Option<Self> {
        let (header, rest) = FloatCloudHeader::parse_prefix(bytes).ok()?;
        let len = usize::try_from(header.count.get()).ok()?.checked_mul(16)?;
        let points = <[[F32; 4]]>::ref_from_bytes(rest.get(..len)?).ok()?;
        Some(Self { header, points })
    }

    /// Bytes of header and points.
    fn len(&self) -> usize {
        FloatCloudHeader::LEN + size_of_val(self.points)
    }

    /// Whether a block whose pitch is exactly 0, and so reads as an i16 cloud without points, is in this form. An i16
    /// cloud has the x of its pose in place of the vehicle's number, and no x but 0 has the bits of a small number.
    fn is_likely(&self, block: &[u8]) -> bool {
        let axes = FloatCloudHeader::LOCAL..=FloatCloudHeader::WORLD;
        let vehicle = 1..=i32::from(u16::MAX);
        self.len() == block.len()
            || (vehicle.contains(&self.header.copter_id.get())
                && axes.contains(&self.header.axis_type.get()))
    }

    /// Returns the header.
    pub fn header(&self) -> &'a FloatCloudHeader {
        self.header
    }

    /// Returns the points.
    pub fn points(&self) -> &'a [[F32; 4]] {
        self.points
    }
}

/// A cloud payload in the form that it has; nothing in it names the form (docs/wire/payloads.md).
#[derive(Clone, Copy, Debug)]
pub enum CloudPayload<'a, const CHANNELS: usize> {
    /// i16 points.
    Short(CloudView<'a, CHANNELS>),
    /// f32 points.
    Float(FloatCloudView<'a>),
}

impl<'a, const CHANNELS: usize> CloudPayload<'a, CHANNELS> {
    /// Views a reassembled payload as the form whose length it has exactly, i16 first; else as i16 points with a surplus.
    ///
    /// The order matters: where the i16 form has its count, the f32 form has the pitch, whose bits are a count that fits
    /// for denormal numbers only; where the f32 form has its count, the i16 form has coordinates, which fit by chance.
    pub fn parse(payload: &'a [u8]) -> Option<Self> {
        let len = payload.len();
        let short = CloudView::parse(payload).ok();
        match (short, FloatCloudView::prefix(payload)) {
            (Some(short), _) if short.len() == len => Some(Self::Short(short)),
            (_, Some(float)) if float.len() == len => Some(Self::Float(float)),
            // The vendor's client ignores what is behind the points.
            (Some(short), _) if !short.points.is_empty() => Some(Self::Short(short)),
            _ => None,
        }
    }

    /// Views the contents of a shared-memory block, which is as long as its largest cloud, as the form that fits into
    /// it.
    pub fn parse_block(block: &'a [u8]) -> Option<Self> {
        let short = CloudView::parse(block).ok();
        let float = FloatCloudView::prefix(block);
        match (short, float) {
            (Some(short), Some(float)) if short.points.is_empty() && float.is_likely(block) => {
                Some(Self::Float(float))
            }
            (Some(short), _) => Some(Self::Short(short)),
            (None, float) => float.map(Self::Float),
        }
    }
}
