//! From the points of a cloud on the wire to those of the message.
use crate::config::params::{LabelType, WorldConvention};
use zerocopy::FromBytes as _;
use zerocopy::little_endian::{F32, I16, U32};

/// Bits of the NaN that marks a missing point.
const NAN_BITS: u32 = 0x7FC0_0000;

/// Conversion from wire numbers to axes of the message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axes {
    /// Exchange x and y before scaling.
    swap: bool,
    /// Metres per wire unit, signed, per axis of the message.
    scale: [f64; 3],
}

impl Axes {
    /// Axes of a sensor frame, which is FLU on the wire; 32767 on the wire is `range` in m.
    pub fn sensor(range: f32) -> Self {
        Self::flu(per_count(range))
    }

    /// Axes of a sensor frame, which is FLU on the wire, in m.
    pub fn sensor_metres() -> Self {
        Self::flu(1.0)
    }

    /// Axes of the world frame, which is NED on the wire; 32767 on the wire is `range` in m.
    pub fn world(range: f32, convention: WorldConvention) -> Self {
        Self::ned(per_count(range), convention)
    }

    /// Axes of the world frame, which is NED on the wire, in m.
    pub fn world_metres(convention: WorldConvention) -> Self {
        Self::ned(1.0, convention)
    }

    /// Returns a place on the wire in m, in the axes of the message.
    pub fn apply(&self, [x, y, z]: [f64; 3]) -> [f32; 3] {
        let (x, y) = if self.swap { (y, x) } else { (x, y) };
        let [sx, sy, sz] = self.scale;
        [x * sx, y * sy, z * sz].map(|v| v as f32)
    }

    fn flu(s: f64) -> Self {
        Self {
            swap: false,
            scale: [s; 3],
        }
    }

    fn ned(s: f64, convention: WorldConvention) -> Self {
        match convention {
            WorldConvention::Enu => Self {
                swap: true,
                scale: [s, s, -s],
            },
            WorldConvention::Nwu => Self {
                swap: false,
                scale: [s, -s, -s],
            },
        }
    }
}

/// Returns a coordinate of 1 on the wire in m.
pub(super) fn per_count(range: f32) -> f64 {
    f64::from(range) / 32767.0
}

/// Handling of points without return, which are 0, 0, 0 on the wire.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Missing {
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

/// A point on the wire for a message with this number of channels: x, y, z, and a label if there are 4.
pub trait CloudPoint<const CHANNELS: usize>: Copy {
    /// Returns x, y, z in units of the wire.
    fn place(&self) -> [f64; 3];

    /// Whether the point has no return, or is nowhere.
    fn is_missing(&self) -> bool;

    /// Returns the bits of the label as this type.
    fn label<const INTEGER: bool>(&self) -> u32;
}

impl<const CHANNELS: usize> CloudPoint<CHANNELS> for [I16; CHANNELS] {
    #[inline(always)]
    fn place(&self) -> [f64; 3] {
        // In f64, as the vendor does.
        [self[0], self[1], self[2]].map(|v| f64::from(v.get()))
    }

    #[inline(always)]
    fn is_missing(&self) -> bool {
        (self[0].get() | self[1].get() | self[2].get()) == 0
    }

    #[inline(always)]
    fn label<const INTEGER: bool>(&self) -> u32 {
        let label = self[CHANNELS - 1].get() as u16;
        match INTEGER {
            true => label.into(),
            false => f32::from(label).to_bits(),
        }
    }
}

/// Of any message: the class is left out where there is no label.
impl<const CHANNELS: usize> CloudPoint<CHANNELS> for [F32; 4] {
    #[inline(always)]
    fn place(&self) -> [f64; 3] {
        [self[0], self[1], self[2]].map(|v| f64::from(v.get()))
    }

    #[inline(always)]
    fn is_missing(&self) -> bool {
        let [x, y, z, _] = self.map(|v| v.get());
        let nowhere = !(x.is_finite() & y.is_finite() & z.is_finite());
        nowhere | ((x == 0.0) & (y == 0.0) & (z == 0.0))
    }

