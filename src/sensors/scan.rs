//! A planar scan of a cloud as `sensor_msgs/LaserScan`, for programs that read 2D lidars.
//!
//! The scan lies in the plane z = 0 of the sensor's link: what it needs are the points alone. Its rays start at the
//! sensor's own columns, so that each has a point; a ray without one would be taken for free space.
use super::{Axes, CloudPoint, Rings, SensorError, TopicSpec, spec::Topics};
use crate::{
    config::{
        SensorConfig,
        params::{QosGroup, ScanParams, ScanSource},
    },
    msgs::sensor_msgs::msg::LaserScan,
    ros::{Publisher, RosError},
    time::RosTime,
    wire::SensorKind,
};
use std::f64::consts::{PI, TAU};

/// Points per ring of the Mid-360.
const MID360_COLUMNS: f64 = 272.0;
/// Rays of the Mid-40, which has no columns, in rad.
const MID40_INCREMENT: f64 = PI / 180.0;
/// What is added to the range of rays without return if they are not infinite, as pointcloud_to_laserscan does.
const BEYOND_M: f64 = 1.0;

/// The topic of a scan.
pub(super) const SCAN_TOPIC: TopicSpec = TopicSpec {
    group: QosGroup::Range,
    suffix: ScanTopic::SUFFIX,
    interface: "sensor_msgs/msg/LaserScan",
    frame: super::FrameKind::Link,
    compressed_only: false,
    doc: "a ring or a band of heights; with `scan.source`",
};

/// Which points of a cloud a scan has, and where their rays are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanPlane {
    source: Source,
    /// Azimuth of the first ray, in rad, counter-clockwise.
    first: f64,
    /// Between rays, in rad.
    increment: f64,
    /// Number of rays.
    rays: usize,
    range: [f64; 2],
    no_return: f32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    /// Row `ring` of `rings`; its points are `step` apart, from the azimuth `from`.
    Ring {
        ring: u16,
        rings: Rings,
        from: f64,
        step: f64,
    },
    /// Lowest and highest z.
    Band([f64; 2]),
}

/// The horizontal field of a sensor: from, to and distance of its columns in rad.
fn field(config: &SensorConfig) -> [f64; 3] {
    let params = config.other_params.map(f64::from);
    let half = f64::from(config.fov_deg).to_radians() / 2.0;
    match config.kind {
        SensorKind::DepthCloud => {
            // In the middle columns are farthest apart.
            let focal = f64::from(config.width) / (2.0 * half.tan());
            [-half, half, (params[1].max(1.0).trunc() / focal).atan()]
        }
        SensorKind::Mid40 => [-half, half, MID40_INCREMENT],
        SensorKind::Mid360 => [-PI, PI, TAU / MID360_COLUMNS],
        _ => {
            let [from, to] = match params[3] > params[2] {
                true => [params[2], params[3]].map(f64::to_radians),
                false => [-PI, PI],
            };
            let step = (to - from) / f64::from(config.width.max(1));
            // All around begins behind, as drivers have it.
            let turns = match to - from > TAU - step / 2.0 {
                true => ((from + PI) / step).round() * step,
                false => 0.0,
            };
            [from - turns, to - turns, step]
        }
    }
}

/// Elevations of the lowest ring and above the highest in degrees, and the number of rings.
fn elevations(config: &SensorConfig) -> ([f32; 2], u16) {
    let params = config.other_params;
    ([params[4], params[5]], config.height.max(1))
}

/// The ring nearest to the horizontal plane.
fn level_ring(config: &SensorConfig) -> u16 {
    let ([low, high], rings) = elevations(config);
    if high <= low {
        return rings / 2;
    }
    let of = |ring: u16| (low + (high - low) * f32::from(ring) / f32::from(rings)).abs();
    (0..rings)
        .min_by(|a, b| of(*a).total_cmp(&of(*b)))
        .unwrap_or(0)
}

impl ScanPlane {
    /// Returns the scan of a sensor; `None` if it has none.
    pub fn new(config: &SensorConfig, scan: &ScanParams) -> Option<Self> {
        let [from, to, step] = field(config);
        let source = match scan.source_of(config.kind) {
            ScanSource::Off => return None,
            ScanSource::Band => Source::Band([scan.min_height, scan.max_height]),
            ScanSource::Ring => Source::Ring {
                ring: scan.ring.unwrap_or_else(|| level_ring(config)),
                rings: Rings::Rows {
                    points: config.width.into(),
                    rings: config.height.into(),
                    elevation_deg: elevations(config).0,
                },
                from,
                step,
            },
        };
        let own = scan.angle_increment > 0.0 && matches!(source, Source::Band(_));
        let increment = if own { scan.angle_increment } else { step };
        // Rays stay at the places of the columns where the field is cut.
        let skipped = match scan.angles() {
            Some([low, _]) if low > from => ((low - from) / increment - 1e-6).ceil(),
            _ => 0.0,
        };
        let first = from + skipped * increment;
        let last = scan.angles().map_or(to, |[_, high]| to.min(high));
        let whole = last - first > TAU - increment / 2.0;
        // The last angle of a field is not reached where columns divide it.
        let divided = whole || (!own && scan.angles().is_none_or(|[_, high]| to <= high));
        let rays = match divided && config.kind != SensorKind::DepthCloud {
            true => ((last - first) / increment - 1e-6).ceil(),
            false => ((last - first) / increment + 1e-6).floor() + 1.0,
        };
        let max = match scan.range_max > 0.0 {
            true => scan.range_max,
            false => f64::from(config.other_params[0]),
        };
        Some(Self {
            source,
            first,
            increment,
            rays: rays.max(0.0) as usize,
            range: [scan.range_min, max],
            no_return: match scan.use_inf {
                true => f32::INFINITY,
                false => (max + BEYOND_M) as f32,
            },
        })
    }

