//! A scene, and calls to it.
use rfly_bridge::frames::WorldConvention;
use rfly_bridge::msgs::geometry_msgs::msg::{Point, Pose, PoseStamped, Quaternion};
use rfly_bridge::msgs::simulation_interfaces::msg::{Resource, Result as Outcome};
use rfly_bridge::msgs::simulation_interfaces::srv::{SpawnEntityRequest, SpawnEntityResponse};
use rfly_bridge::msgs::std_msgs::msg::Header;
use rfly_bridge::scene::{
    Datagram, Library, MapFrame, Outbox, Scene, SceneCall, SceneSettings, standard,
};
use rfly_bridge::time::RosTime;
use rfly_bridge::wire::parse_console_command;
use std::ops::RangeInclusive;

pub struct Rig {
    pub scene: Scene,
    pub playing: bool,
    pub uptime_s: f64,
    pub map_changed: bool,
}

impl Rig {
    pub fn with(ids: RangeInclusive<i32>, library: Library) -> Self {
        let frame = MapFrame { name: "map".to_owned(), world: WorldConvention::Enu };
        let scene = Scene::new(SceneSettings {
            library,
            frame,
            ids,
            world: None,
            vehicles: vec![1, 2],
            created: Vec::new(),
        });
        Self { scene, playing: true, uptime_s: 4.5, map_changed: false }
    }

    pub fn new() -> Self {
        Self::with(10_001..=20_000, Library::default())
    }

    /// Calls a service; returns the answer, and what was sent.
    pub fn call<Q, R>(
        &mut self,
        service: fn(&mut SceneCall<'_>, Q) -> R,
        request: Q,
    ) -> (R, Vec<Datagram>) {
        let mut call = SceneCall {
            scene: &mut self.scene,
            out: Outbox::default(),
            now: RosTime(7_000_000_000),
            uptime_s: self.uptime_s,
            playing: self.playing,
        };
        let response = service(&mut call, request);
        let out = call.out;
        self.map_changed |= out.map_changed;
        (response, out.datagrams)
    }

    pub fn spawn(&mut self, name: &str, uri: &str) -> (SpawnEntityResponse, Vec<Datagram>) {
        self.call(standard::spawn_entity, request(name, uri))
    }
}

/// A request with the identity as pose.
pub fn request(name: &str, uri: &str) -> SpawnEntityRequest {
    SpawnEntityRequest {
        name: name.to_owned(),
        entity_resource: resource(uri),
        initial_pose: stamped("", pose([0.0; 3], [1.0, 0.0, 0.0, 0.0])),
        ..SpawnEntityRequest::default()
    }
}

pub fn resource(uri: &str) -> Resource {
    Resource { uri: uri.to_owned(), resource_string: String::new() }
}

pub fn stamped(frame_id: &str, pose: Pose) -> PoseStamped {
    let header = Header { frame_id: frame_id.to_owned(), ..Header::default() };
    PoseStamped { header, pose }
}

pub fn pose([x, y, z]: [f64; 3], [w, i, j, k]: [f64; 4]) -> Pose {
    Pose { position: Point { x, y, z }, orientation: Quaternion { x: i, y: j, z: k, w } }
}

/// The pose that ROS has of a place of the vendor: NED and FRD, roll, pitch, yaw in rad. Computed from the definitions: half turns
/// about (1, 1, 0) and about x.
pub fn pose_of(ned: [f64; 3], [roll, pitch, yaw]: [f64; 3]) -> Pose {
    let about = |axis: usize, angle: f64| {
        let mut q = [(angle / 2.0).cos(), 0.0, 0.0, 0.0];
        q[axis + 1] = (angle / 2.0).sin();
        q
    };
    let half = 0.5_f64.sqrt();
    let turns = [
        [0.0, half, half, 0.0],
        about(2, yaw),
        about(1, pitch),
        about(0, roll),
        [0.0, 1.0, 0.0, 0.0],
    ];
    let q = turns.into_iter().reduce(product).unwrap();
    pose([ned[1], ned[0], -ned[2]], q)
}

fn product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

/// The console commands among datagrams.
pub fn commands(sent: &[Datagram]) -> Vec<String> {
    let text = |datagram: &Datagram| parse_console_command(&datagram.bytes).ok().map(str::to_owned);
    sent.iter().filter_map(text).collect()
}

/// Asserts a code, and that the message has these words.
pub fn assert_result(result: &Outcome, code: u8, words: &[&str]) {
    assert_eq!(result.result, code, "{}", result.error_message);
    for word in words {
        let message = &result.error_message;
        assert!(message.contains(word), "{word:?} is missing: {message}");
    }
    if code != 1 {
        assert!(result.error_message.len() > 20, "{}", result.error_message);
    }
}
