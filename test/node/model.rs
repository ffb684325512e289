//! Models, CopterSim and the simulated network through topics and services; a socket plays CopterSim.
use crate::support::golden;
use crate::support::ports::{free_port, free_ports};
use crate::support::wait::{wait_for, wait_until};
use rfly_bridge::config::Direction;
use rfly_bridge::config::ros_args;
use rfly_bridge::model::{MODEL_SERVICES, MODEL_TOPICS};
use rfly_bridge::msgs::Message;
use rfly_bridge::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use rfly_bridge::msgs::rfly_bridge_msgs::msg::{
    ActiveFaults, FleetReady, ModelDoubles, ModelOutput, ModelUorb,
};
use rfly_bridge::msgs::rfly_bridge_msgs::srv::{
    ClearFaults, ClearFaultsRequest, InjectFault, InjectFaultRequest, InjectFaultResponse,
    SetUdpMode, SetUdpModeRequest,
};
use rfly_bridge::msgs::std_srvs::srv::{Trigger, TriggerRequest};
use rfly_bridge::node::{Bridge, Settings};
use rfly_bridge::ros::{self, Middleware, Qos, Recorder};
use rfly_bridge::wire::{
    HeartbeatPacket, IntoBytes as _, ModelInput, Packet as _, Ports, RebootPacket,
};
use std::net::UdpSocket;
use std::time::Duration;

/// A bridge and what plays the CopterSim of its vehicles.
struct Rig {
    recorder: Recorder,
    middleware: Middleware,
    bridge: Option<Bridge>,
    ports: Ports,
    /// Port 30100 of vehicle 1.
    coptersim: UdpSocket,
    /// Port 20100 of vehicle 1.
    autopilot: UdpSocket,
}

fn socket() -> (UdpSocket, u16) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let limit = Some(Duration::from_secs(60));
    socket.set_read_timeout(limit).expect("a limit");
    let port = socket.local_addr().expect("it is bound").port();
    (socket, port)
}

fn start(more: &[&str]) -> Rig {
    start_with(more, |_| {})
}

fn start_with(more: &[&str], change: impl FnOnce(&mut Ports)) -> Rig {
    let [heartbeat, autopilot_client, true_state, imu, outputs, start] = free_ports();
    let ((coptersim, coptersim_port), (autopilot, autopilot_port)) = (socket(), socket());
    let mut ports = Ports {
        heartbeat,
        autopilot_client,
        true_state,
        imu,
        outputs,
        start,
        coptersim: coptersim_port,
        autopilot: autopilot_port,
        ..Ports::default()
    };
    change(&mut ports);
    let mut words = vec!["--ros-args".to_owned()];
    for word in ["imu.enabled:=false", "diagnostics.period_s:=0.1"].iter().chain(more) {
        words.extend(["-p".to_owned(), (*word).to_owned()]);
    }
    let args = ros_args::parse(words).expect("arguments");
    let mut settings = Settings::load(&args).unwrap_or_else(|error| panic!("{error}"));
    settings.ports = ports;
    let (middleware, recorder) =
        Middleware::recorder(&ros::Options::new("rfly_bridge")).expect("a middleware");
    recorder.set_subscribers("/diagnostics", 1);
    let bridge = Bridge::start(&settings, &middleware).unwrap_or_else(|error| panic!("{error}"));
    Rig { recorder, middleware, bridge: Some(bridge), ports, coptersim, autopilot }
}

impl Rig {
    fn newest<M: Message>(&self, topic: &str) -> Option<M> {
        self.recorder.messages(topic).expect("of this type").pop()
    }

    /// Publishes as another node would.
    fn publish<M: Message>(&self, topic: &str, message: &M) {
        let publisher = self.middleware.publisher(topic, Qos::DEFAULT).expect("a publisher");
        publisher.publish(message).expect("published");
    }

    fn inject(&self, request: &InjectFaultRequest) -> InjectFaultResponse {
        let name = "/rflysim/model/inject_fault";
        self.recorder.call::<InjectFault>(name, request).expect("a service")
    }

    /// The newest list of active faults, as kinds.
    fn active(&self) -> Vec<String> {
        let newest = self.newest::<ActiveFaults>("/rflysim/model/active_faults");
        let faults = newest.expect("a latched message").faults.into_iter();
        faults.map(|fault| fault.kind).collect()
    }

    /// A status of the newest report.
    fn status(&self, name: &str) -> Option<DiagnosticStatus> {
        let report = self.newest::<DiagnosticArray>("/diagnostics")?;
        let mut all = report.status.into_iter();
        all.find(|status| status.name.ends_with(name))
    }
}

