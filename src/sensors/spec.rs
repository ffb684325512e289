use super::{Decoder, OdometryTopic, Options, Sensor, Size, TrueAttitude, shape::ImageGuard};
use crate::{
    config::{SensorConfig, params::QosGroup},
    msgs::{Message, builtin_interfaces::msg::Time, std_msgs::msg::Header},
    ros::{
        CloudPublisher, CompressedPublisher, ImagePublisher, Middleware, Publisher, Qos, RosError,
    },
    wire::SensorKind,
};
use std::sync::Arc;

/// One topic of a sensor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TopicSpec {
    /// QoS group.
    pub group: QosGroup,
    /// Name below `<root>/sensor<SeqID>/`.
    pub suffix: &'static str,
    /// ROS type.
    pub interface: &'static str,
    /// Frame of the header.
    pub frame: FrameKind,
    /// The topic exists only with a compressed transport (mode 1 or 3).
    pub compressed_only: bool,
    /// Text of its row in `docs/topics.md`.
    pub doc: &'static str,
}

impl TopicSpec {
    /// A topic that exists with every transport.
    pub(super) const fn new(
        group: QosGroup,
        suffix: &'static str,
        interface: &'static str,
        frame: FrameKind,
        doc: &'static str,
    ) -> Self {
        Self { group, suffix, interface, frame, compressed_only: false, doc }
    }
}

/// Frame of a sensor's messages, with its default name.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum FrameKind {
    /// `<prefix>sensor<SeqID>_optical_frame`: z forward, x right, y down (REP 103).
    Optical,
    /// `<prefix>sensor<SeqID>_link`: x forward, y left, z up (REP 103).
    Link,
    /// `map`, with the axes of the world convention.
    World,
}

/// The frame ids of one sensor.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FrameIds {
    /// Optical frame.
    pub optical: String,
    /// Link frame.
    pub link: String,
    /// World frame.
    pub world: String,
}

impl FrameIds {
    /// Returns the default frame ids of sensor `seq_id` of the vehicle whose frames start with `prefix`.
    pub fn new(prefix: &str, seq_id: u16) -> Self {
        Self {
            optical: format!("{prefix}sensor{seq_id}_optical_frame"),
            link: format!("{prefix}sensor{seq_id}_link"),
            world: "map".to_owned(),
        }
    }

    /// Returns the frame id of a kind.
    pub fn id(&self, kind: FrameKind) -> &str {
        match kind {
            FrameKind::Optical => &self.optical,
            FrameKind::Link => &self.link,
            FrameKind::World => &self.world,
        }
    }
}

/// Context in which a sensor opens its topics.
pub struct SensorContext<'a> {
    /// Opens topics; applies remapping rules.
    pub middleware: &'a Middleware,
    /// Entry of Config.json.
    pub config: &'a SensorConfig,
    /// Name of the main topic, usually [`SensorSpec::default_topic`]; the other names derive from it.
    pub topic: &'a str,
    /// Frame ids.
    pub frames: FrameIds,
    /// Topics of the odometry in clouds; `None`: not published.
    pub odometry: Option<OdometryTopic>,
    /// True poses, from which the sensor detects axes; `None`: it detects none.
    pub true_attitude: Option<Arc<dyn TrueAttitude>>,
    /// Conversion options.
    pub options: Options,
    /// QoS by group and full topic name.
    pub qos: &'a dyn Fn(QosGroup, &str) -> Qos,
}

/// One kind of sensor: a row of [`super::spec_of`].
#[derive(Debug)]
pub struct SensorSpec {
    /// Sensor type of the simulator.
    pub kind: SensorKind,
    /// Key in configuration and documentation.
    pub name: &'static str,
    /// Its topics; the first is the vendor's.
    pub topics: &'static [TopicSpec],
    pub(super) open: fn(&Topics<'_>) -> Result<Box<dyn Sensor>, RosError>,
}

impl SensorSpec {
    /// Opens the topics of one sensor of this kind.
    pub fn open(&self, context: &SensorContext<'_>) -> Result<Box<dyn Sensor>, RosError> {
        (self.open)(&Topics { spec: self, context })
    }

    /// Values of SendProtocol\[0\] that the sensor supports: 0 shared memory, 1 and 3 UDP compressed, 2 UDP raw.
    pub fn modes(&self) -> &'static [u16] {
        self.kind.row().modes.numbers()
    }

