//! The scene of a whole bridge: a window of the renderer is a socket of this test, the client is the recorder.
use crate::support::ports::free_port;
use crate::support::wait::wait_until;
use rfly_bridge::config::ros_args;
use rfly_bridge::msgs::Action;
use rfly_bridge::msgs::geometry_msgs::msg::{Point, Pose, PoseStamped, Quaternion};
use rfly_bridge::msgs::rfly_bridge_msgs::msg::EntityStates;
use rfly_bridge::msgs::rfly_bridge_msgs::srv::{SceneCommand, SceneCommandRequest};
use rfly_bridge::msgs::simulation_interfaces::action::{
    SimulateSteps, SimulateSteps_GetResult_Request, SimulateSteps_SendGoal_Request,
};
use rfly_bridge::msgs::simulation_interfaces::msg::Resource;
use rfly_bridge::msgs::simulation_interfaces::srv::*;
use rfly_bridge::node::{Bridge, Settings};
use rfly_bridge::ros::{self, Middleware, Qos, Recorder};
use rfly_bridge::wire::{Packet, Ports, ScaledStatePacket, Swarm20Packet, parse_console_command};
use std::net::UdpSocket;
use std::time::Duration;

struct Rig {
    window: UdpSocket,
    recorder: Recorder,
    middleware: Middleware,
    /// Port of texts.
    requests: u16,
    _bridge: Bridge,
}

fn start(more: &[&str]) -> Rig {
    let window = UdpSocket::bind("127.0.0.1:0").expect("a port");
    window.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    let mut words = vec!["--ros-args".to_owned()];
    for word in ["imu.enabled:=false", "control.link:=off"].iter().chain(more) {
        words.extend(["-p".to_owned(), (*word).to_owned()]);
    }
    let arguments = ros_args::parse(words).expect("arguments");
    let mut settings = Settings::load(&arguments).unwrap_or_else(|error| panic!("{error}"));
    // 0: ports that the system chooses.
    settings.ports = Ports {
        window: window.local_addr().expect("it is bound").port(),
        heartbeat: 0,
        true_state: 0,
        report: 0,
        requests: free_port(),
        start: 0,
        ..Ports::default()
    };
    let requests = settings.ports.requests;
    let options = ros::Options::new("rfly_bridge");
    let (middleware, recorder) = Middleware::recorder(&options).expect("a middleware");
    let bridge = Bridge::start(&settings, &middleware).unwrap_or_else(|error| panic!("{error}"));
    Rig { window, recorder, middleware, requests, _bridge: bridge }
}

impl Rig {
    fn datagram(&self) -> Vec<u8> {
        let mut buffer = [0; 65_536];
        let len = self.window.recv(&mut buffer).expect("a datagram");
        buffer[..len].to_vec()
    }
}

fn level(x: f64) -> Pose {
    Pose {
        position: Point { x, y: 0.0, z: 0.0 },
        orientation: Quaternion { w: 1.0, ..Quaternion::default() },
    }
}

fn spawn(rig: &Rig, name: &str) -> SpawnEntityResponse {
    spawn_as(rig, name, "rflysim://3")
}

fn spawn_as(rig: &Rig, name: &str, uri: &str) -> SpawnEntityResponse {
    let request = SpawnEntityRequest {
        name: name.to_owned(),
        entity_resource: Resource { uri: uri.to_owned(), resource_string: String::new() },
        initial_pose: PoseStamped { pose: level(7.0), ..PoseStamped::default() },
        ..SpawnEntityRequest::default()
    };
    let service = "/rfly_bridge/spawn_entity";
    rig.recorder.call::<SpawnEntity>(service, &request).expect("the service")
}

