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
use std::ops::RangeInclusive;

/// Parameters of which each thing of a kind has its own.
pub(super) struct Family {
    /// Beginning of the names.
    pub(super) what: &'static str,
    /// What follows it.
    pub(super) id: &'static str,
    ids: RangeInclusive<u16>,
    pub(super) example: u16,
    pub(super) rows: &'static [ParameterSpec],
    /// For the documents.
    pub(super) about: &'static str,
}

pub(super) const FAMILIES: [Family; 2] = [
    Family {
        what: "sensor",
        id: "SeqID",
        ids: 0..=u16::MAX,
        example: 0,
        rows: SENSOR_PARAMETERS,
        about: "`<SeqID>` is the number of the sensor in Config.json, after automatic numbering. What is empty takes \
                the default of the sensor's type or the parameter above.",
    },
    Family {
        what: "vehicle",
        id: "CopterID",
        ids: 1..=10_000,
        example: 1,
        rows: VEHICLE_PARAMETERS,
        about: "What is empty takes the parameter for all vehicles.",
    },
];

impl Family {
    /// Returns a name as in documents.
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
#[derive(Default)]
pub(super) struct Given {
    fixed: Values,
    /// As [`FAMILIES`].
    families: [BTreeMap<u16, Values>; 2],
    groups: BTreeMap<QosGroup, Values>,
    topics: BTreeMap<String, Values>,
}

impl Given {
    pub(super) fn new() -> Self {
        Self { fixed: Values::defaults(PARAMETERS), ..Self::default() }
    }

    /// Returns the typed parameters.
    pub(super) fn params(&self) -> Params {
        let [sensors, own_vehicles] = &self.families;
        Params {
            own_vehicles: each(own_vehicles, VehicleParams::read),
            sensors: each(sensors, SensorParams::read),
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
    for (family, given) in FAMILIES.iter().zip(&mut given.families) {
        let Some((number, key)) = family.split(name) else {
            continue;
        };
        let (ids, id) = (&family.ids, number.parse().ok());
        let Some(id) = id.filter(|id| ids.contains(id)) else {
            return Err(format!("{}s are in {ids:?}, {number} is not", family.id));
        };
        let checked = find(family.rows, key, value)?;
        given.entry(id).or_default().insert(checked);
        return Ok(());
    }
    if let Some(rest) = name.strip_prefix("qos_overrides.") {
        return read_override(rest, value, given);
    }
    if let Some((group, policy)) = name.strip_prefix("qos.").and_then(|rest| rest.split_once('.')) {
        return read_group(group, policy, value, given);
    }
    let hint = did_you_mean(&with_placeholder(name), known_names().iter().map(String::as_str));
    Err(format!("unknown parameter{hint}"))
}

/// Returns the row of a name, including families.
pub(super) fn row(name: &str) -> Option<&'static ParameterSpec> {
    let find = |rows: &'static [ParameterSpec], key: &str| rows.iter().find(|row| row.name == key);
    let own = || {
        let own = |family: &Family| find(family.rows, family.split(name)?.1);
        FAMILIES.iter().find_map(own)
    };
    let qos = || {
        let known = name.starts_with("qos.") || name.starts_with("qos_overrides.");
        find(QOS_PARAMETERS, name.rsplit('.').next().filter(|_| known)?)
    };
    find(PARAMETERS, name).or_else(own).or_else(qos)
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
    FAMILIES[0].split(name).is_some_and(|(_, key)| keys.contains(&key))
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
    let own = { FAMILIES.iter() }.flat_map(|family| family.rows.iter().map(|r| family.named(r)));
    let qos = QosGroup::ALL
        .iter()
        .flat_map(|s| QOS_PARAMETERS.iter().map(|row| format!("qos.{}.{}", s.name(), row.name)));
    fixed.chain(own).chain(qos).collect()
}

/// Returns the name and the checked value of a key of a family.
fn find(
    rows: &'static [ParameterSpec],
    key: &str,
    value: &ParamValue,
) -> Result<(&'static str, ParamValue), String> {
    let row = rows.iter().find(|row| row.name == key).ok_or_else(|| {
        format!("unknown parameter{}", did_you_mean(key, rows.iter().map(|row| row.name)))
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
