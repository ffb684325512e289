//! What mavros 2.12 sent for the same calls, and what it answered.
use super::fcu::Fcu;
use super::json::{decode, plain, same};
use super::rig::{Rig, same_frame};
use crate::support::golden;
use rfly_bridge::msgs::mavros_msgs::{msg, srv};
use rfly_bridge::msgs::rcl_interfaces::{msg::ParameterValue, srv as rcl};
use rfly_bridge::msgs::sensor_msgs::msg::TimeReference;
use rfly_bridge::msgs::{Message, Service};
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::raw::{MissionItemInt, Timesync};
use rfly_bridge::wire::mavlink::{Frame, Taken, frames, take};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// Services that mavros has and the bridge has not, or that other tests compare.
const ELSEWHERE: [&str; 3] = ["geofence/", "rallypoint/", "home_position/"];

/// Cases that differ, and why.
const INTENDED: &[(&str, &str)] = &[
    ("arm_noack", "repeated until 5 s are over; what was not answered did not end with result 0"),
    (
        "command_long",
        "MAV_CMD_DO_SET_MODE is answered as set_mode: when the heartbeat shows the mode",
    ),
    (
        "command_int",
        "PX4 takes the height above home for one above sea level: refused aloud, nothing is sent",
    ),
    ("land", "answered when the heartbeat shows AUTO.LAND, which is asked for"),
    ("land_denied", "latitude and longitude 0 mean here, which is NaN for PX4"),
    ("mission_push_reqnonint", "coordinates are rounded, not cut"),
    ("mission_set_current", "follows from mission_push_empty: there are no items"),
    ("mission_set_current_oob", "follows from mission_push_empty: there are no items"),
    ("arm_ack_result_5", "IN_PROGRESS is no result: the final one is waited for, and none came"),
    ("takeoff_local", "PX4 has no such command: refused aloud, nothing is sent"),
    ("land_local", "PX4 would land with precision: refused aloud, nothing is sent"),
    ("set_mode_AUTO.VTOL_TAKEOFF", "PX4 has this mode since 1.13"),
    ("param_set_type_mismatch", "an integer for a float is that number, not its bits"),
    ("param_set_unknown_force", "a value that the vehicle did not take is not answered"),
    ("param_get_ros", "follows from param_set_type_mismatch"),
    ("param_list_ros", "in alphabetical order"),
    ("mission_push", "coordinates are rounded, not cut; one more item is 1e-7 degrees off"),
    ("mission_push_local", "coordinates are rounded, not cut"),
    ("mission_push_rejected", "nothing of a refused mission is in the vehicle"),
    ("mission_push_empty", "an empty mission that was accepted is a success"),
    ("mission_pull", "the item flown to is the one that the vehicle names"),
];

fn long_name(case: &Value) -> &str {
    case["service"].as_str().unwrap().strip_prefix("/mavros/").unwrap()
}

/// Values of parameters with the fields that the recording leaves out.
fn whole(recorded: &Value) -> Value {
    match recorded {
        Value::Array(all) => all.iter().map(whole).collect(),
        Value::Object(fields) if fields.contains_key("type") => {
            let mut value = plain(&ParameterValue::default());
            value.as_object_mut().unwrap().extend(fields.clone());
            value
        }
        Value::Object(fields) => {
            let whole = |(name, field): (&String, &Value)| (name.clone(), whole(field));
            Value::Object(fields.iter().map(whole).collect())
        }
        other => other.clone(),
    }
}

/// Calls, plays the vehicle, and returns what was sent and answered.
fn call<S: Service>(rig: &mut Rig, fcu: &mut Fcu, case: &Value) -> (Vec<Vec<u8>>, Value) {
    let answer = rig.call_later::<S>(long_name(case), decode(&whole(&case["req"])));
    let mut sent = Vec::new();
    for _ in 0..150 {
        sent.extend(fcu.serve(rig, Duration::from_millis(100)));
        if let Some(answer) = answer.get() {
            return (sent, plain(&answer));
        }
        fcu.beat(rig);
    }
    panic!("{}: no answer", case["id"]);
}

