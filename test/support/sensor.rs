//! One open sensor that publishes to the recorder.
use rfly_bridge::{
    config::{Mount, MountOrientation, SensorConfig, TransportMode},
    msgs::Message,
    ros::{self, Middleware, Recorder},
    sensors::{
        FrameHead, FrameIds, FramePayload, OdometryTopic, Options, SensorContext, SensorError,
        SensorPipeline, SensorSpec, TrueAttitude, spec_of,
    },
    time::RosTime,
    wire::SensorKind,
};
use std::sync::Arc;

pub fn config(type_id: u16, width: u16, height: u16, mode: u16, params: &[f32]) -> SensorConfig {
    let mut other_params = [0.0; 16];
    other_params[..params.len()].copy_from_slice(params);
    SensorConfig {
        seq_id: 3,
        kind: SensorKind::from_type_id(type_id).expect("a TypeID"),
        mount: Mount::VehicleCentre(1),
        width,
        height,
        rate_hz: 30,
        transport: TransportMode::from_repr(mode).unwrap(),
        ip: [127, 0, 0, 1],
        port: 10_002,
        piece_bytes: 0,
        segmentation: 0,
        fov_deg: 90.0,
        position_frd: [0.0; 3],
        orientation: MountOrientation::Euler([0.0; 3]),
        other_params,
        layout_new: false,
        raw_euler: [0.0; 3],
        raw_quaternion: [1.0, 0.0, 0.0, 0.0],
        eular_or_quat: 0.0,
    }
}

pub struct Rig {
    pub sensor: SensorPipeline,
    pub recorder: Recorder,
    pub middleware: Middleware,
    pub spec: &'static SensorSpec,
    pub main: String,
    pub compressed: bool,
    /// Names of the topics that the sensor opened.
    pub topics: Vec<String>,
}

impl Rig {
    /// Opens a sensor; every topic has one subscriber.
    pub fn open(config: &SensorConfig, options: Options) -> Self {
        Self::open_with(config, options, None)
    }

    /// Like [`Self::open`], with the topic of a cloud's odometry.
    pub fn open_with(
        config: &SensorConfig,
        options: Options,
        odometry: Option<OdometryTopic>,
    ) -> Self {
        Self::open_among(config, options, odometry, None)
    }

    /// Like [`Self::open_with`], with the vehicles' true attitude.
    pub fn open_among(
        config: &SensorConfig,
        options: Options,
        odometry: Option<OdometryTopic>,
        true_attitude: Option<Arc<dyn TrueAttitude>>,
    ) -> Self {
        let rig = Self::unwatched(config, options, odometry, true_attitude);
        rig.recorder.set_all_subscribers(1);
        rig
    }

    pub fn open_unwatched(config: &SensorConfig, options: Options) -> Self {
        Self::unwatched(config, options, None, None)
    }

    fn unwatched(
        config: &SensorConfig,
        options: Options,
        odometry: Option<OdometryTopic>,
        true_attitude: Option<Arc<dyn TrueAttitude>>,
    ) -> Self {
        let spec = spec_of(config.kind);
        let (middleware, recorder) = Middleware::recorder(&ros::Options::new("test")).unwrap();
        let main = spec.default_topic("/rflysim", config.seq_id);
        let context = SensorContext {
            middleware: &middleware,
            config,
            topic: &main,
            frames: FrameIds::new("", config.seq_id),
            odometry,
            options,
            qos: &|_, _| ros::Qos::DEFAULT,
            true_attitude,
        };
        let sensor = SensorPipeline::new(spec.open(&context).unwrap());
        let topics = middleware.topics().into_iter().map(|t| t.name).collect();
        Self {
            sensor,
            recorder,
            middleware,
            spec,
            main,
            compressed: config.transport.is_compressed(),
            topics,
        }
    }

    pub fn accept(&mut self, payload: &[u8]) -> Result<(), SensorError> {
        self.accept_at(payload, RosTime(1_700_000_012_345_000_000))
    }

    pub fn accept_at(&mut self, payload: &[u8], stamp: RosTime) -> Result<(), SensorError> {
        let head = FrameHead::new(stamp, self.compressed);
        self.sensor.accept(FramePayload::Borrowed(payload), &head)
    }

    pub fn topic(&self, suffix: &str) -> String {
        let topic =
            self.spec.topics.iter().find(|t| t.suffix == suffix).expect("a topic of this sensor");
        self.spec.topic_name(topic, &self.main)
    }

    /// What was published on the topic with this suffix.
    pub fn published<M: Message>(&self, suffix: &str) -> Vec<M> {
        self.recorder.messages(&self.topic(suffix)).unwrap()
    }

    /// The only message on the topic with this suffix.
    pub fn only<M: Message>(&self, suffix: &str) -> M {
        let mut all = self.published(suffix);
        assert_eq!(all.len(), 1, "messages on {suffix}");
        all.remove(0)
    }

    /// The newest message on the main topic, if any.
    pub fn last<M: Message>(&self) -> Option<M> {
        self.published(self.spec.suffix()).pop()
    }
}
