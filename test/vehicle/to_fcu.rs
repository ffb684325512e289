//! What mavros 2.12 sent for the same messages.
use super::rig::{Rig, hex, same_frame};
use rfly_bridge::msgs::{
    geographic_msgs::msg::GeoPoseStamped,
    geometry_msgs::msg::{
        PoseStamped, PoseWithCovarianceStamped, TransformStamped, Twist, TwistStamped,
        TwistWithCovarianceStamped, Vector3Stamped,
    },
    mavros_msgs::msg::{
        ActuatorControl, AttitudeTarget, DebugValue, GlobalPositionTarget, ManualControl,
        OverrideRCIn, PositionTarget, Thrust,
    },
    nav_msgs::msg::Odometry,
    trajectory_msgs::msg::MultiDOFJointTrajectory,
};
use rfly_bridge::vehicle::{SetpointFrame, VehicleSettings};
use rfly_bridge::wire::mavlink::raw::SetAttitudeTarget;
use rfly_bridge::wire::mavlink::{Frame, frames};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// Recorded topics that other tests compare, or that the bridge does not have.
const ELSEWHERE: [&str; 5] = [
    "statustext/send",
    "home_position/set",
    "global_position/set_gp_origin",
    "play_tune",
    "companion_process/status",
];

/// Why we differ from mavros.
const FRAME: &str = "PX4 takes frames 1 and 8 only; refused aloud";
const GLOBAL_FRAME: &str = "PX4 takes frames 5, 6 and 11 only; refused aloud";
const FORCE: &str = "PX4 takes no forces; refused aloud";
const NOTHING: &str = "PX4 takes no setpoint that ignores everything; refused aloud";
const BODY_POSITION: &str = "PX4 ignores positions in BODY_NED; sent as a local position, refused while the pose is not known";

const ROUNDED: &str = "1e-7 degrees are rounded, not cut off";
const EULER: &str = "of the two triples of angles, the one with a pitch within 90 degrees";

/// Cases that differ with default settings (all that begin so, if it ends in `_`), and the reason.
const CORRECTED: &[(&str, &str)] = &[
    ("raw_local_f7_", FRAME),
    ("raw_local_f9_", FRAME),
    ("raw_local_f0_", FRAME),
    ("raw_local_f3_", FRAME),
    ("raw_local_f12_", FRAME),
    ("raw_local_f20_", FRAME),
    ("raw_local_f1_none", NOTHING),
    ("raw_local_f8_none", NOTHING),
    ("raw_local_f1_force", FORCE),
    ("raw_local_f8_force", FORCE),
    ("raw_local_f8_pos", BODY_POSITION),
    ("raw_local_f8_pos_yaw", BODY_POSITION),
    ("raw_local_body_yaw_", BODY_POSITION),
    ("raw_att_m135", NOTHING),
    ("sp_pos_local_BODY_NED", BODY_POSITION),
    ("sp_pos_local_LOCAL_OFFSET_NED", FRAME),
    ("sp_pos_local_BODY_OFFSET_NED", FRAME),
    ("cmd_vel_LOCAL_OFFSET_NED_", FRAME),
    ("cmd_vel_BODY_OFFSET_NED_", FRAME),
    ("cmd_vel_unstamped_LOCAL_OFFSET_NED", FRAME),
    ("cmd_vel_unstamped_BODY_OFFSET_NED", FRAME),
    ("raw_global_f0_", GLOBAL_FRAME),
    ("raw_global_f3_", GLOBAL_FRAME),
    ("raw_global_f5_m0", ROUNDED),
    ("raw_global_f5_m3576", ROUNDED),
    ("raw_att_unnormalised", "the quaternion is normalised"),
    ("sp_accel_force", FORCE),
    ("sp_att_cmdvel_thrust", "body rates from FLU to FRD, not from ENU to NED"),
    ("sp_trajectory_local", "the yaw rate has a sign, too"),
    ("vision_pose_0", EULER),
    ("vision_pose_1", EULER),
    ("vision_pose_cov", EULER),
];