/// The next datagram.
fn receive(socket: &UdpSocket) -> Vec<u8> {
    let mut buffer = [0; 2048];
    let len = socket.recv(&mut buffer).expect("a datagram");
    buffer[..len].to_vec()
}

/// The next datagram of faults: its first number and parameter.
fn fault(socket: &UdpSocket) -> (i32, f32) {
    let bytes = receive(socket);
    let ModelInput::Sil(packet) = ModelInput::parse(&bytes).expect("an input") else {
        panic!("integers and floats");
    };
    (packet.ints[0].get(), packet.floats[0].get())
}

fn noise(gain: f64) -> InjectFaultRequest {
    InjectFaultRequest {
        kind: "accelerometer_noise".to_owned(),
        parameters: vec![gain],
        ..InjectFaultRequest::default()
    }
}

#[test]
fn a_fault_is_sent_listed_and_cleared_on_request() {
    let rig = start(&[]);
    assert_eq!(rig.active(), [""; 0], "latched from the start");
    let answer = rig.inject(&noise(3.0));
    assert!(answer.success, "{}", answer.message);
    assert_eq!(fault(&rig.coptersim), (123_542, 3.0));
    assert_eq!(rig.active(), ["accelerometer_noise"]);
    let request = ClearFaultsRequest::default();
    let name = "/rflysim/model/clear_faults";
    let answer = rig.recorder.call::<ClearFaults>(name, &request).expect("a service");
    assert!(answer.success && answer.cleared.len() == 1, "{}", answer.message);
    assert_eq!(fault(&rig.coptersim), (123_542, 0.0));
    assert_eq!(rig.active(), [""; 0]);
    let answer = rig.recorder.call::<ClearFaults>(name, &request).expect("a service");
    assert!(answer.success && answer.message == "0 cleared", "{}", answer.message);
    rig.coptersim.set_nonblocking(true).expect("set");
    assert!(rig.coptersim.recv(&mut [0; 16]).is_err(), "nothing to clear, nothing sent");
}

#[test]
fn a_fault_that_is_not_sent_is_not_active() {
    // No datagram goes to port 0.
    let rig = start_with(&[], |ports| ports.coptersim = 0);
    let answer = rig.inject(&noise(3.0));
    assert!(!answer.success && answer.message.starts_with("not sent to "), "{}", answer.message);
    assert_eq!(rig.active(), [""; 0]);
    let name = "/rflysim/model/clear_faults";
    let request = ClearFaultsRequest::default();
    let answer = rig.recorder.call::<ClearFaults>(name, &request).expect("a service");
    assert!(answer.success && answer.cleared.is_empty(), "{}", answer.message);
}

#[test]
fn datagrams_of_the_simulated_network_that_cannot_be_read_are_received_ones_too() {
    let port = free_port();
    let rig = start(&["netsim.enabled:=true", &format!("netsim.port:={port}")]);
    let (sender, _) = socket();
    let good = golden::load_one("recv_netsim", "state136").input_packets().remove(0);
    for bytes in [&good[..], b"garbage"] {
        sender.send_to(bytes, ("127.0.0.1", port)).expect("sent");
    }
    wait_until(|| {
        rig.status(&format!("simulated network, port {port}")).is_some_and(|status| {
            let has = |key, value| status.values.iter().any(|v| v.key == key && v.value == value);
            has("received", "2") && has("drop_malformed", "1") && has("frames", "1")
        })
    });
}

#[test]
fn a_fault_ends_by_its_time_by_its_client_and_with_the_bridge() {
    let mut rig = start(&["model.fault_numbers:=template"]);
    let short = InjectFaultRequest { duration: 0.05, ..noise(1.0) };
    assert!(rig.inject(&short).success);
    assert_eq!([fault(&rig.coptersim), fault(&rig.coptersim)], [(123_544, 1.0), (123_544, 0.0)]);
    wait_until(|| rig.active().is_empty());
    let kept = InjectFaultRequest { keep_alive: 0.05, ..noise(2.0) };
    assert!(rig.inject(&kept).success);
    assert_eq!([fault(&rig.coptersim), fault(&rig.coptersim)], [(123_544, 2.0), (123_544, 0.0)]);
    assert!(rig.inject(&noise(4.0)).success);
    assert_eq!(fault(&rig.coptersim), (123_544, 4.0));
    drop(rig.bridge.take());
    assert_eq!(fault(&rig.coptersim), (123_544, 0.0), "the bridge leaves no fault behind");
}

