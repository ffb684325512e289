//! A client that publishes as fast as it can: what is sent stays within what a socket holds, and others are not held up.
use super::*;
use rfly_bridge::msgs::mavros_msgs::msg::ManualControl;

#[test]
fn of_a_flood_of_setpoints_the_newest_are_sent() {
    let rig = rig();
    for x in 0..10_000 {
        let message = raw(1, POSITION_AND_YAW, |m| m.position.y = x.into());
        rig.publish("setpoint_raw/local", &message);
    }
    let burst = local(&rig);
    assert!((100..=250).contains(&burst.len()), "{} at once", burst.len());
    rig.publish("manual_control/send", &ManualControl::default());
    assert!(!rig.nothing_sent(), "another topic is not held up");
    rig.pass(Duration::from_millis(1));
    let last = local(&rig);
    assert_eq!(last.len(), 1);
    assert_eq!(last[0].position, [9999.0, 0.0, 0.0], "the vehicle gets the last one");
    assert_eq!(rig.counted("rate_limited"), 10_000 - burst.len() as u64 - 1);
}

#[test]
fn a_controller_of_1000_hz_loses_nothing_also_after_a_pause_of_its_computer() {
    let rig = rig();
    for x in 0..2000 {
        rig.publish("setpoint_raw/local", &raw(1, POSITION_AND_YAW, |m| m.position.y = x.into()));
        // 100 ms of setpoints in one go, each second.
        if !(900..1000).contains(&(x % 1000)) {
            rig.pass(Duration::from_millis(1));
        }
    }
    let sent: Vec<_> = local(&rig).iter().map(|m| m.position[0] as i32).collect();
    assert_eq!(sent, (0..2000).collect::<Vec<_>>());
    assert_eq!(rig.counted("rate_limited"), 0);
}

#[test]
fn of_a_flood_on_a_topic_without_setpoints_the_rest_is_counted() {
    let rig = rig();
    for _ in 0..10_000 {
        rig.publish("manual_control/send", &ManualControl::default());
    }
    let sent = rig.sent().len() as u64;
    assert!((100..=250).contains(&sent), "{sent} at once");
    assert_eq!(rig.counted("rate_limited"), 10_000 - sent);
    rig.pass(Duration::from_secs(1));
    rig.sent(); // Heartbeats.
    rig.publish("manual_control/send", &ManualControl::default());
    assert_eq!(rig.sent().len(), 1, "afterwards as before");
}

#[test]
fn a_flood_that_lasts_is_thinned_to_what_a_controller_needs_and_leaves_room_for_commands() {
    let rig = rig();
    let mut number = 0;
    let mut flood = |milliseconds| {
        for _ in 0..milliseconds {
            for _ in 0..10 {
                number += 1;
                let message = raw(1, POSITION_AND_YAW, |m| m.position.y = number.into());
                rig.publish("setpoint_raw/local", &message);
            }
            rig.pass(Duration::from_millis(1));
        }
        local(&rig).iter().map(|m| m.position[0] as u32).collect::<Vec<_>>()
    };
    let begin = flood(200);
    assert!(begin.len() <= 320, "{} in the first 0.2 s", begin.len());
    let lasting = flood(1000);
    // A socket with Linux's default buffer holds 277 of them: enough for a second.
    assert!((200..=260).contains(&lasting.len()), "{} per second", lasting.len());
    assert!(lasting.is_sorted_by(|a, b| a < b), "the newest");
    let ages = lasting.windows(2).map(|two| two[1] - two[0]);
    assert!(ages.max().is_some_and(|age| age <= 60), "no gap is longer than 6 ms: {lasting:?}");
    // A fast controller afterwards loses nothing.
    rig.pass(Duration::from_millis(10));
    local(&rig);
    let lost = rig.counted("rate_limited");
    for x in 0..1000 {
        rig.publish("setpoint_raw/local", &raw(1, POSITION_AND_YAW, |m| m.position.y = x.into()));
        rig.pass(Duration::from_millis(1));
    }
    assert_eq!((local(&rig).len(), rig.counted("rate_limited")), (1000, lost));
}
