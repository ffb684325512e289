//! Messages from YAML: missing fields have their defaults; an error names the field that does not fit.
use crate::config::yaml::{Yaml, YamlKind};
use crate::config::{ParamValue, did_you_mean};
use crate::time::RosTime;
use serde::de::{self, DeserializeSeed, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use std::fmt::Display;

/// The member that rosidl adds to messages without fields.
pub(super) const FILLER: &str = "structure_needs_at_least_one_member";

/// A field that does not fit.
#[derive(Debug, thiserror::Error)]
#[error("{field}: {message}")]
pub(super) struct FieldError {
    pub(super) field: String,
    pub(super) message: String,
}

impl de::Error for FieldError {
    fn custom<T: Display>(message: T) -> Self {
        Self { field: String::new(), message: message.to_string() }
    }
}

impl serde::ser::Error for FieldError {
    fn custom<T: Display>(message: T) -> Self {
        <Self as de::Error>::custom(message)
    }
}

/// A value to fill in.
pub(super) struct YamlField<'a> {
    path: String,
    given: Option<&'a Yaml>,
    default: FieldDefault<'a>,
    /// Time that a header `auto` and a time `now` become; `None`: these words are not accepted.
    now: Option<RosTime>,
}

#[derive(Clone, Copy)]
enum FieldDefault<'a> {
    /// The value in the default message.
    Value(&'a Value),
    /// In elements of lists, which have no default message: 0, but 1 for `w` of a quaternion, the only default of the
    /// standard messages that is not zero. In the current time: its seconds or nanoseconds.
    Number(i64),
    /// The current time.
    Now,
}

const ZERO: FieldDefault<'static> = FieldDefault::Number(0);

impl<'a> YamlField<'a> {
    /// A whole message.
    pub(super) fn whole(given: Option<&'a Yaml>, default: &'a Value, now: Option<RosTime>) -> Self {
        Self { path: String::new(), given, default: FieldDefault::Value(default), now }
    }

    /// The given value; `None` if it is missing or empty.
    fn kind(&self) -> Option<&'a YamlKind> {
        self.given.map(|yaml| &yaml.kind).filter(|kind| !matches!(kind, YamlKind::Empty))
    }

    fn error(&self, message: String) -> FieldError {
        let path = if self.path.is_empty() { "the whole" } else { &self.path };
        let field = path.to_owned();
        FieldError { field, message }
    }

    fn type_error(&self, wanted: &str) -> FieldError {
        let found = match self.kind() {
            Some(YamlKind::Scalar(text, ParamValue::Str(_))) => format!("is \"{text}\""),
            Some(YamlKind::Scalar(text, _)) => format!("is {text}"),
            Some(YamlKind::Sequence(_)) => "is a list".to_owned(),
            Some(YamlKind::Mapping(_)) => "has fields".to_owned(),
            Some(YamlKind::Empty) | None => "is empty".to_owned(),
        };
        self.error(format!("{found}, expected {wanted}"))
    }

    fn default_number<T>(&self, read: impl FnOnce(&Value) -> Option<T>, number: fn(i64) -> T) -> T {
        match self.default {
            FieldDefault::Value(value) => read(value).unwrap_or_else(|| number(0)),
            FieldDefault::Number(value) => number(value),
            FieldDefault::Now => number(0),
        }
    }

    fn integer(&self, range: std::ops::RangeInclusive<i128>) -> Result<i128, FieldError> {
        let value = match self.kind() {
            None => {
                let whole = |v: &Value| {
                    let signed = v.as_i64().map(i128::from);
                    signed.or_else(|| v.as_u64().map(i128::from))
                };
                return Ok(self.default_number(whole, i128::from));
            }
            Some(YamlKind::Scalar(_, ParamValue::Int(value))) => Some(i128::from(*value)),
            // An integer beyond the range of parameters.
            Some(YamlKind::Scalar(text, ParamValue::Float(_))) => text.parse().ok(),
            Some(_) => None,
        };
        value.filter(|value| range.contains(value)).ok_or_else(|| {
            let (low, high) = range.into_inner();
            self.type_error(&format!("a whole number from {low} to {high}"))
        })
    }

    fn real(&self) -> Result<f64, FieldError> {
        match self.kind() {
            None => Ok(self.default_number(Value::as_f64, |number| number as f64)),
            Some(YamlKind::Scalar(_, ParamValue::Int(value))) => Ok(*value as f64),
            Some(YamlKind::Scalar(_, ParamValue::Float(value))) => Ok(*value),
            Some(_) => Err(self.type_error("a number")),
        }
    }

    fn real_f32(&self) -> Result<f32, FieldError> {
        self.real().map(|value| value as f32)
    }

    fn text(&self) -> Result<String, FieldError> {
        match self.kind() {
            None => Ok(match self.default {
                FieldDefault::Value(value) => value.as_str().unwrap_or_default().to_owned(),
                _ => String::new(),
            }),
            Some(YamlKind::Scalar(text, _)) => Ok(text.clone()),
            Some(_) => Err(self.type_error("text")),
        }
    }

    fn boolean(&self) -> Result<bool, FieldError> {
        match self.kind() {
            None => Ok(match self.default {
                FieldDefault::Value(value) => value.as_bool().unwrap_or_default(),
                _ => false,
            }),
            Some(YamlKind::Scalar(_, ParamValue::Bool(value))) => Ok(*value),
            Some(_) => Err(self.type_error("true or false")),
        }
    }

    fn element(&self, index: usize, given: Option<&'a Yaml>) -> Self {
        let default = match self.default {
            FieldDefault::Value(Value::Array(values)) => {
                values.get(index).map_or(ZERO, FieldDefault::Value)
            }
            _ => ZERO,
        };
        Self { path: format!("{}[{index}]", self.path), given, default, now: self.now }
    }

    /// The given elements, or those of the default.
    fn elements(&self) -> Result<Vec<Self>, FieldError> {
        match (self.kind(), self.default) {
            (Some(YamlKind::Sequence(items)), _) => {
                let items = items.iter().enumerate();
                let whole =
                    Self { default: ZERO, path: self.path.clone(), given: None, now: self.now };
                Ok(items.map(|(i, item)| whole.element(i, Some(item))).collect())
            }
            (Some(_), _) => Err(self.type_error("a list")),
            (None, FieldDefault::Value(Value::Array(values))) => {
                Ok((0..values.len()).map(|i| self.element(i, None)).collect())
            }
            (None, _) => Ok(Vec::new()),
        }
    }

    /// The time of a field that is `auto` or `now`.
    fn automatic(&self, message: &str) -> Option<RosTime> {
        let now = match (message, self.kind(), self.default) {
            ("Header", Some(YamlKind::Scalar(word, _)), _) => word == "auto",
            ("Time", Some(YamlKind::Scalar(word, _)), _) => word == "now",
            ("Time", None, FieldDefault::Now) => true,
            _ => false,
        };
        self.now.filter(|_| now)
    }

    fn fields(&self, message: &str, names: &[&'static str]) -> Result<Vec<Self>, FieldError> {
        let automatic = self.automatic(message);
        let pairs = match self.kind() {
            None => &[][..],
            Some(YamlKind::Mapping(pairs)) => pairs,
            Some(_) if automatic.is_some() => &[][..],
            Some(_) => return Err(self.type_error(&format!("{message}: {}", listed(names)))),
        };
        for (index, (key, _)) in pairs.iter().enumerate() {
            if !names.iter().any(|name| ros_name(name) == key) {
                return Err(self.error(format!("{message} has {}", unknown_field(key, names))));
            }
            if pairs[..index].iter().any(|(other, _)| other == key) {
                return Err(self.error(format!("\"{key}\" is given twice")));
            }
        }
        let field = |name: &&'static str| {
            let given = pairs.iter().find(|(key, _)| key == ros_name(name));
            let default = match (self.default, automatic) {
                (_, Some(_)) if *name == "stamp" => FieldDefault::Now,
                (_, Some(now)) if *name == "sec" => {
                    FieldDefault::Number(now.0.div_euclid(1_000_000_000))
                }
                (_, Some(now)) if *name == "nanosec" => {
                    FieldDefault::Number(now.0.rem_euclid(1_000_000_000))
                }
                (FieldDefault::Value(value), _) => {
                    value.get(name).map_or(ZERO, FieldDefault::Value)
                }
                _ if message == "Quaternion" && *name == "w" => FieldDefault::Number(1),
                _ => ZERO,
            };
            let dot = if self.path.is_empty() { "" } else { "." };
            Self {
                path: format!("{}{dot}{}", self.path, ros_name(name)),
                given: given.map(|(_, value)| value),
                default,
                now: self.now,
            }
        };
        Ok(names.iter().map(field).collect())
    }
}

