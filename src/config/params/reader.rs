//! Checked values by name, before they become [`Params`](super::Params).
use super::choices::Choice;
use super::value::{as_float, as_vector};
use super::{PARAMETERS, ParamValue, ParameterSpec, QosParams, SensorParams, VehicleParams};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

/// Values that passed their rows' checks; a name without value has its row's default.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) values: BTreeMap<&'static str, ParamValue>,
    pub(super) sensors: BTreeMap<u16, SensorParams>,
    pub(super) vehicles: BTreeMap<u16, VehicleParams>,
    pub(super) qos: QosParams,
}

/// Returns the row of a name.
pub(super) fn spec(name: &str) -> Option<&'static ParameterSpec> {
    PARAMETERS.iter().find(|row| row.name == name)
}

/// The getters cannot fail: values were checked against their row's kind, and a test reads every row of the
/// table. A name missing in the table yields zero, which that test detects.
impl Reader {
    fn get(&self, name: &str) -> ParamValue {
        let given = self.values.get(name).cloned();
        given
            .or_else(|| spec(name).map(|row| row.default.value()))
            .unwrap_or(ParamValue::Bool(false))
    }

    pub(super) fn bool(&self, name: &str) -> bool {
        matches!(self.get(name), ParamValue::Bool(true))
    }

    pub(super) fn int(&self, name: &str) -> i64 {
        match self.get(name) {
            ParamValue::Int(value) => value,
            _ => 0,
        }
    }

    pub(super) fn float(&self, name: &str) -> f64 {
        as_float(&self.get(name)).unwrap_or(0.0)
    }

    pub(super) fn string(&self, name: &str) -> String {
        match self.get(name) {
            ParamValue::Str(value) => value,
            other => other.to_string(),
        }
    }

    pub(super) fn choice<T: Choice>(&self, name: &str) -> T {
        T::of(&self.string(name)).unwrap_or(T::CHOICES[0].1)
    }

    pub(super) fn address(&self, name: &str) -> Option<Ipv4Addr> {
        self.string(name).parse().ok()
    }

    pub(super) fn list(&self, name: &str) -> Vec<ParamValue> {
        match self.get(name) {
            ParamValue::List(values) => values,
            single => vec![single],
        }
    }

    pub(super) fn ids(&self, name: &str) -> Vec<u16> {
        self.numbers(name)
    }

    pub(super) fn numbers<N: TryFrom<i64>>(&self, name: &str) -> Vec<N> {
        let number = |value: &ParamValue| match value {
            ParamValue::Int(number) => N::try_from(*number).ok(),
            _ => None,
        };
        self.list(name).iter().filter_map(number).collect()
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let text = |value: ParamValue| match value {
            ParamValue::Str(text) => Some(text),
            _ => None,
        };
        self.list(name).into_iter().filter_map(text).collect()
    }

    pub(super) fn duration(&self, name: &str) -> Duration {
        Duration::try_from_secs_f64(self.float(name)).unwrap_or_default()
    }

    pub(super) fn vector(&self, name: &str) -> [f64; 3] {
        as_vector(&self.get(name)).unwrap_or_default()
    }

    pub(super) fn covariance(&self, name: &str) -> [f64; 9] {
        let given: Vec<f64> = self.list(name).iter().filter_map(as_float).collect();
        match given[..] {
            [x, y, z] => [x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z],
            _ => std::array::from_fn(|i| given.get(i).copied().unwrap_or(0.0)),
        }
    }
}
