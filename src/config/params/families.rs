//! Names: of the table, and those that contain a sensor, vehicle, group or topic.
use super::check::check;
use super::reader::Values;
use super::{
    Kind, PARAMETERS, ParamValue, ParameterSpec, Params, QOS_PARAMETERS, QosChange, QosGroup,
    QosParams, SENSOR_PARAMETERS, SensorParams, VEHICLE_PARAMETERS, VehicleParams,
};
use crate::config::names;
use crate::config::problem::did_you_mean;
use std::collections::BTreeMap;

/// Checked values of all names.
#[derive(Default)]
pub(super) struct Given {
    fixed: Values,
    sensors: BTreeMap<u16, Values>,
    vehicles: BTreeMap<u16, Values>,
    groups: BTreeMap<QosGroup, Values>,
    topics: BTreeMap<String, Values>,
}

impl Given {
    pub(super) fn new() -> Self {
        Self {
            fixed: Values::defaults(PARAMETERS),
            ..Self::default()
        }
    }

    /// Returns the typed parameters.
    pub(super) fn params(&self) -> Params {
        Params {
            own_vehicles: each(&self.vehicles, VehicleParams::read),
            sensors: each(&self.sensors, SensorParams::read),
            qos: QosParams {
                groups: each(&self.groups, QosChange::read),
                topics: each(&self.topics, QosChange::read),
            },
            ..Params::read(&self.fixed)
        }
    }
}

fn each<K: Clone + Ord, T>(all: &BTreeMap<K, Values>, read: fn(&Values) -> T) -> BTreeMap<K, T> {
    let read = |(key, values): (&K, &Values)| (key.clone(), read(values));
    all.iter().map(read).collect()
}

/// Reads a value, or returns what is wrong with it or with its name.
pub(super) fn read(name: &str, value: &ParamValue, given: &mut Given) -> Result<(), String> {
    if let Some(row) = PARAMETERS.iter().find(|row| row.name == name) {
        given.fixed.insert((row.name, check(row, value)?));
        return Ok(());
    }
    if let Some((seq_id, key)) = split_sensor(name) {
        let id = { seq_id.parse().ok() }
            .ok_or_else(|| format!("SeqIDs are in 0..=65535, {seq_id} is not"))?;
        let checked = find(SENSOR_PARAMETERS, key, value)?;
        given.sensors.entry(id).or_default().insert(checked);
        return Ok(());
    }
    if let Some((number, key)) = split_vehicle(name) {
        let id = { number.parse().ok() }
            .filter(|id| (1..=10_000).contains(id))
            .ok_or_else(|| format!("CopterIDs are in 1..=10000, {number} is not"))?;
        let checked = find(VEHICLE_PARAMETERS, key, value)?;
        given.vehicles.entry(id).or_default().insert(checked);
        return Ok(());
    }
    if let Some(rest) = name.strip_prefix("qos_overrides.") {
        return read_override(rest, value, given);
    }
    if let Some((group, policy)) = name
        .strip_prefix("qos.")
        .and_then(|rest| rest.split_once('.'))
    {
        return read_group(group, policy, value, given);
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
        | Kind::Link
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

/// Returns the name and the checked value of a key of a family.
fn find(
    rows: &'static [ParameterSpec],
    key: &str,
    value: &ParamValue,
) -> Result<(&'static str, ParamValue), String> {
    let row = rows.iter().find(|row| row.name == key).ok_or_else(|| {
        format!(
            "unknown parameter{}",
            did_you_mean(key, rows.iter().map(|row| row.name))
        )
    })?;
    Ok((row.name, check(row, value)?))
}

fn read_group(
    group: &str,
    policy: &str,
    value: &ParamValue,
    given: &mut Given,
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
    let checked = find(QOS_PARAMETERS, policy, value)?;
    given.groups.entry(*group).or_default().insert(checked);
    Ok(())
}

/// `/topic.publisher.policy`, as rclcpp names it.
fn read_override(rest: &str, value: &ParamValue, given: &mut Given) -> Result<(), String> {
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
    let checked = find(rows, policy, value)?;
    let values = given.topics.entry(topic.to_owned()).or_default();
    values.insert(checked);
    Ok(())
}
