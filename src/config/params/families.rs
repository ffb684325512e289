//! Finds the row of a parameter by its name, which may contain a sensor, vehicle, QoS group or topic.
use super::{
    PARAMETERS, ParamType, ParamValue, ParameterSpec, Params, QOS_PARAMETERS, QosChange, QosGroup,
    SENSOR_PARAMETERS, SensorParams, VEHICLE_PARAMETERS, ValueKind, VehicleParams,
};
use super::{check::check, reader::Values, sensor::REOPENED};
use crate::config::{names, problem::did_you_mean};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Owner {
    Bridge,
    Sensor(u16),
    Vehicle(u16),
    Group(QosGroup),
    Topic(String),
}

/// Parameters that every sensor, or every vehicle, has.
pub(super) struct Family {
    pub(super) prefix: &'static str,
    /// Name of the number after the prefix.
    pub(super) id: &'static str,
    ids: RangeInclusive<u16>,
    owner: fn(u16) -> Owner,
    pub(super) example: u16,
    pub(super) rows: &'static LazyLock<Vec<ParameterSpec>>,
    /// Text for the documents.
    pub(super) about: &'static str,
}

pub(super) static FAMILIES: [Family; 2] = [
    Family {
        prefix: "sensor",
        id: "SeqID",
        ids: 0..=u16::MAX,
        owner: Owner::Sensor,
        example: 0,
        rows: &SENSOR_PARAMETERS,
        about: "`<SeqID>` is the number of the sensor in Config.json, after automatic numbering. A parameter that is empty has the default of the \
            sensor's type, or the value for all sensors.",
    },
    Family {
        prefix: "vehicle",
        id: "CopterID",
        ids: 1..=10_000,
        owner: Owner::Vehicle,
        example: 1,
        rows: &VEHICLE_PARAMETERS,
        about: "A parameter that is empty has the value for all vehicles.",
    },
];

impl Family {
    pub(super) fn full_name(&self, row: &ParameterSpec) -> String {
        format!("{}<{}>.{}", self.prefix, self.id, row.name)
    }

    /// Splits `sensor3.topic` into `3` and `topic`.
    fn split<'a>(&self, name: &'a str) -> Option<(&'a str, &'a str)> {
        let (number, key) = name.strip_prefix(self.prefix)?.split_once('.')?;
        (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some((number, key))
    }
}

/// Checked values of all owners.
pub(super) struct CheckedValues(BTreeMap<Owner, Values>);

impl CheckedValues {
    pub(super) fn new() -> Self {
        Self(BTreeMap::from([(Owner::Bridge, Values::defaults(&PARAMETERS))]))
    }

    /// Checks and stores a value. Errors: what is wrong with it or its name.
    pub(super) fn insert(&mut self, name: &str, value: &ParamValue) -> Result<(), String> {
        let Some((owner, row)) = locate(name)? else {
            let known = known_names();
            let hint = did_you_mean(&with_placeholder(name), known.iter().map(String::as_str));
            return Err(format!("unknown parameter{hint}"));
        };
        self.0.entry(owner).or_default().insert(row.name, check(row, value)?);
        Ok(())
    }

    pub(super) fn params(&self) -> Params {
        let mut params = Params::default();
        // `Owner::Bridge` comes first, so it overwrites nothing.
        for (owner, values) in &self.0 {
            match owner.clone() {
                Owner::Bridge => params = Params::read(values),
                Owner::Sensor(id) => {
                    params.sensors.insert(id, SensorParams::read(values));
                }
                Owner::Vehicle(id) => {
                    params.per_vehicle.insert(id, VehicleParams::read(values));
                }
                Owner::Group(group) => {
                    params.qos.groups.insert(group, QosChange::read(values));
                }
                Owner::Topic(topic) => {
                    params.qos.topics.insert(topic, QosChange::read(values));
                }
            }
        }
        params
    }
}

