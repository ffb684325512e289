//! Lidar points in the layouts of drivers of real lidars; algorithms select the fields by name and type.
//!
//! The simulator renders a scan at one instant, so every point has the time of the header, unless a sweep is
//! configured. It sends no intensity: the class of the object hit replaces it where it is known.
use super::points::{CloudPoint, Converted, FieldSpec, FourthField, MissingPoints, PointAxes};
use crate::config::{SensorConfig, params::CloudLayout};
use crate::{msgs::sensor_msgs::msg::PointField, time::RosTime};

const F32: u8 = PointField::FLOAT32;
const F64: u8 = PointField::FLOAT64;

/// As `ouster_ros::Point` in PCL, 48 bytes: `t` in ns after the header, `range` in mm.
const OUSTER: &[FieldSpec] = &[
    ("intensity", 16, F32),
    ("t", 20, PointField::UINT32),
    ("reflectivity", 24, PointField::UINT16),
    ("ring", 26, PointField::UINT8),
    ("ambient", 28, PointField::UINT16),
    ("range", 32, PointField::UINT32),
];
/// As velodyne_pointcloud, 22 bytes: `time` in s after the header.
const VELODYNE: &[FieldSpec] =
    &[("intensity", 12, F32), ("ring", 16, PointField::UINT16), ("time", 18, F32)];
/// As HesaiLidar_ROS_2.0, 26 bytes: `timestamp` in s since 1970.
const HESAI: &[FieldSpec] =
    &[("intensity", 12, F32), ("ring", 16, PointField::UINT16), ("timestamp", 18, F64)];
/// As livox_ros_driver2, 26 bytes: `timestamp` in ns since 1970.
const LIVOX: &[FieldSpec] = &[
    ("intensity", 12, F32),
    ("tag", 16, PointField::UINT8),
    ("line", 17, PointField::UINT8),
    ("timestamp", 18, F64),
];
/// Tag of a Livox point: first return, with high confidence that it is no noise.
pub(super) const LIVOX_TAG: u8 = 0x10;
/// Lines of a Mid-360.
const LIVOX_LINES: usize = 4;

/// How the ring of a point is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rings {
    /// A mechanical lidar scans rings from the lowest to the highest, `points` each. The elevations, in degrees, give the
    /// ring of a point if the cloud is not complete.
    Rows {
        /// Points per ring.
        points: usize,
        /// Number of rings.
        rings: usize,
        /// Lowest and highest elevation.
        elevation_deg: [f32; 2],
    },
    /// A Livox: consecutive points are from consecutive lines, which count as rings.
    Lines,
}

impl Rings {
    /// Returns the rings of a mechanical lidar.
    pub(super) fn rows(config: &SensorConfig) -> Self {
        let elevation_deg = [config.other_params[4], config.other_params[5]];
        Self::Rows { points: config.width.into(), rings: config.height.into(), elevation_deg }
    }

    /// Returns the ring of point `index` of `count` at `xyz`, and the share of the scan's duration before it.
    fn ring_and_share(&self, index: usize, count: usize, [x, y, z]: [f32; 3]) -> (u16, f64) {
        match *self {
            Self::Lines => ((index % LIVOX_LINES) as u16, index as f64 / count.max(1) as f64),
            Self::Rows { points, rings, .. } if points * rings == count && points > 0 => {
                ((index / points) as u16, (index % points) as f64 / points as f64)
            }
            Self::Rows { .. } => {
                let turn = (f64::from(y).atan2(f64::from(x)) / std::f64::consts::TAU + 0.5).fract();
                (self.nearest_ring([x, y, z]), turn)
            }
        }
    }

    /// Returns the points of a ring in a complete cloud.
    pub(super) fn row<'a, P>(&self, ring: u16, cloud: &'a [P]) -> Option<&'a [P]> {
        match *self {
            Self::Rows { points, rings, .. } if points * rings == cloud.len() && points > 0 => {
                cloud.chunks_exact(points).nth(ring.into())
            }
            _ => None,
        }
    }

    /// Returns the ring whose elevation is nearest to that of a point; 0 without rings.
    pub(super) fn nearest_ring(&self, [x, y, z]: [f32; 3]) -> u16 {
        let Self::Rows { rings, elevation_deg: [low, high], .. } = *self else { return 0 };
        let elevation = z.atan2(x.hypot(y)).to_degrees();
        let ring = (elevation - low) / (high - low) * rings as f32;
        let highest = rings.saturating_sub(1) as f32;
        // NaN becomes 0.
        ring.round().clamp(0.0, highest) as u16
    }
}

/// How the points of one sensor are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointLayout {
    /// The layout.
    pub layout: CloudLayout,
    /// Source of the rings.
    pub rings: Rings,
    /// Time over which the points of a scan are spread, in ns; 0: all have the header's time.
    pub sweep_ns: u32,
}

