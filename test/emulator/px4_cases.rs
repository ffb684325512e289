//! Setpoints and commands that are odd, against what PX4 made of them (fixtures/px4_setpoints.json): the same bytes, the same
//! result, texts, mode and motion.
use super::pilot_rig::PilotRig;
use super::rig::near;
use rfly_bridge::emulator::autopilot::geo::Geo;
use rfly_bridge::emulator::autopilot::{ControlMode, VehicleSetup};
use rfly_bridge::emulator::world::Vec3;
use rfly_bridge::wire::mavlink::frames;
use rfly_bridge::wire::mavlink::raw::CommandAck;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::f64::consts::TAU;

/// Where PX4 flew.
const PLACE: [f64; 3] = [47.397_742, 8.545_594, 489.4];

#[derive(Deserialize)]
struct Recording {
    cases: Vec<Case>,
    /// Why the emulator differs on purpose.
    differs: HashMap<String, String>,
}

#[derive(Deserialize)]
struct Case {
    case: String,
    /// `hover` in OFFBOARD looking east, `hold`, or `ground`.
    from: String,
    up: f32,
    seconds: f64,
    /// Frames, each after so many s.
    sent: Vec<(f64, String)>,
    /// The frame that is sent 20 times per second from then on.
    stream: Vec<(f64, String)>,
    /// One outcome for each flight: PX4's estimate and its simulator are noisy.
    px4: Vec<Outcome>,
}

/// What became of a case at its end.
#[derive(Debug, Deserialize)]
struct Outcome {
    /// Command and MAV_RESULT.
    acks: Vec<(u16, u8)>,
    mode: (u8, u8),
    armed: bool,
    texts: Vec<String>,
    /// In m, NED, from the start of the case.
    moved: [f64; 3],
    /// In m/s, NED.
    velocity: [f64; 3],
    /// In rad.
    yaw: f64,
    /// HOME_POSITION: latitude and longitude in degrees, altitude in m.
    home: Option<[f64; 3]>,
}

fn recording() -> Recording {
    serde_json::from_str(include_str!("../fixtures/px4_setpoints.json")).unwrap()
}

