//! What is made of the facts of a bridge.
use super::codes;
use rfly_bridge::doctor::{
    AbsentVehicle, AutopilotFacts, AxesFacts, BridgeFacts, Code, DropFault, Finding, LinkState,
    RequestFacts, Shortfall, SourceFacts, SourceRole, check_bridge,
};
use rfly_bridge::node::Cause;
use rfly_bridge::ros::{Incompatible, Policy, Qos, WriterReport, WriterStats};
use rfly_bridge::sensors::SensorCause;
use rfly_bridge::session::DropCause;
use rfly_bridge::time::ClockStatus;
use rfly_bridge::transport::{Holder, Refused, RefusedSender};
use std::net::{Ipv4Addr, SocketAddrV4};

const RENDERER: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(192, 168, 1, 10), 20010);

fn camera(seq_id: u16, state: LinkState) -> SourceFacts {
    SourceFacts {
        name: format!("sensor{seq_id} img_rgb"),
        kind: SourceRole::Sensor(seq_id),
        state,
        is_requested: true,
        frames: 900,
        ..SourceFacts::default()
    }
}

fn heartbeats(state: LinkState) -> SourceFacts {
    SourceFacts {
        name: "heartbeats".to_owned(),
        kind: SourceRole::Heartbeats,
        state,
        ..SourceFacts::default()
    }
}

fn autopilot(state: LinkState, facts: AutopilotFacts) -> SourceFacts {
    SourceFacts { kind: SourceRole::Autopilot(facts), state, ..SourceFacts::default() }
}

fn found(sources: Vec<SourceFacts>) -> Vec<Finding> {
    check_bridge(&BridgeFacts { sources, ..BridgeFacts::default() }, RENDERER, true)
}

/// Checks further facts of a bridge that receives heartbeats.
fn found_in(facts: BridgeFacts) -> Vec<Finding> {
    let sources = vec![heartbeats(LinkState::Up)];
    check_bridge(&BridgeFacts { sources, ..facts }, RENDERER, true)
}

#[test]
fn what_flows_is_fine() {
    use LinkState::Up;
    assert_eq!(found(vec![heartbeats(Up), camera(0, Up), camera(1, Up)]), []);
}

#[test]
fn silence_is_told_by_who_is_silent() {
    use LinkState::{Lost, Up, Waiting};
    let both = found(vec![heartbeats(Waiting), camera(0, Waiting)]);
    assert_eq!(codes(&both), [Code::SimulatorSilent]);
    assert!(both[0].remedy.contains("192.168.1.10"));
    let renderer = found(vec![heartbeats(Up), camera(0, Waiting)]);
    assert_eq!(codes(&renderer), [Code::RendererSilent]);
    let one = found(vec![heartbeats(Up), camera(0, Up), camera(1, Waiting)]);
    assert_eq!(codes(&one), [Code::SensorSilent]);
    assert_eq!(one[0].subject, "sensor1 img_rgb");
    let ended = found(vec![heartbeats(Up), camera(0, Lost), camera(1, Lost)]);
    assert_eq!(codes(&ended), [Code::CapturesEnded]);
    let clock = found(vec![heartbeats(Waiting), camera(0, Up)]);
    assert_eq!(codes(&clock), [Code::NoHeartbeat]);
    let sources = vec![heartbeats(Waiting), camera(0, Waiting)];
    let early = check_bridge(&BridgeFacts { sources, ..BridgeFacts::default() }, RENDERER, false);
    assert_eq!(early, [], "a simulator gets time to answer");
}

#[test]
fn a_silent_sensor_is_told_with_what_is_known_of_it() {
    use LinkState::{Lost, Up};
    let reason = "/dev/shm/RflySim3DImg_1 is open; RflySim3D writes no further frame";
    let silent = SourceFacts { reason: Some(reason.to_owned()), ..camera(1, Lost) };
    let found = found(vec![heartbeats(Up), camera(0, Up), silent]);
    assert_eq!(codes(&found), [Code::SensorSilent]);
    assert_eq!(found[0].what, format!("delivers nothing: {reason}"));
}

#[test]
fn an_overloaded_renderer_is_told_with_what_to_lower() {
    let shortfall = Some(Shortfall { rate_hz: 2.4, asked_hz: 30.0 });
    let slow = SourceFacts { shortfall, ..camera(3, LinkState::Up) };
    let found = found(vec![heartbeats(LinkState::Up), slow]);
    assert_eq!(codes(&found), [Code::RendererOverloaded]);
    assert!(found[0].what.starts_with("arrives at 2.4 Hz, 30.0 Hz requested: "), "{found:?}");
    assert!(found[0].remedy.contains("sensor3.rate_hz:=2"), "{found:?}");
}

