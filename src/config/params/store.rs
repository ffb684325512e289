//! The declared parameters of a running node, for its parameter server. No I/O.
use super::{
    PARAMETERS, ParamValue, ParameterSpec, Params, QOS_PARAMETERS, Qos, QosChange, QosGroup,
    SENSOR_PARAMETERS, VEHICLE_PARAMETERS, ValueKind,
};
use super::{check::check, render::kind_text, value::reals};
use crate::config::problem::did_you_mean;
use crate::config::{AngleUnit, Mount, MountOrientation, Problems, SensorConfig};
use crate::frames::{Attitude, Frd};
use crate::wire::{Optics, SensorKind};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The types of `rcl_interfaces/msg/ParameterType` in use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ParamType {
    /// `true` or `false`.
    Bool = 1,
    /// 64-bit integer.
    Integer = 2,
    /// 64-bit real.
    Double = 3,
    /// Text.
    String = 4,
    /// Array of integers.
    IntegerArray = 7,
    /// Array of reals.
    DoubleArray = 8,
    /// Array of texts.
    StringArray = 9,
}

impl ValueKind {
    /// Returns the type on the wire.
    pub const fn param_type(self) -> ParamType {
        match self {
            Self::Bool => ParamType::Bool,
            Self::Int(..) => ParamType::Integer,
            Self::Float(..) => ParamType::Double,
            Self::Str
            | Self::Link
            | Self::Topic
            | Self::Frame
            | Self::Choice(_)
            | Self::Address => ParamType::String,
            Self::Paths | Self::Networks | Self::Names(_) => ParamType::StringArray,
            Self::Ints(..) => ParamType::IntegerArray,
            Self::Covariance | Self::Vector(..) | Self::Reals(_) => ParamType::DoubleArray,
        }
    }
}

/// Answer of `describe_parameters` for one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Full name.
    pub name: String,
    /// Type.
    pub param_type: ParamType,
    /// Meaning, with its unit.
    pub description: String,
    /// Constraints not expressed as a range.
    pub constraints: String,
    /// Whether a change needs a restart.
    pub read_only: bool,
    /// Smallest and largest integer.
    pub integers: Option<(i64, i64)>,
    /// Smallest and largest real.
    pub reals: Option<(f64, f64)>,
}

#[derive(Clone, Debug)]
struct Declared {
    row: &'static ParameterSpec,
    value: ParamValue,
}

/// Values checked together, and the resulting parameters.
#[derive(Clone, Debug)]
pub struct Checked {
    /// All parameters after the change.
    pub params: Params,
    /// The changed ones by name, in stored form.
    pub changes: Vec<(String, ParamValue)>,
}

/// Every declared parameter with its value.
#[derive(Clone, Debug)]
pub struct Store {
    declared: BTreeMap<String, Declared>,
    /// Values set at the start or later; the other parameters have their defaults.
    given: Vec<(String, ParamValue)>,
    /// The sensors of Config.json and those added later, with the unit of their angles.
    sensors: Vec<(SensorConfig, AngleUnit)>,
}

/// Prefix of the QoS parameters of publishers.
const QOS_OVERRIDES: &str = "qos_overrides.";

/// Key of the parameter that determines which other parameters a sensor has.
const TYPE_ID: &str = "type_id";

impl Store {
    /// Declares the node's parameters from the `given` values, the sensors of Config.json, and the publishers.
    pub fn new(
        given: &[(String, ParamValue)],
        params: &Params,
        sensors: &[SensorConfig],
        unit: impl Fn(&SensorConfig) -> AngleUnit,
        publishers: &[(String, Qos)],
    ) -> Self {
        let mut store = Self {
            declared: BTreeMap::new(),
            given: given.to_vec(),
            sensors: sensors.iter().map(|s| (s.clone(), unit(s))).collect(),
        };
        for row in PARAMETERS.iter() {
            store.declare(row.name.to_owned(), row, row.default_value());
        }
        store.declare_sensors();
        let carriers = sensors.iter().filter_map(|sensor| sensor.mount.vehicle());
        let named = params.vehicles.iter().chain(params.per_vehicle.keys()).copied();
        for id in named.chain(carriers).collect::<BTreeSet<u16>>() {
            for row in VEHICLE_PARAMETERS.iter() {
                store.declare(format!("vehicle{id}.{}", row.name), row, row.default_value());
            }
        }
        for group in QosGroup::ALL {
            let change = params.qos.groups.get(group).copied().unwrap_or_default();
            let qos = change.apply(group.default_qos());
            for row in QOS_PARAMETERS.iter() {
                let value = policy_value(row, change, qos);
                store.declare(format!("qos.{}.{}", group.name(), row.name), row, value);
            }
        }
        store.declare_publishers(publishers);
        store
    }

