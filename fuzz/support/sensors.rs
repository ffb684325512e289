//! Sensors of a small configuration, each opened over the recorder.
use rfly_bridge::config::{Mount, MountOrientation, SensorConfig, TransportMode};
use rfly_bridge::ros::{self, Middleware, Recorder};
use rfly_bridge::sensors::{FrameIds, Options, Sensor, SensorContext, SensorSpec};

/// A sensor whose every topic has a reader.
pub struct Open {
    pub sensor: Box<dyn Sensor>,
    #[allow(dead_code, reason = "shared memory has no files")]
    pub compressed: bool,
    _recorder: Recorder,
}

pub const WIDTH: u16 = 16;
pub const HEIGHT: u16 = 8;
/// The second other parameter: pixel step of a depth cloud, longest list.
pub const SECOND: f32 = 2.0;

pub fn open(spec: &SensorSpec, transport: TransportMode) -> Open {
    let (middleware, recorder) = Middleware::recorder(&ros::Options::new("fuzz")).expect("one");
    let mut other_params = [0.0; 16];
    other_params[..2].copy_from_slice(&[100.0, SECOND]);
    let config = SensorConfig {
        seq_id: 3,
        type_id: spec.type_id,
        mount: Mount::VehicleCentre(1),
        width: WIDTH,
        height: HEIGHT,
        rate_hz: 30,
        transport,
        ip: [127, 0, 0, 1],
        port: 10_002,
        reserved: [0; 2],
        fov_deg: 90.0,
        position_frd: [0.0; 3],
        orientation: MountOrientation::Euler([0.0; 3]),
        other_params,
        layout_new: false,
        raw_euler: [0.0; 3],
        raw_quaternion: [1.0, 0.0, 0.0, 0.0],
        eular_or_quat: 0.0,
    };
    let topic = spec.default_topic("/rflysim", config.seq_id);
    let context = SensorContext {
        middleware: &middleware,
        config: &config,
        topic: &topic,
        frames: FrameIds::new("", config.seq_id),
        options: Options::default(),
        qos: &|_, _| ros::Qos::DEFAULT,
    };
    let sensor = spec.open(&context).expect("topics open");
    recorder.set_all_subscribers(1);
    recorder.count_only();
    Open {
        sensor,
        compressed: transport.is_compressed(),
        _recorder: recorder,
    }
}
