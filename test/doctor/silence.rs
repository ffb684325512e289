//! What is logged of a silent simulator, on virtual time.
use rfly_bridge::doctor::{
    Code, Finding, LinkState, SilenceNews, SilenceWatch, SourceFacts, SourceRole, awaited_text,
    silence,
};
use std::net::Ipv4Addr;
use std::time::Duration;

const HOST: Ipv4Addr = Ipv4Addr::new(192, 168, 1, 10);

fn source(name: &str, kind: SourceRole, state: LinkState, port: Option<u16>) -> SourceFacts {
    SourceFacts {
        name: name.to_owned(),
        is_requested: matches!(kind, SourceRole::Sensor(_)),
        kind,
        state,
        awaited: port.map(|port| (HOST, port)),
        ..SourceFacts::default()
    }
}

fn camera(seq_id: u16, state: LinkState) -> SourceFacts {
    source(
        &format!("sensor{seq_id} img_rgb"),
        SourceRole::Sensor(seq_id),
        state,
        Some(9999 + seq_id),
    )
}

fn heartbeats(state: LinkState) -> SourceFacts {
    source("heartbeats", SourceRole::Heartbeats, state, Some(20005))
}

fn finding(code: Code, subject: &str) -> Finding {
    Finding::new(code, subject, "what", "remedy")
}

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Reports once a second from `from` to `to` s of silence; returns the seconds with a line, and the codes.
fn lines(watch: &mut SilenceWatch, from: u64, to: u64, found: &[Finding]) -> Vec<(u64, Code)> {
    let line = |second| match watch.update(Some(s(second)), found)? {
        SilenceNews::Silent(finding) => Some((second, finding.code)),
        SilenceNews::Ended(_) => panic!("nothing arrived"),
    };
    (from..to).filter_map(line).collect()
}

#[test]
fn a_silence_is_logged_once_after_10_s_and_when_it_ends() {
    let mut watch = SilenceWatch::default();
    // Findings about ROS 2 do not explain it.
    let found = [finding(Code::RosDomain, "x"), finding(Code::SimulatorSilent, "127.0.0.1:20010")];
    assert_eq!(lines(&mut watch, 0, 600, &found), [(10, Code::SimulatorSilent)]);
    assert_eq!(watch.update(None, &[]), Some(SilenceNews::Ended(s(599))));
    assert_eq!(watch.update(None, &[]), None);
    // A short one is not worth a line, nor is its end.
    assert_eq!(lines(&mut watch, 0, 10, &found), []);
    assert_eq!(watch.update(None, &[]), None);
}

#[test]
fn each_finding_of_a_silence_is_logged_once_and_at_most_every_10_s() {
    let mut watch = SilenceWatch::default();
    let silent = [finding(Code::SimulatorSilent, "127.0.0.1:20010")];
    let firewall = [finding(Code::Firewall, "UDP ports 9999")];
    assert_eq!(lines(&mut watch, 0, 12, &silent), [(10, Code::SimulatorSilent)]);
    assert_eq!(lines(&mut watch, 12, 40, &firewall), [(20, Code::Firewall)]);
    // A text that counts seconds is the same finding.
    let later = [Finding { what: "30 s ago".to_owned(), ..firewall[0].clone() }];
    assert_eq!(lines(&mut watch, 40, 60, &later), []);
    let mut lines_of_both = 0;
    for second in 60..100 {
        let found = if second % 2 == 0 { &silent } else { &firewall };
        lines_of_both += usize::from(watch.update(Some(s(second)), found).is_some());
    }
    assert_eq!(lines_of_both, 0, "each of them was logged");
    assert_eq!(lines(&mut watch, 100, 120, &[]), [], "no finding, no line");
    assert_eq!(watch.update(None, &[]), Some(SilenceNews::Ended(s(119))));
    assert_eq!(lines(&mut watch, 0, 12, &silent), [(10, Code::SimulatorSilent)], "another silence");
}

#[test]
fn silence_means_that_no_sensor_delivers_or_no_heartbeat_without_sensors() {
    use LinkState::{Lost, Up, Waiting};
    let start = s(60);
    let aged = |source: SourceFacts, age| SourceFacts { age: Some(s(age)), ..source };
    assert_eq!(silence(&[heartbeats(Up), camera(0, Waiting), camera(1, Up)], start), None);
    assert_eq!(silence(&[heartbeats(Up), camera(0, Waiting)], start), Some(start));
    let lost = [aged(heartbeats(Up), 0), aged(camera(0, Lost), 7), aged(camera(1, Lost), 9)];
    assert_eq!(silence(&lost, start), Some(s(7)));
    assert_eq!(silence(&[heartbeats(Waiting)], start), Some(start));
    assert_eq!(silence(&[heartbeats(Up)], start), None);
    // A bridge that flies its vehicles itself awaits none.
    assert_eq!(silence(&[SourceFacts { awaited: None, ..heartbeats(Waiting) }], start), None);
}

#[test]
fn what_is_awaited_is_named_with_host_and_ports_in_one_line() {
    use LinkState::{Idle, Up, Waiting};
    let mut sources: Vec<_> = (0..20).map(|seq_id| camera(seq_id, Waiting)).collect();
    sources.extend([heartbeats(Waiting), camera(30, Up)]);
    sources.push(source("scene", SourceRole::Other, Idle, None));
    sources.push(source("sensor40 img_rgb", SourceRole::Sensor(40), Waiting, None));
    assert_eq!(
        awaited_text(&sources),
        "sensor0 img_rgb, sensor1 img_rgb, sensor2 img_rgb and 18 more from 192.168.1.10 on UDP ports 9999 to 10018, 20005; \
         sensor40 img_rgb from shared memory"
    );
}