    /// Declares the QoS of exactly these publishers.
    pub fn declare_publishers(&mut self, publishers: &[(String, Qos)]) {
        self.declared.retain(|name, _| !name.starts_with(QOS_OVERRIDES));
        for (topic, qos) in publishers {
            // rclcpp has no presets.
            for row in QOS_PARAMETERS.iter().skip(1) {
                let name = format!("{QOS_OVERRIDES}{topic}.publisher.{}", row.name);
                let value = policy_value(row, QosChange::default(), *qos);
                self.declared.insert(name, Declared { row, value });
            }
        }
    }

    /// Declares the parameters of one more sensor.
    pub fn add_sensor(&mut self, sensor: &SensorConfig, unit: AngleUnit) {
        self.sensors.push((sensor.clone(), unit));
        self.declare_sensors();
    }

    /// Declares the parameters that the sensors have with their present types, and removes all others.
    fn declare_sensors(&mut self) {
        for (sensor, unit) in self.sensors.clone() {
            let name = |row: &ParameterSpec| format!("sensor{}.{}", sensor.seq_id, row.name);
            let mut kind = sensor.kind;
            for row in SENSOR_PARAMETERS.iter() {
                match sensor_default(row, &sensor, kind, unit) {
                    Some(default) => self.declare(name(row), row, default),
                    None => drop(self.declared.remove(&name(row))),
                }
                if row.name == TYPE_ID
                    && let Some((ParamValue::Int(type_id), _)) = self.get(&name(row))
                {
                    let changed = u16::try_from(*type_id).ok();
                    kind = changed.and_then(SensorKind::from_type_id).unwrap_or(kind);
                }
            }
        }
    }

    /// Returns the store as it would be after the changes of `type_id` in `changes`.
    fn with_types(&self, changes: &[(String, ParamValue)]) -> Cow<'_, Self> {
        let types = changes.iter().filter(|(name, _)| is_type_id(name));
        let types: Vec<_> = types.cloned().collect();
        if types.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut next = self.clone();
        next.given.extend(types);
        next.declare_sensors();
        Cow::Owned(next)
    }

    fn declare(&mut self, name: String, row: &'static ParameterSpec, default: ParamValue) {
        let given = self.given.iter().rev().find(|(other, _)| *other == name);
        let value = given.and_then(|(_, value)| check(row, value).ok()).unwrap_or(default);
        self.declared.insert(name, Declared { row, value });
    }

    /// Returns the names of all parameters.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.declared.keys().map(String::as_str)
    }

    /// Returns a value and its type; `None` for an undeclared name.
    pub fn get(&self, name: &str) -> Option<(&ParamValue, ParamType)> {
        let declared = self.declared.get(name)?;
        Some((&declared.value, declared.row.kind.param_type()))
    }

    /// Returns the description of a parameter; `None` for an undeclared name.
    pub fn describe(&self, name: &str) -> Option<Description> {
        let row = self.declared.get(name)?.row;
        let topic = name.strip_prefix(QOS_OVERRIDES).and_then(|rest| rest.rsplitn(3, '.').nth(2));
        let doc = topic.map_or_else(
            || row.doc.replace('`', ""),
            |topic| format!("QoS policy {} of the publisher on {topic}.", row.name),
        );
        let unit = match row.unit {
            "" => String::new(),
            unit => format!(" Unit: {unit}."),
        };
        let text = kind_text(row).replace('`', "");
        let (constraints, integers, reals) = match row.kind {
            ValueKind::Int(min, max) => (String::new(), Some((min, max)), None),
            ValueKind::Float(min, max) => (String::new(), None, Some((min, max))),
            ValueKind::Bool | ValueKind::Str | ValueKind::Link => (String::new(), None, None),
            ValueKind::Choice(_) => (format!("one of {text}"), None, None),
            _ => (text, None, None),
        };
        Some(Description {
            name: name.to_owned(),
            param_type: row.kind.param_type(),
            description: format!("{doc}{unit}"),
            constraints,
            read_only: !row.live,
            integers,
            reals,
        })
    }

    /// Returns names and their prefixes as rclcpp selects them: names below one of `prefixes` (all names if it is empty) with
    /// fewer than `depth` dots after the prefix; depth 0 is no limit.
    pub fn list(&self, prefixes: &[String], depth: u64) -> (Vec<String>, Vec<String>) {
        let is_near = |rest: &str| depth == 0 || (rest.matches('.').count() as u64) < depth;
        let is_below = |name: &str, prefix: &str| {
            let rest = name.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('.').is_some_and(is_near))
        };
        let is_selected = |name: &&String| match prefixes {
            [] => is_near(name),
            prefixes => prefixes.iter().any(|prefix| is_below(name, prefix)),
        };
        let names: Vec<_> = self.declared.keys().filter(is_selected).cloned().collect();
        let parents = names.iter().filter_map(|name| name.rsplit_once('.'));
        let parents: BTreeSet<_> = parents.map(|(parent, _)| parent.to_owned()).collect();
        (names, parents.into_iter().collect())
    }

    /// Checks values that are set together; changes nothing. Errors: all unknown names (with a suggestion), wrong types, values
    /// out of range, conflicting values, and parameters that need a restart.
    pub fn check(&self, changes: &[(String, ParamValue)]) -> Result<Checked, Problems> {
        let mut problems = Problems::default();
        let mut checked = Vec::new();
        let declared = self.with_types(changes);
        for (name, value) in changes {
            let Some(Declared { row, .. }) = declared.declared.get(name) else {
                let hint = did_you_mean(name, declared.names());
                problems.push(name, format!("unknown parameter{hint}"));
                continue;
            };
            match check(row, value) {
                Err(why) => problems.push(name, why),
                Ok(_) if !row.live => problems.push(
                    name,
                    format!("cannot change while the bridge runs; restart needed, with -p {name}:={value}"),
                ),
                Ok(value) => checked.push((name.clone(), value)),
            }
        }
        let changes = problems.or(checked)?;
        let values = [self.given.clone(), changes.clone()].concat();
        Ok(Checked { params: Params::from_values(&values)?, changes })
    }

    /// Applies the result of [`Self::check`].
    pub fn commit(&mut self, checked: &Checked) {
        for (name, value) in &checked.changes {
            if let Some(declared) = self.declared.get_mut(name) {
                declared.value = value.clone();
            }
            // Only the newest value is kept, so that repeated changes do not use up memory.
            self.given.retain(|(other, _)| other != name);
            self.given.push((name.clone(), value.clone()));
        }
        if checked.changes.iter().any(|(name, _)| is_type_id(name)) {
            self.declare_sensors();
        }
    }
}

