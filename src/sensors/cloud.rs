//! Point clouds: types 7, 20, 21, 22 and 23.
//!
//! The wire has i16 coordinates, scaled so that 32767 is the range `otherParams[0]`, and for the lidars a fourth channel
//! with the class of the object hit. The vendor scales that channel like a coordinate; here it stays the class
//! (docs/wire/traps.md, cloud-class).
use super::{
    Frame, FrameKind, Sensor, SensorError, SensorSpec, TopicSpec, camera::sent, spec::Topics,
};
use crate::{
    config::params::{LabelType, QosGroup, WorldConvention},
    msgs::{sensor_msgs::msg::PointField, std_msgs::msg::Header},
    ros::{CloudHead, CloudPublisher, RosError},
    wire::{CloudView as WireCloud, SensorKind},
};
use zerocopy::FromBytes as _;
use zerocopy::little_endian::{I16, U32};

/// Bits of the NaN that marks a missing point.
const NAN_BITS: u32 = 0x7FC0_0000;

const fn cloud_topic(suffix: &'static str, frame: FrameKind, doc: &'static str) -> TopicSpec {
    TopicSpec {
        group: QosGroup::Cloud,
        suffix,
        interface: "sensor_msgs/msg/PointCloud2",
        frame,
        compressed_only: false,
        doc,
    }
}

macro_rules! cloud {
    ($name:ident, $kind:ident, $key:literal, $suffix:literal, $frame:ident, $open:expr, $fields:literal, $doc:literal) => {
        #[doc = $doc]
        pub(super) const $name: SensorSpec = SensorSpec {
            kind: SensorKind::$kind,
            name: $key,
            topics: &[cloud_topic($suffix, FrameKind::$frame, $fields)],
            doc: $doc,
            open: $open,
        };
    };
}

cloud!(
    DEPTH_CLOUD,
    DepthCloud,
    "depth_cloud",
    "Depth_Cloud",
    Link,
    |t| Cloud::<3>::open(t, Grid::Pixels),
    "x, y, z; rows of pixels if complete",
    "depth camera as point cloud"
);
cloud!(
    LIDAR,
    Lidar,
    "lidar",
    "vehicle_lidar",
    Link,
    |t| Cloud::<4>::open(t, Grid::Rings),
    "x, y, z, label; rows are rings if complete",
    "mechanical lidar in its own frame"
);
cloud!(
    GLOBAL_LIDAR,
    GlobalLidar,
    "global_lidar",
    "global_lidar",
    World,
    |t| Cloud::<4>::open(t, Grid::Rings),
    "x, y, z, label; rows are rings if complete",
    "mechanical lidar in the world frame"
);
cloud!(
    MID40,
    Mid40,
    "mid40",
    "livox_lidar",
    Link,
    |t| Cloud::<4>::open(t, Grid::None),
    "x, y, z, label",
    "Livox Mid-40"
);
cloud!(
    MID360,
    Mid360,
    "mid360",
    "mid360_lidar",
    Link,
    |t| Cloud::<4>::open(t, Grid::None),
    "x, y, z, label",
    "Livox Mid-360"
);

/// Name, offset and type of the fields of a point without label, 12 bytes.
pub const PLAIN_FIELDS: [(&str, u32, u8); 3] = [
    ("x", 0, PointField::FLOAT32),
    ("y", 4, PointField::FLOAT32),
    ("z", 8, PointField::FLOAT32),
];

