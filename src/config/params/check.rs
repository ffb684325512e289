//! Checks a value against the type and range of its row.
use super::value::{as_float, as_reals};
use super::{DefaultValue, Kind, ParamValue, ParameterSpec};
use crate::config::problem::did_you_mean;
use crate::config::{ControlLink, names};
use ipnet::Ipv4Net;
use std::net::Ipv4Addr;

/// Returns the value in the form that the row's reader expects, or an error message.
pub(super) fn check(row: &ParameterSpec, value: &ParamValue) -> Result<ParamValue, String> {
    let wrong_type =
        |wanted: &str| Err(format!("must be {wanted}, is {}: {value}", value.type_name()));
    let may_be_empty = row.default == DefaultValue::Str("");
    match row.kind {
        Kind::Bool => match value {
            ParamValue::Bool(_) => Ok(value.clone()),
            _ => wrong_type("true or false"),
        },
        Kind::Int(min, max) => match value {
            ParamValue::Int(v) if (min..=max).contains(v) => Ok(value.clone()),
            ParamValue::Int(v) => Err(format!("must be in {min}..={max}{}, is {v}", unit(row))),
            _ => wrong_type("an integer"),
        },
        Kind::Float(min, max) => match as_float(value) {
            Some(v) if (min..=max).contains(&v) => Ok(ParamValue::Float(v)),
            Some(v) => Err(format!("must be in {min}..={max}{}, is {v}", unit(row))),
            None => wrong_type("a number"),
        },
        Kind::Choice(words) => match value {
            ParamValue::Str(v) if v.is_empty() && may_be_empty => Ok(value.clone()),
            // YAML reads `transport_mode: 1` as a number.
            ParamValue::Int(v) if words.contains(&v.to_string().as_str()) => {
                Ok(ParamValue::Str(v.to_string()))
            }
            // The same for `cloud.organized: false`.
            ParamValue::Bool(v) if words.contains(&v.to_string().as_str()) => {
                Ok(ParamValue::Str(v.to_string()))
            }
            ParamValue::Str(v) if words.contains(&v.as_str()) => Ok(value.clone()),
            ParamValue::Str(v) => Err(format!(
                "must be one of {}, is {v:?}{}",
                words.join(", "),
                did_you_mean(v, words.iter().copied())
            )),
            _ => Err(format!("must be one of {}, is {value}", words.join(", "))),
        },
        Kind::Str | Kind::Link | Kind::Topic | Kind::Frame | Kind::Address => {
            let ParamValue::Str(text) = value else {
                return wrong_type("a string");
            };
            if text.is_empty() && may_be_empty {
                return Ok(value.clone());
            }
            if text.len() > LONGEST {
                return Err(format!("must have at most {LONGEST} bytes, has {}", text.len()));
            }
            check_text(row.kind, text)?;
            Ok(value.clone())
        }
        Kind::Paths => check_paths(value),
        Kind::Networks => check_networks(value),
        Kind::Ints(min, max) => check_ints(value, min, max),
        Kind::Names(longest) => check_names(value, longest),
        Kind::Covariance => check_covariance(value),
        Kind::Vector(min, max) => check_vector(row, value, min, max),
        Kind::Reals(most) => check_reals(value, most),
    }
}

/// Longest text of a parameter: the longest path of a file. Names are copied into every message.
const LONGEST: usize = 4096;

fn unit(row: &ParameterSpec) -> String {
    if row.unit.is_empty() { String::new() } else { format!(" {}", row.unit) }
}

fn check_text(kind: Kind, text: &str) -> Result<(), String> {
    match kind {
        Kind::Link => ControlLink::parse(text).map(drop),
        Kind::Topic => names::check_topic(text)
            .map_err(|why| format!("must be a ROS topic name, is {text:?}: {why}")),
        Kind::Frame => names::check_frame(text)
            .map_err(|why| format!("must be a frame id, is {text:?}: {why}")),
        Kind::Address => match text.parse::<Ipv4Addr>() {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("must be an IPv4 address like 192.168.31.24, is {text:?}")),
        },
        _ => Ok(()),
    }
}

