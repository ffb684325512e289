use super::rig::Rig;
use rfly_bridge::msgs::mavros_msgs::msg::{State, StatusText};
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::raw::Heartbeat;
use std::time::Duration;

fn px4(main: u8, sub: u8, base_mode: u8) -> Heartbeat {
    Heartbeat {
        custom_mode: u32::from_le_bytes([0, 0, main, sub]),
        kind: 2,
        autopilot: 12,
        base_mode,
        system_status: 4,
        mavlink_version: 3,
    }
}

#[test]
fn a_heartbeat_is_a_state_and_silence_is_one_more() {
    let mut rig = Rig::new(VehicleSettings::default());
    rig.say(px4(6, 0, 157));
    rig.pass(Duration::from_secs(2));
    rig.say(px4(4, 6, 29));
    rig.pass(Duration::from_secs(10));
    let states: Vec<_> = rig
        .messages::<State>("state")
        .into_iter()
        .map(|state| (state.connected, state.armed, state.mode))
        .collect();
    assert_eq!(
        states,
        [
            (true, true, "OFFBOARD".to_owned()),
            (true, false, "AUTO.LAND".to_owned()),
            (false, false, String::new()),
        ]
    );
}

#[test]
fn what_was_last_known_of_a_vehicle_that_is_lost_is_said_once_with_its_age() {
    let mut rig = Rig::new(VehicleSettings::default());
    rig.say(px4(6, 0, 157));
    rig.recorder.clear();
    rig.pass(Duration::from_secs(20));
    let texts: Vec<_> = rig
        .messages::<StatusText>("statustext/recv")
        .into_iter()
        .map(|text| (text.severity, text.text))
        .collect();
    let text = "nothing from it for 10.0 s: the vehicle is not connected; it was armed, OFFBOARD";
    assert_eq!(texts, [(4, text.to_owned())]);
    // `state` says what mavros says.
    let states = rig.messages::<State>("state");
    let [state] = &states[..] else { panic!("{}", states.len()) };
    assert!(!state.connected && !state.armed && state.mode.is_empty());
}