#[test]
fn a_read_only_bridge_changes_nothing_and_says_why() {
    let rig = start(&["control.read_only:=true"]);
    let answer = rig.inject(&noise(3.0));
    assert!(!answer.success && answer.message.contains("control.read_only"), "{}", answer.message);
    let request = SetUdpModeRequest { mode: "udp_full".to_owned() };
    let name = "/rflysim/coptersim/set_udp_mode";
    let answer = rig.recorder.call::<SetUdpMode>(name, &request).expect("a service");
    assert!(!answer.success && answer.message.contains("control.read_only"), "{}", answer.message);
    rig.publish("/rflysim/model/uorb", &ModelUorb::default());
    wait_until(|| {
        rig.status("models").is_some_and(|status| {
            status
                .values
                .iter()
                .any(|value| value.key.contains("model/uorb drop_read_only") && value.value == "1")
        })
    });
}

#[test]
fn topics_become_inputs_and_what_is_wrong_is_counted_by_cause() {
    let rig = start(&[]);
    let doubles = |set| ModelDoubles { set, values: vec![1.5, 2.5], ..ModelDoubles::default() };
    rig.publish("/rflysim/model/doubles", &doubles(7));
    rig.publish("/rflysim/model/doubles", &doubles(3));
    let bytes = receive(&rig.coptersim);
    let ModelInput::Doubles(packet) = ModelInput::parse(&bytes).expect("an input") else {
        panic!("doubles");
    };
    assert_eq!((packet.checksum.get(), packet.copter_id.get()), (1_234_567_803, 1));
    assert_eq!(packet.values[1].get(), 2.5);
    wait_until(|| {
        rig.status("models").is_some_and(|status| {
            let value =
                |key: &str| status.values.iter().find(|v| v.key.contains(key)).map(|v| &*v.value);
            value("passed_on") == Some("1") && value("model/doubles drop_set") == Some("1")
        })
    });
}

#[test]
fn outputs_of_a_model_and_of_a_modified_autopilot_become_topics() {
    let rig = start(&[]);
    let (sender, _) = socket();
    let (model, px4) = ("/rflysim/model/output", "/rflysim/model/px4_output");
    rig.recorder.set_subscribers(model, 1);
    let output = golden::load_one("modelload_send", "modelload_SendOutCopter");
    let (_, bytes) = &output.sent()[0];
    sender.send_to(bytes, ("127.0.0.1", rig.ports.true_state)).expect("sent");
    wait_until(|| rig.newest::<ModelOutput>(model).is_some());
    let values = rig.newest::<ModelOutput>(model).expect("it is there").values;
    let sent: Vec<_> =
        bytes[8..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(values, sent);
    for vector in golden::load("recv_px4ext") {
        for bytes in vector.input_packets() {
            sender.send_to(&bytes, ("127.0.0.1", rig.ports.outputs)).expect("sent");
        }
    }
    wait_until(|| {
        rig.status("models").is_some_and(|status| {
            status
                .values
                .iter()
                .any(|value| value.key.contains("px4_output drop_malformed") && value.value == "1")
        })
    });
    wait_until(|| {
        rig.status("px4_output of vehicle 1").is_some_and(|status| {
            let has = |key, value| status.values.iter().any(|v| v.key == key && v.value == value);
            has("frames", "1") && has("converted", "1")
        })
    });
    let messages: Vec<ModelOutput> = rig.recorder.messages(px4).expect("of this type");
    let good = golden::load_one("recv_px4ext", "px4ext");
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].values, golden::numbers(&good["decoded"]["controls"]));
}

#[test]
fn a_vehicle_whose_coptersim_never_came_up_is_named_on_the_topic_and_in_diagnostics() {
    let rig = start(&["vehicles:=[1, 2]"]);
    let ready = "/rflysim/fleet/ready";
    wait_until(|| rig.newest::<FleetReady>(ready).is_some());
    let (sender, _) = socket();
    let beat = |id: i32| {
        let packet = HeartbeatPacket::new(id, 1_700_000_000_000, 1_700_000_001_000, 1);
        sender.send_to(packet.as_bytes(), ("127.0.0.1", rig.ports.heartbeat)).expect("sent");
    };
    wait_until(|| {
        beat(1);
        rig.newest::<FleetReady>(ready).is_some_and(|fleet| fleet.vehicles[0].ready)
    });
    let fleet: FleetReady = rig.newest(ready).expect("it is there");
    let missing = &fleet.vehicles[1];
    assert!(!fleet.ready && !missing.ready);
    assert!(missing.missing.contains("CopterSim 2 has sent no heartbeat"), "{}", missing.missing);
    wait_until(|| {
        beat(1);
        rig.status("fleet").is_some_and(|status| {
            status.message == "1 of 2 vehicles are simulated; missing: 2" && status.level == 1
        })
    });
    wait_until(|| {
        let [(), ()] = [1, 2].map(beat);
        rig.newest::<FleetReady>(ready).is_some_and(|fleet| fleet.ready)
    });
}

