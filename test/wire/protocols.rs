//! Messages read and written by offset, against what pymavlink decoded of mavros' and PX4's frames.
use crate::support::golden::{json, number, unhex};
use rfly_bridge::wire::mavlink::raw::*;
use rfly_bridge::wire::mavlink::{Frame, Taken, take};
use serde_json::Value;
use std::collections::BTreeMap;

/// One message read from a recorded frame: its fields, and its payload written again.
type Read = (Vec<(&'static str, f64)>, Vec<u8>);

macro_rules! read {
    ($frame:expr, $($type:ident { $($field:ident = $name:literal),* })+) => {{
        let frame: &Frame<'_> = $frame;
        $(if let Some(m) = $type::parse(frame) {
            let fields = vec![$(($name, m.$field as f64)),*];
            return Some((fields, m.to_raw().payload().to_vec()));
        })+
        None
    }};
}

fn read(frame: &Frame<'_>) -> Option<Read> {
    read! { frame,
        Timesync { tc1 = "tc1", ts1 = "ts1", target_system = "target_system", target_component = "target_component" }
        ParamRequestList { target_system = "target_system", target_component = "target_component" }
        ParamRequestRead { index = "param_index", target_system = "target_system" }
        ParamValue { count = "param_count", index = "param_index", kind = "param_type" }
        ParamSet { target_system = "target_system", target_component = "target_component", kind = "param_type" }
        MissionRequest { seq = "seq", target_system = "target_system", target_component = "target_component", mission_type = "mission_type" }
        MissionRequestInt { seq = "seq", target_system = "target_system", target_component = "target_component", mission_type = "mission_type" }
        MissionSetCurrent { seq = "seq", target_system = "target_system", target_component = "target_component" }
        MissionCurrent { seq = "seq", total = "total", state = "mission_state", mode = "mission_mode", mission_id = "mission_id" }
        MissionRequestList { target_system = "target_system", target_component = "target_component", mission_type = "mission_type" }
        MissionCount { count = "count", target_system = "target_system", target_component = "target_component", mission_type = "mission_type", opaque_id = "opaque_id" }
        MissionClearAll { target_system = "target_system", target_component = "target_component", mission_type = "mission_type" }
        MissionItemReached { seq = "seq" }
        MissionAck { target_system = "target_system", target_component = "target_component", result = "type", mission_type = "mission_type", opaque_id = "opaque_id" }
        MissionItemInt { x = "x", y = "y", z = "z", seq = "seq", command = "command", frame = "frame", current = "current", autocontinue = "autocontinue", mission_type = "mission_type" }
        CommandLong { command = "command", confirmation = "confirmation", target_system = "target_system" }
        CommandInt { x = "x", y = "y", z = "z", command = "command", frame = "frame", current = "current", autocontinue = "autocontinue" }
        CommandAck { command = "command", result = "result", progress = "progress", result_param2 = "result_param2", target_system = "target_system", target_component = "target_component" }
        SetMode { custom_mode = "custom_mode", base_mode = "base_mode", target_system = "target_system" }
    }
}

/// Every object with `hex` and decoded fields, wherever it stands.
fn frames<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(object) => {
            if object.contains_key("hex") && object.contains_key("fields") {
                found.push(value);
            }
            object.values().for_each(|v| frames(v, found));
        }
        Value::Array(all) => all.iter().for_each(|v| frames(v, found)),
        _ => {}
    }
}

#[test]
fn every_recorded_message_reads_as_by_pymavlink_and_is_written_to_the_same_bytes() {
    let recording = json("golden/mavros/to_fcu.json");
    let mut recorded = Vec::new();
    frames(&recording, &mut recorded);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for frame in recorded {
        let bytes = unhex(frame["hex"].as_str().unwrap());
        let Taken::Frame(taken) = take(&bytes) else { panic!("{frame}") };
        let Some((fields, payload)) = read(&taken) else {
            continue;
        };
        for (name, value) in fields {
            let expected = number(&frame["fields"][name]);
            assert!(value == expected, "{name} of {frame}: {value}");
        }
        assert_eq!(payload, taken.payload, "{frame}");
        *seen.entry(frame["name"].as_str().unwrap().into()).or_default() += 1;
    }
    let names: Vec<_> = seen.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "COMMAND_ACK",
            "COMMAND_INT",
            "COMMAND_LONG",
            "MISSION_ACK",
            "MISSION_CLEAR_ALL",
            "MISSION_COUNT",
            "MISSION_CURRENT",
            "MISSION_ITEM_INT",
            "MISSION_REQUEST",
            "MISSION_REQUEST_INT",
            "MISSION_REQUEST_LIST",
            "MISSION_SET_CURRENT",
            "PARAM_REQUEST_LIST",
            "PARAM_SET",
            "PARAM_VALUE",
            "SET_MODE",
            "TIMESYNC",
        ],
        "{seen:?}"
    );
}

#[test]
fn names_and_values_of_parameters_stand_where_pymavlink_finds_them() {
    let recording = json("golden/mavros/to_fcu.json");
    let mut recorded = Vec::new();
    frames(&recording, &mut recorded);
    let mut checked = 0;
    for frame in recorded {
        let bytes = unhex(frame["hex"].as_str().unwrap());
        let Taken::Frame(taken) = take(&bytes) else { panic!("{frame}") };
        let (id, value) = match (ParamValue::parse(&taken), ParamSet::parse(&taken)) {
            (Some(value), _) => (value.id, value.value),
            (_, Some(set)) => (set.id, set.value),
            _ => continue,
        };
        let name = String::from_utf8(id.to_vec()).unwrap();
        assert_eq!(name.trim_end_matches('\0'), frame["fields"]["param_id"]);
        let (value, expected) =
            (f64::from(f32::from_le_bytes(value)), number(&frame["fields"]["param_value"]));
        assert!(value == expected || (value.is_nan() && expected.is_nan()), "{frame}");
        checked += 1;
    }
    assert!(checked > 15, "{checked}");
}
