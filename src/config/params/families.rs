//! Parameters whose names contain a sensor, group or topic.
use super::check::check;
use super::choices::Choice;
use super::reader::Reader;
use super::value::{as_float, as_reals, as_vector};
use super::{
    Kind, PARAMETERS, ParamValue, ParameterSpec, QOS_PARAMETERS, QosChange, QosGroup,
    SENSOR_PARAMETERS, VEHICLE_PARAMETERS,
};
use crate::config::problem::did_you_mean;
use crate::config::{ControlLink, names};

/// Reads a name without its own row, or returns what is wrong with it.
pub(super) fn read(name: &str, value: &ParamValue, reader: &mut Reader) -> Result<(), String> {
    if let Some((seq_id, key)) = split_sensor(name) {
        return read_sensor(seq_id, key, value, reader);
    }
    if let Some((id, key)) = split_vehicle(name) {
        return read_vehicle(id, key, value, reader);
    }
    if let Some(rest) = name.strip_prefix("qos_overrides.") {
        return read_override(rest, value, reader);
    }
    if let Some((group, policy)) = name
        .strip_prefix("qos.")
        .and_then(|rest| rest.split_once('.'))
    {
        return read_group(group, policy, value, reader);
    }
    let hint = did_you_mean(
        &with_placeholder(name),
        known_names().iter().map(String::as_str),
    );
    Err(format!("unknown parameter{hint}"))
}

/// Returns the row of a name, including families.
pub(super) fn row(name: &str) -> Option<&'static ParameterSpec> {
    let find = |rows: &'static [ParameterSpec], key: &str| rows.iter().find(|row| row.name == key);
    let fixed = find(PARAMETERS, name);
    let sensor = || find(SENSOR_PARAMETERS, split_sensor(name)?.1);
    let vehicle = || find(VEHICLE_PARAMETERS, split_vehicle(name)?.1);
    let qos = || {
        let known = name.starts_with("qos.") || name.starts_with("qos_overrides.");
        find(QOS_PARAMETERS, name.rsplit('.').next().filter(|_| known)?)
    };
    fixed.or_else(sensor).or_else(vehicle).or_else(qos)
}

/// Whether an unquoted `text` is a string whatever its YAML type: the parameter is a string, or the text
/// is one of its words.
pub(crate) fn is_text(name: &str, text: &str) -> bool {
    row(name).is_some_and(|row| match row.kind {
        Kind::Str
        | Kind::Topic
        | Kind::Frame
        | Kind::Address
        | Kind::Paths
        | Kind::Networks
        | Kind::Names(_) => true,
        Kind::Choice(words) => words.contains(&text),
        Kind::Bool
        | Kind::Int(..)
        | Kind::Float(..)
        | Kind::Ints(..)
        | Kind::Covariance
        | Kind::Vector(..)
        | Kind::Reals(_) => false,
    })
}

/// Whether a parameter changes the row of a sensor in a way for which it is opened again.
pub fn opens_again(name: &str) -> bool {
    let keys = ["type_id", "width", "height", "vehicle", "other_params"];
    split_sensor(name).is_some_and(|(_, key)| keys.contains(&key))
}

/// Turns `sensors3.topic` into `sensors<SeqID>.topic`, to compare it with the names of the family.
fn with_placeholder(name: &str) -> String {
    let at = name.find(|c: char| c.is_ascii_digit());
    match at.filter(|_| name.starts_with("sens")) {
        Some(at) => format!(
            "{}<SeqID>{}",
            &name[..at],
            name[at..].trim_start_matches(|c: char| c.is_ascii_digit())
        ),
        None => name.to_owned(),
    }
}

/// All names, with placeholders in the families; for suggestions.
fn known_names() -> Vec<String> {
    let fixed = PARAMETERS.iter().map(|row| row.name.to_owned());
    let sensors = SENSOR_PARAMETERS
        .iter()
        .map(|row| format!("sensor<SeqID>.{}", row.name));
    let qos = QosGroup::ALL.iter().flat_map(|s| {
        QOS_PARAMETERS
            .iter()
            .map(|row| format!("qos.{}.{}", s.name(), row.name))
    });
    let vehicles = VEHICLE_PARAMETERS
        .iter()
        .map(|row| format!("vehicle<CopterID>.{}", row.name));
    fixed.chain(sensors).chain(vehicles).chain(qos).collect()
}

/// Splits `sensor3.topic`.
fn split_sensor(name: &str) -> Option<(&str, &str)> {
    let (number, key) = name.strip_prefix("sensor")?.split_once('.')?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some((number, key))
}

/// Splits `vehicle3.link`.
fn split_vehicle(name: &str) -> Option<(&str, &str)> {
    let (number, key) = name.strip_prefix("vehicle")?.split_once('.')?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some((number, key))
}

