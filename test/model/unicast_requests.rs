//! When CopterSim is asked by unicast, on virtual time.
use rfly_bridge::model::{DueRequests, LastArrivals, UnicastRequests};
use std::time::Duration;

const NOTHING: DueRequests = DueRequests { data: false, heartbeat: false };
const ALL: DueRequests = DueRequests { data: true, heartbeat: true };
const HEARTBEAT: DueRequests = DueRequests { data: false, heartbeat: true };
const DATA: DueRequests = DueRequests { data: true, heartbeat: false };

fn at(second: u64) -> Duration {
    Duration::from_secs(second)
}

fn whole(second: u64) -> LastArrivals {
    let now = Some(at(second));
    LastArrivals { heartbeats: now, true_state: now, autopilot: now, imu: None }
}

#[test]
fn what_comes_by_itself_is_not_asked_for() {
    for local in [true, false] {
        let mut requests = UnicastRequests::new(local, true);
        for second in 0..100 {
            assert_eq!(requests.due(&whole(second), at(second)), NOTHING);
        }
        assert_eq!((requests.text().as_str(), requests.is_unanswered()), ("not needed", false));
        assert_eq!((requests.sent(), requests.is_on_request()), (0, false));
    }
}

#[test]
fn silence_of_a_remote_simulator_is_asked_about_until_it_ends() {
    let mut requests = UnicastRequests::new(false, true);
    assert_eq!(requests.due(&LastArrivals::default(), at(1)), NOTHING);
    assert_eq!(requests.due(&LastArrivals::default(), at(2)), ALL);
    assert_eq!(requests.missing(), "heartbeats and true state");
    for second in 3..60 {
        assert_eq!(requests.due(&whole(second), at(second)), NOTHING);
    }
    assert_eq!(requests.text(), "on request: arrived only after requests, 1 so far");
    assert_eq!((requests.sent(), requests.is_on_request()), (1, true));
    // It fell silent, as one that was started anew.
    let due: Vec<_> = (60..64).map(|second| requests.due(&whole(59), at(second))).collect();
    assert_eq!(due, [NOTHING, ALL, ALL, ALL]);
    assert_eq!(requests.due(&whole(64), at(64)), NOTHING);
    assert!(!requests.is_unanswered());
}

#[test]
fn only_what_is_missing_is_asked_for() {
    let mut requests = UnicastRequests::new(false, true);
    let came = LastArrivals { true_state: None, ..whole(9) };
    assert_eq!(requests.due(&came, at(9)), DATA);
    assert_eq!(requests.missing(), "true state");
    let came = LastArrivals { autopilot: None, ..whole(10) };
    assert_eq!(requests.due(&came, at(10)), DATA);
    assert_eq!(requests.missing(), "data of the autopilot");
    let mut uncontrolled = UnicastRequests::new(false, false);
    assert_eq!(uncontrolled.due(&came, at(10)), NOTHING);
}

#[test]
fn one_that_runs_and_does_not_answer_is_told() {
    let mut requests = UnicastRequests::new(false, true);
    for second in 2..4 {
        let came = LastArrivals { true_state: None, ..whole(second) };
        assert_eq!(requests.due(&came, at(second)), DATA);
        assert!(!requests.is_unanswered());
    }
    let came = LastArrivals { true_state: None, ..whole(4) };
    requests.due(&came, at(4));
    assert_eq!(requests.text(), "unanswered: true state after 3 requests");
    // Nothing at all comes of one that does not run.
    let mut absent = UnicastRequests::new(false, true);
    (2..50).for_each(|second| assert_eq!(absent.due(&LastArrivals::default(), at(second)), ALL));
    assert_eq!(absent.text(), "48 requests");
    assert!(!absent.is_unanswered() && !absent.is_on_request());
}

#[test]
fn on_this_host_a_heartbeat_is_asked_for_first() {
    let mut requests = UnicastRequests::new(true, true);
    assert_eq!(requests.due(&LastArrivals::default(), at(9)), NOTHING);
    assert_eq!(requests.due(&LastArrivals::default(), at(10)), HEARTBEAT);
    // The answer; a simulator that has just been started sends the rest by itself.
    let beat = |second| LastArrivals { heartbeats: Some(at(second)), ..LastArrivals::default() };
    for second in 11..21 {
        assert_eq!(requests.due(&beat(11), at(second)), NOTHING, "{second}");
    }
    assert_eq!(requests.due(&beat(20), at(21)), DATA);
    assert_eq!(requests.due(&whole(22), at(22)), NOTHING);
    assert!(requests.text().starts_with("on request: "));
    // It is asked again after a restart.
    assert_eq!(requests.due(&whole(22), at(32)), HEARTBEAT);
}

#[test]
fn a_simulator_of_this_host_that_sent_by_itself_may_pause() {
    let mut requests = UnicastRequests::new(true, true);
    for second in 0..20 {
        assert_eq!(requests.due(&whole(second), at(second)), NOTHING);
    }
    let paused = LastArrivals { heartbeats: Some(at(40)), ..whole(19) };
    assert_eq!(requests.due(&paused, at(40)), NOTHING);
    assert_eq!(requests.due(&whole(19), at(80)), NOTHING);
}
