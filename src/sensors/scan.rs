//! A planar scan of a cloud as `sensor_msgs/LaserScan`, for programs that read 2D lidars.
//!
//! The scan lies in the plane z = 0 of the sensor's link, so it needs only the points. Its rays start at the
//! sensor's own columns, so that each has a point; a ray without one would be taken for free space.
use super::{CloudPoint, PointAxes, Rings, SensorError, TopicSpec, spec::Topics};
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

pub(super) const SCAN_TOPIC: TopicSpec = TopicSpec::new(
    QosGroup::Range,
    ScanTopic::SUFFIX,
    "sensor_msgs/msg/LaserScan",
    super::FrameKind::Link,
    "a ring or a band of heights; with `scan.source`",
);

/// Which points of a cloud a scan has, and where their rays are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanPlane {
    source: Source,
    columns: Option<Columns>,
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
    /// One row.
    Ring(u16, Rings),
    /// Lowest and highest z.
    Band([f64; 2]),
}

/// The columns of a complete cloud. The direction of a near point is coarse on the wire, that of its column is exact.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Columns {
    azimuths: Azimuths,
    /// Number of columns and of rows.
    size: [usize; 2],
    /// How far apart columns are at most, in rad.
    step: f64,
    /// How far a point may be off sideways by the resolution of the wire, in m.
    coarse: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Azimuths {
    /// Evenly from an angle to another, which is not reached.
    Even([f64; 2]),
    /// Of pixels: that of the optical axis, every how many there is a column, the focal length.
    Pixels([f64; 3]),
}

