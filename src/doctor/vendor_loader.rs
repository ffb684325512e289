//! Config.json as the vendor's own loader reads it: it skips a sensor with a wrong value silently, but counts it in the numbering
//! of the others.
use super::{Code, Finding};
use serde_json::Value;

#[rustfmt::skip] // a table
const INTEGER_KEYS: [&str; 7] =
    ["SeqID", "TypeID", "TargetCopter", "TargetMountType", "DataWidth", "DataHeight", "DataCheckFreq"];

/// Finds the sensors of a Config.json that the vendor's loader would skip.
pub fn check_vendor_loader(file: &str, text: &str) -> Vec<Finding> {
    let lines: Vec<_> = text.lines().map(without_comment).collect();
    let Ok(document) = serde_json::from_str::<Value>(&lines.join("\n")) else {
        let what = "is not valid JSON after comments are removed; \
            the vendor's loader cuts a line at `//` and `#` even within quotes, and then fails with an exception";
        let remedy = format!("python3 -m json.tool {file}");
        return vec![Finding::new(Code::LoaderDrops, file, what, remedy)];
    };
    let sensors = document.get("VisionSensors").and_then(Value::as_array);
    let Some(sensors) = sensors.filter(|sensors| !sensors.is_empty()) else { return Vec::new() };
    let skipped = |(i, sensor): (usize, &Value)| {
        let why = why_skipped(sensor)?;
        let what = format!("the vendor's programs skip this sensor silently: {why}");
        let remedy =
            "correct the value in the file; until then only this bridge delivers the sensor";
        Some(Finding::new(Code::LoaderDrops, format!("{file}: VisionSensors[{i}]"), what, remedy))
    };
    sensors.iter().enumerate().filter_map(skipped).collect()
}

/// Returns why the loader skips a sensor: its first check that fails.
fn why_skipped(sensor: &Value) -> Option<String> {
    let is_integer = |value: &Value| value.is_i64() || value.is_u64() || value.is_boolean();
    for key in INTEGER_KEYS {
        match sensor.get(key) {
            Some(value) if !is_integer(value) => {
                return Some(format!("{key} is {value}, not an integer"));
            }
            Some(_) => {}
            None => return Some(format!("{key} is missing, so the loader stops")),
        }
    }
    if !sensor.get("CameraFOV").is_some_and(Value::is_number) {
        return Some("CameraFOV is not a number".to_owned());
    }
    let new_format = sensor.get("EularOrQuat").is_some();
    let mut lengths = vec![("SendProtocol", 8), ("SensorPosXYZ", 3), ("SensorAngEular", 3)];
    if new_format {
        lengths.push(("SensorAngQuat", 4));
    }
    lengths.push(("otherParams", if new_format { 16 } else { 8 }));
    let wrong_length = |(key, expected): (&str, usize)| {
        let len = sensor.get(key).and_then(Value::as_array).map(Vec::len);
        match len {
            Some(len) if len == expected => None,
            Some(len) => Some(format!("{key} has {len} numbers, not {expected}")),
            None => Some(format!("{key} is not a list of {expected} numbers")),
        }
    };
    lengths.into_iter().find_map(wrong_length)
}

/// Returns the part of a line that the loader keeps.
fn without_comment(line: &str) -> &str {
    let start = line.trim_start();
    if start.starts_with("//") || start.starts_with('#') {
        return "";
    }
    let line = line.split("//").next().unwrap_or_default();
    line.split('#').next().unwrap_or_default()
}
