//! What is made of the facts of a bridge.
use super::codes;
use rfly_bridge::doctor::{
    AbsentVehicle, AutopilotFacts, AxesFacts, BridgeFacts, Code, DropFault, Finding, LinkState,
    RequestFacts, Shortfall, Simulator, SourceFacts, SourceRole, check_bridge,
};
use rfly_bridge::node::Cause;
use rfly_bridge::ros::{Incompatible, Policy, Qos, WriterReport, WriterStats};
use rfly_bridge::sensors::SensorCause;
use rfly_bridge::session::DropCause;
use rfly_bridge::time::ClockStatus;
use rfly_bridge::transport::{Firewall, Holder, Refused, RefusedSender};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

const RENDERER: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(192, 168, 1, 10), 20010);

fn simulator() -> Simulator {
    Simulator {
        renderer: RENDERER,
        ports: [20002, 20010, 20100, 30100].into(),
        may_be_windows: true,
        bridge: Some(Ipv4Addr::new(192, 168, 1, 5)),
        firewall: None,
        undelivered_hz: 0.0,
    }
}

fn camera(seq_id: u16, state: LinkState) -> SourceFacts {
    SourceFacts {
        name: format!("sensor{seq_id} img_rgb"),
        kind: SourceRole::Sensor(seq_id),
        state,
        is_requested: true,
        awaited: Some((*RENDERER.ip(), 9999 + seq_id)),
        frames: 900,
        ..SourceFacts::default()
    }
}

fn heartbeats(state: LinkState) -> SourceFacts {
    SourceFacts {
        name: "heartbeats".to_owned(),
        kind: SourceRole::Heartbeats,
        state,
        awaited: Some((*RENDERER.ip(), 20005)),
        ..SourceFacts::default()
    }
}

fn autopilot(state: LinkState, facts: AutopilotFacts) -> SourceFacts {
    SourceFacts { kind: SourceRole::Autopilot(facts), state, ..SourceFacts::default() }
}

fn found(sources: Vec<SourceFacts>) -> Vec<Finding> {
    check_bridge(&BridgeFacts { sources, ..BridgeFacts::default() }, &simulator(), true)
}

/// Checks further facts of a bridge that receives heartbeats.
fn found_in(facts: BridgeFacts) -> Vec<Finding> {
    let sources = vec![heartbeats(LinkState::Up)];
    check_bridge(&BridgeFacts { sources, ..facts }, &simulator(), true)
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
    let rule =
        "-Program $_ -Protocol UDP -LocalPort 20002,20010,20100,30100 -RemoteAddress 192.168.1.5 ";
    assert!(both[0].remedy.contains(rule), "{both:?}");
    let renderer = found(vec![heartbeats(Up), camera(0, Waiting)]);
    assert_eq!(codes(&renderer), [Code::RendererSilent]);
    let rule = "Get-Process RflySim3D | % Path | sort -Unique | % { New-NetFirewallRule -DisplayName RflySim -Direction Inbound \
                -Program $_ -Protocol UDP -LocalPort 20010 -RemoteAddress 192.168.1.5 -Action Allow }";
    assert!(renderer[0].remedy.ends_with(rule), "{renderer:?}");
    assert!(renderer[0].remedy.contains("`sudo tcpdump -ni any 'udp and (port 9999)'`"));
    let one = found(vec![heartbeats(Up), camera(0, Up), camera(1, Waiting)]);
    assert_eq!(codes(&one), [Code::SensorSilent]);
    assert_eq!(one[0].subject, "sensor1 img_rgb");
    let aged = |source: SourceFacts, seconds| SourceFacts {
        age: Some(Duration::from_secs(seconds)),
        ..source
    };
    let ended = |s| found(vec![aged(heartbeats(Up), 0), aged(camera(0, Lost), s), camera(1, Lost)]);
    assert_eq!(codes(&ended(9)), [Code::CapturesEnded]);
    assert_eq!(codes(&ended(2)), [], "the simulator may have stopped");
    // Requests reach CopterSim, and what it sends arrives, but for its heartbeats: behind NAT, for instance.
    let states = SourceFacts { kind: SourceRole::TrueState(1), ..aged(camera(101, Up), 0) };
    let heard = found(vec![heartbeats(Waiting), camera(0, Waiting), states]);
    assert_eq!(codes(&heard), [Code::RendererSilent]);
    assert!(heard[0].what.starts_with("CopterSim is heard, but no sensor delivers"), "{heard:?}");
    let awaited = Some((*RENDERER.ip(), 20101));
    let autopilot = SourceFacts { awaited, ..autopilot(Up, AutopilotFacts::default()) };
    let stopped =
        found(vec![aged(heartbeats(Lost), 4), aged(camera(0, Lost), 5), aged(autopilot, 0)]);
    assert_eq!(codes(&stopped), [Code::SimulatorStopped]);
    assert!(stopped[0].what.starts_with("last datagram 4 s ago: "), "{stopped:?}");
    let no_sensors = found(vec![aged(heartbeats(Lost), 4)]);
    assert_eq!(codes(&no_sensors), [Code::NoHeartbeat]);
    assert!(no_sensors[0].what.contains("arrived 4 s ago"), "{no_sensors:?}");
    let clock = found(vec![heartbeats(Waiting), camera(0, Up)]);
    assert_eq!(codes(&clock), [Code::NoHeartbeat]);
    let sources = vec![heartbeats(Waiting), camera(0, Waiting)];
    let early =
        check_bridge(&BridgeFacts { sources, ..BridgeFacts::default() }, &simulator(), false);
    assert_eq!(early, [], "a simulator gets time to answer");
}

