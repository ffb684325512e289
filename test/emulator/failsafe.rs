//! A battery that runs empty and a fence that is left, against what PX4 did (SITL with SIH; texts, modes and times).
use super::pilot_rig::PilotRig;
use super::rig::near;
use rfly_bridge::emulator::autopilot::fence::FenceLimits;
use rfly_bridge::emulator::autopilot::{ControlMode, Mode, VehicleSetup};
use rfly_bridge::wire::mavlink::raw::{MissionAck, MissionCount, MissionItemInt};
use rfly_bridge::wire::mavlink::{MavMessage, dialect, frames};

fn set(rig: &mut PilotRig, name: &str, value: f32, whole: bool) {
    let kind = dialect::MavParamType::MAV_PARAM_TYPE_INT32;
    let float = dialect::MavParamType::MAV_PARAM_TYPE_REAL32;
    let message = dialect::PARAM_SET_DATA {
        param_value: if whole { f32::from_bits(value as u32) } else { value },
        target_system: 1,
        target_component: 1,
        param_id: name.into(),
        param_type: if whole { kind } else { float },
    };
    rig.send(&MavMessage::PARAM_SET(message).into());
}

/// Time in s until the vehicle says so.
fn until(rig: &mut PilotRig, seconds: f64, done: impl Fn(&PilotRig) -> bool) -> f64 {
    let start = rig.now;
    assert!(rig.run_until(seconds, done), "{:?}", rig.texts());
    rig.now - start
}

fn said_after(rig: &PilotRig, texts: &[&str]) {
    let all = rig.texts();
    let mut rest = all.iter();
    for text in texts {
        assert!(rest.any(|said| said == text), "{text:?} in {all:?}");
    }
}

#[test]
fn a_battery_that_runs_empty_is_told_and_brings_the_vehicle_down() {
    let mut rig = PilotRig::fly(8.0);
    set(&mut rig, "SIM_BAT_MIN_PCT", 1.0, false);
    set(&mut rig, "SIM_BAT_DRAIN", 30.0, false);
    until(&mut rig, 40.0, |rig| rig.said("Low battery"));
    rig.run(0.2);
    // A warning, and no more: still in OFFBOARD, and active.
    assert_eq!(rig.heartbeat(), (0x91, 6, 0, 4));
    said_after(&rig, &["Low battery", "Failsafe activated"]);
    let critical = until(&mut rig, 10.0, |rig| rig.said("Critical battery"));
    near(critical, 2.4, 0.6, "from 15 to 7 % in the recording");
    rig.run(0.2);
    assert!(rig.said("Failsafe activated: entering Hold for 5 seconds"));
    assert_eq!(rig.heartbeat(), (0x9d, 4, 3, 5));
    until(&mut rig, 3.0, |rig| rig.said("Emergency battery level"));
    let waited = until(&mut rig, 6.0, |rig| rig.heartbeat() == (0x9d, 4, 6, 5));
    near(waited, 4.1, 0.7, "the rest of the five seconds");
    until(&mut rig, 40.0, |rig| rig.said("Disarmed by landing"));
    rig.run(0.3);
    assert_eq!(
        rig.heartbeat(),
        (0x11, 6, 0, 3),
        "what was wanted before; the battery is full again"
    );
}

#[test]
fn what_a_low_battery_does_is_a_parameter() {
    for (action, mode) in
        [(0, Mode::Offboard), (1, Mode::Return), (2, Mode::Land), (3, Mode::Return)]
    {
        let mut rig = PilotRig::fly(5.0);
        set(&mut rig, "COM_LOW_BAT_ACT", action as f32, true);
        rig.pilot.override_battery(Some(6.5));
        rig.run(1.0);
        assert!(rig.said("Critical battery"));
        let waits = if action == 0 { Mode::Offboard } else { Mode::Loiter };
        assert_eq!(rig.pilot.mode(), waits, "COM_LOW_BAT_ACT {action}");
        rig.run(5.0);
        assert_eq!(rig.pilot.mode(), mode, "COM_LOW_BAT_ACT {action}");
        rig.pilot.override_battery(None);
        rig.run(0.5);
        assert_eq!(rig.pilot.mode(), Mode::Offboard, "it was a mistake");
    }
}