/// Cases that differ also with `quirks` and without `px4_checks`.
const ALWAYS: &[(&str, &str)] = &[
    ("raw_local_nan", "NaN in a position that is used; nothing else says where to be"),
    ("raw_att_thrust_nan", "a thrust that is not a number does not stop the motors"),
    (
        "sp_pos_global_to_local_nogps",
        "where the vehicle is, is not known; mavros sends it thousands of kilometres away",
    ),
];

/// Messages that answer to a topic; the bridge sends others by itself.
const SETPOINTS: [u32; 15] = [69, 70, 82, 84, 86, 102, 103, 138, 139, 250, 251, 252, 254, 331, 350];

fn recorded() -> Value {
    let text = include_str!("../fixtures/golden/mavros/to_fcu.json");
    serde_json::from_str(text).expect("JSON")
}

fn topic(name: &str) -> &str {
    name.trim_start_matches("/mavros/")
}

/// Parameters of mavros' nodes as settings.
fn set(settings: &mut VehicleSettings, case: &Value) {
    let value = &case["value"];
    let frame = || match value.as_str() {
        Some("LOCAL_NED") => SetpointFrame::LocalNed,
        Some("LOCAL_OFFSET_NED") => SetpointFrame::LocalOffsetNed,
        Some("BODY_NED") => SetpointFrame::BodyNed,
        Some("BODY_OFFSET_NED") => SetpointFrame::BodyOffsetNed,
        _ => panic!("{case}"),
    };
    let node = topic(case["node"].as_str().unwrap());
    match (node, case["name"].as_str().unwrap()) {
        ("setpoint_position", "mav_frame") => settings.position_frame = frame(),
        ("setpoint_velocity", "mav_frame") => settings.velocity_frame = frame(),
        ("setpoint_accel", "send_force") => settings.send_force = value.as_bool().unwrap(),
        ("setpoint_attitude", "reverse_thrust") => {
            settings.reverse_thrust = value.as_bool().unwrap();
        }
        other => panic!("{other:?}"),
    }
}

fn publish(rig: &Rig, name: &str, interface: &str, message: &Value) {
    let name = topic(name);
    macro_rules! by_type {
        ($($type:ident)+) => {
            match interface.rsplit('/').next().unwrap() {
                $(stringify!($type) => rig.publish_json::<$type>(name, message),)+
                _ => panic!("{interface}"),
            }
        };
    }
    by_type! {
        ActuatorControl AttitudeTarget DebugValue GeoPoseStamped GlobalPositionTarget ManualControl
        MultiDOFJointTrajectory Odometry OverrideRCIn PoseStamped PoseWithCovarianceStamped PositionTarget Thrust
        TransformStamped Twist TwistStamped TwistWithCovarianceStamped Vector3Stamped
    }
}

/// What we send for a case.
fn play(settings: VehicleSettings, case: &Value) -> Vec<u8> {
    let rig = Rig::new(settings);
    if case["kind"] == "pub" {
        let text = |key: &str| case[key].as_str().unwrap();
        publish(&rig, text("topic"), text("type"), &case["msg"]);
    } else {
        // The pair was published four times, each a second after the one before.
        for round in 0..4 {
            for item in case["items"].as_array().unwrap() {
                let mut message = item["msg"].clone();
                let sec = &mut message["header"]["stamp"]["sec"];
                *sec = Value::from(sec.as_i64().unwrap() + round);
                let text = |key: &str| item[key].as_str().unwrap();
                publish(&rig, text("topic"), text("type"), &message);
            }
        }
    }
    rig.pass(Duration::from_millis(300));
    rig.sent_bytes()
}

/// Stamped with the time of sending, which is not the recorded one.
fn stamped_now(id: &str) -> bool {
    id.starts_with("cmd_vel_unstamped") || id == "sp_trajectory_local"
}