#[test]
fn packets_that_the_kernel_keeps_from_the_bridge_are_the_first_finding() {
    use LinkState::{Lost, Up, Waiting};
    let blocked = |firewall, sources: Vec<SourceFacts>| {
        let simulator = Simulator { firewall, undelivered_hz: 58.5, ..simulator() };
        let facts = BridgeFacts { sources, ..BridgeFacts::default() };
        check_bridge(&facts, &simulator, true)
    };
    let images = || vec![heartbeats(Up), camera(0, Waiting), camera(1, Lost), camera(5, Waiting)];
    let alone = blocked(None, images());
    assert_eq!(codes(&alone), [Code::Firewall]);
    assert_eq!(alone[0].subject, "UDP ports 9999 to 10000, 10004");
    assert!(alone[0].what.contains("58.5 packets per second"), "{alone:?}");
    // Written down from the manual pages of iptables-extensions, nft, ufw and firewall-cmd; the first two are typed in
    // test/e2e/programs/test_doctor.py.
    let iptables = "sudo iptables -I INPUT -p udp -s 192.168.1.10 -m multiport --dports 9999:10000,10004 -j ACCEPT";
    assert!(alone[0].remedy.starts_with(iptables), "{alone:?}");
    let said =
        |firewall| {
            let remedy = blocked(Some(firewall), images()).remove(0).remedy;
            let (command, look) = remedy.split_once("; ").expect("a line for tcpdump");
            assert!(look.starts_with(
                "`sudo tcpdump -ni any 'udp and (portrange 9999-10000 or port 10004)'`"
            ));
            command.to_owned()
        };
    assert_eq!(
        said(Firewall::Nftables("inet filter input".to_owned())),
        "sudo nft insert rule inet filter input ip saddr 192.168.1.10 udp dport '{ 9999-10000, 10004 }' accept"
    );
    assert_eq!(
        said(Firewall::Ufw),
        "sudo ufw allow proto udp from 192.168.1.10 to any port 9999:10000,10004"
    );
    assert_eq!(
        said(Firewall::Firewalld),
        "sudo firewall-cmd --add-rich-rule='rule family=ipv4 source address=192.168.1.10 port port=9999-10000 protocol=udp accept' \
         --add-rich-rule='rule family=ipv4 source address=192.168.1.10 port port=10004 protocol=udp accept'"
    );
    // Heartbeats too, and only one sensor; but nothing if all that is awaited arrives.
    assert_eq!(
        blocked(None, vec![heartbeats(Waiting), camera(0, Up)])[0].subject,
        "UDP ports 20005"
    );
    assert_eq!(codes(&blocked(None, vec![heartbeats(Up), camera(0, Up)])), []);
    let elsewhere = |source: SourceFacts| SourceFacts { awaited: None, ..source };
    let shared = blocked(None, vec![heartbeats(Up), elsewhere(camera(0, Waiting))]);
    assert_eq!(codes(&shared), [Code::RendererSilent], "blocks pass no firewall");
    assert!(shared[0].what.contains("shared memory"), "{shared:?}");
}