#[test]
fn nobody_arms_on_an_empty_battery() {
    let mut rig = PilotRig::of(VehicleSetup {
        battery: Some(6.0),
        ..VehicleSetup::new(1, 0, ControlMode::MavlinkFull)
    });
    rig.run(3.0);
    assert_eq!(rig.arm(), Some(1));
    rig.run(0.2);
    assert!(rig.said("Critical battery"));
    assert!(rig.said("Arming denied: Resolve system health failures first"));
    let frame = rig.sent.iter().rev().find(|s| s.id == 147).unwrap();
    let Ok(MavMessage::BATTERY_STATUS(status)) =
        frames(&frame.bytes).next().unwrap().unwrap().message()
    else {
        panic!("no BATTERY_STATUS")
    };
    assert_eq!(status.battery_remaining, 6);
    assert_eq!(
        status.charge_state,
        dialect::MavBatteryChargeState::MAV_BATTERY_CHARGE_STATE_CRITICAL
    );
    rig.pilot.override_battery(Some(80.0));
    rig.run(0.1);
    assert_eq!(rig.arm(), Some(0));
}

/// Flies north until the fence is left.
fn leave(mut rig: PilotRig) -> PilotRig {
    rig.stream_velocity([4.0, 0.0, 0.0], 0.0);
    until(&mut rig, 20.0, |rig| rig.texts().iter().any(|t| t.starts_with("Geofence violation")));
    rig.run(0.3);
    rig
}

#[test]
fn a_vehicle_that_leaves_the_fence_holds_until_somebody_takes_over() {
    let mut rig = PilotRig::fly(8.0);
    rig.pilot.set_fence(FenceLimits { distance: 15.0, height: 30.0 });
    let mut rig = leave(rig);
    said_after(
        &rig,
        &["Geofence violation: exceeding maximum distance to Home", "Failsafe activated"],
    );
    near(rig.pilot.local().x, 15.8, 1.0, "where it was noticed");
    assert_eq!(rig.heartbeat(), (0x9d, 4, 3, 5));
    // It stays there although set-points go on, and lets itself be called back.
    rig.run(4.0);
    assert_eq!(rig.pilot.mode(), Mode::Loiter);
    rig.stream_position([0.0, 0.0, -8.0]);
    rig.run(0.5);
    assert_eq!(rig.mode(6, 0), Some(0));
    rig.run(10.0);
    assert_eq!(rig.heartbeat(), (0x91, 6, 0, 4));
    near(rig.pilot.local().x, 0.0, 1.0, "back inside");
    // The next time counts again.
    let texts = rig.texts().len();
    let rig = leave_again(rig);
    assert!(rig.texts().len() > texts && rig.pilot.mode() == Mode::Loiter);
}

fn leave_again(mut rig: PilotRig) -> PilotRig {
    rig.stream_velocity([4.0, 0.0, 0.0], 0.0);
    until(&mut rig, 20.0, |rig| rig.pilot.mode() == Mode::Loiter);
    rig
}

#[test]
fn what_a_breach_does_is_a_parameter() {
    for (action, at_once, later) in [
        (1, Mode::Offboard, Mode::Offboard),
        (2, Mode::Loiter, Mode::Loiter),
        (3, Mode::Loiter, Mode::Return),
        (4, Mode::Termination, Mode::Termination),
        (5, Mode::Loiter, Mode::Land),
    ] {
        let mut rig = PilotRig::fly(8.0);
        set(&mut rig, "GF_ACTION", action as f32, true);
        set(&mut rig, "GF_MAX_HOR_DIST", 6.0, false);
        let mut rig = leave(rig);
        assert_eq!(rig.pilot.mode(), at_once, "GF_ACTION {action}");
        rig.run(4.9);
        assert_eq!(rig.pilot.mode(), later, "GF_ACTION {action}");
    }
}

