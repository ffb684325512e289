//! Cloud payloads (TypeID 7, 20, 21, 22, 23). A payload does not contain its format, which follows from its length and the
//! number of points (docs/wire/payloads.md).
use super::Packet;
use std::fmt;
use zerocopy::little_endian::{F32, I16, I32};
use zerocopy::{FromBytes, IntoBytes};

packets! {
    /// Start of a cloud payload of the vendor's oldest simulators; newer ones probably still send it for TypeID 7 and in shared
    /// memory.
    CloudHeader("cloud header", new) {
        /// Sensor position x, y, z in m, then roll, pitch, yaw in rad at capture time; the frame is not documented.
        pose: [F32; 6],
        count: I32 = "Number of points that follow.",
    }
    /// Start of a cloud payload with odometry, which newer simulators send.
    ///
    /// Source: the vendor's newer page on the transfer of sensor data, and its SDK of December 2025.
    OdometryCloudHeader("cloud header with odometry", new) {
        copter_id: I32 = "Vehicle that carries the sensor.",
        axis_type: I32 = "Frame of `pose`: [`Self::LOCAL`] or [`Self::WORLD`].",
        pose: [F32; 6] = "Odometry at the time of the cloud: x, y, z in m, then roll, pitch, yaw in rad.",
        count: I32 = "Number of points that follow.",
    }
}

impl OdometryCloudHeader {
    /// `axis_type` of a pose in the vehicle's local frame.
    pub const LOCAL: i32 = 0;
    /// `axis_type` of a pose in the world frame.
    pub const WORLD: i32 = 1;
}

/// Header of a cloud payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CloudHead {
    /// 28 bytes.
    Plain(CloudHeader),
    /// 36 bytes.
    Odometry(OdometryCloudHeader),
}

impl CloudHead {
    /// Returns x, y, z in m, then roll, pitch, yaw in rad.
    pub fn pose(&self) -> [f32; 6] {
        let pose = match self {
            Self::Plain(header) => &header.pose,
            Self::Odometry(header) => &header.pose,
        };
        pose.map(F32::get)
    }

    /// Returns the header on the wire.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Plain(header) => header.as_bytes(),
            Self::Odometry(header) => header.as_bytes(),
        }
    }
}

impl From<[f32; 6]> for CloudHead {
    fn from(pose: [f32; 6]) -> Self {
        CloudHeader::new(pose, 0).into()
    }
}

impl From<CloudHeader> for CloudHead {
    fn from(header: CloudHeader) -> Self {
        Self::Plain(header)
    }
}

impl From<OdometryCloudHeader> for CloudHead {
    fn from(header: OdometryCloudHeader) -> Self {
        Self::Odometry(header)
    }
}

/// Format of a point.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PointForm {
    /// x, y, z, scaled so that 32767 is the range of the sensor.
    I16x3,
    /// [`Self::I16x3`] with a label or a colour.
    I16x4,
    /// x, y, z in m.
    F32x3,
    /// [`Self::F32x3`] with a label or a colour.
    F32x4,
}

impl PointForm {
    /// All formats, which differ in length.
    pub const ALL: [Self; 4] = [Self::I16x3, Self::I16x4, Self::F32x3, Self::F32x4];

    /// Length of a point in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::I16x3 => 6,
            Self::I16x4 => 8,
            Self::F32x3 => 12,
            Self::F32x4 => 16,
        }
    }

    /// Whether points have a fourth number.
    pub const fn has_fourth(self) -> bool {
        matches!(self, Self::I16x4 | Self::F32x4)
    }

    fn of_len(len: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.bytes() == len)
    }
}

