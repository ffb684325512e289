//! Checks named values and converts them to [`Params`].
use super::choices::Choice;
use super::families::CheckedValues;
use super::together::check_together;
use super::{DepthEncoding, ParamValue, Params, RgbEncoding, ScanParams, ScanSource, SensorParams};
use crate::config::config_json::{self, EntryChange};
use crate::config::{Mount, Problems, SensorConfig};
use crate::wire::{Optics, Payload, SensorKind};

impl Params {
    /// Checks named values. The last of duplicates wins; missing parameters have their defaults.
    /// Errors: all unknown names (with a suggestion), wrong types, values out of range, and values that do not go together.
    pub fn from_values(values: &[(String, ParamValue)]) -> Result<Self, Problems> {
        let mut checked = CheckedValues::new();
        let mut problems = Problems::default();
        for (i, (name, value)) in values.iter().enumerate() {
            if values[i + 1..].iter().any(|(later, _)| later == name) {
                continue;
            }
            if let Err(message) = checked.insert(name, value) {
                problems.push(name, message);
            }
        }
        let params = checked.params();
        check_together(&params, &mut problems);
        problems.or(params)
    }

    /// Returns all sensors of the files, also disabled ones, each with its [`EntryChange`] applied. A sensor whose change has
    /// problems stays as in the file.
    pub fn changed_entries(&self, sensors: &[SensorConfig]) -> (Vec<SensorConfig>, Problems) {
        let mut problems = Problems::default();
        let change = |sensor: &SensorConfig| {
            let params = self.sensor(sensor.seq_id);
            let changed = params.entry.apply(sensor, params.fov_deg);
            problems.keep(changed).unwrap_or_else(|| sensor.clone())
        };
        (sensors.iter().map(change).collect(), problems)
    }

    /// Checks `sensor<SeqID>.*` against `sensors`, which must be the [changed entries](Self::changed_entries). Errors: SeqIDs that
    /// no sensor has, parameters that do not suit the sensor (also `scan.ring`), disabled sensors that carry enabled ones.
    pub fn check_sensors(&self, sensors: &[SensorConfig]) -> Result<(), Problems> {
        let mut problems = Problems::default();
        let disabled =
            |seq_id: u16| self.sensors.get(&seq_id).is_some_and(|s| s.enabled == Some(false));
        for (seq_id, params) in &self.sensors {
            let Some(sensor) = sensors.iter().find(|sensor| sensor.seq_id == *seq_id) else {
                let known: Vec<_> = sensors.iter().map(|s| s.seq_id.to_string()).collect();
                let why = format!("no sensor has this SeqID; known are {}", known.join(", "));
                problems.push(format!("sensor{seq_id}"), why);
                continue;
            };
            let (kind, type_id) = (sensor.kind, sensor.kind.type_id());
            let (optics, payload) = (kind.row().optics, kind.row().payload);
            let possible: &[&str] = match payload {
                Payload::Bgr8 => RgbEncoding::WORDS,
                Payload::Grey16 => DepthEncoding::WORDS,
                _ => &[],
            };
            let no_pinhole = params.boxes && !kind.is_pinhole_image();
            let no_camera = params.gimbal && !kind.is_camera();
            let no_fisheye = params.fisheye_factor.is_some() && optics != Optics::Fisheye;
            for (key, is_wrong, wanted, why) in [
                ("boxes", no_pinhole, "be false", "has no image of a pinhole camera"),
                ("gimbal", no_camera, "be false", "is not a camera"),
                ("fisheye_factor", no_fisheye, "not be set", "is not a fisheye"),
            ] {
                if is_wrong {
                    let message = format!("must {wanted} for TypeID {type_id}, which {why}");
                    problems.push(format!("sensor{seq_id}.{key}"), message);
                }
            }
            let encoding = params.encoding.as_ref();
            if let Some(encoding) = encoding.filter(|word| !possible.contains(&word.as_str())) {
                let wanted = match possible {
                    [] => format!(
                        "must not be set for TypeID {type_id}, which has no choice of encodings"
                    ),
                    _ => format!("must be one of {} for TypeID {type_id}", possible.join(", ")),
                };
                problems
                    .push(format!("sensor{seq_id}.encoding"), format!("{wanted}, is {encoding:?}"));
            }
        }
        for sensor in sensors {
            self.check_scan(sensor, &mut problems);
            // `EntryChange::apply` has already checked the field of view of a changed entry whose type has one.
            let has_fov = matches!(sensor.kind.row().optics, Optics::Pinhole | Optics::Fisheye);
            let params = self.sensors.get(&sensor.seq_id);
            let is_unchecked =
                |params: &&SensorParams| !has_fov || params.entry == EntryChange::default();
            let fov = params.filter(is_unchecked).and_then(|params| params.fov_deg);
            if let Some(fov) = fov
                && let Err(why) = config_json::check_fov(sensor.kind, f64::from(fov))
            {
                problems.push(format!("sensor{}.fov_deg", sensor.seq_id), why);
            }
        }
        for sensor in sensors.iter().filter(|sensor| !disabled(sensor.seq_id)) {
            if let Mount::Sensor(carrier) = sensor.mount
                && disabled(carrier)
            {
                let why =
                    format!("must be true, because the sensor carries sensor {}", sensor.seq_id);
                problems.push(format!("sensor{carrier}.enabled"), why);
            }
        }
        problems.or(())
    }

    fn check_scan(&self, sensor: &SensorConfig, problems: &mut Problems) {
        let (seq_id, type_id) = (sensor.seq_id, sensor.kind.type_id());
        let scan = self.sensors.get(&seq_id).and_then(|params| params.scan);
        let possible = ScanParams::sources(sensor.kind);
        if let Some(name) = scan.map(ScanSource::name)
            && !possible.contains(&name)
        {
            let wanted = match possible {
                [] => format!("must not be set for TypeID {type_id}, which has no planar scan"),
                _ => format!("must be {} for TypeID {type_id}", possible.join(" or ")),
            };
            problems.push(format!("sensor{seq_id}.scan"), format!("{wanted}, is {name:?}"));
        }
        let source = scan.unwrap_or(self.scan.source);
        if let Some(ring) = self.scan.ring
            && source == ScanSource::Ring
            && sensor.kind == SensorKind::Lidar
            && ring >= sensor.height
        {
            let rings = sensor.height;
            let why = format!(
                "must be less than {rings}, the number of rings of sensor {seq_id}, is {ring}"
            );
            problems.push("scan.ring", why);
        }
    }
}