#[test]
fn a_fence_has_a_height_and_areas() {
    let mut rig = PilotRig::fly(5.0);
    set(&mut rig, "GF_MAX_VER_DIST", 10.0, false);
    rig.stream_position([0.0, 0.0, -14.0]);
    until(&mut rig, 15.0, |rig| {
        rig.said("Geofence violation: exceeding maximum altitude above Home")
    });
    // A square of 10 m around the start, a circle of 3 m that must not be entered, 5 m in the north.
    let [latitude, longitude, _] = rfly_bridge::emulator::autopilot::geo::MAP_CENTRE;
    let (metre, east) = (8.983e-6, 8.983e-6 / latitude.to_radians().cos());
    let corner = |n: f64, e: f64, command: u16, p: f32| MissionItemInt {
        params: [p, 0.0, 0.0, 0.0],
        x: ((latitude + n * metre) * 1e7) as i32,
        y: ((longitude + e * east) * 1e7) as i32,
        command,
        frame: 3,
        target_system: 1,
        target_component: 1,
        mission_type: 1,
        ..MissionItemInt::default()
    };
    let square = [(-10.0, -10.0), (10.0, -10.0), (10.0, 10.0), (-10.0, 10.0)];
    let mut items: Vec<_> = square.iter().map(|(n, e)| corner(*n, *e, 5001, 4.0)).collect();
    items.push(corner(5.0, 0.0, 5004, 3.0));
    for (goal, breached) in [
        ([0.0, 6.0, -5.0], false),
        ([3.5, 0.0, -5.0], true),
        ([-8.0, -8.0, -5.0], false),
        ([0.0, 12.0, -5.0], true),
    ] {
        let mut rig = PilotRig::fly(5.0);
        let count = MissionCount {
            count: items.len() as u16,
            target_system: 1,
            target_component: 1,
            mission_type: 1,
            ..MissionCount::default()
        };
        rig.send(&count.into());
        for (item, seq) in items.iter().zip(0..) {
            rig.send(&MissionItemInt { seq, ..*item }.into());
        }
        let accepted = rig.sent.iter().filter(|s| s.id == 47).any(|s| {
            let frame = frames(&s.bytes).next().unwrap().unwrap();
            MissionAck::parse(&frame).is_some_and(|ack| ack.result == 0)
        });
        assert!(accepted);
        rig.stream_position(goal);
        rig.run(8.0);
        let text = "Geofence violation: approaching or outside geofence";
        assert_eq!(rig.said(text), breached, "{goal:?}");
        assert_eq!(rig.pilot.mode() == Mode::Loiter, breached, "{goal:?}");
    }
}

/// `base_mode`, main mode, sub mode, status of a HEARTBEAT.
type Beat = (u8, u8, u8, u8);

/// What PX4 said and showed in a flight of fixtures/px4_failsafes.json, from its take-off on.
fn recorded(flight: &str) -> (Vec<String>, Vec<Beat>) {
    let text = include_str!("../fixtures/px4_failsafes.json");
    let all: serde_json::Value = serde_json::from_str(text).unwrap();
    let list = |name: &str| all[flight][name].as_array().unwrap().clone();
    let said = |row: serde_json::Value| row[2].as_str().unwrap().trim_end().to_owned();
    let byte = |row: &serde_json::Value, i: usize| u8::try_from(row[i].as_u64().unwrap()).unwrap();
    let shown =
        |row: serde_json::Value| (byte(&row, 1), byte(&row, 2), byte(&row, 3), byte(&row, 4));
    (
        list("texts").into_iter().map(said).collect(),
        list("heartbeats").into_iter().map(shown).collect(),
    )
}

/// What is compared: not what else PX4's return says, and not that its simulator cannot be switched off.
fn relevant(texts: Vec<String>) -> Vec<String> {
    let other = ["RTL:", "System does not", "Armed by"];
    let mut texts = texts;
    texts.retain(|text| other.iter().all(|other| !text.starts_with(other)));
    texts
}

#[test]
fn px4_said_and_did_the_same() {
    for flight in ["battery", "fence_hold", "fence_return"] {
        let mut rig = PilotRig::fly(8.0);
        match flight {
            "battery" => {
                set(&mut rig, "SIM_BAT_MIN_PCT", 1.0, false);
                set(&mut rig, "SIM_BAT_DRAIN", 30.0, false);
            }
            _ => {
                set(&mut rig, "GF_ACTION", if flight == "fence_hold" { 2.0 } else { 3.0 }, true);
                set(&mut rig, "GF_MAX_HOR_DIST", 15.0, false);
                rig.stream_velocity([4.0, 0.0, 0.0], 0.0);
            }
        }
        let mut shown = vec![rig.heartbeat()];
        // As long as the recording, which ends on the way home or on the ground.
        for _ in 0..if flight == "fence_return" { 120 } else { 700 } {
            rig.run(0.1);
            shown.push(rig.heartbeat());
        }
        shown.dedup();
        let (texts, heartbeats) = recorded(flight);
        let flying = heartbeats.iter().position(|beat| *beat == shown[0]).unwrap();
        assert_eq!(shown, heartbeats[flying..], "{flight}");
        let (mut found, mut expected) = (relevant(rig.texts()), relevant(texts));
        // The recording goes on: PX4 overshoots its height, and looks at the battery once more after the landing.
        expected.truncate(found.len());
        found.truncate(expected.len());
        assert_eq!(found, expected, "{flight}");
        assert!(found.len() >= 3, "{flight}: {found:?}");
        if flight == "fence_return" {
            let height = "(30 m above destination)";
            let start = |texts: &[String]| {
                texts.iter().any(|t| t.starts_with("RTL: start") && t.ends_with(height))
            };
            assert!(start(&rig.texts()) && start(&recorded(flight).0), "{:?}", rig.texts());
        }
    }
}
