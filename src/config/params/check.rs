//! Checks a value against the type and range of its row.
use super::value::{as_float, as_reals, as_text, reals};
use super::{ParamValue, ParameterSpec, ValueKind};
use crate::config::{ControlLink, names, problem::did_you_mean};
use ipnet::Ipv4Net;
use std::net::Ipv4Addr;

/// Returns the value in the form that the row's field needs, or an error message.
pub(super) fn check(row: &ParameterSpec, value: &ParamValue) -> Result<ParamValue, String> {
    let wrong_type =
        |wanted: &str| Err(format!("must be {wanted}, is {}: {value}", value.type_name()));
    let may_be_empty = row.default.as_ref().and_then(as_text) == Some("");
    match row.kind {
        ValueKind::Bool => match value {
            ParamValue::Bool(_) => Ok(value.clone()),
            _ => wrong_type("true or false"),
        },
        ValueKind::Int(min, max) => match value {
            ParamValue::Int(v) if (min..=max).contains(v) => Ok(value.clone()),
            ParamValue::Int(v) => {
                Err(format!("must be in {min}..={max}{}, is {v}", row.unit_suffix()))
            }
            _ => wrong_type("an integer"),
        },
        ValueKind::Float(min, max) => match as_float(value) {
            Some(v) if (min..=max).contains(&v) => Ok(ParamValue::Float(v)),
            Some(v) => Err(format!("must be in {min}..={max}{}, is {v}", row.unit_suffix())),
            None => wrong_type("a number"),
        },
        ValueKind::Choice(words) => {
            // YAML reads `transport_mode: 1` as a number, `cloud.organized: false` as a bool.
            let word = as_text(value).map_or_else(|| value.to_string(), str::to_owned);
            if words.contains(&word.as_str()) || word.is_empty() && may_be_empty {
                return Ok(ParamValue::Str(word));
            }
            let hint = as_text(value).map(|word| did_you_mean(word, words.iter().copied()));
            let hint = hint.unwrap_or_default();
            Err(format!("must be one of {}, is {value}{hint}", words.join(", ")))
        }
        ValueKind::Str
        | ValueKind::Link
        | ValueKind::Topic
        | ValueKind::Frame
        | ValueKind::Address => {
            let ParamValue::Str(text) = value else { return wrong_type("a string") };
            if text.is_empty() && may_be_empty {
                return Ok(value.clone());
            }
            if text.len() > MAX_TEXT {
                return Err(format!("must have at most {MAX_TEXT} bytes, has {}", text.len()));
            }
            check_text(row.kind, text)?;
            Ok(value.clone())
        }
        ValueKind::Paths | ValueKind::Networks if as_text(value) == Some("") => {
            Ok(ParamValue::List(Vec::new()))
        }
        ValueKind::Paths => check_each(
            value,
            |path| !path.is_empty(),
            |_| format!("must be a path or an array of paths, is {value}"),
        ),
        ValueKind::Networks => check_each(
            value,
            |text| parse_network(text).is_some(),
            |bad| {
                format!(
                    "each must be an IPv4 address like 192.168.31.24, a network like 192.168.31.0/24, or any; one is {bad}"
                )
            },
        ),
        ValueKind::Names(longest) => {
            let is_name =
                |text: &str| (1..=longest).contains(&text.len()) && !text.contains(['"', '\0']);
            check_each(value, is_name, |bad| {
                format!("each must be a name of 1 to {longest} bytes without quotes, one is {bad}")
            })
        }
        ValueKind::Ints(min, max) => check_ints(value, min, max),
        ValueKind::Covariance => check_covariance(value),
        ValueKind::Vector(min, max) => check_vector(row, value, min, max),
        ValueKind::Reals(max_len) => check_reals(value, max_len),
    }
}

/// Maximum bytes of a text, enough for a path. Frame ids need a limit, because every message contains a copy of one.
const MAX_TEXT: usize = 4096;