/// q and -q are one attitude; mavros sends either, by the way it takes.
fn opposite(ours: &Frame<'_>, theirs: &Frame<'_>) -> bool {
    let (ours, theirs) = (SetAttitudeTarget::parse(ours), SetAttitudeTarget::parse(theirs));
    ours.zip(theirs).is_some_and(|(ours, theirs)| {
        ours.q.iter().zip(&theirs.q).map(|(a, b)| a * b).sum::<f32>() < 0.0
    })
}

fn compare(case: &Value, sent: &[u8]) -> Result<(), String> {
    let id = case["id"].as_str().unwrap();
    let ours: Vec<Frame<'_>> = frames(sent)
        .map(|frame| frame.expect("a frame"))
        .filter(|frame| SETPOINTS.contains(&frame.id))
        .collect();
    let empty = Vec::new();
    let recorded = case["frames"].as_array().unwrap_or(&empty);
    if ours.len() != recorded.len() {
        return Err(format!("{} frames, not {}", ours.len(), recorded.len()));
    }
    for (ours, recorded) in ours.iter().zip(recorded) {
        let bytes = hex(recorded["hex"].as_str().unwrap());
        let taken = frames(&bytes).next().expect("a frame").expect("a frame");
        let mut payload = taken.payload.to_vec();
        if stamped_now(id) {
            payload[..4].copy_from_slice(&ours.payload[..4]);
        }
        if opposite(ours, &taken) {
            payload[4..20].chunks_mut(4).for_each(|real| real[3] ^= 0x80);
        }
        let theirs = Frame { payload: &payload, ..taken };
        same_frame(ours, &theirs, 1e-6)?;
    }
    Ok(())
}

/// Plays every case with settings that `prepare` makes of those of the recording.
fn check(prepare: impl Fn(&mut VehicleSettings), differences: &[(&str, &str)]) {
    let recorded = recorded();
    let mut settings = VehicleSettings::default();
    let (mut compared, mut failures) = (0, Vec::new());
    let mut stale: BTreeSet<&str> = differences.iter().map(|(id, _)| *id).collect();
    for case in recorded["cases"].as_array().unwrap() {
        if case["kind"] == "param" {
            set(&mut settings, case);
            continue;
        }
        let elsewhere = || ELSEWHERE.contains(&topic(case["topic"].as_str().unwrap_or_default()));
        if case["kind"] == "srv" || elsewhere() {
            continue;
        }
        settings.use_quaternion = case["phase"] == 2;
        let mut chosen = settings.clone();
        prepare(&mut chosen);
        let id = case["id"].as_str().unwrap();
        let result = compare(case, &play(chosen, case));
        compared += 1;
        let intended = differences
            .iter()
            .find(|(name, _)| id == *name || (name.ends_with('_') && id.starts_with(name)));
        match (intended, result) {
            (Some((start, _)), Err(_)) => drop(stale.remove(start)),
            (Some((_, why)), Ok(())) => failures.push(format!("{id} does not differ: {why}")),
            (None, Err(error)) => failures.push(format!("{id}: {error}")),
            (None, Ok(())) => (),
        }
    }
    assert!(failures.is_empty(), "{} of {compared}:\n{}", failures.len(), failures.join("\n"));
    assert!(stale.is_empty(), "no such case: {stale:?}");
    assert!(compared >= 140, "only {compared} cases");
}

#[test]
fn setpoints_are_those_of_mavros_except_where_that_is_wrong() {
    let differences: Vec<_> = CORRECTED.iter().chain(ALWAYS).copied().collect();
    check(|_| (), &differences);
}

#[test]
fn with_quirks_and_without_checks_setpoints_are_those_of_mavros() {
    check(
        |settings| {
            settings.quirks = true;
            settings.px4_checks = false;
        },
        ALWAYS,
    );
}
