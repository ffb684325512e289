use std::fmt;

/// Value of a ROS parameter, with rcl's types.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// `true`, `false`.
    Bool(bool),
    /// 64-bit integer.
    Int(i64),
    /// 64-bit real.
    Float(f64),
    /// Text.
    Str(String),
    /// Array of one type; empty arrays fit every array parameter.
    List(Vec<Self>),
}

impl ParamValue {
    /// Returns the name of the type for error messages.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a bool",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a real number",
            Self::Str(_) => "a string",
            Self::List(_) => "an array",
        }
    }
}

/// Returns a real number or an integer as a real number.
pub(super) fn as_float(value: &ParamValue) -> Option<f64> {
    match value {
        ParamValue::Float(value) => Some(*value),
        ParamValue::Int(value) => Some(*value as f64),
        _ => None,
    }
}

pub(super) fn as_int(value: &ParamValue) -> Option<i64> {
    match value {
        ParamValue::Int(value) => Some(*value),
        _ => None,
    }
}

pub(super) fn as_text(value: &ParamValue) -> Option<&str> {
    match value {
        ParamValue::Str(text) => Some(text),
        _ => None,
    }
}

pub(super) fn as_reals(value: &ParamValue) -> Option<Vec<f64>> {
    match value {
        ParamValue::List(values) => values.iter().map(as_float).collect(),
        _ => None,
    }
}

pub(super) fn reals(numbers: &[f64]) -> ParamValue {
    ParamValue::List(numbers.iter().copied().map(ParamValue::Float).collect())
}

impl fmt::Display for ParamValue {
    /// YAML flow style; parsing the output gives an equal value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) if value.is_nan() => write!(f, ".nan"),
            Self::Float(value) if value.is_infinite() => {
                write!(f, "{}.inf", if *value < 0.0 { "-" } else { "" })
            }
            Self::Float(value) => write!(f, "{value:?}"),
            // Quoted, because YAML reads some plain scalars as other types; JSON strings are valid YAML.
            Self::Str(value) => write!(f, "{}", serde_json::Value::from(value.as_str())),
            Self::List(values) => {
                let values: Vec<_> = values.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", values.join(", "))
            }
        }
    }
}