#[test]
fn drops_are_told_by_what_is_behind_them() {
    let of = |cause: Cause, count: u64| {
        let drops = cause.fault().map(|fault| (fault, count)).into_iter().collect();
        let status = SourceFacts { drops, ..camera(0, LinkState::Up) };
        codes(&found(vec![heartbeats(LinkState::Up), status]))
    };
    assert_eq!(of(Cause::SocketOverflow, 5), [Code::BuffersOverflow]);
    assert_eq!(of(Cause::Frame(DropCause::Incomplete), 5), []);
    assert_eq!(of(Cause::Frame(DropCause::Incomplete), 50), [Code::DatagramsLost]);
    assert_eq!(of(Cause::Sensor(SensorCause::Size), 1), [Code::SizeMismatch]);
    assert_eq!(of(Cause::Sensor(SensorCause::Undecodable), 1), [Code::TypeMismatch]);
    assert_eq!(of(Cause::Sensor(SensorCause::OnPurpose), 100), []);
}

#[test]
fn a_vehicle_that_is_missing_or_elsewhere_is_named() {
    let absent = |vehicle, is_elsewhere, what: &str, remedy: &str| AbsentVehicle {
        vehicle,
        is_elsewhere,
        what: what.to_owned(),
        remedy: remedy.to_owned(),
    };
    let found = found_in(BridgeFacts {
        absent_vehicles: vec![
            absent(
                2,
                false,
                "CopterSim 2 has sent no heartbeat to UDP port 20005",
                "check on 192.168.1.10",
            ),
            absent(
                3,
                true,
                "CopterSim 3 runs on 192.168.1.11, not on 192.168.1.10",
                "set vehicle3.address:=192.168.1.11",
            ),
        ],
        ..BridgeFacts::default()
    });
    assert_eq!(codes(&found), [Code::VehicleMissing, Code::WrongAddress]);
    assert_eq!(found[0].subject, "vehicle 2");
    assert_eq!(found[1].remedy, "set vehicle3.address:=192.168.1.11");
}

#[test]
fn what_comes_by_unicast_only_is_told() {
    let requests = |vehicle, sent, is_needed, missing| RequestFacts {
        vehicle,
        address: SocketAddrV4::new(*RENDERER.ip(), 30100 + 2 * (vehicle - 1)),
        sent,
        is_needed,
        missing,
    };
    let found = found_in(BridgeFacts {
        requests: vec![
            requests(1, 0, false, None),
            requests(2, 7, false, None),
            requests(3, 2, true, None),
            requests(4, 3, false, Some("true state")),
        ],
        ..BridgeFacts::default()
    });
    assert_eq!(codes(&found), [Code::AskedByUnicast, Code::AskedInVain]);
    assert_eq!(found[0].subject, "vehicle 3");
    assert!(found[0].what.contains("arrived only after requests, 2 so far"), "{found:?}");
    assert!(
        found[1].what.contains("true state after 3 requests (192.168.1.10:30106)"),
        "{found:?}"
    );
}

#[test]
fn axes_that_are_not_those_given_are_named_with_their_parameter() {
    let axes = |subject: &str, differ, axes: &str, parameter: &str| AxesFacts {
        subject: subject.to_owned(),
        differ,
        axes: axes.to_owned(),
        parameter: parameter.to_owned(),
    };
    let found = found_in(BridgeFacts {
        axes: vec![
            axes("imu of vehicle 1", true, "bld seen, frd given", "imu.acceleration_axes"),
            axes("imu of vehicle 2", false, "bld, found", "imu.acceleration_axes"),
            axes("sensor7 depth cloud", false, "flu, not known yet", "cloud.depth_axes"),
        ],
        ..BridgeFacts::default()
    });
    assert_eq!(codes(&found), [Code::AxesMismatch]);
    assert_eq!(found[0].subject, "imu of vehicle 1");
    assert!(found[0].what.contains("bld seen, frd given"), "{:?}", found[0]);
    assert!(found[0].remedy.contains("imu.acceleration_axes:=auto"), "{:?}", found[0]);
}

#[test]
fn an_autopilot_says_why_it_will_not_arm() {
    use LinkState::{Up, Waiting};
    let facts = |vehicle| AutopilotFacts { vehicle, ..AutopilotFacts::default() };
    let not_ready = Some("unhealthy: GPS".to_owned());
    let pilot = autopilot(Up, AutopilotFacts { not_ready, ..facts(2) });
    let said = found(vec![heartbeats(Up), pilot]);
    assert_eq!(codes(&said), [Code::WillNotArm]);
    assert!(said[0].what.contains("unhealthy: GPS"));
    let silent = autopilot(Waiting, facts(2));
    assert_eq!(codes(&found(vec![heartbeats(Up), silent])), [Code::AutopilotSilent]);
    let link_warnings = Some("stamps are 7 s old".to_owned());
    let link = autopilot(Up, AutopilotFacts { link_warnings, ..facts(1) });
    assert_eq!(codes(&found(vec![heartbeats(Up), link])), [Code::LinkOdd]);
    let setpoints = |hz| autopilot(Up, AutopilotFacts { setpoint_hz: Some(hz), ..facts(1) });
    assert_eq!(codes(&found(vec![heartbeats(Up), setpoints(1.3)])), [Code::OffboardSlow]);
    assert_eq!(found(vec![heartbeats(Up), setpoints(29.9)]), []);
}