fn check_paths(value: &ParamValue) -> Result<ParamValue, String> {
    let good = |v: &ParamValue| matches!(v, ParamValue::Str(path) if !path.is_empty());
    match value {
        ParamValue::Str(path) if path.is_empty() => Ok(ParamValue::List(Vec::new())),
        ParamValue::List(paths) if paths.iter().all(good) => Ok(value.clone()),
        ParamValue::Str(_) => Ok(ParamValue::List(vec![value.clone()])),
        _ => Err(format!("must be a path or an array of paths, is {value}")),
    }
}

/// Parses an address, a network, or `any` for every address.
pub(super) fn network(text: &str) -> Option<Ipv4Net> {
    match text {
        "any" => Some(Ipv4Net::default()),
        _ => (text.parse().ok()).or_else(|| text.parse::<Ipv4Addr>().ok().map(Ipv4Net::from)),
    }
}

fn check_networks(value: &ParamValue) -> Result<ParamValue, String> {
    let given = match value {
        ParamValue::List(values) => values.clone(),
        ParamValue::Str(text) if text.is_empty() => Vec::new(),
        single => vec![single.clone()],
    };
    let bad = |v: &&ParamValue| !matches!(v, ParamValue::Str(text) if network(text).is_some());
    match given.iter().find(bad) {
        Some(bad) => Err(format!(
            "each must be an IPv4 address like 192.168.31.24, a network like 192.168.31.0/24, or any; one is {bad}"
        )),
        None => Ok(ParamValue::List(given)),
    }
}

fn check_ints(value: &ParamValue, min: i64, max: i64) -> Result<ParamValue, String> {
    let ParamValue::List(values) = value else {
        return Err(format!(
            "must be an array of integers like [1, 2], is {}: {value}",
            value.type_name()
        ));
    };
    let mut seen = Vec::new();
    for value in values {
        match value {
            ParamValue::Int(v) if !(min..=max).contains(v) => {
                return Err(format!("each must be in {min}..={max}, one is {v}"));
            }
            ParamValue::Int(v) if seen.contains(v) => return Err(format!("{v} occurs twice")),
            ParamValue::Int(v) => seen.push(*v),
            other => return Err(format!("each must be an integer, one is {other}")),
        }
    }
    Ok(value.clone())
}

fn check_names(value: &ParamValue, longest: usize) -> Result<ParamValue, String> {
    let given = match value {
        ParamValue::List(values) => values.clone(),
        single => vec![single.clone()],
    };
    let good = |v: &ParamValue| matches!(v, ParamValue::Str(text) if (1..=longest).contains(&text.len()) && !text.contains(['"', '\0']));
    match given.iter().find(|v| !good(v)) {
        Some(bad) => {
            Err(format!("each must be a name of 1 to {longest} bytes without quotes, one is {bad}"))
        }
        None => Ok(ParamValue::List(given)),
    }
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
        Some(v) => Err(format!("each must be in {min}..={max}{}, one is {v}", unit(row))),
        None => Ok(list(&numbers)),
    }
}

/// Real numbers, also where integers were given.
fn list(numbers: &[f64]) -> ParamValue {
    ParamValue::List(numbers.iter().copied().map(ParamValue::Float).collect())
}

fn check_reals(value: &ParamValue, most: usize) -> Result<ParamValue, String> {
    match as_reals(value) {
        Some(numbers) if numbers.len() <= most && numbers.iter().all(|v| v.is_finite()) => {
            Ok(list(&numbers))
        }
        _ => Err(format!("must be an array of at most {most} numbers, is {value}")),
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
        3 => numbers,
        9 => numbers.iter().step_by(4).copied().collect(),
        n => {
            return Err(format!("must have 3 values (diagonal) or 9 (row major), has {n}"));
        }
    };
    match diagonal.iter().find(|v| **v < 0.0) {
        Some(v) => Err(format!("variances must be at least 0, one is {v}")),
        None => Ok(value.clone()),
    }
}