impl Columns {
    fn new(config: &SensorConfig) -> Option<Self> {
        let params = config.other_params.map(f64::from);
        let (width, height) = (config.width, config.height);
        let coarse = 2.0 * params[0] / 32767.0;
        match config.kind {
            SensorKind::DepthCloud => {
                let half = f64::from(config.fov_deg).to_radians() / 2.0;
                let pixels = (config.other_params[1] as u16).max(1);
                let (apart, focal) = (f64::from(pixels), f64::from(width) / (2.0 * half.tan()));
                Some(Self {
                    azimuths: Azimuths::Pixels([(f64::from(width) - 1.0) / 2.0, apart, focal]),
                    size: [width, height].map(|n| n.div_ceil(pixels).into()),
                    // About the axis columns are farthest apart.
                    step: 2.0 * (apart / (2.0 * focal)).atan(),
                    coarse,
                })
            }
            SensorKind::Lidar => {
                let limits = [params[2], params[3]].map(f64::to_radians);
                let [from, to] = if limits[1] > limits[0] { limits } else { [-PI, PI] };
                Some(Self {
                    azimuths: Azimuths::Even([from, to]),
                    size: [width, height].map(usize::from),
                    step: (to - from) / f64::from(width.max(1)),
                    coarse,
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
            Azimuths::Pixels([axis, apart, focal]) => ((axis - column * apart) / focal).atan(),
        }
    }
}

/// The horizontal field of a sensor, from and to, and the distance of its rays, in rad.
fn field(config: &SensorConfig, columns: Option<&Columns>) -> [f64; 3] {
    let half = f64::from(config.fov_deg).to_radians() / 2.0;
    let Some(columns) = columns else {
        return match config.kind {
            SensorKind::Mid360 => [-PI, PI, TAU / MID360_COLUMNS],
            _ => [-half, half, MID40_INCREMENT],
        };
    };
    let step = columns.step;
    match columns.azimuths {
        // So that rounding leaves none without a column.
        Azimuths::Pixels(_) => [-half, half, step * 1.001],
        // All around begins behind, as drivers have it.
        Azimuths::Even([from, to]) if to - from > TAU - step / 2.0 => {
            let turned = ((from + PI) / step).round() * step;
            [from - turned, to - turned, step]
        }
        Azimuths::Even([from, to]) => [from, to, step],
    }
}

/// The ring nearest to the horizontal plane.
fn level_ring(config: &SensorConfig) -> u16 {
    // The highest elevation is not reached.
    let [low, high] = [config.other_params[4], config.other_params[5]];
    let rings = config.height.max(1);
    if high <= low {
        return rings / 2;
    }
    let of = |ring: u16| (low + (high - low) * f32::from(ring) / f32::from(rings)).abs();
    (0..rings).min_by(|a, b| of(*a).total_cmp(&of(*b))).unwrap_or(0)
}

impl ScanPlane {
    /// Returns the scan of a sensor; `None` if it has none.
    pub fn new(config: &SensorConfig, scan: &ScanParams) -> Option<Self> {
        let columns = Columns::new(config);
        let [from, to, step] = field(config, columns.as_ref());
        let source = match scan.source_of(config.kind) {
            ScanSource::Off => return None,
            ScanSource::Band => Source::Band([scan.min_height, scan.max_height]),
            ScanSource::Ring => {
                Source::Ring(scan.ring.unwrap_or_else(|| level_ring(config)), Rings::rows(config))
            }
        };
        let own = scan.angle_increment > 0.0 && matches!(source, Source::Band(_));
        let increment = if own { scan.angle_increment } else { step };
        let [low, high] = scan.angles().unwrap_or([from, to]);
        // Rays stay at the places of the columns where the field is cut.
        let skipped = ((low - from) / increment - 1e-6).ceil().max(0.0);
        let (first, last) = (from + skipped * increment, to.min(high));
        let span = (last - first) / increment;
        let whole = last - first > TAU - increment / 2.0;
        let even = columns.is_some_and(|c| matches!(c.azimuths, Azimuths::Even(_)));
        // The last angle is a ray unless it is the end of a field that columns divide, or the first one again.
        let is_open = whole || (even && !own && to <= high);
        let rays = if is_open { (span - 1e-6).ceil() } else { (span + 1e-6).floor() + 1.0 };
        let own_max = f64::from(config.other_params[0]);
        let max = if scan.range_max > 0.0 { scan.range_max } else { own_max };
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

    /// Writes the distances in the plane, of the nearest point in each ray.
    pub fn ranges<P: CloudPoint>(&self, points: &[P], axes: PointAxes, ranges: &mut Vec<f32>) {
        ranges.clear();
        ranges.resize(self.rays, self.no_return);
        let complete = |c: &Columns| c.size[0] * c.size[1] == points.len();
        let columns = self.columns.filter(complete);
        let row = match self.source {
            Source::Ring(ring, rings) => rings.row(ring, points),
            Source::Band(_) => None,
        };
        for (index, raw) in row.unwrap_or(points).iter().enumerate() {
            if raw.is_missing() {
                continue;
            }
            let [x, y, z] = axes.apply(raw.place());
            let belongs = match self.source {
                Source::Band([low, high]) => (low..=high).contains(&f64::from(z)),
                Source::Ring(ring, rings) => row.is_some() || rings.nearest([x, y, z]) == ring,
            };
            if belongs {
                self.put([x, y], columns.map(|c| (c, index)), ranges);
            }
        }
    }

    fn put(&self, [x, y]: [f32; 2], place: Option<(Columns, usize)>, ranges: &mut [f32]) {
        let distance = x.hypot(y);
        let [min, max] = self.range;
        let metres = f64::from(distance);
        if !(min..=max).contains(&metres) {
            return;
        }
        let seen = f64::from(y).atan2(f64::from(x));
        let angle = match place {
            Some((columns, index)) => {
                let exact = columns.azimuth(index);
                let off = (seen - exact + PI).rem_euclid(TAU) - PI;
                // A simulator may have its columns elsewhere: then the point alone counts.
                let likely = (off.abs() - columns.step) * metres <= columns.coarse;
                if likely { exact } else { seen }
            }
            None => seen,
        };
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

pub(super) struct ScanTopic {
    publisher: Publisher<LaserScan>,
    message: LaserScan,
    plane: ScanPlane,
    config: SensorConfig,
    params: ScanParams,
}

impl ScanTopic {
    pub(super) const SUFFIX: &'static str = "scan";

    /// Opens the topic if the parameters want it for this sensor.
    pub(super) fn open(topics: &Topics<'_>) -> Result<Option<Self>, RosError> {
        let (config, params) = (topics.context.config, topics.context.options.scan);
        let Some(plane) = ScanPlane::new(config, &params) else { return Ok(None) };
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
            plane.describe(&mut self.message);
        }
    }
}