#[test]
fn requests_reach_the_window_and_are_answered() {
    let rig = start(&["scene.first_id:=600"]);
    let spawned = spawn(&rig, "box");
    assert_eq!((spawned.result.result, spawned.entity_name.as_str()), (1, "box"));
    let datagram = rig.datagram();
    let packet = ScaledStatePacket::parse(&datagram).expect("a state");
    // East in ROS is the second axis there.
    assert_eq!((packet.copter_id.get(), packet.position[1].get()), (600, 7.0));
    let command = SceneCommandRequest { command: "stat fps".to_owned(), window: -1 };
    let service = "/rflysim/scene/command";
    let answer = rig.recorder.call::<SceneCommand>(service, &command).expect("the service");
    assert!(answer.success, "{}", answer.message);
    assert_eq!(parse_console_command(&rig.datagram()), Ok("stat fps"));
}

#[test]
fn an_object_is_removed_when_its_client_has_left() {
    let rig = start(&["scene.first_id:=600"]);
    assert_eq!(spawn(&rig, "stays").result.result, 1);
    rig.datagram();
    let left = spawn_as(&rig, "left", "rflysim://3?keep_alive=0.2");
    assert_eq!(left.result.result, 1);
    rig.datagram();
    let removed = rig.datagram();
    assert_eq!(parse_console_command(&removed), Ok("RflyDelVehicles 601"));
    let service = "/rfly_bridge/get_entities";
    let listed = rig.recorder.call::<GetEntities>(service, &Default::default());
    let listed = listed.expect("the service").entities;
    let has = |name: &str| listed.iter().any(|entity| entity == name);
    assert!(has("stays") && !has("left"), "{listed:?}");
}

/// The services, named as by `prefix` and their types.
fn assert_the_standard_is_below(prefix: &str, parameters: &[&str]) {
    let rig = start(parameters);
    let services = rig.recorder.services();
    let standard: Vec<_> = services
        .iter()
        .filter_map(|(name, kind)| Some((name, kind.strip_prefix("simulation_interfaces/srv/")?)))
        .collect();
    // All of simulation_interfaces 2.1.
    assert_eq!(standard.len(), 22, "{standard:?}");
    for (name, kind) in standard {
        let snake = kind.chars().fold(String::new(), |mut text, c| {
            if c.is_ascii_uppercase() && !text.is_empty() {
                text.push('_');
            }
            text.push(c.to_ascii_lowercase());
            text
        });
        assert_eq!(*name, format!("{prefix}/{snake}"));
    }
    let send_goal = format!("{prefix}/simulate_steps/_action/send_goal");
    assert!(services.iter().any(|(name, _)| *name == send_goal), "{services:?}");
}

#[test]
fn every_service_of_the_standard_has_its_name() {
    assert_the_standard_is_below("/rfly_bridge", &[]);
}

#[test]
fn panels_find_the_services_of_the_standard_without_the_nodes_name() {
    assert_the_standard_is_below("", &["scene.at_root:=true"]);
}

#[test]
fn the_action_of_the_standard_says_why_it_ends() {
    type SendGoal = <SimulateSteps as Action>::SendGoal;
    type GetResult = <SimulateSteps as Action>::GetResult;
    let rig = start(&[]);
    let part = |part: &str| format!("/rfly_bridge/simulate_steps/_action/{part}");
    let goal = SimulateSteps_SendGoal_Request::default();
    let accepted = rig.recorder.call::<SendGoal>(&part("send_goal"), &goal);
    assert!(accepted.expect("the service").accepted);
    let wanted = SimulateSteps_GetResult_Request::default();
    let ended = rig.recorder.call::<GetResult>(&part("get_result"), &wanted);
    let ended = ended.expect("the service");
    // STATUS_ABORTED, RESULT_FEATURE_UNSUPPORTED.
    assert_eq!((ended.status, ended.result.result.result), (6, 0));
    let message = ended.result.result.error_message;
    assert!(message.contains("cannot be paused"), "{message}");
}

