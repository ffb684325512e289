//! Point clouds: types 7, 20, 21, 22 and 23.
//!
//! The wire has i16 coordinates, scaled so that 32767 is the range `otherParams[0]`, and for the lidars a fourth channel
//! with the class of the object hit. The vendor scales that channel like a coordinate; here it stays the class
//! (docs/wire/traps.md, cloud-class). Newer simulators send f32 coordinates in m with odometry before them.
use super::{
    CloudNoise, Frame, FrameKind, Sensor, SensorError, SensorSpec, TopicSpec, View,
    camera::sent,
    cloud_odometry::CloudOdometry,
    layout::{PointLayout, Rings, labelled_fields},
    livox_custom::LivoxCustom,
    points::{Axes, CloudPoint, Missing, convert, per_count},
    scan::{SCAN_TOPIC, ScanTopic},
    spec::Topics,
};
use crate::{
    config::{
        TransportMode,
        params::{CloudLayout, LabelType, Organized, QosGroup, ScanTime},
    },
    msgs::{sensor_msgs::msg::PointField, std_msgs::msg::Header},
    ros::{CloudHead, CloudPublisher, RosError},
    time::RosTime,
    wire::{CloudPayload, SensorKind},
};

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

/// Of a Livox, as its driver publishes it.
const fn custom_topic(suffix: &'static str) -> TopicSpec {
    TopicSpec {
        interface: "livox_ros_driver2/msg/CustomMsg",
        ..cloud_topic(
            suffix,
            FrameKind::Link,
            "the same points; in a workspace only if it was built with `livox_ros_driver2`",
        )
    }
}