    /// Writes the distances in the plane, of the nearest point in each ray.
    pub fn ranges<const CHANNELS: usize, P: CloudPoint<CHANNELS>>(
        &self,
        points: &[P],
        axes: Axes,
        ranges: &mut Vec<f32>,
    ) {
        ranges.clear();
        ranges.resize(self.rays, self.no_return);
        let seen = |raw: &P| (!raw.is_missing()).then(|| axes.apply(raw.place()));
        match self.source {
            Source::Band([low, high]) => {
                for [x, y, z] in points.iter().filter_map(seen) {
                    if (low..=high).contains(&f64::from(z)) {
                        self.put(x, y, azimuth(x, y), ranges);
                    }
                }
            }
            Source::Ring {
                ring,
                rings,
                from,
                step,
            } => match rings.row(ring, points) {
                Some(row) => {
                    for (column, raw) in row.iter().enumerate() {
                        let Some([x, y, _]) = seen(raw) else { continue };
                        // The direction of a near point is coarse on the wire; its column is exact.
                        let (angle, exact) = (azimuth(x, y), from + column as f64 * step);
                        let off = (angle - exact + PI).rem_euclid(TAU) - PI;
                        let angle = if off.abs() <= step { exact } else { angle };
                        self.put(x, y, angle, ranges);
                    }
                }
                None => {
                    for [x, y, z] in points.iter().filter_map(seen) {
                        if rings.nearest([x, y, z]) == ring {
                            self.put(x, y, azimuth(x, y), ranges);
                        }
                    }
                }
            },
        }
    }

    fn put(&self, x: f32, y: f32, angle: f64, ranges: &mut [f32]) {
        let distance = x.hypot(y);
        let [min, max] = self.range;
        if !(min..=max).contains(&f64::from(distance)) {
            return;
        }
        // A ray is the middle of its sector.
        let turned = (angle - self.first + self.increment / 2.0).rem_euclid(TAU);
        if let Some(range) = ranges.get_mut((turned / self.increment) as usize) {
            *range = range.min(distance);
        }
    }

    fn describe(&self, message: &mut LaserScan) {
        let last = self.first + self.rays.saturating_sub(1) as f64 * self.increment;
        message.angle_min = self.first as f32;
        message.angle_max = last as f32;
        message.angle_increment = self.increment as f32;
        [message.range_min, message.range_max] = self.range.map(|range| range as f32);
    }
}

fn azimuth(x: f32, y: f32) -> f64 {
    f64::from(y).atan2(f64::from(x))
}

/// Publishes the scan of a cloud.
pub(super) struct ScanTopic {
    publisher: Publisher<LaserScan>,
    message: LaserScan,
    plane: ScanPlane,
    config: SensorConfig,
    params: ScanParams,
}

impl ScanTopic {
    /// Suffix of the topic.
    pub(super) const SUFFIX: &'static str = "scan";

    /// Opens the topic if the parameters want it for this sensor.
    pub(super) fn open(topics: &Topics<'_>) -> Result<Option<Self>, RosError> {
        let (config, params) = (topics.context.config, topics.context.options.scan);
        let Some(plane) = ScanPlane::new(config, &params) else {
            return Ok(None);
        };
        let mut message = LaserScan {
            header: topics.header(Self::SUFFIX),
            // The rays of a scan are of one instant, so time_increment is 0.
            scan_time: 1.0 / f32::from(config.asked_hz().max(1)),
            ..LaserScan::default()
        };
        plane.describe(&mut message);
        Ok(Some(Self {
            publisher: topics.publisher(Self::SUFFIX)?,
            message,
            plane,
            config: config.clone(),
            params,
        }))
    }

    pub(super) fn wanted(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    pub(super) fn publish<const CHANNELS: usize, P: CloudPoint<CHANNELS>>(
        &mut self,
        points: &[P],
        axes: Axes,
        stamp: RosTime,
    ) -> Result<(), SensorError> {
        self.message.header.stamp = stamp.to_msg();
        self.plane.ranges(points, axes, &mut self.message.ranges);
        self.publisher.publish(&self.message)?;
        Ok(())
    }

    pub(super) fn set_fov(&mut self, fov_deg: f32) {
        self.config.fov_deg = fov_deg;
        if let Some(plane) = ScanPlane::new(&self.config, &self.params) {
            self.plane = plane;
            plane.describe(&mut self.message);
        }
    }
}
