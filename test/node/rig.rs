//! A whole bridge in this process: emulator, sockets of loopback, and the recorder as middleware.
use crate::support::ports::free_ports;
use rfly_bridge::config::ros_args;
use rfly_bridge::emulator::world::World;
use rfly_bridge::emulator::{Emulator, EmulatorOptions, Faults};
use rfly_bridge::msgs::Message;
use rfly_bridge::node::{Bridge, Settings};
use rfly_bridge::ros::{self, Middleware, Recorder};
use rfly_bridge::wire::Ports;

pub const IMAGE: &str = "/rflysim/sensor0/img_rgb";
pub const INFO: &str = "/rflysim/sensor0/camera_info";
pub const IMU: &str = "/rflysim/imu";

pub struct Rig {
    pub ports: Ports,
    /// The port of its camera.
    pub camera: u16,
    pub recorder: Recorder,
    pub middleware: Middleware,
    // The bridge ends before what it receives from.
    pub bridge: Bridge,
    pub emulator: Emulator,
}

/// One vehicle with one camera; `prepare` sees the middleware before anything is published.
pub fn start(more: &[&str], prepare: impl FnOnce(&Middleware, &Recorder)) -> Rig {
    start_with(None, more, prepare)
}

/// The same, where the emulator may send true states to another port.
pub fn start_with(
    states_to: Option<u16>,
    more: &[&str],
    prepare: impl FnOnce(&Middleware, &Recorder),
) -> Rig {
    start_in(World::flying(1), states_to, more, prepare)
}

/// The same in another world.
pub fn start_in(
    world: World,
    states_to: Option<u16>,
    more: &[&str],
    prepare: impl FnOnce(&Middleware, &Recorder),
) -> Rig {
    let [heartbeat, autopilot_client, true_state, imu, report, camera] = free_ports();
    let mut ports = Ports {
        window: 0,
        coptersim: 0,
        autopilot: 0,
        heartbeat,
        autopilot_client,
        true_state: states_to.unwrap_or(true_state),
        imu,
        report,
        ..Ports::default()
    };
    let options = EmulatorOptions {
        ports,
        world,
        autopilot: Some(Default::default()),
        ..EmulatorOptions::default()
    };
    let emulator = Emulator::start(options, Faults::default()).expect("an emulator");
    ports.window = emulator.windows()[0].port();
    ports.coptersim = emulator.coptersims()[0].port();
    ports.autopilot = emulator.autopilots()[0].port();
    ports.true_state = true_state;

    let text = format!(
        r#"{{"VisionSensors": [{{"SeqID": 0, "TypeID": 1, "TargetCopter": 1, "TargetMountType": 0, "DataWidth": 64,
           "DataHeight": 48, "DataCheckFreq": 30, "SendProtocol": [1,127,0,0,1,{camera},0,0], "CameraFOV": 90,
           "SensorPosXYZ": [0.3, 0, 0], "SensorAngEular": [0, 0, 0], "otherParams": [0,0,0,0,0,0,0,0]}}]}}"#
    );
    let config = std::env::temp_dir().join(format!("rfly_whole_{}_{camera}", std::process::id()));
    std::fs::write(&config, text).expect("a temporary file");
    let mut words = vec!["--ros-args".to_owned(), "-p".to_owned()];
    words.push(format!("config:={}", config.display()));
    for word in more {
        words.extend(["-p".to_owned(), (*word).to_owned()]);
    }
    let settings = ros_args::parse(words).expect("arguments");
    let mut settings = Settings::load(&settings).unwrap_or_else(|error| panic!("{error}"));
    std::fs::remove_file(&config).expect("it was there");
    settings.ports = ports;

    let (middleware, recorder) =
        Middleware::recorder(&ros::Options::new("rfly_bridge")).expect("a middleware");
    for topic in [IMAGE, INFO, IMU, "/tf"] {
        recorder.set_subscribers(topic, 1);
    }
    prepare(&middleware, &recorder);
    let bridge = Bridge::start(&settings, &middleware).unwrap_or_else(|error| panic!("{error}"));
    Rig { ports, camera, recorder, middleware, bridge, emulator }
}

impl Rig {
    pub fn messages<M: Message>(&self, topic: &str) -> Vec<M> {
        self.recorder.messages(topic).expect("of this type")
    }
}