#[test]
fn the_tables_are_what_a_bridge_opens() {
    let rig = start(&["netsim.enabled:=true"]);
    let full = |name: &str| format!("/rflysim/{name}");
    let (services, subscribed) = (rig.recorder.services(), rig.recorder.subscribed());
    for service in MODEL_SERVICES {
        let opened = (full(service.name), service.interface);
        assert!(services.contains(&opened), "{opened:?}");
    }
    let written = rig.middleware.report();
    for topic in MODEL_TOPICS {
        let name = full(topic.name);
        match topic.direction {
            Direction::Subscribed => assert!(subscribed.contains(&name), "{name}"),
            Direction::Published(group) => {
                let writer = written.iter().find(|writer| writer.topic == name);
                let writer = writer.unwrap_or_else(|| panic!("nobody publishes {name}"));
                assert_eq!(writer.type_name, topic.interface);
                assert_eq!(writer.qos, group.default_qos(), "{name}");
            }
        }
    }
    let ours = |name: &String| {
        let rest = name.strip_prefix("/rflysim/").unwrap_or_default();
        ["model/", "coptersim/", "fleet/", "netsim/"].iter().any(|part| rest.starts_with(part))
    };
    let (topics, all) = (MODEL_TOPICS.iter(), MODEL_SERVICES.len());
    let inputs = topics.filter(|topic| !topic.is_published()).count();
    assert_eq!(services.iter().filter(|(name, _)| ours(name)).count(), all);
    assert_eq!(subscribed.iter().filter(|name| ours(name)).count(), inputs);
}

#[test]
fn a_restart_goes_where_the_vehicle_was_and_a_reboot_to_its_autopilot() {
    let rig = start(&[]);
    let call = |name: &str| {
        let name = format!("/rflysim/coptersim/{name}");
        rig.recorder.call::<Trigger>(&name, &TriggerRequest::default()).expect("a service")
    };
    let unknown = call("restart");
    assert!(
        !unknown.success && unknown.message.contains("coptersim/set_pose"),
        "{}",
        unknown.message
    );
    let reboot = call("reboot_autopilot");
    assert!(reboot.success && reboot.message.contains("fleet/ready"), "{}", reboot.message);
    let expected = RebootPacket::new(RebootPacket::AT_ONCE);
    let recorded = golden::load("coptersim_send").into_iter();
    let mut recorded = recorded.filter(|vector| vector.function() == "sendRebootPix");
    assert!(
        recorded
            .any(|vector| { vector.sent().iter().any(|(_, bytes)| bytes == expected.as_bytes()) })
    );
    // The link greets the autopilot on the same port.
    let sent = wait_for("a reboot", || {
        let bytes = receive(&rig.autopilot);
        RebootPacket::parse(&bytes).is_ok().then_some(bytes)
    });
    assert_eq!(sent, expected.as_bytes());
}

#[test]
fn the_answer_to_a_start_signal_names_its_destination_and_no_coptersim() {
    let rig = start(&[]);
    let destination = format!("224.0.0.10:{}", rig.ports.start);
    for name in ["/rflysim/fleet/start_signal", "/rflysim/coptersim/start_signal"] {
        let answer = rig.recorder.call::<Trigger>(name, &TriggerRequest::default());
        let text = answer.expect("a service").message;
        assert!(text.contains(&destination) && !text.contains("CopterSim"), "{text}");
    }
}

#[test]
fn start_signals_are_published_as_the_vendors_programs_take_them() {
    use rfly_bridge::msgs::std_msgs::msg::Int32;
    let rig = start(&[]);
    let (socket, _) = socket();
    let to = ("127.0.0.1", rig.ports.start);
    let signals = golden::load("coptersim_send");
    let signals = signals.iter().filter(|v| v.function() == "sendStartMsg");
    let mut wanted = Vec::new();
    for signal in signals {
        let (_, bytes) = signal.sent().swap_remove(0);
        wanted.push(i32::from_le_bytes(bytes[8..12].try_into().unwrap()));
        // Neither one that says no, nor other bytes.
        let mut no = bytes.clone();
        no[4] = 0;
        for datagram in [&no[..], &bytes[..11], &bytes] {
            socket.send_to(datagram, to).expect("sent");
        }
    }
    assert!(wanted.contains(&-1), "{wanted:?}");
    let heard = || {
        let messages = rig.recorder.messages::<Int32>("/rflysim/fleet/start");
        let messages = messages.expect("of this type").into_iter();
        messages.map(|message| message.data).collect::<Vec<_>>()
    };
    wait_until(|| heard().len() >= wanted.len());
    assert_eq!(heard(), wanted);
}