/// A name as in the definition: rosidl's Rust code appends `_` to keywords.
pub(super) fn ros_name(name: &str) -> &str {
    name.trim_end_matches('_')
}

/// Names an unknown field, the most similar field and all fields.
pub(super) fn unknown_field(field: &str, names: &[&'static str]) -> String {
    let hint = did_you_mean(field, names.iter().copied().map(ros_name));
    let end = if hint.is_empty() { "." } else { "" };
    format!("no field \"{field}\"{hint}{end} It has: {}", listed(names))
}

fn listed(names: &[&'static str]) -> String {
    let names: Vec<_> = names.iter().filter(|name| **name != FILLER).collect();
    if names.is_empty() {
        return "no fields".to_owned();
    }
    names.iter().map(|n| ros_name(n)).collect::<Vec<_>>().join(", ")
}

macro_rules! integers {
    ($($method:ident $visit:ident $type:ty;)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
            let value = self.integer(<$type>::MIN.into()..=<$type>::MAX.into())?;
            // `integer` has checked the range.
            visitor.$visit(value as $type)
        })+
    };
}

macro_rules! values {
    ($($method:ident $visit:ident $read:ident;)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
            visitor.$visit(self.$read()?)
        })+
    };
}

impl<'de> de::Deserializer<'de> for YamlField<'_> {
    type Error = FieldError;

    integers! {
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
    }

    values! {
        deserialize_bool visit_bool boolean;
        deserialize_f32 visit_f32 real_f32;
        deserialize_f64 visit_f64 real;
        deserialize_str visit_string text;
        deserialize_string visit_string text;
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
        visitor.visit_seq(Elements(self.elements()?.into_iter()))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, FieldError> {
        let elements = match self.kind() {
            None => (0..length).map(|i| self.element(i, None)).collect(),
            Some(_) => self.elements()?,
        };
        if elements.len() != length {
            let found = elements.len();
            return Err(self.error(format!("has {found} elements, expected {length}")));
        }
        visitor.visit_seq(Elements(elements.into_iter()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        message: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, FieldError> {
        visitor.visit_seq(Elements(self.fields(message, names)?.into_iter()))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, FieldError> {
        Err(self.error("is of a type that ROS messages do not have".to_owned()))
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf option unit unit_struct newtype_struct tuple_struct map enum identifier
        ignored_any
    }
}

struct Elements<'a>(std::vec::IntoIter<YamlField<'a>>);

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = FieldError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, FieldError> {
        self.0.next().map(|field| seed.deserialize(field)).transpose()
    }
}