/// Name, offset and type of the fields of a lidar point, 16 bytes.
pub const fn labelled_fields(label: LabelType) -> [(&'static str, u32, u8); 4] {
    let [x, y, z] = PLAIN_FIELDS;
    let label = match label {
        LabelType::Float32 => PointField::FLOAT32,
        LabelType::Uint32 => PointField::UINT32,
    };
    [x, y, z, ("label", 12, label)]
}

/// Origin of the rows of points.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Grid {
    /// The pattern has no rows.
    None,
    /// Width points per ring, height rings.
    Rings,
    /// Every n-th pixel in both directions, n being `otherParams[1]`.
    Pixels,
}

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
        Self {
            swap: false,
            scale: [f64::from(range) / 32767.0; 3],
        }
    }

    /// Axes of the world frame, which is NED on the wire.
    pub fn world(range: f32, convention: WorldConvention) -> Self {
        let s = f64::from(range) / 32767.0;
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

/// Converts points to little-endian f32 x, y, z in m and, with 4 channels, the label. `out` must have room for all of
/// them.
pub fn convert<const CHANNELS: usize>(
    points: &[[I16; CHANNELS]],
    axes: Axes,
    missing: Missing,
    label: LabelType,
    out: &mut [u8],
) -> Converted {
    match label {
        LabelType::Float32 => convert_with(points, axes, missing, |l| f32::from(l).to_bits(), out),
        LabelType::Uint32 => convert_with(points, axes, missing, u32::from, out),
    }
}

fn convert_with<const CHANNELS: usize>(
    points: &[[I16; CHANNELS]],
    axes: Axes,
    missing: Missing,
    label: impl Fn(u16) -> u32 + Copy,
    out: &mut [u8],
) -> Converted {
    let Ok(target) = <[[U32; CHANNELS]]>::mut_from_bytes(out) else {
        return Converted {
            points: 0,
            is_dense: true,
        }; // unreachable: alignment is 1 and the length a multiple
    };
    match (axes.swap, missing) {
        (false, Missing::Nan) => keep::<CHANNELS, false>(points, axes.scale, label, target),
        (true, Missing::Nan) => keep::<CHANNELS, true>(points, axes.scale, label, target),
        (false, Missing::Removed) => compact::<CHANNELS, false>(points, axes.scale, label, target),
        (true, Missing::Removed) => compact::<CHANNELS, true>(points, axes.scale, label, target),
    }
}

/// Converts one point; the second value is not 0 if it is missing. Branch-free, so that loops are vectorised.
#[inline(always)]
fn point<const CHANNELS: usize, const SWAP: bool>(
    raw: &[I16; CHANNELS],
    scale: [f64; 3],
    label: impl Fn(u16) -> u32,
) -> ([U32; CHANNELS], u32) {
    let (x, y, z) = (raw[0].get(), raw[1].get(), raw[2].get());
    let (x, y) = if SWAP { (y, x) } else { (x, y) };
    let missing = if (x | y | z) == 0 { NAN_BITS } else { 0 };
    // In f64, as the vendor does; the bits of a missing coordinate are zero except the sign.
    let metres = |v: i16, scale: f64| U32::new(((f64::from(v) * scale) as f32).to_bits() | missing);
    let mut out = [U32::ZERO; CHANNELS];
    out[0] = metres(x, scale[0]);
    out[1] = metres(y, scale[1]);
    out[2] = metres(z, scale[2]);
    if CHANNELS == 4 {
        out[3] = U32::new(label(raw[3].get() as u16));
    }
    (out, missing)
}

fn keep<const CHANNELS: usize, const SWAP: bool>(
    points: &[[I16; CHANNELS]],
    scale: [f64; 3],
    label: impl Fn(u16) -> u32 + Copy,
    target: &mut [[U32; CHANNELS]],
) -> Converted {
    let mut any_missing = 0;
    for (raw, out) in points.iter().zip(&mut *target) {
        let (value, missing) = point::<CHANNELS, SWAP>(raw, scale, label);
        *out = value;
        any_missing |= missing;
    }
    Converted {
        points: points.len(),
        is_dense: any_missing == 0,
    }
}

fn compact<const CHANNELS: usize, const SWAP: bool>(
    points: &[[I16; CHANNELS]],
    scale: [f64; 3],
    label: impl Fn(u16) -> u32 + Copy,
    target: &mut [[U32; CHANNELS]],
) -> Converted {
    let mut written = 0;
    for raw in points {
        let (value, missing) = point::<CHANNELS, SWAP>(raw, scale, label);
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

struct Cloud<const CHANNELS: usize> {
    publisher: CloudPublisher,
    header: Header,
    fields: Vec<PointField>,
    axes: Axes,
    /// Points per row and rows of a complete cloud.
    grid: Option<(usize, usize)>,
    label: LabelType,
}

impl<const CHANNELS: usize> Cloud<CHANNELS> {
    fn open(topics: &Topics<'_>, grid: Grid) -> Result<Box<dyn Sensor>, RosError> {
        let (config, options) = (topics.context.config, topics.context.options);
        let (w, h) = (usize::from(config.width), usize::from(config.height));
        let grid = match grid {
            Grid::Rings => Some((w, h)),
            Grid::Pixels => {
                let step = (config.other_params[1] as usize).max(1);
                Some((w.div_ceil(step), h.div_ceil(step)))
            }
            Grid::None => None,
        };
        let table = labelled_fields(options.label);
        let fields = table
            .iter()
            .take(CHANNELS)
            .map(|&(name, offset, datatype)| PointField {
                name: name.to_owned(),
                offset,
                datatype,
                count: 1,
            });
        Ok(Box::new(Self {
            publisher: topics.cloud(topics.main())?,
            header: topics.header(topics.main()),
            fields: fields.collect(),
            axes: match topics.frame() {
                FrameKind::World => Axes::world(config.other_params[0], options.world),
                _ => Axes::sensor(config.other_params[0]),
            },
            grid: grid.filter(|_| options.organized),
            label: options.label,
        }))
    }
}

impl<const CHANNELS: usize> Sensor for Cloud<CHANNELS> {
    fn wanted(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    fn accept(&mut self, frame: &Frame<'_>) -> Result<(), SensorError> {
        let cloud = WireCloud::<CHANNELS>::parse(frame.payload)?;
        if !self.wanted() {
            return Ok(());
        }
        let points = cloud.points();
        let organized = self
            .grid
            .filter(|&(width, height)| height > 1 && width * height == points.len());
        let missing = if organized.is_some() {
            Missing::Nan
        } else {
            Missing::Removed
        };
        let room = points.len() * CHANNELS * 4;
        let mut loan = self.publisher.loan(room);
        let out = &mut loan.as_mut()[..room];
        let converted = convert(points, self.axes, missing, self.label, out);
        let (width, height) = organized.unwrap_or((converted.points, 1));
        self.header.stamp = frame.stamp.to_msg();
        let head = CloudHead {
            header: &self.header,
            height: height as u32,
            width: width as u32,
            fields: &self.fields,
            point_step: 4 * CHANNELS as u32,
            is_dense: converted.is_dense,
        };
        let len = converted.points * CHANNELS * 4;
        sent(self.publisher.publish_loan(&head, loan, len)?)
    }
}
