//! What happens to a flight that is interrupted.
use super::line::Conditions;
use super::pair::Pair;
use rfly_bridge::emulator::autopilot::ControlMode;
use rfly_bridge::msgs::mavros_msgs::srv::{CommandBool, CommandBoolRequest};
use rfly_bridge::vehicle::VehicleSettings;
use std::time::Duration;

fn hovering(settings: VehicleSettings) -> Pair {
    let mut pair = Pair::new(ControlMode::MavlinkFull, settings, Conditions::default(), 0);
    pair.until(10.0, "ready", |pair| pair.state().system_status == 3);
    pair.aim(Some([0.0, 0.0, 4.0]));
    pair.pass(0.5);
    pair.engage();
    pair.until(20.0, "up", |pair| pair.near([0.0, 0.0, 4.0], 0.3));
    pair
}

fn gave_up(pair: &Pair) -> bool {
    pair.said().iter().any(|text| text.contains("Failsafe"))
}

#[test]
fn a_silence_of_the_controller_ends_offboard_after_half_a_second() {
    let mut pair = hovering(VehicleSettings::default());
    let begin = pair.now();
    pair.aim(None);
    pair.until(5.0, "in another mode", |pair| pair.state().mode != "OFFBOARD");
    assert!(gave_up(&pair));
    // COM_OF_LOSS_T is a second.
    let after = pair.now() - begin;
    assert!(after > Duration::from_millis(900), "{after:?}");
}

#[test]
fn with_keep_alive_a_short_silence_is_bridged_and_a_long_one_is_not() {
    let settings =
        VehicleSettings { keep_alive: Duration::from_secs(3), ..VehicleSettings::default() };
    let mut pair = hovering(settings);
    pair.aim(None);
    pair.pass(2.8);
    pair.aim(Some([1.0, 0.0, 4.0]));
    pair.until(20.0, "there", |pair| pair.near([1.0, 0.0, 4.0], 0.3));
    assert_eq!((pair.state().mode.as_str(), gave_up(&pair)), ("OFFBOARD", false));
    pair.aim(None);
    let begin = pair.now();
    pair.until(10.0, "given up", gave_up);
    let after = pair.now() - begin;
    assert!(after > Duration::from_secs(3), "{after:?}");
}

#[test]
fn a_vehicle_that_falls_silent_is_disconnected_and_found_again() {
    let mut pair = hovering(VehicleSettings::default());
    for _ in 0..3 {
        pair.switch_off();
        let begin = pair.now();
        pair.until(10.0, "lost", |pair| !pair.state().connected);
        // Three seconds after its last HEARTBEAT, of which there is one per second.
        assert!(pair.now() - begin > Duration::from_millis(1900));
        assert_eq!((pair.state().armed, pair.state().mode.as_str()), (false, ""));
        let arm = CommandBoolRequest { value: true };
        assert!(!pair.call::<CommandBool>("cmd/arming", &arm).success);
        pair.switch_on();
        pair.until(10.0, "connected again", |pair| pair.state().connected);
        pair.until(10.0, "ready", |pair| pair.state().system_status == 3);
        pair.engage();
        pair.until(20.0, "up", |pair| pair.near([0.0, 0.0, 4.0], 0.3));
    }
}

#[test]
fn an_autopilot_that_restarts_in_flight_is_flown_again_over_a_bad_line() {
    let conditions = Conditions {
        latency_ms: 40.0,
        jitter_ms: 30.0,
        loss: 0.05,
        duplication: 0.05,
        drift_ppm: 200.0,
    };
    let mut pair = hovering(VehicleSettings::default());
    pair.conditions = conditions;
    for _ in 0..3 {
        // Faster than a lost link is noticed.
        pair.switch_off();
        pair.pass(0.5);
        pair.switch_on();
        pair.until(10.0, "disarmed", |pair| !pair.state().armed);
        pair.until(15.0, "ready", |pair| pair.state().system_status == 3);
        pair.engage();
        pair.until(20.0, "up", |pair| pair.near([0.0, 0.0, 4.0], 0.5));
    }
}
