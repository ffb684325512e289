//! Converts points of clouds from the wire to messages.
use crate::config::params::{DepthAxes, LabelType, WorldConvention};
use crate::msgs::sensor_msgs::msg::PointField;
use zerocopy::FromBytes as _;
use zerocopy::little_endian::{F32, I16, U32};

/// Bits of the NaN that marks a missing point.
const NAN_BITS: u32 = 0x7FC0_0000;

/// Name, offset and type of a field.
pub(super) type FieldSpec = (&'static str, u32, u8);

/// The fields with which every point starts, 12 bytes.
pub(super) const COORDINATES: [FieldSpec; 3] =
    [("x", 0, PointField::FLOAT32), ("y", 4, PointField::FLOAT32), ("z", 8, PointField::FLOAT32)];

/// Which coordinates of the wire become x, y and z.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AxisOrder {
    Xyz,
    Yxz,
    Zxy,
}

/// Conversion from wire numbers to axes of the message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointAxes {
    order: AxisOrder,
    /// Metres per wire unit, signed, per axis of the message.
    scale: [f64; 3],
}

impl PointAxes {
    /// Returns the conversion from `convention` on the wire to a sensor's FLU frame; `unit`: metres per unit of the wire.
    pub fn sensor(convention: DepthAxes, unit: f64) -> Self {
        let (order, signs) = match convention {
            DepthAxes::Auto | DepthAxes::Flu => (AxisOrder::Xyz, [1.0, 1.0, 1.0]),
            DepthAxes::Frd => (AxisOrder::Xyz, [1.0, -1.0, -1.0]),
            DepthAxes::Fru => (AxisOrder::Xyz, [1.0, -1.0, 1.0]),
            DepthAxes::Rdf => (AxisOrder::Zxy, [1.0, -1.0, -1.0]),
        };
        Self { order, scale: signs.map(|sign| sign * unit) }
    }

    /// Returns the conversion from NED on the wire to the world frame; `unit`: metres per unit of the wire.
    pub fn world(convention: WorldConvention, unit: f64) -> Self {
        let (order, signs) = match convention {
            WorldConvention::Enu => (AxisOrder::Yxz, [1.0, 1.0, -1.0]),
            WorldConvention::Nwu => (AxisOrder::Xyz, [1.0, -1.0, -1.0]),
        };
        Self { order, scale: signs.map(|sign| sign * unit) }
    }

    /// Returns the index of the wire coordinate that becomes the x of the message.
    pub fn forward(&self) -> usize {
        match self.order {
            AxisOrder::Xyz => 0,
            AxisOrder::Yxz => 1,
            AxisOrder::Zxy => 2,
        }
    }

    /// Converts a position on the wire to m in the axes of the message.
    pub fn apply(&self, [x, y, z]: [f64; 3]) -> [f32; 3] {
        let [x, y, z] = match self.order {
            AxisOrder::Xyz => [x, y, z],
            AxisOrder::Yxz => [y, x, z],
            AxisOrder::Zxy => [z, x, y],
        };
        let [sx, sy, sz] = self.scale;
        [x * sx, y * sy, z * sz].map(|v| v as f32)
    }
}

/// Returns metres per count of a coordinate in i16; `range`: `otherParams[0]`.
pub fn per_count(range: f32) -> f64 {
    f64::from(range) / 32767.0
}

/// Handling of missing points ([`CloudPoint::is_missing`]).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MissingPoints {
    /// They become NaN.
    Nan,
    /// They are removed.
    Removed,
}

/// Result of [`convert`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Converted {
    /// Points written.
    pub points: usize,
    /// No NaN was written.
    pub is_dense: bool,
}

/// Field of the fourth number of points.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FourthField {
    /// Nothing: 12 bytes a point.
    None,
    /// Field `label`.
    Label(LabelType),
    /// An RGB555 colour, in a field `rgb` as in PCL: the bits of 0x00RRGGBB in a FLOAT32.
    Rgb,
}

impl FourthField {
    /// Returns the bytes of a point in the message.
    pub const fn point_step(self) -> usize {
        match self {
            Self::None => 12,
            Self::Label(_) | Self::Rgb => 16,
        }
    }

    /// Returns the field after the coordinates.
    pub(super) const fn fields(self) -> &'static [FieldSpec] {
        match self {
            Self::None => &[],
            Self::Label(LabelType::Float32) => &[("label", 12, PointField::FLOAT32)],
            Self::Label(LabelType::Uint32) => &[("label", 12, PointField::UINT32)],
            Self::Rgb => &[("rgb", 12, PointField::FLOAT32)],
        }
    }
}

/// A point on the wire: x, y, z, and perhaps a fourth number.
pub trait CloudPoint: Copy {
    /// Returns x, y, z in units of the wire.
    fn position(&self) -> [f64; 3];

    /// Whether the point has no return, or a coordinate is NaN or infinite.
    fn is_missing(&self) -> bool;

    /// Returns the fourth number; 0 if there is none. An i16 is read as u16.
    fn fourth(&self) -> f32;
}

impl<const CHANNELS: usize> CloudPoint for [I16; CHANNELS] {
    #[inline(always)]
    fn position(&self) -> [f64; 3] {
        // In f64, as the vendor does.
        [self[0], self[1], self[2]].map(|v| f64::from(v.get()))
    }

