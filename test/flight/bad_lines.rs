//! A flight over lines that lose, double, delay and reorder, and between clocks that drift apart.
use super::line::Conditions;
use super::pair::Pair;
use crate::support::random::Random;
use crate::support::seeds::seeds;
use rfly_bridge::emulator::autopilot::ControlMode;
use rfly_bridge::msgs::mavros_msgs::srv::{SetMode, SetModeRequest};
use rfly_bridge::vehicle::VehicleSettings;

/// Up, three legs, and down again: about a minute.
fn fly(control: ControlMode, conditions: Conditions, seed: u64) {
    let settings = VehicleSettings::default();
    let mut pair = Pair::new(control, settings, conditions, seed);
    // One heartbeat a second: a line that loses 30 % of them loses nine in a row once in 60 000 (seed 233).
    pair.until(30.0, "connected", |pair| pair.state().connected);
    pair.until(30.0, "ready", |pair| pair.state().system_status == 3);
    pair.aim(Some([0.0, 0.0, 4.0]));
    pair.pass(0.5);
    pair.engage();
    for target in [[0.0, 0.0, 4.0], [4.0, 0.0, 4.0], [4.0, 3.0, 5.0], [0.0, 0.0, 3.0]] {
        pair.aim(Some(target));
        pair.until(30.0, "at its target", |pair| pair.near(target, 0.5));
    }
    // What is told is where it is, as far as it can have moved meanwhile.
    let told = pair.position().expect("a pose");
    let truth = pair.pilot.local();
    let off = [told[0] - truth.y, told[1] - truth.x, told[2] + truth.z];
    assert!(off.iter().all(|off| off.abs() < 0.5), "{off:?}");
    if control.uses_udp_structs() {
        return;
    }
    pair.aim(None);
    for _ in 0..10 {
        let custom_mode = "AUTO.LAND".to_owned();
        let request = SetModeRequest { custom_mode, ..Default::default() };
        if pair.call::<SetMode>("set_mode", &request).mode_sent {
            break;
        }
    }
    pair.until(40.0, "landed", |pair| !pair.state().armed);
}

fn fly_all(control: ControlMode) {
    for seed in seeds("RFLY_FLIGHTS", 10) {
        let mut random = Random(seed);
        let conditions = Conditions::bad(&mut random);
        println!("seed {seed}: {conditions:?}");
        fly(control, conditions, seed);
    }
}

#[test]
fn a_flight_over_mavlink_ends_where_it_should_whatever_the_line_does() {
    fly_all(ControlMode::MavlinkFull);
}

#[test]
fn a_flight_over_udp_full_ends_where_it_should_whatever_the_line_does() {
    fly_all(ControlMode::UdpFull);
}

#[test]
fn a_flight_over_udp_simple_ends_where_it_should_whatever_the_line_does() {
    fly_all(ControlMode::UdpSimple);
}

#[test]
fn a_flight_over_a_perfect_line_does_too() {
    for control in [
        ControlMode::MavlinkFull,
        ControlMode::MavlinkSimple,
        ControlMode::UdpFull,
        ControlMode::UdpSimple,
    ] {
        fly(control, Conditions::default(), 0);
    }
}