fn run(rig: &mut Rig, fcu: &mut Fcu, case: &Value) -> (Vec<Vec<u8>>, Value) {
    macro_rules! services {
        ($($name:literal: $type:ty,)+) => {
            match long_name(case) {
                $($name => call::<$type>(rig, fcu, case),)+
                other => panic!("no service {other}"),
            }
        };
    }
    services! {
        "cmd/arming": srv::CommandBool,
        "cmd/command": srv::CommandLong,
        "cmd/command_int": srv::CommandInt,
        "cmd/takeoff": srv::CommandTOL,
        "cmd/land": srv::CommandTOL,
        "cmd/takeoff_local": srv::CommandTOLLocal,
        "cmd/land_local": srv::CommandTOLLocal,
        "cmd/set_home": srv::CommandHome,
        "cmd/trigger_control": srv::CommandTriggerControl,
        "cmd/trigger_interval": srv::CommandTriggerInterval,
        "cmd/vtol_transition": srv::CommandVtolTransition,
        "set_mode": srv::SetMode,
        "set_stream_rate": srv::StreamRate,
        "set_message_interval": srv::MessageInterval,
        "vehicle_info_get": srv::VehicleInfoGet,
        "param/pull": srv::ParamPull,
        "param/set": srv::ParamSetV2,
        "param/get_parameters": rcl::GetParameters,
        "param/get_parameter_types": rcl::GetParameterTypes,
        "param/list_parameters": rcl::ListParameters,
        "param/set_parameters": rcl::SetParameters,
        "mission/pull": srv::WaypointPull,
        "mission/push": srv::WaypointPush,
        "mission/clear": srv::WaypointClear,
        "mission/set_current": srv::WaypointSetCurrent,
    }
}

fn item(recorded: &Value) -> MissionItemInt {
    let real = |name: &str| golden::number(&recorded[name]) as f32;
    let int = |name: &str| recorded[name].as_i64().unwrap();
    MissionItemInt {
        params: ["param1", "param2", "param3", "param4"].map(real),
        x: int("x") as i32,
        y: int("y") as i32,
        z: real("z"),
        command: int("command") as u16,
        frame: int("frame") as u8,
        current: int("current") as u8,
        autocontinue: int("autocontinue") as u8,
        ..MissionItemInt::default()
    }
}

fn frame(bytes: &[u8]) -> Frame<'_> {
    match take(bytes) {
        Taken::Frame(frame) => frame,
        other => panic!("{other:?}"),
    }
}

/// The case and everything that differs in it.
fn compare(case: &Value, sent: &[Vec<u8>], answer: &Value, rig: &Rig) -> Result<(), String> {
    let recorded: Vec<_> = case["frames"].as_array().into_iter().flatten().collect();
    if sent.len() != recorded.len() {
        let ids: Vec<_> = sent.iter().map(|bytes| frame(bytes).id).collect();
        return Err(format!("sent {ids:?}, mavros {} frames", recorded.len()));
    }
    for (ours, theirs) in sent.iter().zip(recorded) {
        let theirs = golden::unhex(theirs["hex"].as_str().unwrap());
        same_frame(&frame(ours), &frame(&theirs), 0.0)?;
    }
    let mut expected = case["response"].clone();
    for vehicle in expected["vehicles"].as_array_mut().into_iter().flatten() {
        vehicle.as_object_mut().unwrap().remove("header");
    }
    same(answer, &expected, 1e-12)?;
    for published in case["ros_out"].as_array().into_iter().flatten() {
        let topic = published["topic"].as_str().unwrap();
        let ours = match topic {
            "/mavros/param/event" => all::<msg::ParamEvent>(rig, "param/event"),
            "/mavros/mission/waypoints" => all::<msg::WaypointList>(rig, "mission/waypoints"),
            other => return Err(format!("nothing on {other}")),
        };
        let found = ours.iter().any(|m| same(m, &published["fields"], 1e-12).is_ok());
        if !found {
            return Err(format!("{topic}: {} not among {ours:?}", published["fields"]));
        }
    }
    Ok(())
}

fn all<M: Message>(rig: &Rig, topic: &str) -> Vec<Value> {
    rig.published::<M>(topic)
}

