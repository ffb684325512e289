//! Removes comments and parses JSON; keeps the order of keys.
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Removes `//` and `#` comments.
///
/// Comment marks inside strings do not count. The vendor's loader also cuts inside strings, which leaves the string open and the
/// file invalid; so every file that the vendor accepts has the same meaning here.
pub fn without_comments(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut out = String::with_capacity(text.len());
    // A lone CR ends a line too, as in Python's text mode, which the vendor uses.
    for line in text.split_inclusive(['\n', '\r']) {
        out.push_str(&line[..comment_start(line)]);
        if let Some(end @ ('\n' | '\r')) = line.chars().next_back() {
            out.push(end);
        }
    }
    out
}

/// Returns the start of the comment, or the end of the line. A JSON string never continues on the next line.
fn comment_start(line: &str) -> usize {
    let bytes = line.as_bytes();
    let mut in_string = false;
    let mut i = 0;
    while let Some(byte) = bytes.get(i) {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => i += 1,
            b'#' if !in_string => return i,
            b'/' if !in_string && bytes.get(i + 1) == Some(&b'/') => return i,
            b'\n' | b'\r' => return i,
            _ => {}
        }
        i += 1;
    }
    line.len()
}

/// JSON that keeps the order of keys and duplicate keys.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JsonValue {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl JsonValue {
    /// Returns a number; booleans count as 0 and 1, as in the vendor's Python.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Bool(value) => Some(f64::from(*value)),
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns an integer; booleans count as in [`Self::number`], `640.0` does not count.
    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Self::Bool(value) => Some((*value).into()),
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether both are equal, as 1, 1.0 and `true` are in the vendor's Python.
    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Array(a), Self::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_equivalent(b))
            }
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a == b,
                _ => self == other,
            },
        }
    }
}

impl fmt::Display for JsonValue {
    /// A short form for error messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => write!(f, "null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Str(value) if value.chars().count() > 40 => {
                write!(f, "a string of {} characters", value.chars().count())
            }
            Self::Str(value) => write!(f, "{value:?}"),
            Self::Array(values) => write!(f, "an array of length {}", values.len()),
            Self::Object(_) => write!(f, "an object"),
        }
    }
}

impl<'de> Deserialize<'de> for JsonValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = JsonValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JSON")
    }

    fn visit_unit<E>(self) -> Result<JsonValue, E> {
        Ok(JsonValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsonValue, E> {
        Ok(JsonValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<JsonValue, E> {
        Ok(JsonValue::Int(value))
    }

    /// Saturates: values that large fail every range check.
    fn visit_u64<E>(self, value: u64) -> Result<JsonValue, E> {
        Ok(JsonValue::Int(i64::try_from(value).unwrap_or(i64::MAX)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<JsonValue, E> {
        Ok(JsonValue::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<JsonValue, E> {
        Ok(JsonValue::Str(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonValue, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(JsonValue::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonValue, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(JsonValue::Object(pairs))
    }
}

pub(super) fn parse(text: &str) -> Result<JsonValue, serde_json::Error> {
    serde_json::from_str(&without_comments(text))
}