fn is_type_id(name: &str) -> bool {
    name.rsplit('.').next() == Some(TYPE_ID)
}

/// Returns the default of a row for this sensor; `None` if the sensor does not have the parameter, by its type or its mount.
fn sensor_default(
    row: &ParameterSpec,
    sensor: &SensorConfig,
    kind: SensorKind,
    unit: AngleUnit,
) -> Option<ParamValue> {
    Some(match row.name {
        "fov_deg" => {
            let optics = kind.row().optics;
            matches!(optics, Optics::Pinhole | Optics::Fisheye)
                .then(|| ParamValue::Float(f64::from(sensor.fov_deg)))?
        }
        "camera_info_url" if !kind.is_camera() => return None,
        "fisheye_factor" if kind.row().optics != Optics::Fisheye => return None,
        TYPE_ID => ParamValue::Int(sensor.kind.type_id().into()),
        "width" => ParamValue::Int(sensor.width.into()),
        "height" => ParamValue::Int(sensor.height.into()),
        "vehicle" => match sensor.mount {
            Mount::Sensor(_) => return None,
            mount => ParamValue::Int(mount.target().into()),
        },
        "other_params" => {
            let count = if sensor.layout_new { 16 } else { 8 };
            reals(&sensor.other_params.map(f64::from)[..count])
        }
        "rate_hz" => ParamValue::Int(sensor.asked_hz().into()),
        "position" => reals(&sensor.position_frd),
        "orientation_deg" => reals(&match sensor.orientation {
            MountOrientation::Euler(angles) => {
                angles.map(|angle| unit.convert(angle, AngleUnit::Degrees))
            }
            MountOrientation::Quaternion(wxyz) => {
                let attitude = Attitude::<Frd, Frd>::from_wxyz(wxyz).unwrap_or_default();
                let euler = attitude.euler();
                [euler.roll, euler.pitch, euler.yaw].map(f64::to_degrees)
            }
        }),
        _ => row.default_value(),
    })
}

fn policy_value(row: &ParameterSpec, change: QosChange, qos: Qos) -> ParamValue {
    let text = |word: &str| ParamValue::Str(word.to_owned());
    match row.name {
        "preset" => text(change.preset.map_or("", |preset| preset.name())),
        "reliability" => text(qos.reliability.name()),
        "durability" => text(qos.durability.name()),
        "history" => text(qos.history.name()),
        _ => ParamValue::Int(qos.depth.into()),
    }
}
