//! Setpoints that are kept alive.
use super::protocol::secs;
use rfly_bridge::session::*;
use rfly_bridge::wire::mavlink::Outbound;
use rfly_bridge::wire::mavlink::raw::{CommandLong, SetMode};

fn setpoint(x: f32) -> Outbound {
    CommandLong { params: [x; 7], ..CommandLong::default() }.into()
}

fn keep_alive() -> KeepAlive {
    KeepAlive::new(KeepAliveSettings { period: secs(0.1), max_repetition: secs(1.0) })
}

#[test]
fn the_last_setpoint_is_repeated_for_a_second_and_then_no_more() {
    let mut alive = keep_alive();
    assert_eq!((alive.tick(secs(1.0)), alive.deadline()), (None, None));
    alive.sent(secs(5.0), setpoint(1.0));
    alive.sent(secs(5.05), setpoint(2.0));
    let mut repeated = Vec::new();
    let stopped = loop {
        let now = alive.deadline().unwrap();
        match alive.tick(now).unwrap() {
            KeepAliveStep::Repeat(message) => {
                assert_eq!(message, setpoint(2.0));
                repeated.push(now);
            }
            KeepAliveStep::Stopped => break now,
        }
    };
    assert_eq!(repeated.len(), 9);
    assert_eq!((repeated[0], stopped), (secs(5.15), secs(6.05)));
    assert_eq!((alive.tick(secs(9.0)), alive.deadline()), (None, None));
}

#[test]
fn while_setpoints_come_nothing_is_repeated_and_a_late_call_repeats_one() {
    let mut alive = keep_alive();
    for i in 0..50 {
        let now = secs(f64::from(i) * 0.05);
        assert_eq!(alive.tick(now), None);
        alive.sent(now, setpoint(0.0));
    }
    assert!(matches!(alive.tick(secs(3.0)), Some(KeepAliveStep::Repeat(_))));
    assert_eq!(alive.tick(secs(3.0)), None);
    alive.clear();
    assert_eq!(alive.tick(secs(3.2)), None);
}

#[test]
fn it_can_be_switched_off() {
    let mut alive = KeepAlive::new(KeepAliveSettings {
        max_repetition: secs(0.0),
        ..KeepAliveSettings::default()
    });
    alive.sent(secs(1.0), SetMode::default().into());
    assert_eq!((alive.deadline(), alive.tick(secs(2.0))), (None, None));
}