fn read_vehicle(
    number: &str,
    key: &str,
    value: &ParamValue,
    reader: &mut Reader,
) -> Result<(), String> {
    let id: u16 = number
        .parse()
        .ok()
        .filter(|id| (1..=10_000).contains(id))
        .ok_or_else(|| format!("CopterIDs are in 1..=10000, {number} is not"))?;
    let row = find(VEHICLE_PARAMETERS, key)?;
    let value = check(row, value)?;
    let vehicle = reader.vehicles.entry(id).or_default();
    let text = match &value {
        ParamValue::Str(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    match row.name {
        "model" => vehicle.model = text.and_then(|text| Choice::of(&text)),
        "model_type" => {
            vehicle.model_type = match value {
                ParamValue::Int(class) if class > 0 => i32::try_from(class).ok(),
                _ => None,
            }
        }
        "start" => vehicle.start = as_vector(&value).unwrap_or_default(),
        "start_yaw_deg" => vehicle.start_yaw_deg = as_float(&value).unwrap_or_default(),
        "link" => vehicle.link = text.map(|text| ControlLink::parse(&text)).transpose()?,
        "prefix" => vehicle.prefix = text,
        _ => vehicle.address = text.and_then(|text| text.parse().ok()),
    }
    Ok(())
}

fn find(rows: &'static [ParameterSpec], key: &str) -> Result<&'static ParameterSpec, String> {
    rows.iter().find(|row| row.name == key).ok_or_else(|| {
        format!(
            "unknown parameter{}",
            did_you_mean(key, rows.iter().map(|row| row.name))
        )
    })
}

fn read_sensor(
    number: &str,
    key: &str,
    value: &ParamValue,
    reader: &mut Reader,
) -> Result<(), String> {
    let seq_id: u16 = number
        .parse()
        .ok()
        .ok_or_else(|| format!("SeqIDs are in 0..=65535, {number} is not"))?;
    let row = find(SENSOR_PARAMETERS, key)?;
    let value = check(row, value)?;
    let text = |value: ParamValue| match value {
        ParamValue::Str(text) => Some(text).filter(|text| !text.is_empty()),
        _ => None,
    };
    let number = |value: &ParamValue| match value {
        ParamValue::Int(v) => u16::try_from(*v).ok(),
        _ => None,
    };
    let sensor = reader.sensors.entry(seq_id).or_default();
    match row.name {
        "enabled" => sensor.enabled = Some(value == ParamValue::Bool(true)),
        "boxes" => sensor.boxes = value == ParamValue::Bool(true),
        "gimbal" => sensor.gimbal = value == ParamValue::Bool(true),
        "topic" => sensor.topic = text(value),
        "frame_id" => sensor.frame_id = text(value),
        "cloud_layout" => sensor.cloud_layout = text(value).and_then(|text| Choice::of(&text)),
        "scan" => sensor.scan = text(value).and_then(|text| Choice::of(&text)),
        "type_id" => sensor.row.type_id = number(&value),
        "width" => sensor.row.width = number(&value),
        "height" => sensor.row.height = number(&value),
        "vehicle" => sensor.row.vehicle = number(&value),
        "other_params" => sensor.row.other_params = Some(as_reals(&value)),
        "fov_deg" => sensor.fov_deg = as_float(&value).map(|v| v as f32),
        "camera_info_url" => sensor.camera_info_url = text(value),
        "fisheye_factor" => sensor.fisheye_factor = as_float(&value).filter(|factor| *factor > 0.0),
        "rate_hz" => sensor.rate_hz = number(&value),
        "stereo_left" => sensor.stereo_left = number(&value),
        "position" => sensor.position_frd = as_vector(&value),
        "orientation_deg" => sensor.orientation_deg = as_vector(&value),
        _ => sensor.encoding = text(value),
    }
    Ok(())
}

fn read_group(
    group: &str,
    policy: &str,
    value: &ParamValue,
    reader: &mut Reader,
) -> Result<(), String> {
    let names = QosGroup::ALL.iter().map(|group| group.name());
    let Some(group) = QosGroup::ALL.iter().find(|s| s.name() == group) else {
        let known: Vec<_> = names.clone().collect();
        return Err(format!(
            "unknown QoS group {group:?}{}; known are {}",
            did_you_mean(group, names),
            known.join(", ")
        ));
    };
    let row = find(QOS_PARAMETERS, policy)?;
    set(
        reader.qos.groups.entry(*group).or_default(),
        row,
        &check(row, value)?,
    );
    Ok(())
}

/// `/topic.publisher.policy`, as rclcpp names it.
fn read_override(rest: &str, value: &ParamValue, reader: &mut Reader) -> Result<(), String> {
    let mut parts = rest.rsplitn(3, '.');
    let (Some(policy), Some(entity), Some(topic)) = (parts.next(), parts.next(), parts.next())
    else {
        return Err("must have the form qos_overrides./topic.publisher.policy".to_owned());
    };
    if entity != "publisher" {
        return Err(format!(
            "only publishers can be overridden: write `publisher` before {policy:?}, not {entity:?}"
        ));
    }
    if !topic.starts_with('/') {
        return Err(format!(
            "the topic must be fully qualified, with `/` at the beginning, is {topic:?}"
        ));
    }
    names::check_topic(topic).map_err(|why| format!("{topic:?} is no topic name: {why}"))?;
    let rows = &QOS_PARAMETERS[1..]; // rclcpp has no presets
    let row = find(rows, policy)?;
    set(
        reader.qos.topics.entry(topic.to_owned()).or_default(),
        row,
        &check(row, value)?,
    );
    Ok(())
}

/// The value has passed its row's check.
fn set(change: &mut QosChange, row: &ParameterSpec, value: &ParamValue) {
    match (row.name, value) {
        ("depth", ParamValue::Int(depth)) => change.depth = u16::try_from(*depth).ok(),
        ("preset", ParamValue::Str(word)) => change.preset = Choice::of(word),
        ("reliability", ParamValue::Str(word)) => change.reliability = Choice::of(word),
        ("durability", ParamValue::Str(word)) => change.durability = Choice::of(word),
        (_, ParamValue::Str(word)) => change.history = Choice::of(word),
        _ => {}
    }
}