fn check_text(kind: ValueKind, text: &str) -> Result<(), String> {
    match kind {
        ValueKind::Link => ControlLink::parse(text).map(drop),
        ValueKind::Topic => names::check_topic(text)
            .map_err(|why| format!("must be a ROS topic name, is {text:?}: {why}")),
        ValueKind::Frame => names::check_frame(text)
            .map_err(|why| format!("must be a frame id, is {text:?}: {why}")),
        ValueKind::Address => match text.parse::<Ipv4Addr>() {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("must be an IPv4 address like 192.168.31.24, is {text:?}")),
        },
        _ => Ok(()),
    }
}

/// Checks each text of an array; a single value counts as an array.
fn check_each(
    value: &ParamValue,
    is_valid: impl Fn(&str) -> bool,
    problem: impl Fn(&ParamValue) -> String,
) -> Result<ParamValue, String> {
    let values = match value {
        ParamValue::List(values) => values.clone(),
        single => vec![single.clone()],
    };
    let bad = values.iter().find(|value| !as_text(value).is_some_and(&is_valid));
    bad.map_or_else(|| Ok(ParamValue::List(values.clone())), |bad| Err(problem(bad)))
}

/// Parses an address, a network, or `any` for every address.
pub(super) fn parse_network(text: &str) -> Option<Ipv4Net> {
    match text {
        "any" => Some(Ipv4Net::default()),
        _ => (text.parse().ok()).or_else(|| text.parse::<Ipv4Addr>().ok().map(Ipv4Net::from)),
    }
}

fn check_ints(value: &ParamValue, min: i64, max: i64) -> Result<ParamValue, String> {
    let ParamValue::List(values) = value else {
        let found = value.type_name();
        return Err(format!("must be an array of integers like [1, 2], is {found}: {value}"));
    };
    let mut earlier = Vec::new();
    for value in values {
        match value {
            ParamValue::Int(v) if !(min..=max).contains(v) => {
                return Err(format!("each must be in {min}..={max}, one is {v}"));
            }
            ParamValue::Int(v) if earlier.contains(v) => return Err(format!("{v} occurs twice")),
            ParamValue::Int(v) => earlier.push(*v),
            other => return Err(format!("each must be an integer, one is {other}")),
        }
    }
    Ok(value.clone())
}

fn check_vector(
    row: &ParameterSpec,
    value: &ParamValue,
    min: f64,
    max: f64,
) -> Result<ParamValue, String> {
    let numbers: Option<[f64; 3]> = as_reals(value).and_then(|all| all.try_into().ok());
    let Some(numbers) = numbers else {
        return Err(format!("must be an array of 3 numbers, is {value}"));
    };
    match numbers.iter().find(|v| !(min..=max).contains(*v)) {
        Some(v) => Err(format!("each must be in {min}..={max}{}, one is {v}", row.unit_suffix())),
        None => Ok(reals(&numbers)),
    }
}

fn check_reals(value: &ParamValue, max_len: usize) -> Result<ParamValue, String> {
    match as_reals(value) {
        Some(numbers) if numbers.len() <= max_len && numbers.iter().all(|v| v.is_finite()) => {
            Ok(reals(&numbers))
        }
        _ => Err(format!("must be an array of at most {max_len} numbers, is {value}")),
    }
}

fn check_covariance(value: &ParamValue) -> Result<ParamValue, String> {
    let numbers = as_reals(value).filter(|numbers| numbers.iter().all(|v| v.is_finite()));
    let Some(numbers) = numbers else {
        let what = match value {
            ParamValue::List(_) => value.to_string(),
            _ => format!("{}: {value}", value.type_name()),
        };
        return Err(format!("must be an array of 3 or 9 numbers, is {what}"));
    };
    let diagonal: Vec<f64> = match numbers.len() {
        3 => numbers.clone(),
        9 => numbers.iter().step_by(4).copied().collect(),
        n => return Err(format!("must have 3 values (diagonal) or 9 (row major), has {n}")),
    };
    match diagonal.iter().find(|v| **v < 0.0) {
        Some(v) => Err(format!("variances must be at least 0, one is {v}")),
        None => Ok(reals(&numbers)),
    }
}