    /// Returns the vendor's topic suffix.
    pub fn suffix(&self) -> &'static str {
        self.topics[0].suffix
    }

    /// Returns the name of the main topic without parameters, for example `/rflysim/sensor3/img_rgb` below `/rflysim`.
    pub fn default_topic(&self, root: &str, seq_id: u16) -> String {
        format!("{}/sensor{seq_id}/{}", root.trim_end_matches('/'), self.suffix())
    }

    /// Returns the name of a topic if the main topic has the name `main`: a suffix that begins with the main suffix extends that
    /// name (`img_rgb/compressed`, `img_depth_float`), any other replaces its last part (`camera_info`).
    pub fn topic_name(&self, topic: &TopicSpec, main: &str) -> String {
        match topic.suffix.strip_prefix(self.suffix()) {
            Some(rest) => format!("{main}{rest}"),
            None => match main.rsplit_once('/') {
                Some((parent, _)) => format!("{parent}/{}", topic.suffix),
                None => topic.suffix.to_owned(),
            },
        }
    }
}

/// The row and the context from which a sensor opens its publishers.
pub(super) struct Topics<'a> {
    spec: &'a SensorSpec,
    pub(super) context: &'a SensorContext<'a>,
}

impl Topics<'_> {
    pub(super) fn image(&self, suffix: &str) -> Result<ImagePublisher, RosError> {
        let (name, qos) = self.name_and_qos(suffix);
        self.context.middleware.image(&name, qos)
    }

    /// Opens the topic with this suffix if the transport delivers files and the options enable it.
    pub(super) fn compressed(&self, suffix: &str) -> Result<Option<CompressedPublisher>, RosError> {
        if !self.context.config.transport.is_compressed() || !self.context.options.compressed {
            return Ok(None);
        }
        let (name, qos) = self.name_and_qos(suffix);
        self.context.middleware.compressed(&name, qos).map(Some)
    }

    pub(super) fn cloud(&self, suffix: &str) -> Result<CloudPublisher, RosError> {
        let (name, qos) = self.name_and_qos(suffix);
        self.context.middleware.cloud(&name, qos)
    }

    pub(super) fn publisher<M: Message>(&self, suffix: &str) -> Result<Publisher<M>, RosError> {
        let (name, qos) = self.name_and_qos(suffix);
        self.context.middleware.publisher(&name, qos)
    }

    pub(super) fn size(&self) -> Size {
        self.context.config.into()
    }

    /// Returns the guard of images with `pixel_len` bytes per raw pixel.
    pub(super) fn guard(&self, pixel_len: usize) -> ImageGuard {
        let expects_files = self.context.config.transport.is_compressed();
        ImageGuard::new(self.size(), pixel_len, expects_files, self.context.options.larger)
    }

    pub(super) fn decoder(&self) -> Decoder {
        let larger = self.context.options.larger;
        if larger { Decoder::allowing_larger(self.size()) } else { Decoder::new(self.size()) }
    }

    /// Returns a header in the frame of the topic with this suffix; its stamp is set per message.
    pub(super) fn header(&self, suffix: &str) -> Header {
        Header {
            stamp: Time::default(),
            frame_id: self.context.frames.id(self.row(suffix).frame).to_owned(),
        }
    }

    /// Returns the frame of the main topic.
    pub(super) fn frame(&self) -> FrameKind {
        self.spec.topics[0].frame
    }

    pub(super) fn main_suffix(&self) -> &'static str {
        self.spec.suffix()
    }

    /// Appends `rest`, for example `/compressed`, to the suffix of the main topic.
    pub(super) fn below(&self, rest: &str) -> String {
        format!("{}{rest}", self.spec.suffix())
    }

    fn row(&self, suffix: &str) -> &'static TopicSpec {
        let topics = self.spec.topics;
        let row = topics.iter().find(|t| t.suffix == suffix);
        debug_assert!(row.is_some(), "{} has no topic {suffix}", self.spec.name);
        row.unwrap_or(&topics[0])
    }

    fn name_and_qos(&self, suffix: &str) -> (String, Qos) {
        let row = self.row(suffix);
        let name = self.spec.topic_name(row, self.context.topic);
        let qos = (self.context.qos)(row.group, &name);
        (name, qos)
    }
}