/// Returns the owner and the row of a name; `None` if it is unknown. Errors: what is wrong with a part of the name.
fn locate(name: &str) -> Result<Option<(Owner, &'static ParameterSpec)>, String> {
    if let Some(row) = PARAMETERS.iter().find(|row| row.name == name) {
        return Ok(Some((Owner::Bridge, row)));
    }
    for family in &FAMILIES {
        if let Some((number, key)) = family.split(name) {
            let (ids, id) = (&family.ids, number.parse().ok());
            let id = id.filter(|id| ids.contains(id));
            let id = id.ok_or_else(|| format!("{}s are in {ids:?}, {number} is not", family.id))?;
            return Ok(Some(((family.owner)(id), find_row(family.rows, key)?)));
        }
    }
    if let Some(rest) = name.strip_prefix("qos_overrides.") {
        return locate_override(rest).map(Some);
    }
    let parts = name.strip_prefix("qos.").and_then(|rest| rest.split_once('.'));
    let Some((group, policy)) = parts else { return Ok(None) };
    let known = QosGroup::ALL.iter().find(|known| known.name() == group);
    let owner = known.copied().map(Owner::Group).ok_or_else(|| {
        let names: Vec<_> = QosGroup::ALL.iter().map(|group| group.name()).collect();
        let hint = did_you_mean(group, names.iter().copied());
        format!("unknown QoS group {group:?}{hint}; known are {}", names.join(", "))
    })?;
    Ok(Some((owner, find_row(&QOS_PARAMETERS, policy)?)))
}

/// Returns the owner and the row of `/topic.publisher.policy`, as rclcpp names it.
fn locate_override(rest: &str) -> Result<(Owner, &'static ParameterSpec), String> {
    let mut parts = rest.rsplitn(3, '.');
    let (Some(policy), Some(entity), Some(topic)) = (parts.next(), parts.next(), parts.next())
    else {
        return Err("must have the form qos_overrides./topic.publisher.policy".to_owned());
    };
    if entity != "publisher" {
        let why = format!("write `publisher` before {policy:?}, not {entity:?}");
        return Err(format!("only publishers can be overridden: {why}"));
    }
    if !topic.starts_with('/') {
        let why = "the topic must be fully qualified, with `/` at the beginning";
        return Err(format!("{why}, is {topic:?}"));
    }
    names::check_topic(topic).map_err(|why| format!("{topic:?} is not a topic name: {why}"))?;
    let rows = &QOS_PARAMETERS[1..]; // rclcpp has no presets
    Ok((Owner::Topic(topic.to_owned()), find_row(rows, policy)?))
}

fn find_row(rows: &'static [ParameterSpec], key: &str) -> Result<&'static ParameterSpec, String> {
    rows.iter().find(|row| row.name == key).ok_or_else(|| {
        format!("unknown parameter{}", did_you_mean(key, rows.iter().map(|row| row.name)))
    })
}

/// Whether an unquoted `text` is a string even if YAML reads another type: the parameter is a string, or `text` is one of its
/// words.
pub(crate) fn is_text(name: &str, text: &str) -> bool {
    locate(name).ok().flatten().is_some_and(|(_, row)| match row.kind {
        ValueKind::Choice(words) => words.contains(&text),
        kind => matches!(kind.param_type(), ParamType::String | ParamType::StringArray),
    })
}

/// Whether there is a parameter of this name.
pub(crate) fn is_parameter(name: &str) -> bool {
    locate(name).is_ok_and(|found| found.is_some())
}

/// Whether the value of a parameter is the address of a host.
pub(crate) fn is_address(name: &str) -> bool {
    let row = locate(name).ok().flatten().map(|(_, row)| row);
    row.is_some_and(|row| matches!(row.kind, ValueKind::Address))
}

/// Returns all names with `:=`, for shell completion; names of families contain the example number of the documents.
pub fn completed_names() -> impl Iterator<Item = &'static str> {
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let example = |name: String| {
            FAMILIES.iter().fold(name, |name, family| {
                name.replace(&format!("<{}>", family.id), &family.example.to_string())
            })
        };
        known_names().into_iter().map(|name| example(name) + ":=").collect()
    });
    NAMES.iter().map(String::as_str)
}

/// Whether a change of the parameter closes a sensor and opens it again.
pub fn reopens_sensor(name: &str) -> bool {
    locate(name).ok().flatten().is_some_and(|(_, row)| row.group == REOPENED)
}

/// Turns a misspelt name such as `sensors3.topic` into `sensors<SeqID>.topic`, to compare it with the known names.
fn with_placeholder(name: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    match name.find(is_digit).filter(|_| name.starts_with("sens")) {
        Some(at) => {
            format!("{}<SeqID>{}", &name[..at], name[at..].trim_start_matches(is_digit))
        }
        None => name.to_owned(),
    }
}

/// Returns all names for suggestions; those of families have placeholders.
fn known_names() -> Vec<String> {
    let fixed = PARAMETERS.iter().map(|row| row.name.to_owned());
    let numbered = { FAMILIES.iter() }.flat_map(|f| f.rows.iter().map(|r| f.full_name(r)));
    let qos = QosGroup::ALL
        .iter()
        .flat_map(|g| QOS_PARAMETERS.iter().map(|row| format!("qos.{}.{}", g.name(), row.name)));
    fixed.chain(numbered).chain(qos).collect()
}
