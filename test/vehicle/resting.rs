//! A vehicle that nobody uses: its datagrams wait in the socket, which must not change what is known of its clock.
use super::rig::Rig;
use rfly_bridge::msgs::geometry_msgs::msg::PoseStamped;
use rfly_bridge::msgs::std_srvs::srv::Trigger;
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::frames;
use rfly_bridge::wire::mavlink::raw::Timesync;
use std::time::Duration;

const BOOT_NS: i64 = 5_000_000_000;
const REST: Duration = Duration::from_millis(100);

fn connected() -> Rig {
    let mut rig = Rig::new(VehicleSettings::default());
    rig.recorder.set_all_subscribers(0);
    rig.beat();
    rig
}

fn timesync(rig: &Rig) -> Vec<Timesync> {
    let bytes = rig.sent_bytes();
    let messages = frames(&bytes).filter_map(|frame| Timesync::parse(&frame.unwrap()));
    messages.collect()
}

fn is_used(rig: &Rig) -> bool {
    rig.handle().with(|autopilot| autopilot.is_used()).unwrap()
}

#[test]
fn a_reader_a_message_and_a_call_are_use() {
    let rig = connected();
    assert!(!is_used(&rig));
    for topic in ["/mavros/imu/data", "/mavros/state", "/mavros/mission/waypoints"] {
        rig.recorder.set_subscribers(topic, 1);
        assert!(is_used(&rig), "{topic}");
        rig.recorder.set_subscribers(topic, 0);
        assert!(!is_used(&rig), "{topic}");
    }
    let a_while = |rig: &Rig| {
        assert!(is_used(rig));
        rig.advance(Duration::from_secs(59));
        assert!(is_used(rig));
        rig.advance(Duration::from_secs(2));
        assert!(!is_used(rig));
    };
    rig.publish("setpoint_position/local", &PoseStamped::default());
    a_while(&rig);
    rig.call::<Trigger>("setpoint_trajectory/reset", &Default::default());
    a_while(&rig);
}

#[test]
fn the_clock_is_as_well_known_from_answers_that_waited() {
    let mut rig = connected();
    let handle = rig.handle();
    let ros = || handle.with(|autopilot| autopilot.fcu.now.ros.0).unwrap();
    let boot = ros() - BOOT_NS;
    let ms = Duration::from_millis;
    for _ in 0..20 {
        // The answer arrives 2 ms after the question and is read at the end of the rest.
        rig.poll();
        let questions = timesync(&rig);
        assert!(!questions.is_empty());
        let tc1 = ros() + 1_000_000 - boot;
        rig.advance(REST);
        for question in questions {
            rig.say_late(Timesync { tc1, ..question }, REST - ms(2));
        }
    }
    let clock = handle.with(|autopilot| autopilot.fcu.clock).flatten();
    let off = clock.unwrap().host_ns(BOOT_NS) - BOOT_NS - boot;
    assert!(off.abs() < 100_000, "{off} ns");
}

#[test]
fn an_answer_that_the_autopilot_would_not_believe_is_not_sent() {
    let mut rig = connected();
    let question = Timesync { ts1: 77, ..Timesync::default() };
    for (waited, answers) in [(0, 1), (5, 1), (6, 0), (100, 0)] {
        timesync(&rig);
        rig.say_late(question, Duration::from_millis(waited));
        let answers_to_it = timesync(&rig).iter().filter(|m| m.ts1 == 77).count();
        assert_eq!(answers_to_it, answers, "after {waited} ms");
    }
}
