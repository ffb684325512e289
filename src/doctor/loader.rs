//! Config.json as the vendor's own loader reads it: it skips a sensor with a wrong value without a word, and numbers the
//! others as if it had been there.
use super::{Code, Finding};
use serde_json::Value;

const INTEGERS: [&str; 7] = [
    "SeqID",
    "TypeID",
    "TargetCopter",
    "TargetMountType",
    "DataWidth",
    "DataHeight",
    "DataCheckFreq",
];

/// Checks the text of a file.
pub fn check_loader(file: &str, text: &str) -> Vec<Finding> {
    let joined: Vec<_> = text.lines().map(without_comment).collect();
    let Ok(document) = serde_json::from_str::<Value>(&joined.join("\n")) else {
        let what = "is no JSON once comments are removed; \
                    the vendor's loader cuts a line at `//` and `#` even within quotes, and then ends with an exception";
        let remedy = format!("python3 -m json.tool {file}");
        return vec![Finding::new(Code::LoaderDrops, file, what, remedy)];
    };
    let sensors = document.get("VisionSensors").and_then(Value::as_array);
    let Some(sensors) = sensors.filter(|sensors| !sensors.is_empty()) else {
        return Vec::new();
    };
    let dropped = |(i, sensor): (usize, &Value)| {
        let why = why_dropped(sensor)?;
        Some(Finding::new(
            Code::LoaderDrops,
            format!("{file}: VisionSensors[{i}]"),
            format!("the vendor's programs leave this sensor out without a word: {why}"),
            "correct the value in the file; until then expect the sensor from this bridge only",
        ))
    };
    sensors.iter().enumerate().filter_map(dropped).collect()
}

/// The first check of the loader that fails.
fn why_dropped(sensor: &Value) -> Option<String> {
    let whole = |value: &Value| value.is_i64() || value.is_u64() || value.is_boolean();
    for key in INTEGERS {
        match sensor.get(key) {
            Some(value) if !whole(value) => return Some(format!("{key} is {value}, no integer")),
            Some(_) => {}
            None => return Some(format!("{key} is missing, which ends the whole load")),
        }
    }
    if !sensor.get("CameraFOV").is_some_and(Value::is_number) {
        return Some("CameraFOV is no number".to_owned());
    }
    let new = sensor.get("EularOrQuat").is_some();
    let mut lengths = vec![
        ("SendProtocol", 8),
        ("SensorPosXYZ", 3),
        ("SensorAngEular", 3),
    ];
    if new {
        lengths.push(("SensorAngQuat", 4));
    }
    lengths.push(("otherParams", if new { 16 } else { 8 }));
    let wrong = |(key, wanted): (&str, usize)| {
        let len = sensor.get(key).and_then(Value::as_array).map(Vec::len);
        match len {
            Some(len) if len == wanted => None,
            Some(len) => Some(format!("{key} has {len} numbers, not {wanted}")),
            None => Some(format!("{key} is no list of {wanted} numbers")),
        }
    };
    lengths.into_iter().find_map(wrong)
}

/// What the loader leaves of a line.
fn without_comment(line: &str) -> &str {
    let start = line.trim_start();
    if start.starts_with("//") || start.starts_with('#') {
        return "";
    }
    let line = line.split("//").next().unwrap_or_default();
    line.split('#').next().unwrap_or_default()
}
