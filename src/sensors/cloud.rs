//! Point clouds: types 7, 20, 21, 22 and 23.
//!
//! Coordinates are i16, scaled so that 32767 is the range `otherParams[0]`, or f32 in m, perhaps with a fourth number: the
//! class of the object hit, or a colour. The vendor scales that number like a coordinate; here it stays unscaled
//! (docs/wire/traps.md, cloud-class). Newer simulators send odometry before the points.
use super::layout::{PointLayout, Rings};
use super::points::{
    COORDINATES, CloudPoint, FourthField, MissingPoints, PointAxes, convert, per_count,
};
use super::scan::{SCAN_TOPIC, ScanTopic};
use super::{
    CameraView, CloudNoise, FrameHead, FrameKind, FramePayload, Sensor, SensorError, SensorSpec,
    TopicSpec,
};
use super::{camera::check_sent, cloud_axes::DepthAxesFinder, cloud_odometry::CloudOdometry};
use super::{livox_custom::LivoxCustom, spec::Topics};
use crate::config::TransportMode;
use crate::config::params::{
    CloudLayout, DepthAxes, FourthNumber, LabelType, Organized, QosGroup, ScanTime, WorldConvention,
};
use crate::ros::{CloudHead, CloudPublisher, RosError};
use crate::time::RosTime;
use crate::wire::{self, CloudPoints, CloudShape, CloudView, PointForm, SensorKind, points_of};
use crate::{msgs::sensor_msgs::msg::PointField, msgs::std_msgs::msg::Header};

const fn cloud_topic(suffix: &'static str, frame: FrameKind, doc: &'static str) -> TopicSpec {
    TopicSpec::new(QosGroup::Cloud, suffix, "sensor_msgs/msg/PointCloud2", frame, doc)
}

/// The topic of a Livox with the message type of its driver.
const fn custom_topic(suffix: &'static str) -> TopicSpec {
    let doc = "the same points; in a workspace only if it was built with `livox_ros_driver2`";
    let interface = "livox_ros_driver2/msg/CustomMsg";
    TopicSpec { interface, ..cloud_topic(suffix, FrameKind::Link, doc) }
}

const LIDAR_FIELDS: &str = "x, y, z, label, or `rgb` where the simulator sends colours";
const RING_FIELDS: &str =
    "x, y, z, label, or `rgb` where the simulator sends colours; rows are rings if complete";
const DEPTH_FIELDS: &str =
    "x, y, z, and label or `rgb` if points have a fourth number; rows of pixels if complete";

macro_rules! clouds {
    ($($name:ident, $kind:ident, $key:literal, $suffix:literal, $frame:ident, $rows:ident, $fields:ident, $doc:literal, [$($more:expr),*];)*) => {$(
        #[doc = $doc]
        pub(super) const $name: SensorSpec = SensorSpec {
            kind: SensorKind::$kind,
            name: $key,
            topics: &[cloud_topic($suffix, FrameKind::$frame, $fields) $(, $more)*],
            open: |topics| CloudSensor::open(topics, CloudRows::$rows),
        };
    )*};
}

clouds! {
    DEPTH_CLOUD, DepthCloud, "depth_cloud", "Depth_Cloud", Link, Pixels, DEPTH_FIELDS,
        "depth camera as point cloud", [SCAN_TOPIC];
    LIDAR, Lidar, "lidar", "vehicle_lidar", Link, Rings, RING_FIELDS,
        "mechanical lidar in its own frame", [SCAN_TOPIC];
    GLOBAL_LIDAR, GlobalLidar, "global_lidar", "global_lidar", World, Rings, RING_FIELDS,
        "mechanical lidar in the world frame", [];
    MID40, Mid40, "mid40", "livox_lidar", Link, None, LIDAR_FIELDS,
        "Livox Mid-40", [custom_topic("livox_lidar/custom"), SCAN_TOPIC];
    MID360, Mid360, "mid360", "mid360_lidar", Link, None, LIDAR_FIELDS,
        "Livox Mid-360", [custom_topic("mid360_lidar/custom"), SCAN_TOPIC];
}

/// Origin of the rows of points.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum CloudRows {
    /// The pattern has no rows.
    None,
    /// `width` points per ring, `height` rings.
    Rings,
    /// Every n-th pixel in both directions, n being `otherParams[1]`.
    Pixels,
}

