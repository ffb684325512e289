//! Converts checked values to the types of their fields.
use super::value::{as_float, as_int, as_reals, as_text};
use super::{ParamValue, ParameterSpec, check::parse_network, choices::Choice};
use crate::config::ControlLink;
use ipnet::Ipv4Net;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

/// Values that passed the checks of their rows.
#[derive(Debug, Default)]
pub(super) struct Values(BTreeMap<&'static str, ParamValue>);

impl Values {
    pub(super) fn defaults(rows: &'static [ParameterSpec]) -> Self {
        Self(rows.iter().map(|r| (r.name, r.default_value())).collect())
    }

    pub(super) fn insert(&mut self, name: &'static str, value: ParamValue) {
        self.0.insert(name, value);
    }

    /// Returns a value as the type of its field; the type's zero if no value is set, as for most parameters of a sensor or
    /// vehicle. The conversion of a checked value cannot fail: a test reads every row of the table.
    pub(super) fn read<T: FieldValue>(&self, name: &str) -> T {
        let value = self.0.get(name).and_then(T::from_value);
        value.unwrap_or_else(T::zero)
    }
}

pub(super) trait FieldValue: Sized {
    const WORDS: &'static [&'static str] = &[];

    fn from_value(value: &ParamValue) -> Option<Self>;

    fn zero() -> Self;
}

macro_rules! values {
    ($($($type:ty)+ = $zero:expr, |$value:ident| $convert:expr;)+) => {$($(
        impl FieldValue for $type {
            fn from_value($value: &ParamValue) -> Option<Self> {
                $convert
            }

            fn zero() -> Self {
                $zero
            }
        }
    )+)+};
}

values! {
    bool = false, |v| Some(*v == ParamValue::Bool(true));
    i32 u8 u16 u64 usize = 0, |v| as_int(v)?.try_into().ok();
    f64 = 0.0, |v| as_float(v);
    f32 = 0.0, |v| Some(as_float(v)? as f32);
    [f64; 3] = [0.0; 3], |v| as_reals(v)?.try_into().ok();
    [f64; 9] = [0.0; 9], |v| match as_reals(v)?[..] {
        [x, y, z] => Some([x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z]),
        ref all => all.try_into().ok(),
    };
    Duration = Self::ZERO, |v| Self::try_from_secs_f64(as_float(v)?).ok();
    String = Self::new(), |v| Some(as_text(v)?.to_owned());
    PathBuf = Self::new(), |v| Some(as_text(v)?.into());
    Ipv4Addr = Self::LOCALHOST, |v| as_text(v)?.parse().ok();
    Ipv4Net = Ipv4Addr::LOCALHOST.into(), |v| parse_network(as_text(v)?);
    ControlLink = Self::Off, |v| Self::parse(as_text(v)?).ok();
}

impl<T: Choice> FieldValue for T {
    const WORDS: &'static [&'static str] = T::WORDS;

    fn from_value(value: &ParamValue) -> Option<Self> {
        T::from_word(as_text(value)?)
    }

    fn zero() -> Self {
        T::CHOICES[0].1
    }
}

impl<T: FieldValue> FieldValue for Vec<T> {
    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::List(values) => values.iter().map(T::from_value).collect(),
            single => Some(vec![T::from_value(single)?]),
        }
    }

    fn zero() -> Self {
        Self::new()
    }
}

/// `None` for an empty text, and for a value that the type cannot hold.
impl<T: FieldValue> FieldValue for Option<T> {
    const WORDS: &'static [&'static str] = T::WORDS;

    fn from_value(value: &ParamValue) -> Option<Self> {
        Some(T::from_value(value).filter(|_| as_text(value) != Some("")))
    }

    fn zero() -> Self {
        None
    }
}