/// A vehicle at the start of cases.
fn at_start(from: &str, up: f32) -> PilotRig {
    let mut rig = PilotRig::of(VehicleSetup {
        geo: Geo { centre: PLACE },
        ..VehicleSetup::new(1, 0, ControlMode::MavlinkFull)
    });
    rig.run(3.0);
    if from == "ground" {
        return rig;
    }
    rig.stream_east(up);
    rig.run(1.0);
    assert_eq!(rig.mode(6, 0), Some(0));
    assert_eq!(rig.arm(), Some(0));
    let there = |rig: &PilotRig| (rig.pilot.local().z + f64::from(up)).abs() < 0.2;
    assert!(rig.run_until(40.0, there), "{}", rig.pilot.local());
    rig.run(4.0);
    if from == "hold" {
        assert_eq!(rig.mode(4, 3), Some(0));
        rig.run(2.0);
    }
    rig
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// Does what the case says, and returns what became of it.
fn replay(mut rig: PilotRig, case: &Case) -> Outcome {
    rig.sent.clear();
    let (begin, start) = (rig.now, rig.pilot.local());
    let mut sent = case.sent.iter().peekable();
    let mut streams = case.stream.iter().peekable();
    while rig.now - begin < case.seconds {
        let due = |at: f64| rig.now - begin >= at - 1e-9;
        if let Some((_, hex)) = streams.next_if(|(at, _)| due(*at)) {
            rig.stream = Some(bytes(hex));
        } else if let Some((_, hex)) = sent.next_if(|(at, _)| due(*at)) {
            rig.receive(&bytes(hex));
        } else {
            rig.step();
        }
    }
    let state = rig.pilot.flown().unwrap_or_else(super::pilot_rig::standing);
    let (_, main, sub, _) = rig.heartbeat();
    Outcome {
        acks: acks(&rig),
        mode: (main, sub),
        armed: rig.pilot.is_armed(),
        texts: rig.texts(),
        moved: (rig.pilot.local() - start).into(),
        velocity: state.velocity.into(),
        yaw: state.pose.roll_pitch_yaw()[2],
        home: rig.told_home(),
    }
}

fn acks(rig: &PilotRig) -> Vec<(u16, u8)> {
    rig.sent
        .iter()
        .filter_map(|sent| {
            let frame = frames(&sent.bytes).next()?.ok()?;
            let ack = CommandAck::parse(&frame)?;
            // Arming belongs to the way to the start.
            (ack.command != 400).then_some((ack.command, ack.result))
        })
        .collect()
}

/// What differs by more than PX4's estimate is noisy, from the flight that is most alike.
fn differences(case: &Case, here: &Outcome) -> Vec<String> {
    let flights = case.px4.iter().map(|px4| differences_from(px4, case, here));
    flights.min_by_key(Vec::len).expect("a flight")
}

fn differences_from(px4: &Outcome, case: &Case, here: &Outcome) -> Vec<String> {
    let mut differences = Vec::new();
    let mut same = |what: &str, same: bool, found: String| {
        if !same {
            differences.push(format!("{what}: {found}"));
        }
    };
    same("results", here.acks == px4.acks, format!("{:?}, PX4 {:?}", here.acks, px4.acks));
    same("mode", here.mode == px4.mode, format!("{:?}, PX4 {:?}", here.mode, px4.mode));
    same("armed", here.armed == px4.armed, format!("{}", here.armed));
    let texts = |o: &Outcome| {
        let mut texts = o.texts.clone();
        // Said before the case in some flights.
        texts.retain(|text| text != "Armed by external command");
        texts.sort();
        texts.dedup();
        texts
    };
    same("texts", texts(here) == texts(px4), format!("{:?}, PX4 {:?}", texts(here), texts(px4)));
    let (a, b) = (Vec3::from(here.moved), Vec3::from(px4.moved));
    let far = a.xy().norm().max(b.xy().norm());
    let away = (a - b).xy().norm();
    same("moved", away <= 0.9 + 0.15 * far, format!("{a:.1?}, PX4 {b:.1?}"));
    let away = (a.z - b.z).abs();
    same("down", away <= 0.8 + 0.15 * b.z.abs(), format!("{:.1}, PX4 {:.1}", a.z, b.z));
    let (a, b) = (Vec3::from(here.velocity), Vec3::from(px4.velocity));
    let away = (a - b).norm();
    same("velocity", away <= 0.7 + 0.15 * b.norm(), format!("{a:.1?}, PX4 {b:.1?}"));
    let angle = |yaw: f64| ((yaw + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0).abs();
    let turns = case.from != "ground" && px4.armed;
    let tolerance = 0.15 + 0.1 * angle(px4.yaw - TAU / 4.0);
    same(
        "yaw",
        !turns || angle(here.yaw - px4.yaw) < tolerance,
        format!("{:.2}, PX4 {:.2}", here.yaw, px4.yaw),
    );
    if let (Some(a), Some(b)) = (here.home, px4.home) {
        let near = |i: usize, tolerance: f64| (a[i] - b[i]).abs() < tolerance;
        let near = near(0, 2e-5) && near(1, 3e-5) && near(2, 1.5);
        same("home", near, format!("{a:?}, PX4 {b:?}"));
    }
    differences
}

/// Replays the cases whose names begin like this.
fn compare(begins: &[&str]) {
    let Recording { cases, differs } = recording();
    let mut starts: BTreeMap<(String, u32), PilotRig> = BTreeMap::new();
    let (mut compared, mut wrong) = (0, Vec::new());
    for case in &cases {
        if !begins.iter().any(|begin| case.case.starts_with(begin)) {
            continue;
        }
        compared += 1;
        let start = starts
            .entry((case.from.clone(), case.up as u32))
            .or_insert_with(|| at_start(&case.from, case.up));
        let found = differences(case, &replay(start.clone(), case));
        match (differs.get(&case.case), found.is_empty()) {
            (None, false) => wrong.push(format!("{}: {}", case.case, found.join("; "))),
            (Some(reason), true) => {
                wrong.push(format!("{}: as PX4, but listed: {reason}", case.case))
            }
            _ => {}
        }
    }
    assert!(compared > 0);
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn local_setpoints_are_read_as_px4_reads_them() {
    compare(&["local"]);
}

#[test]
fn global_setpoints_are_read_as_px4_reads_them() {
    compare(&["global"]);
}

#[test]
fn attitude_setpoints_are_read_as_px4_reads_them() {
    compare(&["attitude"]);
}

#[test]
fn repositions_and_speeds_are_read_as_px4_reads_them() {
    compare(&["reposition", "change speed"]);
}

#[test]
fn take_offs_are_read_as_px4_reads_them() {
    compare(&["take-off"]);
}

#[test]
fn other_commands_are_read_as_px4_reads_them() {
    let Recording { cases, .. } = recording();
    let others: Vec<&str> = cases
        .iter()
        .map(|case| case.case.as_str())
        .filter(|case| {
            let groups = ["local ", "global", "attitude", "reposition", "change speed", "take-off"];
            !groups.iter().any(|group| case.starts_with(group))
        })
        .collect();
    compare(&others);
}

#[test]
fn orbits_have_the_radius_speed_direction_and_yaw_of_px4s() {
    let Recording { cases, .. } = recording();
    for (name, centre, direction) in
        [("orbit radius 5 speed 2 NaN", 0.0, 1.0), ("orbit radius -5, centre north", 11.1, -1.0)]
    {
        let case = cases.iter().find(|case| case.case == name).unwrap();
        let here = replay(at_start(&case.from, case.up), case);
        for flown in [&here, &case.px4[0]] {
            let out = Vec3::from(flown.moved) - Vec3::new(centre, 0.0, 0.0);
            let velocity = Vec3::from(flown.velocity);
            near(out.xy().norm(), 5.0, 0.7, name);
            near(velocity.xy().norm(), 1.65, 0.25, name);
            let turn = out.x * velocity.y - out.y * velocity.x;
            assert!(turn * direction > 5.0, "{name}: {turn}");
            let off = (flown.yaw - (-out.y).atan2(-out.x)).sin();
            near(off, 0.0, 0.25, name);
        }
    }
}
