//! What is made of a bridge's report.
use super::codes;
use rfly_bridge::doctor::{Code, DiagnosticsReport, DiagnosticsStatus, Finding, check_diagnostics};

fn status(name: &str, values: &[(&str, &str)]) -> DiagnosticsStatus {
    let values = values.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    DiagnosticsStatus {
        name: name.to_owned(),
        values: values.collect(),
        ..DiagnosticsStatus::default()
    }
}

fn camera(n: u8, state: &str) -> DiagnosticsStatus {
    status(
        &format!("sensor{n} img_rgb"),
        &[("state", state), ("asked_hz", "30"), ("frames", "900")],
    )
}

fn found(statuses: Vec<DiagnosticsStatus>) -> Vec<Finding> {
    check_diagnostics(&DiagnosticsReport {
        statuses,
        renderer: "192.168.1.10:20010".to_owned(),
        settled: true,
    })
}

fn beats(state: &str) -> DiagnosticsStatus {
    status("heartbeats", &[("state", state)])
}

fn with(mut status: DiagnosticsStatus, key: &str, value: &str) -> DiagnosticsStatus {
    status.values.push((key.to_owned(), value.to_owned()));
    status
}

#[test]
fn what_flows_is_fine() {
    assert_eq!(found(vec![beats("up"), camera(0, "up"), camera(1, "up")]), []);
}

#[test]
fn silence_is_told_by_who_is_silent() {
    let both = found(vec![beats("waiting"), camera(0, "waiting")]);
    assert_eq!(codes(&both), [Code::SimulatorSilent]);
    assert!(both[0].remedy.contains("192.168.1.10"));
    let renderer = found(vec![beats("up"), camera(0, "waiting")]);
    assert_eq!(codes(&renderer), [Code::RendererSilent]);
    let one = found(vec![beats("up"), camera(0, "up"), camera(1, "waiting")]);
    assert_eq!(codes(&one), [Code::SensorSilent]);
    assert_eq!(one[0].subject, "sensor1 img_rgb");
    let ended = found(vec![beats("up"), camera(0, "lost"), camera(1, "lost")]);
    assert_eq!(codes(&ended), [Code::CapturesEnded]);
    let clock = found(vec![beats("waiting"), camera(0, "up")]);
    assert_eq!(codes(&clock), [Code::NoHeartbeat]);
    let early = check_diagnostics(&DiagnosticsReport {
        statuses: vec![beats("waiting"), camera(0, "waiting")],
        ..DiagnosticsReport::default()
    });
    assert_eq!(early, [], "a simulator gets time to answer");
}

#[test]
fn an_overloaded_renderer_is_told_with_what_to_lower() {
    let slow = with(camera(3, "up"), "below_asked", "2.4 Hz, 30.0 Hz requested");
    let found = found(vec![beats("up"), slow]);
    assert_eq!(codes(&found), [Code::RendererOverloaded]);
    assert!(found[0].remedy.contains("sensor3.rate_hz:=2"), "{found:?}");
}

#[test]
fn drops_are_told_by_what_is_behind_them() {
    let of = |cause: &str, count: &str| {
        let status = with(camera(0, "up"), &format!("drop_{cause}"), count);
        codes(&found(vec![beats("up"), status]))
    };
    assert_eq!(of("socket_overflow", "5"), [Code::BuffersOverflow]);
    assert_eq!(of("incomplete", "5"), []);
    assert_eq!(of("incomplete", "50"), [Code::DatagramsLost]);
    assert_eq!(of("size", "1"), [Code::SizeMismatch]);
    assert_eq!(of("undecodable", "1"), [Code::TypeMismatch]);
    assert_eq!(of("on_purpose", "100"), []);
}

#[test]
fn a_vehicle_that_is_missing_or_elsewhere_is_named() {
    let fleet = status(
        "fleet",
        &[
            ("vehicle 1", "ready at 192.168.1.10"),
            (
                "vehicle 2",
                "CopterSim 2 has sent no heartbeat to UDP port 20005: check on 192.168.1.10",
            ),
            (
                "vehicle 3",
                "CopterSim 3 runs on 192.168.1.11, not on 192.168.1.10: set vehicle3.address:=192.168.1.11",
            ),
        ],
    );
    let found = found(vec![beats("up"), fleet]);
    assert_eq!(codes(&found), [Code::VehicleMissing, Code::WrongAddress]);
    assert_eq!(found[0].subject, "vehicle 2");
    assert_eq!(found[1].remedy, "set vehicle3.address:=192.168.1.11");
}