/// A point with the values of every layout.
pub(super) struct LidarPoint {
    pub(super) xyz: [f32; 3],
    pub(super) class: u32,
    pub(super) ring: u16,
    pub(super) offset_ns: u32,
}

impl LidarPoint {
    /// Returns the class, at most 255, in place of an intensity.
    pub(super) fn reflectivity(&self) -> u8 {
        self.class.min(255) as u8
    }
}

impl PointLayout {
    /// Returns the fields of a point after its coordinates, and the length of a point.
    pub(super) fn fields(&self) -> (&'static [FieldSpec], usize) {
        match self.layout {
            CloudLayout::XyzLabel => (&[], 12),
            CloudLayout::Ouster => (OUSTER, 48),
            CloudLayout::Velodyne => (VELODYNE, 22),
            CloudLayout::Hesai => (HESAI, 26),
            CloudLayout::Livox => (LIVOX, 26),
        }
    }

    /// Converts the points of a cloud; those without return are left out or get NaN coordinates.
    pub(super) fn points<'a, P: CloudPoint>(
        &'a self,
        points: &'a [P],
        axes: PointAxes,
        missing: MissingPoints,
        fourth: FourthField,
    ) -> impl Iterator<Item = LidarPoint> + 'a {
        points.iter().enumerate().filter_map(move |(index, raw)| {
            let is_missing = raw.is_missing();
            if is_missing && missing == MissingPoints::Removed {
                return None;
            }
            let xyz = axes.apply(raw.position());
            let (ring, share) = self.rings.ring_and_share(index, points.len(), xyz);
            Some(LidarPoint {
                xyz: if is_missing { [f32::NAN; 3] } else { xyz },
                class: match fourth {
                    FourthField::Label(_) => raw.fourth() as u32,
                    FourthField::None | FourthField::Rgb => 0,
                },
                ring,
                offset_ns: (share * f64::from(self.sweep_ns)) as u32,
            })
        })
    }

    /// Writes a cloud; `out` must have room for all points.
    pub fn convert<P: CloudPoint>(
        &self,
        points: &[P],
        axes: PointAxes,
        missing: MissingPoints,
        fourth: FourthField,
        stamp: RosTime,
        out: &mut [u8],
    ) -> Converted {
        let (_, step) = self.fields();
        let (mut written, mut is_dense) = (0, true);
        let slots = out.chunks_exact_mut(step);
        for (point, slot) in self.points(points, axes, missing, fourth).zip(slots) {
            is_dense &= !point.xyz[0].is_nan();
            self.write(&point, stamp, slot);
            written += 1;
        }
        Converted { points: written, is_dense }
    }

    fn write(&self, point: &LidarPoint, stamp: RosTime, slot: &mut [u8]) {
        let mut writer = PointWriter(slot);
        let [x, y, z] = point.xyz;
        writer.put(0, x.to_le_bytes());
        writer.put(4, y.to_le_bytes());
        writer.put(8, z.to_le_bytes());
        let intensity = f32::from(point.reflectivity()).to_le_bytes();
        let at_ns = stamp.0.saturating_add(point.offset_ns.into());
        match self.layout {
            CloudLayout::XyzLabel => {}
            CloudLayout::Ouster => {
                writer.put(12, [0; 4]);
                writer.put(16, intensity);
                writer.put(20, point.offset_ns.to_le_bytes());
                writer.put(24, u16::from(point.reflectivity()).to_le_bytes());
                writer.put(26, [point.ring.min(255) as u8, 0]);
                writer.put(28, [0; 4]);
                let range_mm = x.hypot(y).hypot(z) * 1e3;
                writer.put(32, (range_mm.round() as u32).to_le_bytes());
                writer.put(36, [0; 12]);
            }
            CloudLayout::Velodyne => {
                writer.put(12, intensity);
                writer.put(16, point.ring.to_le_bytes());
                writer.put(18, (point.offset_ns as f32 * 1e-9).to_le_bytes());
            }
            CloudLayout::Hesai => {
                writer.put(12, intensity);
                writer.put(16, point.ring.to_le_bytes());
                writer.put(18, (at_ns as f64 * 1e-9).to_le_bytes());
            }
            CloudLayout::Livox => {
                writer.put(12, intensity);
                writer.put(16, [LIVOX_TAG, point.ring.min(255) as u8]);
                writer.put(18, (at_ns as f64).to_le_bytes());
            }
        }
    }
}

struct PointWriter<'a>(&'a mut [u8]);

impl PointWriter<'_> {
    fn put<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        if let Some(field) = self.0.get_mut(at..at + N) {
            field.copy_from_slice(&bytes);
        }
    }
}