#[test]
fn clocks_readers_and_strangers() {
    let clock = |drift_ppm: f64, observations: u64| {
        let status = ClockStatus { drift_ppm, observations, ..ClockStatus::default() };
        let clocks = vec![(1, status)];
        codes(&found_in(BridgeFacts { clocks, ..BridgeFacts::default() }))
    };
    assert_eq!(clock(-2000.0, 5000), [Code::ClocksApart]);
    assert_eq!(clock(-2000.0, 50), []);
    assert_eq!(clock(40.0, 5000), []);
    let topic = |count| WriterReport {
        topic: "/rflysim/imu".to_owned(),
        type_name: "sensor_msgs/msg/Imu",
        qos: Qos::SENSOR_DATA,
        subscribers: 0,
        incompatible: Incompatible { count, last_policy: Some(Policy::Reliability) },
        stats: WriterStats::default(),
    };
    let topics = vec![topic(1), WriterReport { topic: "/rflysim/other".to_owned(), ..topic(0) }];
    let readers = found_in(BridgeFacts { topics, ..BridgeFacts::default() });
    assert_eq!(codes(&readers), [Code::ReaderQos]);
    assert_eq!(readers[0].subject, "/rflysim/imu");
    let what = "1 subscribers request a Reliability that the topic does not offer; the bridge offers best effort";
    assert!(readers[0].what.starts_with(what), "{readers:?}");
    let sender = (Ipv4Addr::new(172, 20, 0, 1), RefusedSender { port: 9999, count: 9 });
    let senders = Refused { senders: [sender].into(), others: 0 };
    let refused =
        |new| found_in(BridgeFacts { refused: (senders.clone(), new), ..BridgeFacts::default() });
    assert_eq!(refused(0), [], "none lately");
    let refused = refused(9);
    assert_eq!(codes(&refused), [Code::SenderRefused]);
    assert!(refused[0].remedy.ends_with("accept_from:=[172.20.0.1]"));
    let holder = Holder { inode: 1, process: Some((7, "python3".to_owned())) };
    let shared_ports = vec![(30101, holder)];
    let shared = found_in(BridgeFacts { shared_ports, ..BridgeFacts::default() });
    assert_eq!(codes(&shared), [Code::PortShared]);
    assert!(shared[0].what.starts_with("process 7 (python3) "), "{shared:?}");
}

#[test]
fn another_field_of_view_is_told_with_what_to_type() {
    let fields_of_view = vec![(1, 90.0, 70.0), (2, 90.0, 62.5)];
    let found = found_in(BridgeFacts { fields_of_view, ..BridgeFacts::default() });
    assert_eq!(codes(&found), [Code::FovMismatch; 2]);
    assert_eq!(found[0].subject, "sensor1");
    let what = "the renderer describes a field of view of 70 degrees, configured are 90";
    assert!(found[0].what.starts_with(what));
    assert!(found[0].remedy.ends_with("-p sensor1.fov_deg:=70.0"));
    assert!(found[1].remedy.ends_with("-p sensor2.fov_deg:=62.5"));
}

#[test]
fn errors_of_the_program_and_a_log_that_nobody_reads_are_told() {
    let last_panic = Some("thread `rfly-test` panicked".to_owned());
    let panic = found_in(BridgeFacts { last_panic, ..BridgeFacts::default() });
    assert_eq!(codes(&panic), [Code::Panic]);
    assert!(panic[0].what.contains("thread `rfly-test` panicked"), "{panic:?}");
    let lost = found_in(BridgeFacts { lost_log_lines: 7, ..BridgeFacts::default() });
    assert_eq!(codes(&lost), [Code::LogLost]);
    assert_eq!(found_in(BridgeFacts::default()), []);
    let fault = Cause::OtherVehicle.fault().expect("a fault of the set-up");
    assert_eq!(fault, DropFault::OtherVehicle);
    let others = SourceFacts { drops: [(fault, 3)].into(), ..heartbeats(LinkState::Up) };
    assert_eq!(codes(&found(vec![others])), [Code::VehicleNotServed]);
}