struct CloudSensor {
    publisher: CloudPublisher,
    header: Header,
    /// The fields of the messages, and the meaning of the fourth number.
    fields: Vec<PointField>,
    fourth: Option<FourthField>,
    /// Points of a lidar always have a label, 0 where the simulator sends none.
    is_lidar: bool,
    convention: Convention,
    /// Form of the points in the oldest simulators.
    oldest_form: PointForm,
    /// Points that fit into a block of shared memory, which always has its full length; `None`: another transport.
    block_points: Option<usize>,
    odometry: Option<CloudOdometry>,
    /// Points per row, and number of rows, of a complete cloud.
    grid: Option<(usize, usize)>,
    label: LabelType,
    /// The fourth number is a colour.
    is_colour: bool,
    /// Point layout of the driver of a real lidar; `None`: x, y, z and label.
    driver: Option<PointLayout>,
    custom: Option<(LivoxCustom, PointLayout)>,
    scan: Option<ScanTopic>,
    noise: Option<CloudNoise>,
    /// Metres per count of points in i16.
    per_count: f64,
}

/// Axes of the points on the wire.
enum Convention {
    Sensor,
    World(WorldConvention),
    Depth(Box<DepthAxesFinder>),
}

impl Convention {
    fn axes(&self, unit: f64) -> PointAxes {
        match self {
            Self::Sensor => PointAxes::sensor(DepthAxes::Flu, unit),
            Self::World(convention) => PointAxes::world(*convention, unit),
            Self::Depth(finder) => PointAxes::sensor(finder.in_use(), unit),
        }
    }
}

impl CloudSensor {
    fn open(topics: &Topics<'_>, rows: CloudRows) -> Result<Box<dyn Sensor>, RosError> {
        let (config, options) = (topics.context.config, topics.context.options);
        let (w, h) = (usize::from(config.width), usize::from(config.height));
        let grid = match rows {
            CloudRows::Rings => Some((w, h)),
            CloudRows::Pixels => {
                let step = (config.other_params[1] as usize).max(1);
                Some((w.div_ceil(step), h.div_ceil(step)))
            }
            CloudRows::None => None,
        };
        let is_livox = matches!(config.kind, SensorKind::Mid40 | SensorKind::Mid360);
        let is_lidar = config.kind != SensorKind::DepthCloud;
        let point_layout = |layout| PointLayout {
            layout,
            rings: if is_livox { Rings::Lines } else { Rings::rows(config) },
            sweep_ns: match options.scan_time {
                ScanTime::Instant => 0,
                ScanTime::Sweep => 1_000_000_000 / u32::from(config.asked_hz()),
            },
        };
        let driver = options.layout_of(config.kind).map(point_layout);
        let is_organized = match options.organized {
            Organized::Auto => driver.is_none(),
            Organized::Always => true,
            Organized::Never => false,
        };
        let custom = is_livox.then(|| LivoxCustom::open(topics, &topics.below("/custom")));
        let custom = custom.transpose()?.flatten();
        let oldest_form = match config.kind.row().payload {
            wire::Payload::Points(form) => form,
            _ => PointForm::I16x4, // unreachable: all types of this file have points
        };
        let in_block = config.transport == TransportMode::SharedMemory;
        Ok(Box::new(Self {
            publisher: topics.cloud(topics.main_suffix())?,
            header: topics.header(topics.main_suffix()),
            fields: Vec::new(),
            fourth: None,
            is_lidar,
            convention: match topics.frame() {
                FrameKind::World => Convention::World(options.world),
                _ if is_lidar => Convention::Sensor,
                _ => Convention::Depth(Box::new(DepthAxesFinder::open(topics.context, grid))),
            },
            oldest_form,
            block_points: in_block.then(|| points_of(config.kind, config.width, config.height)),
            odometry: CloudOdometry::open(topics.context)?,
            grid: grid.filter(|_| is_organized),
            label: options.label,
            is_colour: match options.fourth {
                FourthNumber::Auto => config.segmentation > 0,
                FourthNumber::Label => false,
                FourthNumber::Rgb => true,
            },
            driver,
            custom: custom.map(|custom| (custom, point_layout(CloudLayout::Livox))),
            scan: ScanTopic::open(topics)?,
            noise: match config.kind {
                SensorKind::DepthCloud => CloudNoise::of_depth(&options.degrade, config.seq_id),
                _ => {
                    let in_world = topics.frame() == FrameKind::World;
                    CloudNoise::of_lidar(&options.degrade, config.seq_id, in_world)
                }
            },
            per_count: per_count(config.other_params[0]),
        }))
    }

    /// Returns the meaning of the fourth number of points in a form.
    fn fourth_of(&self, form: PointForm) -> FourthField {
        match (form.has_fourth(), self.is_colour) {
            (true, true) => FourthField::Rgb,
            (true, false) => FourthField::Label(self.label),
            (false, _) if self.is_lidar => FourthField::Label(self.label),
            (false, _) => FourthField::None,
        }
    }

    fn set_fields(&mut self, fourth: FourthField) {
        if self.fourth == Some(fourth) {
            return;
        }
        self.fourth = Some(fourth);
        let other_fields = match &self.driver {
            Some(layout) => layout.fields().0,
            None => fourth.fields(),
        };
        let fields = COORDINATES.iter().chain(other_fields).map(|&(name, offset, datatype)| {
            PointField { name: name.to_owned(), offset, datatype, count: 1 }
        });
        self.fields = fields.collect();
    }

