//! A planar scan of a cloud as `sensor_msgs/LaserScan`, for programs that read 2D lidars.
//!
//! The scan lies in the plane z = 0 of the sensor's link, so it needs no TF. Its rays have the azimuths of the sensor's columns,
//! so that each ray has a point: consumers treat a ray without a point as free space.
use super::{CloudPoint, PointAxes, Rings, SensorError, TopicSpec, spec::Topics};
use crate::config::params::{QosGroup, ScanParams, ScanSource};
use crate::ros::{Publisher, RosError};
use crate::wire::SensorKind;
use crate::{config::SensorConfig, msgs::sensor_msgs::msg::LaserScan, time::RosTime};
use std::f64::consts::{PI, TAU};

/// Points per ring of the Mid-360.
const MID360_COLUMNS: f64 = 272.0;
/// Angle between rays of the Mid-40, which has no columns, in rad.
const MID40_INCREMENT: f64 = PI / 180.0;
/// How far a ray without return exceeds `range_max`, in m, if `scan.use_inf` is false; as in pointcloud_to_laserscan.
const BEYOND_M: f64 = 1.0;

pub(super) const SCAN_TOPIC: TopicSpec = TopicSpec::new(
    QosGroup::Range,
    ScanTopic::SUFFIX,
    "sensor_msgs/msg/LaserScan",
    super::FrameKind::Link,
    "a ring or a band of heights; with `scan.source`",
);

/// The points of a cloud that belong to a scan, and the azimuths of its rays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanPlane {
    source: Source,
    columns: Option<Columns>,
    /// Azimuth of the first ray, in rad, counter-clockwise.
    first: f64,
    /// Angle between rays, in rad.
    increment: f64,
    /// Number of rays.
    rays: usize,
    range: [f64; 2],
    no_return: f32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    /// One ring.
    Ring(u16, Rings),
    /// Lowest and highest z.
    Band([f64; 2]),
}

/// The columns of a complete cloud. The coordinates of a near point give a coarse azimuth, its column gives the exact one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Columns {
    azimuths: Azimuths,
    /// Number of columns and of rows.
    size: [usize; 2],
    /// Largest angle between columns, in rad.
    step: f64,
    /// Largest sideways error of a point from the resolution of the wire, in m.
    sideways_error: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Azimuths {
    /// Evenly spaced from the first angle to the second, exclusive, in rad.
    Even([f64; 2]),
    /// Evenly spaced pixels of an image: pixel of the optical axis, pixels between columns, focal length in pixels.
    Pixels { axis: f64, spacing: f64, focal: f64 },
}

impl Columns {
    fn new(config: &SensorConfig) -> Option<Self> {
        let params = config.other_params.map(f64::from);
        let (width, height) = (config.width, config.height);
        let sideways_error = 2.0 * params[0] / 32767.0;
        match config.kind {
            SensorKind::DepthCloud => {
                let half = f64::from(config.fov_deg).to_radians() / 2.0;
                let pixels = (config.other_params[1] as u16).max(1);
                let (spacing, focal) = (f64::from(pixels), f64::from(width) / (2.0 * half.tan()));
                Some(Self {
                    azimuths: Azimuths::Pixels {
                        axis: (f64::from(width) - 1.0) / 2.0,
                        spacing,
                        focal,
                    },
                    size: [width, height].map(|n| n.div_ceil(pixels).into()),
                    // The angle between columns is largest at the optical axis.
                    step: 2.0 * (spacing / (2.0 * focal)).atan(),
                    sideways_error,
                })
            }
            SensorKind::Lidar => {
                let limits = [params[2], params[3]].map(f64::to_radians);
                let [from, to] = if limits[1] > limits[0] { limits } else { [-PI, PI] };
                Some(Self {
                    azimuths: Azimuths::Even([from, to]),
                    size: [width, height].map(usize::from),
                    step: (to - from) / f64::from(width.max(1)),
                    sideways_error,
                })
            }
            _ => None,
        }
    }

