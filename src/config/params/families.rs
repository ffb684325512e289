//! Names: of the table, and those that contain a sensor, vehicle, group or topic.
use super::check::check;
use super::reader::Values;
use super::sensor::REOPENED;
use super::{
    PARAMETERS, ParamType, ParamValue, ParameterSpec, Params, QOS_PARAMETERS, QosChange, QosGroup,
    SENSOR_PARAMETERS, SensorParams, VEHICLE_PARAMETERS, ValueKind, VehicleParams,
};
use crate::config::names;
use crate::config::problem::did_you_mean;
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

/// Parameters of which each thing of a kind has its own.
pub(super) struct Family {
    /// Beginning of the names.
    pub(super) what: &'static str,
    /// What follows it.
    pub(super) id: &'static str,
    ids: RangeInclusive<u16>,
    owner: fn(u16) -> Owner,
    pub(super) example: u16,
    pub(super) rows: &'static LazyLock<Vec<ParameterSpec>>,
    /// For the documents.
    pub(super) about: &'static str,
}

pub(super) static FAMILIES: [Family; 2] = [
    Family {
        what: "sensor",
        id: "SeqID",
        ids: 0..=u16::MAX,
        owner: Owner::Sensor,
        example: 0,
        rows: &SENSOR_PARAMETERS,
        about: "`<SeqID>` is the number of the sensor in Config.json, after automatic numbering. What is empty takes \
                the default of the sensor's type or the parameter above.",
    },
    Family {
        what: "vehicle",
        id: "CopterID",
        ids: 1..=10_000,
        owner: Owner::Vehicle,
        example: 1,
        rows: &VEHICLE_PARAMETERS,
        about: "What is empty takes the parameter for all vehicles.",
    },
];

impl Family {
    pub(super) fn named(&self, row: &ParameterSpec) -> String {
        format!("{}<{}>.{}", self.what, self.id, row.name)
    }

    /// Splits `sensor3.topic` behind the family's beginning.
    fn split<'a>(&self, name: &'a str) -> Option<(&'a str, &'a str)> {
        let (number, key) = name.strip_prefix(self.what)?.split_once('.')?;
        (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some((number, key))
    }
}

/// Checked values of all names.
pub(super) struct Given(BTreeMap<Owner, Values>);

impl Given {
    pub(super) fn new() -> Self {
        Self(BTreeMap::from([(Owner::Bridge, Values::defaults(&PARAMETERS))]))
    }

    /// Reads a value, or returns what is wrong with it or with its name.
    pub(super) fn read(&mut self, name: &str, value: &ParamValue) -> Result<(), String> {
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
        // The bridge comes first.
        for (owner, values) in &self.0 {
            match owner.clone() {
                Owner::Bridge => params = Params::read(values),
                Owner::Sensor(id) => {
                    params.sensors.insert(id, SensorParams::read(values));
                }
                Owner::Vehicle(id) => {
                    params.own_vehicles.insert(id, VehicleParams::read(values));
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

/// Returns owner and row of a name, or what is wrong with it; `None` if nothing has such a name.
fn locate(name: &str) -> Result<Option<(Owner, &'static ParameterSpec)>, String> {
    if let Some(row) = PARAMETERS.iter().find(|row| row.name == name) {
        return Ok(Some((Owner::Bridge, row)));
    }
    for family in &FAMILIES {
        if let Some((number, key)) = family.split(name) {
            let (ids, id) = (&family.ids, number.parse().ok());
            let id = id.filter(|id| ids.contains(id));
            let id = id.ok_or_else(|| format!("{}s are in {ids:?}, {number} is not", family.id))?;
            return Ok(Some(((family.owner)(id), find(family.rows, key)?)));
        }
    }
    if let Some(rest) = name.strip_prefix("qos_overrides.") {
        return locate_override(rest).map(Some);
    }
    let Some((group, policy)) = name.strip_prefix("qos.").and_then(|rest| rest.split_once('.'))
    else {
        return Ok(None);
    };
    let known = QosGroup::ALL.iter().find(|known| known.name() == group);
    let owner = known.copied().map(Owner::Group).ok_or_else(|| {
        let names: Vec<_> = QosGroup::ALL.iter().map(|group| group.name()).collect();
        let hint = did_you_mean(group, names.iter().copied());
        format!("unknown QoS group {group:?}{hint}; known are {}", names.join(", "))
    })?;
    Ok(Some((owner, find(&QOS_PARAMETERS, policy)?)))
}

/// The same of `/topic.publisher.policy`, as rclcpp names it.
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
    names::check_topic(topic).map_err(|why| format!("{topic:?} is no topic name: {why}"))?;
    let rows = &QOS_PARAMETERS[1..]; // rclcpp has no presets
    Ok((Owner::Topic(topic.to_owned()), find(rows, policy)?))
}

fn find(rows: &'static [ParameterSpec], key: &str) -> Result<&'static ParameterSpec, String> {
    rows.iter().find(|row| row.name == key).ok_or_else(|| {
        format!("unknown parameter{}", did_you_mean(key, rows.iter().map(|row| row.name)))
    })
}

/// Whether an unquoted `text` is a string whatever its YAML type: the parameter is a string, or the text
/// is one of its words.
pub(crate) fn is_text(name: &str, text: &str) -> bool {
    locate(name).ok().flatten().is_some_and(|(_, row)| match row.kind {
        ValueKind::Choice(words) => words.contains(&text),
        kind => matches!(kind.param_type(), ParamType::String | ParamType::StringArray),
    })
}

/// Whether a parameter changes the row of a sensor in a way for which it is opened again.
pub fn opens_again(name: &str) -> bool {
    locate(name).ok().flatten().is_some_and(|(_, row)| row.group == REOPENED)
}

/// Turns `sensors3.topic` into `sensors<SeqID>.topic`, to compare it with the names of the family.
fn with_placeholder(name: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    match name.find(is_digit).filter(|_| name.starts_with("sens")) {
        Some(at) => {
            format!("{}<SeqID>{}", &name[..at], name[at..].trim_start_matches(is_digit))
        }
        None => name.to_owned(),
    }
}

/// All names, with placeholders in the families; for suggestions.
fn known_names() -> Vec<String> {
    let fixed = PARAMETERS.iter().map(|row| row.name.to_owned());
    let own = { FAMILIES.iter() }.flat_map(|family| family.rows.iter().map(|r| family.named(r)));
    let qos = QosGroup::ALL
        .iter()
        .flat_map(|s| QOS_PARAMETERS.iter().map(|row| format!("qos.{}.{}", s.name(), row.name)));
    fixed.chain(own).chain(qos).collect()
}