#[test]
fn a_rule_of_iptables_or_ufw_has_at_most_15_ports_of_which_a_range_counts_as_two() {
    let lone: Vec<u16> = (0..14).map(|n| 2 * n + 1).collect();
    let cameras = lone.iter().copied().chain([29, 30]).map(|id| camera(id, LinkState::Waiting));
    let sources: Vec<_> = std::iter::once(heartbeats(LinkState::Up)).chain(cameras).collect();
    let remedy = |firewall| {
        let simulator = Simulator { firewall, undelivered_hz: 58.5, ..simulator() };
        let facts = BridgeFacts { sources: sources.clone(), ..BridgeFacts::default() };
        check_bridge(&facts, &simulator, true).remove(0).remedy
    };
    let lone: Vec<_> = lone.iter().map(|id| (9999 + id).to_string()).collect();
    let lists = [lone.join(","), "10028:10029".to_owned()];
    let [first, second] = lists.each_ref().map(|list| {
        format!(
            "sudo iptables -I INPUT -p udp -s 192.168.1.10 -m multiport --dports {list} -j ACCEPT; "
        )
    });
    let found = remedy(None);
    assert!(found.starts_with(&(first + &second)), "{found}");
    let [first, second] = lists
        .each_ref()
        .map(|list| format!("sudo ufw allow proto udp from 192.168.1.10 to any port {list}; "));
    let found = remedy(Some(Firewall::Ufw));
    assert!(found.starts_with(&(first + &second)), "{found}");
}

#[test]
fn a_few_packets_for_nobody_are_no_firewall_where_images_are_awaited() {
    use LinkState::{Up, Waiting};
    let of = |undelivered_hz, sources: Vec<SourceFacts>| {
        let simulator = Simulator { undelivered_hz, ..simulator() };
        codes(&check_bridge(&BridgeFacts { sources, ..BridgeFacts::default() }, &simulator, true))
    };
    let images = || vec![heartbeats(Up), camera(0, Waiting), camera(1, Waiting)];
    assert_eq!(of(1.7, images()), [Code::RendererSilent]);
    assert_eq!(of(5.0, images()), [Code::Firewall]);
    // One heartbeat a second.
    assert_eq!(of(1.0, vec![heartbeats(Waiting), camera(0, Up)]), [Code::Firewall]);
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
    let differs = "frd configured, measurements fit bld";
    let found = found_in(BridgeFacts {
        axes: vec![
            axes("imu of vehicle 1", true, differs, "imu.acceleration_axes"),
            axes("imu of vehicle 2", false, "bld, found", "imu.acceleration_axes"),
            axes("sensor7 depth cloud", false, "flu, not known yet", "cloud.depth_axes"),
        ],
        ..BridgeFacts::default()
    });
    assert_eq!(codes(&found), [Code::AxesMismatch]);
    assert_eq!(found[0].subject, "imu of vehicle 1");
    assert!(found[0].what.contains(differs), "{:?}", found[0]);
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
    let what = "1 subscribers request a value of RELIABILITY that the topic does not offer; the bridge offers best effort";
    assert!(readers[0].what.starts_with(what), "{readers:?}");
    let sender = (Ipv4Addr::new(172, 20, 0, 1), RefusedSender { port: 9999, count: 9 });
    let senders = Refused { senders: [sender].into(), others: 0 };
    let refused =
        |new| found_in(BridgeFacts { refused: (senders.clone(), new), ..BridgeFacts::default() });
    assert_eq!(refused(0), [], "none lately");
    let refused = refused(9);
    assert_eq!(codes(&refused), [Code::SenderRefused]);
    assert!(refused[0].remedy.ends_with("-p 'accept_from:=[172.20.0.1]'"));
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