macro_rules! cloud {
    ($name:ident, $kind:ident, $key:literal, $suffix:literal, $frame:ident, $open:expr, $fields:literal, $doc:literal, [$($more:expr),*]) => {
        #[doc = $doc]
        pub(super) const $name: SensorSpec = SensorSpec {
            kind: SensorKind::$kind,
            name: $key,
            topics: &[cloud_topic($suffix, FrameKind::$frame, $fields) $(, $more)*],
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
    "depth camera as point cloud",
    [SCAN_TOPIC]
);
cloud!(
    LIDAR,
    Lidar,
    "lidar",
    "vehicle_lidar",
    Link,
    |t| Cloud::<4>::open(t, Grid::Rings),
    "x, y, z, label; rows are rings if complete",
    "mechanical lidar in its own frame",
    [SCAN_TOPIC]
);
cloud!(
    GLOBAL_LIDAR,
    GlobalLidar,
    "global_lidar",
    "global_lidar",
    World,
    |t| Cloud::<4>::open(t, Grid::Rings),
    "x, y, z, label; rows are rings if complete",
    "mechanical lidar in the world frame",
    []
);
cloud!(
    MID40,
    Mid40,
    "mid40",
    "livox_lidar",
    Link,
    |t| Cloud::<4>::open(t, Grid::None),
    "x, y, z, label",
    "Livox Mid-40",
    [custom_topic("livox_lidar/custom"), SCAN_TOPIC]
);
cloud!(
    MID360,
    Mid360,
    "mid360",
    "mid360_lidar",
    Link,
    |t| Cloud::<4>::open(t, Grid::None),
    "x, y, z, label",
    "Livox Mid-360",
    [custom_topic("mid360_lidar/custom"), SCAN_TOPIC]
);

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

struct Cloud<const CHANNELS: usize> {
    publisher: CloudPublisher,
    header: Header,
    fields: Vec<PointField>,
    /// Of i16 points.
    axes: Axes,
    /// Of f32 points.
    metres: Axes,
    /// Payloads are as long as the block of shared memory.
    in_block: bool,
    odometry: Option<CloudOdometry>,
    /// Points per row and rows of a complete cloud.
    grid: Option<(usize, usize)>,
    label: LabelType,
    /// Bytes of a point.
    point_step: usize,
    /// As the driver of a real lidar publishes points; `None`: x, y, z and label.
    driver: Option<PointLayout>,
    custom: Option<(LivoxCustom, PointLayout)>,
    scan: Option<ScanTopic>,
    noise: Option<CloudNoise>,
    /// A coordinate of 1 in i16 points, in m.
    per_count: f64,
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
        let livox = matches!(config.kind, SensorKind::Mid40 | SensorKind::Mid360);
        let point_layout = |layout| PointLayout {
            layout,
            rings: match livox {
                true => Rings::Lines,
                false => Rings::Rows {
                    points: w,
                    rings: h,
                    elevation_deg: [config.other_params[4], config.other_params[5]],
                },
            },
            sweep_ns: match options.scan_time {
                ScanTime::Instant => 0,
                ScanTime::Sweep => 1_000_000_000 / u32::from(config.rate_hz.max(1)),
            },
        };
        let driver = options.layout_of(config.kind).map(point_layout);
        let labelled = labelled_fields(options.label);
        let (table, point_step) = match &driver {
            Some(layout) => layout.fields(),
            None => (&labelled[..CHANNELS], 4 * CHANNELS),
        };
        let fields = table.iter().map(|&(name, offset, datatype)| PointField {
            name: name.to_owned(),
            offset,
            datatype,
            count: 1,
        });
        let organized = match options.organized {
            Organized::Auto => driver.is_none(),
            Organized::Always => true,
            Organized::Never => false,
        };
        let custom = match livox {
            true => LivoxCustom::open(topics, &topics.below("/custom"))?,
            false => None,
        };
        Ok(Box::new(Self {
            publisher: topics.cloud(topics.main())?,
            header: topics.header(topics.main()),
            fields: fields.collect(),
            axes: match topics.frame() {
                FrameKind::World => Axes::world(config.other_params[0], options.world),
                _ => Axes::sensor(config.other_params[0]),
            },
            metres: match topics.frame() {
                FrameKind::World => Axes::world_metres(options.world),
                _ => Axes::sensor_metres(),
            },
            in_block: config.transport == TransportMode::SharedMemory,
            odometry: CloudOdometry::open(topics.context)?,
            grid: grid.filter(|_| organized),
            label: options.label,
            point_step,
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

    /// Publishes points, of which a coordinate of 1 is `unit` m; with noise, if there is any.
    fn publish<P: CloudPoint<CHANNELS>>(
        &mut self,
        points: &[P],
        (axes, unit): (Axes, f64),
        frame: &Frame<'_>,
    ) -> Result<(), SensorError> {
        let Some(mut noise) = self.noise.take() else {
            return self.publish_points(points, axes, frame.stamp);
        };
        let noisy = noise.apply(frame.sim_time, points, unit);
        let result = self.publish_points(noisy, self.metres, frame.stamp);
        self.noise = Some(noise);
        result
    }

    fn publish_points<P: CloudPoint<CHANNELS>>(
        &mut self,
        points: &[P],
        axes: Axes,
        stamp: RosTime,
    ) -> Result<(), SensorError> {
        if let Some((custom, layout)) = self.custom.as_mut().filter(|(c, _)| c.wanted()) {
            custom.publish(layout.points(points, axes, Missing::Removed), stamp)?;
        }
        if let Some(scan) = self.scan.as_mut().filter(|scan| scan.wanted()) {
            scan.publish(points, axes, stamp)?;
        }
        if self.publisher.subscribers() == 0 {
            return Ok(());
        }
        let organized = self
            .grid
            .filter(|&(width, height)| height > 1 && width * height == points.len());
        let missing = if organized.is_some() {
            Missing::Nan
        } else {
            Missing::Removed
        };
        let room = points.len() * self.point_step;
        let mut loan = self.publisher.loan(room);
        let out = &mut loan.as_mut()[..room];
        let converted = match &self.driver {
            Some(layout) => layout.convert(points, axes, missing, stamp, out),
            None => convert(points, axes, missing, self.label, out),
        };
        let (width, height) = organized.unwrap_or((converted.points, 1));
        self.header.stamp = stamp.to_msg();
        let head = CloudHead {
            header: &self.header,
            height: height as u32,
            width: width as u32,
            fields: &self.fields,
            point_step: self.point_step as u32,
            is_dense: converted.is_dense,
        };
        let len = converted.points * self.point_step;
        sent(self.publisher.publish_loan(&head, loan, len)?)
    }
}

impl<const CHANNELS: usize> Sensor for Cloud<CHANNELS> {
    fn wanted(&self) -> bool {
        self.publisher.subscribers() > 0
            || self.odometry.as_ref().is_some_and(CloudOdometry::wanted)
            || self.custom.as_ref().is_some_and(|(c, _)| c.wanted())
            || self.scan.as_ref().is_some_and(ScanTopic::wanted)
    }

    fn set_view(&mut self, view: &View) {
        if let Some(scan) = &mut self.scan {
            scan.set_fov(view.fov_deg);
        }
    }

    fn accept(&mut self, frame: &Frame<'_>) -> Result<(), SensorError> {
        let cloud = match self.in_block {
            true => CloudPayload::<CHANNELS>::parse_block(frame.payload),
            false => CloudPayload::<CHANNELS>::parse(frame.payload),
        };
        let found = frame.payload.len();
        match cloud.ok_or(SensorError::CloudForm { found })? {
            CloudPayload::Short(cloud) => {
                self.publish(cloud.points(), (self.axes, self.per_count), frame)
            }
            CloudPayload::Float(cloud) => {
                self.publish(cloud.points(), (self.metres, 1.0), frame)?;
                match &mut self.odometry {
                    Some(odometry) => odometry.publish(cloud.header(), frame.stamp),
                    None => Ok(()),
                }
            }
        }
    }
}
