//! Tables, JSON, values of a status.
use rfly_bridge::doctor::{
    Code, Finding, Severity, from_values, sort, to_json, to_table, to_values, worst,
};

fn findings() -> Vec<Finding> {
    let long = "a text that is longer than a line of a terminal has room for, as most of them are, and goes on";
    let mut findings = vec![
        Finding::new(Code::Hosts, "WSL", long, "nothing"),
        Finding::new(Code::PortTaken, "UDP port 9999", long, "kill 7"),
        Finding::new(Code::Buffers, "sensor0 img_rgb", long, long),
        Finding::new(Code::PortTaken, "UDP port 9999", long, "kill 7"),
    ];
    sort(&mut findings);
    findings
}

#[test]
fn the_worst_comes_first_and_each_once() {
    let found = findings();
    let codes: Vec<_> = found.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::PortTaken, Code::Buffers, Code::Hosts]);
    assert_eq!(worst(&found), Severity::Error);
    assert_eq!(worst(&found[1..]) as u8, 1);
    assert_eq!(worst(&[]) as u8, 0);
}

#[test]
fn a_table_has_80_columns_and_says_what_to_type() {
    let table = to_table(&findings());
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(table.starts_with("error: UDP port 9999 (port-taken)\n    a text"), "{table}");
    assert!(table.contains("\n    -> kill 7\n"), "{table}");
    assert!(table.ends_with("1 error, 1 warning, 1 note\n"), "{table}");
    assert_eq!(to_table(&[]), "0 errors, 0 warnings, 0 notes\n");
}

#[test]
fn programs_read_the_same() {
    let found = findings();
    let json = to_json(&found);
    assert_eq!(json["severity"], "error");
    assert_eq!(json["findings"][0]["code"], "port-taken");
    assert_eq!(json["findings"][0]["do"], "kill 7");
    assert_eq!(to_json(&[])["severity"], "ok");
    let values = to_values(&found);
    let again = from_values(values.iter().map(|(k, v)| (k.as_str(), v.as_str())));
    assert_eq!(again, found);
    assert_eq!(from_values([("unknown x", "y; do: z"), ("shm-type", "")]), []);
}
