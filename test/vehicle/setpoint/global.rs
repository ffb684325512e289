//! `setpoint_position/global_to_local`: what it needs of the vehicle.
use super::*;

#[test]
fn a_place_on_earth_needs_recent_positions_and_survives_a_restart_of_the_clock() {
    let mut rig = rig();
    let on_earth = || {
        MavMessage::GLOBAL_POSITION_INT(GLOBAL_POSITION_INT_DATA {
            lat: 470_000_000,
            ..GLOBAL_POSITION_INT_DATA::default()
        })
    };
    let on_the_map = || MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA::default());
    let is_sent = |rig: &Rig, ms: u32| {
        let mut goal = GeoPoseStamped::default();
        goal.header.stamp = stamp(ms);
        goal.pose.position.latitude = 47.001;
        goal.pose.position.altitude = 60.0;
        rig.publish("setpoint_position/global_to_local", &goal);
        !local(rig).is_empty()
    };
    rig.say(on_earth());
    rig.advance(Duration::from_millis(300));
    rig.say(on_the_map());
    assert!(is_sent(&rig, 100_000));
    rig.advance(Duration::from_millis(300));
    assert!(!is_sent(&rig, 100_300), "the global position is too old");
    rig.say(on_earth());
    rig.advance(Duration::from_millis(300));
    assert!(!is_sent(&rig, 100_600), "the local position is too old");
    assert_eq!(rig.counted("setpoint_no_position"), 2);
    // The simulator restarts, and its clock with it.
    rig.say(on_earth());
    rig.say(on_the_map());
    assert!(is_sent(&rig, 200));
    assert!(!is_sent(&rig, 100), "late");
    assert!(is_sent(&rig, 300));
    assert_eq!(rig.counted("setpoint_not_newer"), 1);
}
