//! The three keys of the attitude, one of them misspelt by the vendor's loader and correctly spelt in its documents.
use super::fields::Entry;
use super::text::Node;
use crate::config::MountOrientation;

/// The three keys of the attitude as written.
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

pub(super) fn read(entry: &mut Entry<'_>) -> Option<Orientation> {
    let euler = entry.numbers::<3>("SensorAngEular");
    if entry.get("EularOrQuat").is_none() {
        if entry.get("SensorAngQuat").is_some() {
            entry.warning("SensorAngQuat", "ignored, because there is no EularOrQuat");
        }
        return Some(Orientation {
            selector: 0.0,
            euler: euler?,
            quaternion: [0.0; 4],
        });
    }
    let selector = entry.number("EularOrQuat");
    if entry.get("SensorAngQuat").is_none() {
        entry.problem(
            "SensorAngQuat",
            "is missing; with EularOrQuat it must be there, even if the Euler angles count",
        );
    }
    let quaternion = entry.numbers::<4>("SensorAngQuat");
    let orientation = Orientation {
        selector: selector?,
        euler: euler?,
        quaternion: quaternion?,
    };
    if orientation.uses_quaternion() {
        let norm = orientation.norm();
        if norm < 1e-6 {
            entry.problem(
                "SensorAngQuat",
                "must be a rotation (w, x, y, z) because EularOrQuat is above 0.5, is zero",
            );
            return None;
        }
        if (norm - 1.0).abs() > 0.01 {
            entry.warning(
                "SensorAngQuat",
                format!("has the norm {norm:.3} instead of 1; TF uses it normalised"),
            );
        }
    }
    Some(orientation)
}

/// Some vendor documents write `EulerOrQuat`, which the loader ignores: the sensor then has the old layout
/// and its Euler angles apply. That is an error if the quaternion was meant to apply.
pub(super) fn misspelt_eular(entry: &mut Entry<'_>) -> bool {
    let meant = entry
        .get("EulerOrQuat")
        .and_then(Node::number)
        .is_some_and(|v| v > 0.5);
    let harmful =
        meant && entry.get("EularOrQuat").is_none() && entry.get("SensorAngQuat").is_some();
    if harmful {
        entry.problem(
            "EulerOrQuat",
            "unknown key, so SensorAngQuat does not count; did you mean \"EularOrQuat\"?",
        );
    }
    harmful
}