#[test]
fn a_stream_of_states_is_drawn() {
    let rig = start(&[]);
    let topic = "/rflysim/scene/set_states";
    let publisher =
        rig.middleware.publisher::<EntityStates>(topic, Qos::DEFAULT).expect("a publisher");
    let message = EntityStates {
        ids: vec![5],
        vehicle_types: vec![3],
        poses: vec![level(1.0)],
        ..EntityStates::default()
    };
    publisher.publish(&message).expect("published");
    let datagram = rig.datagram();
    let packet = Swarm20Packet::parse(&datagram).expect("states");
    let states: Vec<_> = packet.states().map(|state| (state.id, state.position)).collect();
    assert_eq!(states, [(5, [0.0, 1.0, 0.0])]);
}

#[test]
fn bounds_that_the_renderer_does_not_say_are_refused_after_a_while() {
    let rig = start(&[]);
    spawn(&rig, "box");
    rig.datagram();
    let request = GetEntityBoundsRequest { entity: "box".to_owned() };
    let service = "/rfly_bridge/get_entity_bounds";
    let asked = rig.recorder.ask::<GetEntityBounds>(service, &request).expect("the service");
    assert_eq!(parse_console_command(&rig.datagram()), Ok("RflyReqObjData 1 10001 0"));
    let answer = std::cell::RefCell::new(None);
    wait_until(|| {
        *answer.borrow_mut() = asked.response();
        answer.borrow().is_some()
    });
    let answer = answer.into_inner().expect("an answer");
    assert_eq!(answer.result.result, 4);
    assert!(answer.result.error_message.contains("20006"), "{answer:?}");
}

#[test]
fn the_limit_of_waiting_requests_for_bounds_is_named() {
    let rig = start(&[]);
    spawn(&rig, "box");
    let request = GetEntityBoundsRequest { entity: "box".to_owned() };
    let service = "/rfly_bridge/get_entity_bounds";
    let ask = |_| rig.recorder.ask::<GetEntityBounds>(service, &request).expect("the service");
    let refused =
        (0..150).find_map(|number| ask(number).response()).expect("one is refused at once");
    let why = refused.result.error_message;
    assert!(why.contains("100 requests for bounds"), "{why}");
}

#[test]
fn wrong_parameters_are_named_together() {
    let arguments = ["--ros-args", "-p", "scene.first_id:=9", "-p", "scene.last_id:=8"];
    let arguments = ros_args::parse(arguments.map(str::to_owned)).expect("arguments");
    let error = Settings::load(&arguments).expect_err("the range is empty").to_string();
    assert!(error.contains("scene.last_id") && error.contains('9'), "{error}");
    let file = "-p scene.file:=/nowhere.json -p scene.world:=Graslands -p scene.windows:=[1]";
    let words = ["--ros-args"].into_iter().chain(file.split(' '));
    let arguments = ros_args::parse(words.map(str::to_owned)).expect("arguments");
    let error = Settings::load(&arguments).expect_err("there is no file").to_string();
    assert!(error.contains("/nowhere.json") && error.contains("Grasslands"), "{error}");
}

#[test]
fn texts_of_the_renderer_are_published_and_requests_to_coptersim_are_not() {
    use rfly_bridge::msgs::std_msgs::msg::String as Text;
    use rfly_bridge::wire::{CopterSimRequestPacket, HandshakePacket, IntoBytes as _};
    let rig = start(&["scene.texts:=true"]);
    let to = ("127.0.0.1", rig.requests);
    let request = CopterSimRequestPacket::new(1);
    let handshake = HandshakePacket::new(0x4141_4141, 1);
    for datagram in [
        request.as_bytes(),
        handshake.as_bytes(),
        b"\xff\xfe",
        b"\0\0",
        "Kollision mit Wand 3, \u{9ad8}\0\0".as_bytes(),
    ] {
        rig.window.send_to(datagram, to).expect("sent");
    }
    let heard = || {
        let heard = rig.recorder.messages::<Text>("/rflysim/scene/texts");
        heard.expect("of this type")
    };
    wait_until(|| !heard().is_empty());
    let texts: Vec<_> = heard().into_iter().map(|text| text.data).collect();
    assert_eq!(texts, ["Kollision mit Wand 3, \u{9ad8}"]);
}