/// The points of a cloud.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CloudPoints<'a> {
    /// [`PointForm::I16x3`].
    I16x3(&'a [[I16; 3]]),
    /// [`PointForm::I16x4`].
    I16x4(&'a [[I16; 4]]),
    /// [`PointForm::F32x3`].
    F32x3(&'a [[F32; 3]]),
    /// [`PointForm::F32x4`].
    F32x4(&'a [[F32; 4]]),
}

impl<'a> CloudPoints<'a> {
    /// Views the first `count` points; `None` if there are fewer.
    fn view(form: PointForm, count: usize, bytes: &'a [u8]) -> Option<Self> {
        let bytes = bytes.get(..count.checked_mul(form.bytes())?)?;
        Some(match form {
            PointForm::I16x3 => Self::I16x3(<[[I16; 3]]>::ref_from_bytes(bytes).ok()?),
            PointForm::I16x4 => Self::I16x4(<[[I16; 4]]>::ref_from_bytes(bytes).ok()?),
            PointForm::F32x3 => Self::F32x3(<[[F32; 3]]>::ref_from_bytes(bytes).ok()?),
            PointForm::F32x4 => Self::F32x4(<[[F32; 4]]>::ref_from_bytes(bytes).ok()?),
        })
    }

    /// Returns the format of the points.
    pub fn form(&self) -> PointForm {
        match self {
            Self::I16x3(_) => PointForm::I16x3,
            Self::I16x4(_) => PointForm::I16x4,
            Self::F32x3(_) => PointForm::F32x3,
            Self::F32x4(_) => PointForm::F32x4,
        }
    }

    /// Returns the bytes on the wire.
    pub fn as_bytes(&self) -> &'a [u8] {
        match self {
            Self::I16x3(points) => points.as_bytes(),
            Self::I16x4(points) => points.as_bytes(),
            Self::F32x3(points) => points.as_bytes(),
            Self::F32x4(points) => points.as_bytes(),
        }
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.as_bytes().len() / self.form().bytes()
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A cloud payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CloudView<'a> {
    /// Header.
    pub head: CloudHead,
    /// The points.
    pub points: CloudPoints<'a>,
}

impl<'a> CloudView<'a> {
    /// Views a reassembled payload. Its format is the one with exactly this length. If there is none, the payload is from one
    /// of the oldest simulators: points of the format `oldest` after a header of 28 bytes. Surplus bytes, fewer than a point,
    /// are ignored, as by the vendor's client.
    ///
    /// If both headers match the length, the header has 28 bytes: in the longer one, the pitch would be a denormal number.
    /// If x in the shorter one would be a denormal number as well, the payload is not a cloud.
    pub fn parse(payload: &'a [u8], oldest: PointForm) -> Option<Self> {
        let plain = Self::view_all::<CloudHeader>(payload, oldest);
        let odometry = Self::view_all::<OdometryCloudHeader>(payload, oldest);
        match (plain, odometry) {
            (Some(_), Some(_)) if starts_with_vehicle_id(payload) => None,
            (Some(cloud), _) | (None, Some(cloud)) => Some(cloud),
            (None, None) => {
                let cloud = Self::view_prefix::<CloudHeader>(payload, oldest)?;
                let surplus =
                    payload.len() - CloudHeader::LEN - cloud.points.len() * oldest.bytes();
                (!cloud.points.is_empty() && surplus < oldest.bytes()).then_some(cloud)
            }
        }
    }

    /// Views the contents of a shared-memory block of a sensor with at most `max` points. The length of the block is that
    /// of its largest cloud, so it determines the format of the points. In a block of another length, points have the format
    /// `oldest` after a header of 28 bytes, and [`PointForm::F32x4`] after one of 36 bytes.
    pub fn parse_block(block: &'a [u8], max: usize, oldest: PointForm) -> Option<Self> {
        let plain = Self::view_block::<CloudHeader>(block, max, oldest);
        let odometry = Self::view_block::<OdometryCloudHeader>(block, max, PointForm::F32x4);
        match (plain, odometry) {
            // A pitch of exactly 0 in the longer header looks like an empty cloud with the shorter one.
            (Some(plain), Some(odometry)) if plain.points.is_empty() => {
                let len = OdometryCloudHeader::LEN
                    + odometry.points.len() * odometry.points.form().bytes();
                let is_odometry = len == block.len() || starts_with_vehicle_id(block);
                Some(if is_odometry { odometry } else { plain })
            }
            (plain, odometry) => plain.or(odometry),
        }
    }

    fn view_block<H: AnyCloudHeader + 'a>(
        block: &'a [u8],
        max: usize,
        fallback: PointForm,
    ) -> Option<Self> {
        let form = block.len().checked_sub(H::LEN)?.checked_div(max);
        let form = form.filter(|len| len * max == block.len() - H::LEN).and_then(PointForm::of_len);
        Self::view_prefix::<H>(block, form.unwrap_or(fallback))
    }

    /// Views a payload without surplus bytes; `empty_form` is the format of a cloud without points.
    fn view_all<H: AnyCloudHeader + 'a>(payload: &'a [u8], empty_form: PointForm) -> Option<Self> {
        let (header, rest) = H::parse_prefix(payload).ok()?;
        let count = usize::try_from(header.count()).ok()?;
        let form = match rest.len().checked_div(count) {
            None => empty_form,
            Some(len) => PointForm::of_len(len)?,
        };
        let cloud = Self::view_prefix::<H>(payload, form)?;
        (rest.len() == count * form.bytes()).then_some(cloud)
    }

    /// Views the first bytes; `None` if there are too few, or the count is negative.
    fn view_prefix<H: AnyCloudHeader + 'a>(bytes: &'a [u8], form: PointForm) -> Option<Self> {
        let (header, rest) = H::parse_prefix(bytes).ok()?;
        let count = usize::try_from(header.count()).ok()?;
        Some(Self { head: (*header).into(), points: CloudPoints::view(form, count, rest)? })
    }
}

