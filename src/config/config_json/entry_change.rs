//! Replaces values of an entry by parameters, and checks them as if the file had them.
use super::fields::{Findings, SensorEntry};
use super::{TransportOverride, VendorOverrides, entry, text::JsonValue};
use crate::config::{Mount, Problem, Problems, SensorConfig};

/// Values of an entry that parameters replace; the others are as in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntryChange {
    /// `TypeID`.
    pub type_id: Option<u16>,
    /// `DataWidth`.
    pub width: Option<u16>,
    /// `DataHeight`.
    pub height: Option<u16>,
    /// `TargetCopter`.
    pub vehicle: Option<u16>,
    /// `otherParams`; those that are left out are 0.
    pub other_params: Option<Vec<f64>>,
}

/// Keys of the file, and the parameters that replace them.
const PARAMETERS: [(&str, &str); 8] = [
    ("TypeID", "type_id"),
    ("DataWidth", "width"),
    ("DataHeight", "height"),
    ("TargetCopter", "vehicle"),
    ("otherParams", "other_params"),
    // The check of the number of `otherParams` names this key.
    ("EularOrQuat", "other_params"),
    ("CameraFOV", "fov_deg"),
    ("DataCheckFreq", "rate_hz"),
];

impl EntryChange {
    /// Returns the sensor with these values; `fov` is only checked. Mode 1 replaces a transport that the new type does not support.
    /// Errors: all problems, with the names of the parameters `sensor<SeqID>.*`.
    pub fn apply(&self, sensor: &SensorConfig, fov: Option<f32>) -> Result<SensorConfig, Problems> {
        if *self == Self::default() {
            return Ok(sensor.clone());
        }
        let overrides = VendorOverrides {
            refuse_unsupported: true,
            transport: TransportOverride::Mode(sensor.transport),
            receive_address: Some(sensor.ip),
            piece_bytes: None,
            segmentation: None,
        };
        let pairs = self.to_pairs(sensor, fov.unwrap_or(sensor.fov_deg));
        let mut findings = Findings::default();
        let path = format!("sensor{}", sensor.seq_id);
        let mut entry = SensorEntry { path: path.clone(), pairs: &pairs, findings: &mut findings };
        let changed = entry::read(&mut entry, &overrides, &mut None).sensor;
        let mut problems = Problems(findings.problems.0.into_iter().map(rename_key).collect());
        if let (Some(_), Mount::Sensor(carrier)) = (self.vehicle, sensor.mount) {
            let why = format!(
                "must not be set: sensor {carrier} carries it; set sensor{carrier}.vehicle"
            );
            problems.push(format!("{path}.vehicle"), why);
        }
        let changed = changed.unwrap_or_else(|| sensor.clone());
        problems.or(SensorConfig {
            kind: changed.kind,
            mount: changed.mount,
            width: changed.width,
            height: changed.height,
            transport: changed.transport,
            other_params: changed.other_params,
            ..sensor.clone()
        })
    }

    /// Returns the entry that the file would have.
    fn to_pairs(&self, sensor: &SensorConfig, fov_deg: f32) -> Vec<(String, JsonValue)> {
        let int = |value: u16| JsonValue::Int(value.into());
        let real = |value: f64| JsonValue::Float(value);
        let reals =
            |values: &[f32]| JsonValue::Array(values.iter().map(|v| real(f64::from(*v))).collect());
        let count = if sensor.layout_new { 16 } else { 8 };
        let other_params = match &self.other_params {
            Some(values) => {
                let mut values: Vec<_> = values.iter().copied().map(real).collect();
                values.resize(values.len().max(count), real(0.0));
                JsonValue::Array(values)
            }
            None => reals(&sensor.other_params[..count]),
        };
        let address = sensor.ip.map(u16::from);
        let send = [
            &[sensor.transport.number()],
            &address[..],
            &[sensor.port, sensor.piece_bytes, sensor.segmentation],
        ]
        .concat();
        let mut pairs = vec![
            ("SeqID", int(sensor.seq_id)),
            ("TypeID", int(self.type_id.unwrap_or(sensor.kind.type_id()))),
            ("TargetCopter", int(self.vehicle.unwrap_or(sensor.mount.target()))),
            ("TargetMountType", int(sensor.mount.number())),
            ("DataWidth", int(self.width.unwrap_or(sensor.width))),
            ("DataHeight", int(self.height.unwrap_or(sensor.height))),
            ("DataCheckFreq", int(sensor.rate_hz)),
            ("SendProtocol", JsonValue::Array(send.into_iter().map(int).collect())),
            ("CameraFOV", real(f64::from(fov_deg))),
            ("SensorPosXYZ", JsonValue::Array(sensor.position_frd.map(real).to_vec())),
            ("SensorAngEular", reals(&sensor.raw_euler)),
            ("otherParams", other_params),
        ];
        if sensor.layout_new {
            pairs.push(("EularOrQuat", real(f64::from(sensor.eular_or_quat))));
            pairs.push(("SensorAngQuat", reals(&sensor.raw_quaternion)));
        }
        let named = |(key, node): (&str, JsonValue)| (key.to_owned(), node);
        pairs.into_iter().map(named).collect()
    }
}

/// Replaces the key in the problem's path by the parameter's name.
fn rename_key(problem: Problem) -> Problem {
    let mut path = problem.path;
    for (key, parameter) in PARAMETERS {
        path = path.replace(&format!(".{key}"), &format!(".{parameter}"));
    }
    Problem { path, ..problem }
}