#[test]
fn every_recorded_call_sends_and_answers_the_same_or_differs_for_a_reason() {
    let recording = golden::json("golden/mavros/to_fcu.json");
    let cases = recording["cases"].as_array().unwrap();
    let mut rig = Rig::new(VehicleSettings::default());
    let mut fcu = Fcu::new();
    for _ in 0..6 {
        fcu.beat(&mut rig);
        fcu.serve(&mut rig, Duration::from_secs(1));
    }
    // mavros reads all parameters by itself.
    let pull = rig.call_later::<srv::ParamPull>("param/pull", srv::ParamPullRequest::default());
    fcu.serve(&mut rig, Duration::from_secs(1));
    assert_eq!(pull.expect().param_received, 5);
    let mut differ = BTreeSet::new();
    let mut problems = Vec::new();
    let mut compared = 0;
    for case in cases.iter().filter(|case| case["kind"] == "srv") {
        if ELSEWHERE.iter().any(|name| long_name(case).starts_with(name)) {
            continue;
        }
        compared += 1;
        let id = case["id"].as_str().unwrap();
        let number = |v: &Value| u8::try_from(v.as_u64().expect("a number")).unwrap();
        let acks = || case["ack"].as_object().into_iter().flatten();
        let silent = acks().filter(|(_, result)| !result.is_number());
        fcu.silent = silent.map(|(c, _)| c.parse().unwrap()).collect();
        fcu.results = acks()
            .filter(|(_, result)| result.is_number())
            .map(|(command, result)| (command.parse().unwrap(), number(result)))
            .collect();
        fcu.mission_result = case.get("mission_ack").map_or(0, number);
        fcu.integers = case.get("use_req_int") != Some(&Value::Bool(false));
        if let Some(items) = case["fcu_mission_items"].as_array() {
            fcu.mission = items.iter().map(item).collect();
        }
        let px4 = Fcu::new().heartbeat;
        fcu.heartbeat = if id.starts_with("set_mode") || id.starts_with("vehicle_info") {
            px4
        } else {
            fcu.heartbeat
        };
        fcu.beat(&mut rig);
        fcu.serve(&mut rig, Duration::from_millis(500));
        rig.recorder.clear();
        let (sent, answer) = run(&mut rig, &mut fcu, case);
        if let Err(problem) = compare(case, &sent, &answer, &rig) {
            differ.insert(id);
            if !INTENDED.iter().any(|(name, _)| *name == id) {
                problems.push(format!("{id}: {problem}"));
            }
        }
    }
    for (name, _) in INTENDED.iter().filter(|(name, _)| !differ.contains(name)) {
        problems.push(format!("{name} does not differ any more"));
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
    assert_eq!(compared, 89);
}

/// Cases of messages that services answer or publish.
fn concerns_services(case: &Value) -> bool {
    let id = case["id"].as_str().unwrap();
    case["group"] == "mission_param" || id.starts_with("system_time") || id == "timesync_request"
}

#[test]
fn messages_that_services_publish_come_out_as_from_mavros() {
    let recording = golden::json("golden/mavros/from_fcu.json");
    let cases = recording["cases"].as_array().unwrap();
    let mut rig = Rig::new(VehicleSettings::default());
    Fcu::new().beat(&mut rig);
    let mut compared = 0;
    for case in cases.iter().filter(|case| concerns_services(case)) {
        let id = case["id"].as_str().unwrap();
        rig.recorder.clear();
        rig.sent_bytes();
        for hex in case["frames"].as_array().unwrap() {
            rig.receive(&golden::unhex(hex.as_str().unwrap()));
        }
        let mut published: Vec<Value> = Vec::new();
        published.extend(rig.published::<msg::ParamEvent>("param/event"));
        published.extend(rig.published::<msg::WaypointList>("mission/waypoints"));
        published.extend(rig.published::<msg::WaypointReached>("mission/reached"));
        published.extend(rig.published::<TimeReference>("time_reference"));
        let recorded = case["ros"].as_array().unwrap();
        assert_eq!(published.len(), recorded.len(), "{id}: {published:?}");
        for (ours, theirs) in published.iter().zip(recorded) {
            same(ours, &theirs["fields"], 1e-12).unwrap_or_else(|e| panic!("{id}: {e}"));
        }
        let bytes = rig.sent_bytes();
        let replies: Vec<_> = (frames(&bytes).filter_map(|f| Timesync::parse(&f.unwrap())))
            .filter(|m| m.tc1 != 0)
            .map(|m| m.ts1)
            .collect();
        let theirs = case["frames_out"].as_array().into_iter().flatten();
        let theirs: Vec<_> = theirs.map(|f| f["fields"]["ts1"].as_i64().unwrap()).collect();
        assert_eq!(replies, theirs, "{id}");
        compared += 1;
    }
    assert_eq!(compared, 17);
}
