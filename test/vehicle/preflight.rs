//! Why a vehicle would refuse to arm, in words.
use super::rig::Rig;
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::MavMessage;
use rfly_bridge::wire::mavlink::dialect::{
    ESTIMATOR_STATUS_DATA, EstimatorStatusFlags, MavSysStatusSensor, SYS_STATUS_DATA,
};
use rfly_bridge::wire::mavlink::raw::{Heartbeat, StatusText};
use std::time::Duration;

const PX4: u8 = 12;
const ARDUPILOT: u8 = 3;
const PREARM: u32 = 1 << 28;
/// Gyroscope and GPS.
const SENSORS: u32 = 1 | 1 << 5;

fn rig(autopilot: u8, armed: bool) -> Rig {
    let mut rig = Rig::new(VehicleSettings::default());
    rig.say(Heartbeat {
        custom_mode: 0,
        kind: 2,
        autopilot,
        base_mode: if armed { 128 } else { 0 },
        system_status: 3,
        mavlink_version: 3,
    });
    rig
}

fn status(rig: &mut Rig, present: u32, health: u32) {
    let bits = MavSysStatusSensor::from_bits_retain;
    rig.say(MavMessage::SYS_STATUS(SYS_STATUS_DATA {
        onboard_control_sensors_present: bits(present),
        onboard_control_sensors_enabled: bits(present),
        onboard_control_sensors_health: bits(health),
        ..SYS_STATUS_DATA::default()
    }));
}

fn text(rig: &mut Rig, said: &str) {
    let mut text = [0; 50];
    text[..said.len()].copy_from_slice(said.as_bytes());
    rig.say(StatusText { severity: 2, text, id: 0, chunk: 0 });
    rig.pass(Duration::from_secs(1));
}

fn not_ready(rig: &Rig) -> Option<String> {
    rig.handle().with(|autopilot| autopilot.fcu.not_ready()).flatten()
}

#[test]
fn a_vehicle_that_passes_its_check_or_says_nothing_is_not_complained_of() {
    let mut rig = rig(PX4, false);
    assert_eq!(not_ready(&rig), None);
    status(&mut rig, SENSORS, SENSORS | PREARM);
    assert_eq!(not_ready(&rig), None);
}

#[test]
fn the_reasons_are_texts_sensors_and_what_is_not_estimated() {
    let mut rig = rig(PX4, false);
    status(&mut rig, SENSORS, 1);
    assert_eq!(not_ready(&rig).unwrap(), "unhealthy: GPS");
    text(&mut rig, "Preflight Fail: ekf2 missing data");
    text(&mut rig, "Takeoff detected");
    rig.say(MavMessage::ESTIMATOR_STATUS(ESTIMATOR_STATUS_DATA {
        flags: EstimatorStatusFlags::from_bits_retain(0b10_0101),
        ..ESTIMATOR_STATUS_DATA::default()
    }));
    assert_eq!(
        not_ready(&rig).unwrap(),
        "Preflight Fail: ekf2 missing data; unhealthy: GPS; not estimated: horizontal velocity, position"
    );
    status(&mut rig, SENSORS, SENSORS);
    rig.say(MavMessage::ESTIMATOR_STATUS(ESTIMATOR_STATUS_DATA {
        flags: EstimatorStatusFlags::from_bits_retain(0b11_1111),
        ..ESTIMATOR_STATUS_DATA::default()
    }));
    assert_eq!(not_ready(&rig).unwrap(), "Preflight Fail: ekf2 missing data");
    status(&mut rig, SENSORS, SENSORS | PREARM);
    assert_eq!(not_ready(&rig), None);
}

#[test]
fn an_autopilot_without_this_check_and_an_armed_vehicle_are_left_alone() {
    let mut other = rig(ARDUPILOT, false);
    status(&mut other, SENSORS, 1);
    assert_eq!(not_ready(&other), None);
    status(&mut other, SENSORS | PREARM, SENSORS);
    assert!(not_ready(&other).unwrap().contains("gives no reason"));
    let mut armed = rig(PX4, true);
    status(&mut armed, SENSORS, 1);
    assert_eq!(not_ready(&armed), None);
}

/// How often the vehicle was asked for its reasons since the last call.
fn asked(rig: &Rig) -> usize {
    const RUN_PREARM_CHECKS: u16 = 401;
    let sent = rig.sent();
    let asked = sent.iter().filter(|message| {
        matches!(message, MavMessage::COMMAND_LONG(m) if m.command as u16 == RUN_PREARM_CHECKS)
    });
    asked.count()
}

/// Seconds in which the vehicle goes on to say that it is not ready.
fn ill(rig: &mut Rig, seconds: u64) {
    for _ in 0..seconds {
        rig.say(Heartbeat {
            custom_mode: 0,
            kind: 2,
            autopilot: PX4,
            base_mode: 0,
            system_status: 3,
            mavlink_version: 3,
        });
        status(rig, SENSORS, SENSORS);
        rig.pass(Duration::from_secs(1));
    }
}

#[test]
fn a_vehicle_that_said_its_reasons_before_the_bridge_listened_is_asked_for_them() {
    let mut late = rig(PX4, false);
    ill(&mut late, 4);
    assert_eq!(asked(&late), 0, "it may be starting");
    ill(&mut late, 20);
    assert_eq!(asked(&late), 1);
    text(&mut late, "Preflight Fail: Parachute system missing");
    ill(&mut late, 50);
    assert_eq!(asked(&late), 0, "the reason is known");
    ill(&mut late, 20);
    assert_eq!(asked(&late), 1, "texts are forgotten");
    status(&mut late, SENSORS, SENSORS | PREARM);
    late.pass(Duration::from_secs(1));
    ill(&mut late, 4);
    assert_eq!(asked(&late), 0);
}