trait AnyCloudHeader: Packet + Copy + Into<CloudHead> {
    fn count(&self) -> i32;
}

impl AnyCloudHeader for CloudHeader {
    fn count(&self) -> i32 {
        self.count.get()
    }
}

impl AnyCloudHeader for OdometryCloudHeader {
    fn count(&self) -> i32 {
        self.count.get()
    }
}

/// Whether the first bytes are the id of a vehicle; as the x of a pose they would be a denormal number.
fn starts_with_vehicle_id(bytes: &[u8]) -> bool {
    let first = bytes.first_chunk().map(|first| i32::from_le_bytes(*first));
    first.is_some_and(|first| (1..=i32::from(u16::MAX)).contains(&first))
}

/// Length and possible counts of a payload that is not a cloud, for the log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CloudShape {
    /// Length in bytes.
    pub len: usize,
    /// The count if the header has 28 bytes.
    pub count_at_24: Option<i32>,
    /// The count if the header has 36 bytes.
    pub count_at_32: Option<i32>,
}

impl CloudShape {
    /// Reads length and counts.
    pub fn of(payload: &[u8]) -> Self {
        let number = |at: usize| {
            let bytes = payload.get(at..)?.first_chunk()?;
            Some(i32::from_le_bytes(*bytes))
        };
        Self { len: payload.len(), count_at_24: number(24), count_at_32: number(32) }
    }
}

impl fmt::Display for CloudShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |n: Option<i32>| n.map_or("nothing".to_owned(), |n| n.to_string());
        let [at_24, at_32] = [self.count_at_24, self.count_at_32].map(number);
        write!(f, "{} bytes, {at_24} at offset 24, {at_32} at offset 32", self.len)
    }
}

/// A coordinate, label or colour of a point.
pub trait Channel: Copy {
    /// Appends its bytes.
    fn append(self, out: &mut Vec<u8>);
}

impl Channel for i16 {
    fn append(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }
}

impl Channel for f32 {
    fn append(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }
}

/// Appends a cloud payload to `out`; allocates only if `out` must grow. The count of `head` is replaced by the number of
/// points written.
pub fn append_cloud<const CHANNELS: usize, C: Channel>(
    head: impl Into<CloudHead>,
    points: impl IntoIterator<Item = [C; CHANNELS]>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(head.into().as_bytes());
    let end = out.len();
    let mut count = 0_i32;
    for point in points {
        point.into_iter().for_each(|channel| channel.append(out));
        count = count.saturating_add(1);
    }
    if let Some(field) = out.get_mut(end - 4..end) {
        field.copy_from_slice(&count.to_le_bytes());
    }
}
