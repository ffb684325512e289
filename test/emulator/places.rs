//! Commands with a place, as PX4 1.16 (SITL, SIH) answered them and what it did then.
use super::pilot_rig::PilotRig;
use super::rig::near;
use rfly_bridge::emulator::autopilot::{ControlMode, Mode};
use rfly_bridge::wire::mavlink::frames;
use rfly_bridge::wire::mavlink::raw::{CommandAck, CommandInt};

const NAN: f32 = f32::NAN;
/// 50.09 m.
const NORTH: i32 = 4500;

/// Latitude and longitude in 1e-7 degrees, altitude above sea level in m.
fn place(rig: &PilotRig) -> (i32, i32, f32) {
    let last = rig.sent.iter().rev().find(|sent| sent.id == 33).expect("GLOBAL_POSITION_INT");
    let frame = frames(&last.bytes).next().unwrap().unwrap();
    // MAVLink leaves out zeros at the end.
    let mut payload = [0; 28];
    payload[..frame.payload.len()].copy_from_slice(frame.payload);
    let number = |at| i32::from_le_bytes(payload[at..at + 4].try_into().unwrap());
    (number(4), number(8), number(12) as f32 / 1000.0)
}

/// DO_REPOSITION by COMMAND_INT; the result.
fn reposition(
    rig: &mut PilotRig,
    frame: u8,
    params: [f32; 4],
    (x, y, z): (i32, i32, f32),
) -> Option<u8> {
    let before = rig.sent.len();
    let int = CommandInt {
        params,
        x,
        y,
        z,
        command: 192,
        target_system: 1,
        target_component: 1,
        frame,
        ..CommandInt::default()
    };
    rig.send(&int.into());
    rig.sent[before..].iter().find_map(|sent| {
        let frame = frames(&sent.bytes).next()?.ok()?;
        Some(CommandAck::parse(&frame)?.result)
    })
}

/// Loiters at a height of 8 m.
fn loitering() -> PilotRig {
    let mut rig = PilotRig::fly(8.0);
    rig.stream = None;
    assert_eq!(rig.mode(4, 3), Some(0));
    rig.run(3.0);
    rig
}

#[test]
fn a_take_off_for_a_place_on_another_continent_spins_until_it_is_disarmed() {
    let mut rig = PilotRig::ready(ControlMode::MavlinkFull);
    let (_, _, altitude) = place(&rig);
    assert_eq!(rig.arm(), Some(0));
    let take_off = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, altitude + 10.0];
    assert_eq!(rig.command(22, take_off), Some(0), "PX4 accepts it");
    rig.run(8.0);
    assert_eq!((rig.pilot.mode(), rig.pilot.is_armed()), (Mode::Takeoff, true));
    assert!(rig.pilot.local().z > -0.3, "{}", rig.pilot.local());
    assert!(rig.run_until(8.0, |rig| !rig.pilot.is_armed()));
    assert!(rig.said("Disarmed by auto preflight disarming"));
}

#[test]
fn the_altitude_is_above_sea_level_in_every_frame() {
    for frame in [0, 3, 5, 6, 11] {
        let mut rig = loitering();
        let (x, y, altitude) = place(&rig);
        let there = (x + NORTH, y, altitude + 4.0);
        assert_eq!(reposition(&mut rig, frame, [-1.0, 1.0, 0.0, NAN], there), Some(0));
        rig.run(25.0);
        near(rig.pilot.local().x, 50.1, 1.0, "north");
        near(rig.pilot.local().z, -12.0, 0.5, "down");
        // 20 m above sea level is far below the ground here.
        let low = (x + NORTH, y, 20.0);
        assert_eq!(reposition(&mut rig, frame, [-1.0, 1.0, 0.0, NAN], low), Some(0));
        assert!(rig.run_until(25.0, |rig| rig.pilot.local().z > -1.0), "frame {frame}");
    }
}

#[test]
fn int32_max_is_here_and_half_a_nan_is_denied() {
    let mut rig = loitering();
    let (_, _, altitude) = place(&rig);
    let unset = (i32::MAX, i32::MAX, altitude + 4.0);
    assert_eq!(reposition(&mut rig, 5, [-1.0, 1.0, 0.0, NAN], unset), Some(0));
    rig.run(8.0);
    near(rig.pilot.local().z, -12.0, 0.5, "down");
    near(rig.pilot.local().xy().norm(), 0.0, 1.0, "away");
    let wrong = (0x7ff8_0000, 0x7ff8_0000, altitude + 4.0);
    assert_eq!(reposition(&mut rig, 5, [-1.0, 1.0, 0.0, NAN], wrong), Some(2));
}

#[test]
fn a_goal_without_the_flag_is_unsupported_and_yet_flown_to_while_it_loiters() {
    for flags in [0.0, 3.0] {
        let mut rig = loitering();
        let (x, y, altitude) = place(&rig);
        let there = (x + NORTH, y, altitude);
        assert_eq!(reposition(&mut rig, 5, [-1.0, flags, 0.0, NAN], there), Some(3));
        rig.run(20.0);
        near(rig.pilot.local().x, 50.1, 1.0, "north");
    }
    let mut rig = PilotRig::fly(8.0);
    let (x, y, altitude) = place(&rig);
    let there = (x + NORTH, y, altitude);
    assert_eq!(reposition(&mut rig, 5, [-1.0, 0.0, 0.0, NAN], there), Some(3));
    rig.run(5.0);
    assert_eq!(rig.pilot.mode(), Mode::Offboard);
    near(rig.pilot.local().x, 0.0, 1.0, "north");
}

#[test]
fn a_goal_at_null_island_is_flown_to_and_its_speed_is_obeyed() {
    let mut rig = loitering();
    let (x, y, altitude) = place(&rig);
    assert_eq!(rig.command(192, [-1.0, 1.0, 0.0, NAN, 0.0, 0.0, altitude]), Some(0));
    rig.run(10.0);
    assert!(rig.pilot.local().xy().norm() > 20.0, "{}", rig.pilot.local());
    let mut rig = loitering();
    assert_eq!(reposition(&mut rig, 5, [2.0, 1.0, 0.0, NAN], (x + NORTH, y, altitude)), Some(0));
    rig.run(10.0);
    near(rig.pilot.local().x, 18.0, 3.0, "2 m/s for 10 s");
}

#[test]
fn a_landing_with_a_place_lands_where_the_vehicle_is() {
    let mut rig = loitering();
    let (x, y, _) = place(&rig);
    let degrees = |v: i32| (f64::from(v) * 1e-7) as f32;
    assert_eq!(rig.command(21, [0.0, 0.0, 0.0, NAN, degrees(x + NORTH), degrees(y), 0.0]), Some(0));
    assert!(rig.said("Landing at current position"));
    assert!(rig.run_until(40.0, |rig| !rig.pilot.is_armed()));
    near(rig.pilot.local().xy().norm(), 0.0, 1.0, "away");
}
