//! The three keys of the attitude. The vendor's loader misspells two of them; its documents spell them correctly.
use super::{fields::SensorEntry, text::JsonValue};
use crate::config::MountOrientation;

/// The three keys of the attitude as written; in the old layout selector and quaternion are 0.
#[derive(Clone, Copy)]
pub(super) struct Orientation {
    pub(super) selector: f64,
    pub(super) euler: [f64; 3],
    pub(super) quaternion: [f64; 4],
}

impl Orientation {
    fn uses_quaternion(&self) -> bool {
        self.selector > 0.5
    }

    fn norm(&self) -> f64 {
        self.quaternion.iter().map(|v| v * v).sum::<f64>().sqrt()
    }

    pub(super) fn value(&self) -> MountOrientation {
        if self.uses_quaternion() {
            let norm = self.norm();
            MountOrientation::Quaternion(self.quaternion.map(|v| v / norm))
        } else {
            MountOrientation::Euler(self.euler)
        }
    }
}

/// Whether the entry has the new layout; warns of an `EulerOrQuat` that is ignored.
///
/// The vendor's loader does not know the documents' spelling of `EularOrQuat`, so it reads such an entry with 8 `otherParams` in
/// the old layout. So does the bridge, unless the entry selects its quaternion.
pub(super) fn has_new_layout(entry: &mut SensorEntry<'_>) -> bool {
    let Some(selector) = entry.get("EularOrQuat") else { return false };
    let spelling = entry.spelling_of("EularOrQuat");
    let is_old =
        matches!(entry.get("otherParams"), Some(JsonValue::Array(values)) if values.len() == 8);
    let selects_quaternion =
        selector.number().is_some_and(|v| v > 0.5) && entry.get("SensorAngQuat").is_some();
    if spelling == "EularOrQuat" || !is_old || selects_quaternion {
        return true;
    }
    entry.warning(spelling, "ignored, because otherParams has 8 values; the Euler angles count");
    false
}

pub(super) fn read(entry: &mut SensorEntry<'_>, is_new_layout: bool) -> Option<Orientation> {
    let euler = entry.numbers::<3>("SensorAngEular");
    if !is_new_layout {
        if entry.get("SensorAngQuat").is_some() && entry.get("EularOrQuat").is_none() {
            entry.warning("SensorAngQuat", "ignored, because there is no EularOrQuat");
        }
        return Some(Orientation { selector: 0.0, euler: euler?, quaternion: [0.0; 4] });
    }
    let selector = entry.number("EularOrQuat");
    if entry.get("SensorAngQuat").is_none() {
        let selector = entry.spelling_of("EularOrQuat");
        let why =
            format!("is missing; with {selector} it must be there, even if the Euler angles count");
        entry.problem("SensorAngQuat", why);
    }
    let quaternion = entry.numbers::<4>("SensorAngQuat");
    let orientation = Orientation { selector: selector?, euler: euler?, quaternion: quaternion? };
    if orientation.uses_quaternion() {
        let norm = orientation.norm();
        if norm < 1e-6 {
            let selector = entry.spelling_of("EularOrQuat");
            let why =
                format!("is zero, but {selector} is above 0.5: must be a rotation (w, x, y, z)");
            entry.problem("SensorAngQuat", why);
            return None;
        }
        if (norm - 1.0).abs() > 0.01 {
            let why = format!("has the norm {norm:.3} instead of 1; TF uses it normalised");
            entry.warning("SensorAngQuat", why);
        }
    }
    Some(orientation)
}