    /// Publishes points with their noise; `unit`: metres per unit of the wire.
    fn publish<P: CloudPoint>(
        &mut self,
        points: &[P],
        (fourth, unit): (FourthField, f64),
        head: &FrameHead,
    ) -> Result<(), SensorError> {
        if let Convention::Depth(finder) = &mut self.convention {
            finder.check(points, unit, head.sim_time);
        }
        self.set_fields(fourth);
        let Some(mut noise) = self.noise.take() else {
            let axes = self.convention.axes(unit);
            return self.publish_points(points, (axes, fourth), head.stamp);
        };
        // Noisy points are in m.
        let axes = self.convention.axes(1.0);
        let noisy = noise.apply(head.sim_time, points, (unit, axes.forward()));
        let result = self.publish_points(noisy, (axes, fourth), head.stamp);
        self.noise = Some(noise);
        result
    }

    fn publish_points<P: CloudPoint>(
        &mut self,
        points: &[P],
        (axes, fourth): (PointAxes, FourthField),
        stamp: RosTime,
    ) -> Result<(), SensorError> {
        if let Some((custom, layout)) = self.custom.as_mut().filter(|(c, _)| c.is_wanted()) {
            let points = layout.points(points, axes, MissingPoints::Removed, fourth);
            custom.publish(points, stamp)?;
        }
        if let Some(scan) = self.scan.as_mut().filter(|scan| scan.is_wanted()) {
            scan.publish(points, axes, stamp)?;
        }
        if self.publisher.subscribers() == 0 {
            return Ok(());
        }
        let grid =
            self.grid.filter(|&(width, height)| height > 1 && width * height == points.len());
        let missing = if grid.is_some() { MissingPoints::Nan } else { MissingPoints::Removed };
        let step = match &self.driver {
            Some(layout) => layout.fields().1,
            None => fourth.point_step(),
        };
        let room = points.len() * step;
        let mut loan = self.publisher.loan(room);
        let out = &mut loan.as_mut()[..room];
        let converted = match &self.driver {
            Some(layout) => layout.convert(points, axes, missing, fourth, stamp, out),
            None => convert(points, axes, missing, fourth, out),
        };
        let (width, height) = grid.unwrap_or((converted.points, 1));
        self.header.stamp = stamp.to_msg();
        let head = CloudHead {
            header: &self.header,
            height: height as u32,
            width: width as u32,
            fields: &self.fields,
            point_step: step as u32,
            is_dense: converted.is_dense,
        };
        let len = converted.points * step;
        check_sent(self.publisher.publish_loan(&head, loan, len)?)
    }
}

impl Sensor for CloudSensor {
    fn is_wanted(&self) -> bool {
        self.publisher.subscribers() > 0
            || self.odometry.as_ref().is_some_and(CloudOdometry::is_wanted)
            || self.custom.as_ref().is_some_and(|(c, _)| c.is_wanted())
            || self.scan.as_ref().is_some_and(ScanTopic::is_wanted)
    }

    fn set_view(&mut self, view: &CameraView) {
        if let Some(scan) = &mut self.scan {
            scan.set_fov(view.fov_deg);
        }
        if let Convention::Depth(finder) = &mut self.convention {
            finder.set_fov(view.fov_deg);
        }
    }

    fn accept(&mut self, payload: FramePayload<'_>, head: &FrameHead) -> Result<(), SensorError> {
        let cloud = match self.block_points {
            Some(max) => CloudView::parse_block(payload.bytes(), max, self.oldest_form),
            None => CloudView::parse(payload.bytes(), self.oldest_form),
        };
        let cloud = cloud
            .ok_or_else(|| SensorError::CloudForm { shape: CloudShape::of(payload.bytes()) })?;
        // An empty cloud has no form, so the fourth number keeps its previous meaning.
        let fourth = match self.fourth {
            Some(fourth) if cloud.points.is_empty() => fourth,
            _ => self.fourth_of(cloud.points.form()),
        };
        let (counts, metres) = ((fourth, self.per_count), (fourth, 1.0));
        match cloud.points {
            CloudPoints::I16x3(points) => self.publish(points, counts, head),
            CloudPoints::I16x4(points) => self.publish(points, counts, head),
            CloudPoints::F32x3(points) => self.publish(points, metres, head),
            CloudPoints::F32x4(points) => self.publish(points, metres, head),
        }?;
        match (&mut self.odometry, cloud.head) {
            (Some(odometry), wire::CloudHead::Odometry(header)) => odometry.publish(&header, head),
            _ => Ok(()),
        }
    }
}