#[test]
fn what_comes_by_unicast_only_is_told() {
    let requests = status(
        "requests to CopterSim",
        &[
            ("vehicle 1", "not needed (192.168.1.10:30100)"),
            ("vehicle 2", "7 requests (192.168.1.10:30102)"),
            ("vehicle 3", "on request: arrived only after requests, 2 so far (192.168.1.10:30104)"),
            ("vehicle 4", "unanswered: true state after 3 requests (192.168.1.10:30106)"),
        ],
    );
    let found = found(vec![beats("up"), requests]);
    assert_eq!(codes(&found), [Code::AskedByUnicast, Code::AskedInVain]);
    assert_eq!(found[0].subject, "vehicle 3");
    assert!(found[1].what.contains("true state"), "{found:?}");
}

#[test]
fn axes_that_are_not_those_given_are_named_with_their_parameter() {
    let axes = status(
        "axes",
        &[
            ("imu of vehicle 1", "differs: bld seen, frd given (imu.acceleration_axes)"),
            ("imu of vehicle 2", "bld, found (imu.acceleration_axes)"),
            ("sensor7 depth cloud", "flu, not told yet (cloud.depth_axes)"),
        ],
    );
    let found = found(vec![beats("up"), axes]);
    assert_eq!(codes(&found), [Code::AxesMismatch]);
    assert_eq!(found[0].subject, "imu of vehicle 1");
    assert!(found[0].what.contains("bld seen, frd given"), "{:?}", found[0]);
    assert!(found[0].remedy.contains("imu.acceleration_axes:=auto"), "{:?}", found[0]);
}

#[test]
fn an_autopilot_says_why_it_will_not_arm() {
    let pilot =
        status("autopilot of vehicle 2", &[("state", "up"), ("not_ready", "unhealthy: GPS")]);
    let said = found(vec![beats("up"), pilot]);
    assert_eq!(codes(&said), [Code::WillNotArm]);
    assert!(said[0].what.contains("unhealthy: GPS"));
    let silent = status("autopilot of vehicle 2", &[("state", "waiting")]);
    assert_eq!(codes(&found(vec![beats("up"), silent])), [Code::AutopilotSilent]);
    let slow = status("autopilot of vehicle 1", &[("state", "up"), ("setpoint_hz", "1.3")]);
    assert_eq!(codes(&found(vec![beats("up"), slow])), [Code::OffboardSlow]);
    let fast = status("autopilot of vehicle 1", &[("state", "up"), ("setpoint_hz", "29.9")]);
    assert_eq!(found(vec![beats("up"), fast]), []);
}

#[test]
fn clocks_readers_and_strangers() {
    let clock = |drift: &str, known: &str| {
        let values = [("drift_ppm", drift), ("observations", known)];
        codes(&found(vec![beats("up"), status("clock of vehicle 1", &values)]))
    };
    assert_eq!(clock("-2000.0", "5000"), [Code::ClocksApart]);
    assert_eq!(clock("-2000.0", "50"), []);
    assert_eq!(clock("40.0", "5000"), []);
    let topic = status("topic /rflysim/imu", &[("incompatible_qos", "1"), ("qos", "best effort")]);
    assert_eq!(codes(&found(vec![beats("up"), topic])), [Code::ReaderQos]);
    let mut senders = status("senders", &[("refused", "9"), ("172.20.0.1", "9")]);
    assert_eq!(found(vec![beats("up"), senders.clone()]), [], "none lately");
    senders.level = 1;
    let refused = found(vec![beats("up"), senders]);
    assert_eq!(codes(&refused), [Code::SenderRefused]);
    assert!(refused[0].remedy.ends_with("accept_from:=[172.20.0.1]"));
    let mut ports = status("shared ports", &[("30101", "process 7 (python3)")]);
    ports.level = 1;
    assert_eq!(codes(&found(vec![beats("up"), ports])), [Code::PortShared]);
}

#[test]
fn another_field_of_view_is_told_with_what_to_type() {
    let fields = status(
        "fields of view",
        &[("sensor1", "differs: 70, configured 90"), ("sensor2", "differs: 62.5, configured 90")],
    );
    let found = found(vec![beats("up"), fields]);
    assert_eq!(codes(&found), [Code::FovMismatch; 2]);
    assert_eq!(found[0].subject, "sensor1");
    let what = "the renderer describes a field of view of 70 degrees, configured are 90";
    assert!(found[0].what.starts_with(what));
    assert!(found[0].remedy.ends_with("-p sensor1.fov_deg:=70.0"));
    assert!(found[1].remedy.ends_with("-p sensor2.fov_deg:=62.5"));
}

#[test]
fn errors_of_the_program_and_a_log_that_nobody_reads_are_told() {
    let program = |key, value| codes(&found(vec![beats("up"), status("program", &[(key, value)])]));
    assert_eq!(program("panics", "1"), [Code::Panic]);
    assert_eq!(program("log_lines_lost", "7"), [Code::LogLost]);
    assert_eq!(program("panics", "0"), []);
    let others = with(beats("up"), "drop_other_vehicle", "3");
    assert_eq!(codes(&found(vec![others])), [Code::VehicleNotServed]);
}
