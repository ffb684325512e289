//! Messages as the recorded cases write them: JSON with `"NaN"` and `"Infinity"`, fields that are zero left out.
use rfly_bridge::msgs::Message;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

/// Reads a recorded message; what is left out is as in the default.
pub(super) fn decode<M: Message + Default>(recorded: &Value) -> M {
    let mut whole = plain(&M::default());
    merge(&mut whole, recorded);
    if cfg!(feature = "rclrs") {
        rename(&mut whole, "type", "type_");
    }
    M::deserialize(Lenient(whole))
        .unwrap_or_else(|error| panic!("{}: {error}: {recorded}", M::TYPE))
}

fn merge(whole: &mut Value, part: &Value) {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            for (key, value) in part {
                merge(whole.get_mut(key).unwrap_or_else(|| panic!("no field {key}")), value);
            }
        }
        // Elements of a list of messages are complete in themselves.
        (whole, part) => *whole = part.clone(),
    }
}

/// A message as JSON; numbers that JSON does not have are `null`.
pub(super) fn plain<M: Message>(message: &M) -> Value {
    let mut whole = serde_json::to_value(message).expect("JSON");
    // The generated code of a workspace has its own name for what is a word of Rust.
    rename(&mut whole, "type_", "type");
    whole
}

/// Gives fields another name, however deep they are.
fn rename(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::Object(fields) => {
            if let Some(field) = fields.remove(from) {
                fields.insert(to.to_owned(), field);
            }
            fields.values_mut().for_each(|field| rename(field, from, to));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, from, to)),
        _ => {}
    }
}

/// Compares a message with a recorded one, as far as that names fields: integers and texts exactly, reals within
/// `tolerance` relative to the greater of 1 and the value.
pub(super) fn same(ours: &Value, recorded: &Value, tolerance: f64) -> Result<(), String> {
    compare("", ours, recorded, tolerance)
}

fn compare(path: &str, ours: &Value, recorded: &Value, tolerance: f64) -> Result<(), String> {
    let differs = || Err(format!("{path}: {ours} instead of {recorded}"));
    match (ours, recorded) {
        (Value::Object(a), Value::Object(b)) => b.iter().try_for_each(|(key, theirs)| {
            let ours = a.get(key).unwrap_or(&Value::Null);
            compare(&format!("{path}.{key}"), ours, theirs, tolerance)
        }),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.try_for_each(|(i, (a, b))| compare(&format!("{path}[{i}]"), a, b, tolerance))
        }
        (Value::Null, Value::String(word)) if word == "NaN" || word.contains("nfinity") => Ok(()),
        (Value::Number(a), Value::Number(b)) => {
            let (x, y) = (a.as_f64().unwrap_or(0.0), b.as_f64().unwrap_or(0.0));
            let close = (x - y).abs() <= tolerance * x.abs().max(y.abs()).max(1.0);
            let real = a.is_f64() || b.is_f64();
            if x == y || (real && close) { Ok(()) } else { differs() }
        }
        (a, b) if a == b => Ok(()),
        _ => differs(),
    }
}

struct Lenient(Value);

impl<'de> IntoDeserializer<'de, Error> for Lenient {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl Lenient {
    fn real(&self) -> Option<f64> {
        match &self.0 {
            Value::String(word) => match word.as_str() {
                "NaN" => Some(f64::NAN),
                "Infinity" => Some(f64::INFINITY),
                "-Infinity" => Some(f64::NEG_INFINITY),
                _ => None,
            },
            Value::Null => Some(f64::NAN),
            number => number.as_f64(),
        }
    }
}

impl<'de> Deserializer<'de> for Lenient {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(fields) => visitor.visit_map(MapDeserializer::new(
                fields.into_iter().map(|(key, value)| (key, Self(value))),
            )),
            Value::Array(items) => {
                visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Self)))
            }
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.real() {
            Some(value) => visitor.visit_f32(value as f32),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.real() {
            Some(value) => visitor.visit_f64(value),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}
