//! A vehicle that flies its script says so in every message, and obeys the first command.
use super::pilot_rig::PilotRig;
use rfly_bridge::emulator::autopilot::{Landed, Mode};
use rfly_bridge::wire::mavlink::{MavMessage, dialect, frames};

/// The newest message of this number.
fn newest(rig: &PilotRig, id: u32) -> MavMessage {
    let sent = rig.sent.iter().rev().find(|sent| sent.id == id).expect("it is sent");
    let frame = frames(&sent.bytes).next().expect("a frame").expect("a frame");
    frame.message().expect("a message")
}

#[test]
fn it_is_armed_in_the_air_on_a_mission_and_its_motors_turn() {
    let rig = PilotRig::on_lap();
    assert_eq!(rig.heartbeat(), (0x9d, 4, 4, 4), "armed, AUTO.MISSION, active");
    let MavMessage::EXTENDED_SYS_STATE(state) = newest(&rig, 245) else {
        panic!("EXTENDED_SYS_STATE")
    };
    assert_eq!(state.landed_state, dialect::MavLandedState::MAV_LANDED_STATE_IN_AIR);
    let MavMessage::SERVO_OUTPUT_RAW(servos) = newest(&rig, 36) else { panic!("SERVO_OUTPUT_RAW") };
    assert!(servos.servo1_raw > 1200, "{}", servos.servo1_raw);
    assert!(rig.pilot.is_armed());
    assert_eq!((rig.pilot.mode(), rig.pilot.landed()), (Mode::Mission, Landed::Air));
}

#[test]
fn it_obeys_the_first_command_that_px4_would_obey_in_flight() {
    let mut rig = PilotRig::on_lap();
    assert_eq!(rig.mode(6, 0), Some(1), "OFFBOARD without setpoints");
    let disarm = |force: f32| [0.0, force, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(rig.command(400, disarm(0.0)), Some(1), "in the air");
    rig.run(1.0);
    assert!(rig.pilot.flown().is_none(), "the lap goes on");
    assert_eq!(rig.heartbeat().1, 4);
    assert_eq!(rig.mode(4, 6), Some(0));
    assert!(rig.run_until(30.0, |rig| !rig.pilot.is_armed()), "it lands and disarms");
    assert_eq!(rig.pilot.landed(), Landed::Ground);

    let mut rig = PilotRig::on_lap();
    rig.stream_position([5.0, 0.0, -4.0]);
    rig.run(1.5);
    assert_eq!(rig.mode(6, 0), Some(0));
    let there = |rig: &PilotRig| (rig.pilot.local().x - 5.0).abs() < 0.3;
    assert!(rig.run_until(20.0, there), "{:?}", rig.pilot.local());
    assert_eq!(rig.heartbeat().1, 6);

    let mut rig = PilotRig::on_lap();
    assert_eq!(rig.command(400, disarm(21_196.0)), Some(0), "by force");
    assert!(rig.run_until(5.0, |rig| rig.pilot.local().z > -0.2), "it falls");
    assert!(!rig.pilot.is_armed());
}