    #[inline(always)]
    fn label<const INTEGER: bool>(&self) -> u32 {
        let label = self[3].get();
        match INTEGER {
            // Saturates: a negative number, or none, is 0.
            true => label as u32,
            false => label.to_bits(),
        }
    }
}

/// Converts points to little-endian f32 x, y, z in m and, with 4 channels, the label. `out` must have room for all of
/// them.
pub fn convert<const CHANNELS: usize, P: CloudPoint<CHANNELS>>(
    points: &[P],
    axes: Axes,
    missing: Missing,
    label: LabelType,
    out: &mut [u8],
) -> Converted {
    match label {
        LabelType::Float32 => convert_with::<CHANNELS, false, P>(points, axes, missing, out),
        LabelType::Uint32 => convert_with::<CHANNELS, true, P>(points, axes, missing, out),
    }
}

fn convert_with<const CHANNELS: usize, const INTEGER: bool, P: CloudPoint<CHANNELS>>(
    points: &[P],
    axes: Axes,
    missing: Missing,
    out: &mut [u8],
) -> Converted {
    let Ok(target) = <[[U32; CHANNELS]]>::mut_from_bytes(out) else {
        return Converted {
            points: 0,
            is_dense: true,
        }; // unreachable: alignment is 1 and the length a multiple
    };
    let scale = axes.scale;
    match (axes.swap, missing) {
        (false, Missing::Nan) => keep::<CHANNELS, INTEGER, false, P>(points, scale, target),
        (true, Missing::Nan) => keep::<CHANNELS, INTEGER, true, P>(points, scale, target),
        (false, Missing::Removed) => compact::<CHANNELS, INTEGER, false, P>(points, scale, target),
        (true, Missing::Removed) => compact::<CHANNELS, INTEGER, true, P>(points, scale, target),
    }
}

/// Converts one point; the second value is not 0 if it is missing. Branch-free, so that loops are vectorised.
#[inline(always)]
fn point<const CHANNELS: usize, const INTEGER: bool, const SWAP: bool, P: CloudPoint<CHANNELS>>(
    raw: &P,
    scale: [f64; 3],
) -> ([U32; CHANNELS], u32) {
    let [x, y, z] = raw.place();
    let (x, y) = if SWAP { (y, x) } else { (x, y) };
    let missing = if raw.is_missing() { NAN_BITS } else { 0 };
    let metres = |v: f64, scale: f64| {
        let bits = ((v * scale) as f32).to_bits();
        U32::new(if missing == 0 { bits } else { NAN_BITS })
    };
    let mut out = [U32::ZERO; CHANNELS];
    out[0] = metres(x, scale[0]);
    out[1] = metres(y, scale[1]);
    out[2] = metres(z, scale[2]);
    if CHANNELS == 4 {
        out[3] = U32::new(raw.label::<INTEGER>());
    }
    (out, missing)
}

fn keep<const CHANNELS: usize, const INTEGER: bool, const SWAP: bool, P: CloudPoint<CHANNELS>>(
    points: &[P],
    scale: [f64; 3],
    target: &mut [[U32; CHANNELS]],
) -> Converted {
    let mut any_missing = 0;
    for (raw, out) in points.iter().zip(&mut *target) {
        let (value, missing) = point::<CHANNELS, INTEGER, SWAP, P>(raw, scale);
        *out = value;
        any_missing |= missing;
    }
    Converted {
        points: points.len(),
        is_dense: any_missing == 0,
    }
}

fn compact<
    const CHANNELS: usize,
    const INTEGER: bool,
    const SWAP: bool,
    P: CloudPoint<CHANNELS>,
>(
    points: &[P],
    scale: [f64; 3],
    target: &mut [[U32; CHANNELS]],
) -> Converted {
    let mut written = 0;
    for raw in points {
        let (value, missing) = point::<CHANNELS, INTEGER, SWAP, P>(raw, scale);
        if let Some(out) = target.get_mut(written) {
            *out = value;
        }
        written += usize::from(missing == 0);
    }
    Converted {
        points: written,
        is_dense: true,
    }
}
