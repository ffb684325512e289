//! Normalises entries that deviate from the present format: TypeIDs until 2023, and `otherParams` that end early
//! (docs/wire/traps.md: lidar-types, other-params).
use super::{fields::value_of, text::JsonValue, types};
use crate::wire::SensorKind;
use std::borrow::Cow;

type Pairs = Vec<(String, JsonValue)>;

/// Warnings about changes of an entry: the key and the text.
pub(super) type Notes = Vec<(&'static str, String)>;

const PARAMS: &str = "otherParams";

/// Returns the entry in the present format.
pub(super) fn normalise(pairs: &Pairs) -> (Cow<'_, Pairs>, Notes) {
    let (mut pairs, mut notes) = (Cow::Borrowed(pairs), Notes::new());
    let Some(JsonValue::Array(values)) = value_of(&pairs, PARAMS) else { return (pairs, notes) };
    let numbers: Vec<f64> = values.iter().map_while(JsonValue::number).collect();
    let mut id = value_of(&pairs, "TypeID").and_then(JsonValue::integer);
    if let Some(kind) = id.and_then(|id| kind_until_2023(id, &numbers)) {
        let (type_id, name) = (kind.type_id(), kind.row().name);
        let written = id.unwrap_or_default();
        let message = format!(
            "is {written} with the otherParams of a lidar, which {written} was until 2023; taken as {type_id} ({name})"
        );
        notes.push(("TypeID", message));
        id = Some(type_id.into());
        set_value(pairs.to_mut(), "TypeID", JsonValue::Int(type_id.into()));
    }
    let kind = id.and_then(|id| SensorKind::from_type_id(u16::try_from(id).ok()?));
    let length = param_count(&pairs);
    if let (Some(kind), Some(JsonValue::Array(values))) = (kind, value_of(&pairs, PARAMS))
        && values.len() < 8
        && values.len() >= types::used_params(kind)
    {
        let (name, mut values) = (kind.row().name, values.clone());
        let message = format!(
            "has {} values instead of {length}; the others are taken as 0, {name} does not use them (the vendor's loader leaves \
             such a sensor out)",
            values.len(),
        );
        notes.push((PARAMS, message));
        values.resize(length, JsonValue::Int(0));
        set_value(pairs.to_mut(), PARAMS, JsonValue::Array(values));
    }
    (pairs, notes)
}

/// Returns the lidar that a TypeID meant until 2023, if the parameters are those of a lidar. The SDK of 2023 publishes
/// 4 as `vehicle_lidar`, 5 as `global_lidar`, 6 as `livox_lidar`; 6 with the parameters of rings is `Lidar` here.
fn kind_until_2023(type_id: i64, params: &[f64]) -> Option<SensorKind> {
    match (type_id, types::are_rings(params), types::are_petals(params)) {
        (4 | 6, true, _) => Some(SensorKind::Lidar),
        (5, true, _) => Some(SensorKind::GlobalLidar),
        (6, _, true) => Some(SensorKind::Mid40),
        _ => None,
    }
}

/// Returns the required number of `otherParams`.
fn param_count(pairs: &Pairs) -> usize {
    let has = |key| value_of(pairs, key).is_some();
    if has("EularOrQuat") || has("EulerOrQuat") && has("SensorAngQuat") { 16 } else { 8 }
}

fn set_value(pairs: &mut Pairs, key: &str, value: JsonValue) {
    for (_, slot) in pairs.iter_mut().filter(|(k, _)| k == key) {
        *slot = value.clone();
    }
}