    /// Azimuth of point `index` of a complete cloud.
    fn azimuth(&self, index: usize) -> f64 {
        let column = (index % self.size[0].max(1)) as f64;
        match self.azimuths {
            Azimuths::Even([from, _]) => from + column * self.step,
            Azimuths::Pixels { axis, spacing, focal } => ((axis - column * spacing) / focal).atan(),
        }
    }
}

/// Returns the first and the last azimuth of a sensor and the angle between its rays, in rad.
fn field_of_view(config: &SensorConfig, columns: Option<&Columns>) -> [f64; 3] {
    let half = f64::from(config.fov_deg).to_radians() / 2.0;
    let Some(columns) = columns else {
        return match config.kind {
            SensorKind::Mid360 => [-PI, PI, TAU / MID360_COLUMNS],
            _ => [-half, half, MID40_INCREMENT],
        };
    };
    let step = columns.step;
    match columns.azimuths {
        // Rays are slightly wider than columns, so that rounding leaves no ray without a column.
        Azimuths::Pixels { .. } => [-half, half, step * 1.001],
        // A full circle begins at the back, as in drivers of lidars.
        Azimuths::Even([from, to]) if to - from > TAU - step / 2.0 => {
            let shift = ((from + PI) / step).round() * step;
            [from - shift, to - shift, step]
        }
        Azimuths::Even([from, to]) => [from, to, step],
    }
}

/// Returns the ring nearest to the horizontal plane.
fn level_ring(config: &SensorConfig) -> u16 {
    // The highest elevation is exclusive.
    let [low, high] = [config.other_params[4], config.other_params[5]];
    let rings = config.height.max(1);
    if high <= low {
        return rings / 2;
    }
    let tilt = |ring: u16| (low + (high - low) * f32::from(ring) / f32::from(rings)).abs();
    (0..rings).min_by(|a, b| tilt(*a).total_cmp(&tilt(*b))).unwrap_or(0)
}

impl ScanPlane {
    /// Returns the scan of a sensor; `None` if it has none.
    pub fn new(config: &SensorConfig, scan: &ScanParams) -> Option<Self> {
        let columns = Columns::new(config);
        let [from, to, step] = field_of_view(config, columns.as_ref());
        let source = match scan.source_of(config.kind) {
            ScanSource::Off => return None,
            ScanSource::Band => Source::Band([scan.min_height, scan.max_height]),
            ScanSource::Ring => {
                Source::Ring(scan.ring.unwrap_or_else(|| level_ring(config)), Rings::rows(config))
            }
        };
        let has_own_increment = scan.angle_increment > 0.0 && matches!(source, Source::Band(_));
        let increment = if has_own_increment { scan.angle_increment } else { step };
        let [low, high] = scan.angles().unwrap_or([from, to]);
        // Rays keep the azimuths of the columns if the parameters cut the field of view.
        let skipped = ((low - from) / increment - 1e-6).ceil().max(0.0);
        let (first, last) = (from + skipped * increment, to.min(high));
        let span = (last - first) / increment;
        let is_full_circle = last - first > TAU - increment / 2.0;
        let is_even = columns.is_some_and(|c| matches!(c.azimuths, Azimuths::Even(_)));
        // The last angle has a ray, unless it equals the first or is the exclusive end of the columns.
        let is_exclusive = is_full_circle || (is_even && !has_own_increment && to <= high);
        let rays = if is_exclusive { (span - 1e-6).ceil() } else { (span + 1e-6).floor() + 1.0 };
        let sensor_max = f64::from(config.other_params[0]);
        let max = if scan.range_max > 0.0 { scan.range_max } else { sensor_max };
        Some(Self {
            source,
            columns,
            first,
            increment,
            rays: rays.max(0.0) as usize,
            range: [scan.range_min, max],
            no_return: if scan.use_inf { f32::INFINITY } else { (max + BEYOND_M) as f32 },
        })
    }

