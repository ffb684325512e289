//! A source that delivers less than it was asked for is told with both numbers.
use rfly_bridge::doctor::Shortfall;
use rfly_bridge::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use rfly_bridge::node::{RateWatch, top};
use std::time::{Duration, Instant};

/// Frames at `rate_hz`, looked at once in a while; what is said after 10 s.
fn after_10_s(rate_hz: f64, asked_hz: f64, speed: f64, look_s: f64) -> Option<Shortfall> {
    let start = Instant::now();
    let mut watch = RateWatch::default();
    let looks = (10.0 / look_s) as u32;
    let said = (0..=looks).map(|look| {
        let at = f64::from(look) * look_s;
        let frames = (at * rate_hz) as u64;
        watch.update(start + Duration::from_secs_f64(at), frames, asked_hz, speed)
    });
    said.last().flatten()
}

#[test]
fn two_of_30_hz_is_said_with_both_numbers() {
    let short = after_10_s(2.0, 30.0, 1.0, 1.0).expect("a shortfall");
    assert_eq!(short.to_string(), "2.0 Hz, 30.0 Hz requested");
}

#[test]
fn the_rate_that_was_asked_for_is_no_shortfall_however_often_one_looks() {
    for look_s in [0.1, 1.0, 5.0] {
        for (rate, asked) in [(30.0, 30.0), (27.0, 30.0), (200.0, 200.0), (1.0, 1.0), (40.0, 30.0)]
        {
            assert_eq!(after_10_s(rate, asked, 1.0, look_s), None, "{rate} of {asked}");
        }
        assert!(after_10_s(15.0, 30.0, 1.0, look_s).is_some());
    }
}

#[test]
fn a_simulation_at_half_speed_owes_half_the_rate() {
    assert_eq!(after_10_s(15.0, 30.0, 0.5, 1.0), None);
    let short = after_10_s(5.0, 30.0, 0.5, 1.0).expect("a shortfall");
    assert_eq!(short.to_string(), "5.0 Hz, 15.0 Hz requested");
}

#[test]
fn another_rate_is_judged_from_its_beginning() {
    let start = Instant::now();
    let mut watch = RateWatch::default();
    let at = |s: u64| start + Duration::from_secs(s);
    for second in 0..10 {
        assert_eq!(watch.update(at(second), second * 30, 30.0, 1.0), None);
    }
    // Ten a second were asked for, and come.
    for second in 10..30 {
        let frames = 270 + (second - 9) * 10;
        assert_eq!(watch.update(at(second), frames, 10.0, 1.0), None, "{second}");
    }
    // What returns is not told as too slow any more.
    assert!(watch.update(at(40), 470, 10.0, 1.0).is_some());
    assert!(watch.update(at(50), 570, 10.0, 1.0).is_none());
}

#[test]
fn top_shows_what_is_too_slow() {
    let status = |name: &str, values: &[(&str, &str)]| DiagnosticStatus {
        name: format!("rfly_bridge: {name}"),
        values: values
            .iter()
            .map(|(key, value)| KeyValue { key: (*key).to_owned(), value: (*value).to_owned() })
            .collect(),
        ..DiagnosticStatus::default()
    };
    let message = DiagnosticArray {
        status: vec![
            status("sensor0 img_rgb", &[("rate_hz", "30.0"), ("asked_hz", "30")]),
            status(
                "sensor1 img_depth",
                &[("asked_hz", "30"), ("below_asked", "2.0 Hz, 30.0 Hz requested")],
            ),
        ],
        ..DiagnosticArray::default()
    };
    assert_eq!(
        top::remarks_of(&message),
        ["below the requested rate: sensor1 img_depth: 2.0 Hz, 30.0 Hz requested"]
    );
}
