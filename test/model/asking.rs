//! When CopterSim is asked by unicast, on virtual time.
use rfly_bridge::model::{Asking, Came, Wish};
use std::time::Duration;

const NOTHING: Wish = Wish {
    data: false,
    heartbeat: false,
};
const ALL: Wish = Wish {
    data: true,
    heartbeat: true,
};
const HEARTBEAT: Wish = Wish {
    data: false,
    heartbeat: true,
};
const DATA: Wish = Wish {
    data: true,
    heartbeat: false,
};

fn at(second: u64) -> Duration {
    Duration::from_secs(second)
}

fn whole(second: u64) -> Came {
    let now = Some(at(second));
    Came {
        heartbeats: now,
        true_state: now,
        autopilot: now,
        imu: None,
    }
}

#[test]
fn what_comes_by_itself_is_not_asked_for() {
    for here in [true, false] {
        let mut asking = Asking::new(here, true);
        for second in 0..100 {
            assert_eq!(asking.look(&whole(second), at(second)), NOTHING);
        }
        assert_eq!(
            (asking.text().as_str(), asking.in_vain()),
            ("not needed", false)
        );
    }
}

#[test]
fn silence_of_a_remote_simulator_is_asked_about_until_it_ends() {
    let mut asking = Asking::new(false, true);
    assert_eq!(asking.look(&Came::default(), at(1)), NOTHING);
    assert_eq!(asking.look(&Came::default(), at(2)), ALL);
    assert_eq!(asking.missing(), "heartbeats and true state");
    for second in 3..60 {
        assert_eq!(asking.look(&whole(second), at(second)), NOTHING);
    }
    assert_eq!(
        asking.text(),
        "answered: came only after requests, 1 so far"
    );
    // It fell silent, as one that was started anew.
    let wishes: Vec<_> = (60..64)
        .map(|second| asking.look(&whole(59), at(second)))
        .collect();
    assert_eq!(wishes, [NOTHING, ALL, ALL, ALL]);
    assert_eq!(asking.look(&whole(64), at(64)), NOTHING);
    assert!(!asking.in_vain());
}

#[test]
fn only_what_is_missing_is_asked_for() {
    let mut asking = Asking::new(false, true);
    let came = Came {
        true_state: None,
        ..whole(9)
    };
    assert_eq!(asking.look(&came, at(9)), DATA);
    assert_eq!(asking.missing(), "true state");
    let came = Came {
        autopilot: None,
        ..whole(10)
    };
    assert_eq!(asking.look(&came, at(10)), DATA);
    assert_eq!(asking.missing(), "data of the autopilot");
    let mut uncontrolled = Asking::new(false, false);
    assert_eq!(uncontrolled.look(&came, at(10)), NOTHING);
}

#[test]
fn one_that_runs_and_does_not_answer_is_told() {
    let mut asking = Asking::new(false, true);
    for second in 2..4 {
        let came = Came {
            true_state: None,
            ..whole(second)
        };
        assert_eq!(asking.look(&came, at(second)), DATA);
        assert!(!asking.in_vain());
    }
    let came = Came {
        true_state: None,
        ..whole(4)
    };
    asking.look(&came, at(4));
    assert_eq!(asking.text(), "in vain: true state after 3 requests");
    // Nothing at all comes of one that does not run.
    let mut absent = Asking::new(false, true);
    (2..50).for_each(|second| assert_eq!(absent.look(&Came::default(), at(second)), ALL));
    assert_eq!(absent.text(), "48 requests");
}

#[test]
fn on_this_host_a_heartbeat_is_asked_for_first() {
    let mut asking = Asking::new(true, true);
    assert_eq!(asking.look(&Came::default(), at(9)), NOTHING);
    assert_eq!(asking.look(&Came::default(), at(10)), HEARTBEAT);
    // The answer; a simulator that has just been started sends the rest by itself.
    let beat = |second| Came {
        heartbeats: Some(at(second)),
        ..Came::default()
    };
    for second in 11..21 {
        assert_eq!(asking.look(&beat(11), at(second)), NOTHING, "{second}");
    }
    assert_eq!(asking.look(&beat(20), at(21)), DATA);
    assert_eq!(asking.look(&whole(22), at(22)), NOTHING);
    assert!(asking.text().starts_with("answered: "));
    // It is asked again after a restart.
    assert_eq!(asking.look(&whole(22), at(32)), HEARTBEAT);
}

#[test]
fn a_simulator_of_this_host_that_sent_by_itself_may_pause() {
    let mut asking = Asking::new(true, true);
    for second in 0..20 {
        assert_eq!(asking.look(&whole(second), at(second)), NOTHING);
    }
    let paused = Came {
        heartbeats: Some(at(40)),
        ..whole(19)
    };
    assert_eq!(asking.look(&paused, at(40)), NOTHING);
    assert_eq!(asking.look(&whole(19), at(80)), NOTHING);
}