    #[inline(always)]
    fn is_missing(&self) -> bool {
        (self[0].get() | self[1].get() | self[2].get()) == 0
    }

    #[inline(always)]
    fn fourth(&self) -> f32 {
        self.get(3).map_or(0.0, |v| f32::from(v.get() as u16))
    }
}

impl<const CHANNELS: usize> CloudPoint for [F32; CHANNELS] {
    #[inline(always)]
    fn position(&self) -> [f64; 3] {
        [self[0], self[1], self[2]].map(|v| f64::from(v.get()))
    }

    #[inline(always)]
    fn is_missing(&self) -> bool {
        let [x, y, z] = [self[0], self[1], self[2]].map(|v| v.get());
        let is_not_finite = !(x.is_finite() & y.is_finite() & z.is_finite());
        is_not_finite | ((x == 0.0) & (y == 0.0) & (z == 0.0))
    }

    #[inline(always)]
    fn fourth(&self) -> f32 {
        self.get(3).map_or(0.0, |v| v.get())
    }
}

/// Converts an RGB555 colour, with red in the highest bits, to 0x00RRGGBB.
fn rgb_of_rgb555(colour: u32) -> u32 {
    let expand = |at: u32| {
        let five = (colour >> at) & 31;
        (five << 3) | (five >> 2)
    };
    (expand(10) << 16) | (expand(5) << 8) | expand(0)
}

/// Converts points to little-endian f32 x, y, z in m, and the fourth number. `out` must have room for all of them.
pub fn convert<P: CloudPoint>(
    points: &[P],
    axes: PointAxes,
    missing: MissingPoints,
    fourth: FourthField,
    out: &mut [u8],
) -> Converted {
    // A cast saturates: a negative number and NaN become 0.
    match fourth {
        FourthField::None => convert_axes::<3, P>(points, axes, missing, |_| 0, out),
        FourthField::Label(LabelType::Float32) => {
            convert_axes::<4, P>(points, axes, missing, |p| p.fourth().to_bits(), out)
        }
        FourthField::Label(LabelType::Uint32) => {
            convert_axes::<4, P>(points, axes, missing, |p| p.fourth() as u32, out)
        }
        FourthField::Rgb => {
            let colour = |p: &P| rgb_of_rgb555(p.fourth() as u32);
            convert_axes::<4, P>(points, axes, missing, colour, out)
        }
    }
}

fn convert_axes<const CHANNELS: usize, P: CloudPoint>(
    points: &[P],
    axes: PointAxes,
    missing: MissingPoints,
    fourth: impl Fn(&P) -> u32 + Copy,
    out: &mut [u8],
) -> Converted {
    let Ok(target) = <[[U32; CHANNELS]]>::mut_from_bytes(out) else {
        return Converted { points: 0, is_dense: true }; // unreachable: alignment is 1 and the length a multiple
    };
    let scale = axes.scale;
    // One loop for each order, so that all are vectorised.
    match axes.order {
        AxisOrder::Xyz => write_points(points, missing, target, |raw| {
            let [x, y, z] = raw.position();
            convert_point([x, y, z], raw.is_missing(), scale, fourth(raw))
        }),
        AxisOrder::Yxz => write_points(points, missing, target, |raw| {
            let [x, y, z] = raw.position();
            convert_point([y, x, z], raw.is_missing(), scale, fourth(raw))
        }),
        AxisOrder::Zxy => write_points(points, missing, target, |raw| {
            let [x, y, z] = raw.position();
            convert_point([z, x, y], raw.is_missing(), scale, fourth(raw))
        }),
    }
}

/// Converts one point; the second value is not 0 if it is missing. Branch-free, so that loops are vectorised.
#[inline(always)]
fn convert_point<const CHANNELS: usize>(
    [x, y, z]: [f64; 3],
    is_missing: bool,
    scale: [f64; 3],
    fourth: u32,
) -> ([U32; CHANNELS], u32) {
    let nan_bits = if is_missing { NAN_BITS } else { 0 };
    let metres = |v: f64, scale: f64| {
        let bits = ((v * scale) as f32).to_bits();
        U32::new(if nan_bits == 0 { bits } else { NAN_BITS })
    };
    let mut out = [U32::ZERO; CHANNELS];
    out[0] = metres(x, scale[0]);
    out[1] = metres(y, scale[1]);
    out[2] = metres(z, scale[2]);
    if CHANNELS == 4 {
        out[3] = U32::new(fourth);
    }
    (out, nan_bits)
}

#[inline(always)]
fn write_points<const CHANNELS: usize, P: CloudPoint>(
    points: &[P],
    missing: MissingPoints,
    target: &mut [[U32; CHANNELS]],
    point: impl Fn(&P) -> ([U32; CHANNELS], u32),
) -> Converted {
    if missing == MissingPoints::Nan {
        let mut any_nan_bits = 0;
        for (raw, out) in points.iter().zip(&mut *target) {
            let (value, nan_bits) = point(raw);
            *out = value;
            any_nan_bits |= nan_bits;
        }
        return Converted { points: points.len(), is_dense: any_nan_bits == 0 };
    }
    let mut written = 0;
    for raw in points {
        let (value, nan_bits) = point(raw);
        if let Some(out) = target.get_mut(written) {
            *out = value;
        }
        written += usize::from(nan_bits == 0);
    }
    Converted { points: written, is_dense: true }
}