    /// Writes the horizontal distance of the nearest point of each ray.
    pub fn ranges<P: CloudPoint>(&self, points: &[P], axes: PointAxes, ranges: &mut Vec<f32>) {
        ranges.clear();
        ranges.resize(self.rays, self.no_return);
        let is_complete = |c: &Columns| c.size[0] * c.size[1] == points.len();
        let columns = self.columns.filter(is_complete);
        let row = match self.source {
            Source::Ring(ring, rings) => rings.row(ring, points),
            Source::Band(_) => None,
        };
        for (index, raw) in row.unwrap_or(points).iter().enumerate() {
            if raw.is_missing() {
                continue;
            }
            let [x, y, z] = axes.apply(raw.position());
            let is_in_plane = match self.source {
                Source::Band([low, high]) => (low..=high).contains(&f64::from(z)),
                Source::Ring(ring, rings) => row.is_some() || rings.nearest_ring([x, y, z]) == ring,
            };
            if is_in_plane {
                self.add_point([x, y], columns.map(|c| (c, index)), ranges);
            }
        }
    }

    /// Shortens the ray of a point to its distance. `column`: the columns of a complete cloud and the point's index.
    fn add_point(&self, [x, y]: [f32; 2], column: Option<(Columns, usize)>, ranges: &mut [f32]) {
        let distance = x.hypot(y);
        let [min, max] = self.range;
        let metres = f64::from(distance);
        if !(min..=max).contains(&metres) {
            return;
        }
        let measured = f64::from(y).atan2(f64::from(x));
        let angle = match column {
            Some((columns, index)) => {
                let exact = columns.azimuth(index);
                let error = (measured - exact + PI).rem_euclid(TAU) - PI;
                // If a simulator spaces its columns differently, the measured azimuth is used.
                let is_plausible = (error.abs() - columns.step) * metres <= columns.sideways_error;
                if is_plausible { exact } else { measured }
            }
            None => measured,
        };
        // A ray is the middle of its sector.
        let from_start = (angle - self.first + self.increment / 2.0).rem_euclid(TAU);
        if let Some(range) = ranges.get_mut((from_start / self.increment) as usize) {
            *range = range.min(distance);
        }
    }

    fn set_geometry(&self, message: &mut LaserScan) {
        let last = self.first + self.rays.saturating_sub(1) as f64 * self.increment;
        message.angle_min = self.first as f32;
        message.angle_max = last as f32;
        message.angle_increment = self.increment as f32;
        [message.range_min, message.range_max] = self.range.map(|range| range as f32);
    }
}

pub(super) struct ScanTopic {
    publisher: Publisher<LaserScan>,
    message: LaserScan,
    plane: ScanPlane,
    config: SensorConfig,
    params: ScanParams,
}

impl ScanTopic {
    pub(super) const SUFFIX: &'static str = "scan";

    /// Opens the topic if `scan.source` is on for this sensor.
    pub(super) fn open(topics: &Topics<'_>) -> Result<Option<Self>, RosError> {
        let (config, params) = (topics.context.config, topics.context.options.scan);
        let Some(plane) = ScanPlane::new(config, &params) else { return Ok(None) };
        let mut message = LaserScan {
            header: topics.header(Self::SUFFIX),
            // The rays of a scan are of one instant, so time_increment is 0.
            scan_time: 1.0 / f32::from(config.asked_hz().max(1)),
            ..LaserScan::default()
        };
        plane.set_geometry(&mut message);
        Ok(Some(Self {
            publisher: topics.publisher(Self::SUFFIX)?,
            message,
            plane,
            config: config.clone(),
            params,
        }))
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    pub(super) fn publish<P: CloudPoint>(
        &mut self,
        points: &[P],
        axes: PointAxes,
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
            plane.set_geometry(&mut self.message);
        }
    }
}
