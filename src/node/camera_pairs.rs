//! Cameras whose messages depend on the pose of another camera: stereo pairs, and depth registered to colour.
use crate::config::{Problems, SensorConfig, params::Params};
use crate::frames::{Frd, SensorMount, Vector};
use crate::wire::{Optics, Payload, SensorKind};
use std::collections::BTreeMap;

/// Smaller distances in m count as 0: at a focal length of 1000 px this is 0.1 px at 1 m.
const MIN_OFFSET_M: f64 = 1e-4;
/// Smaller angles in rad count as 0: 0.1 px at that focal length.
const MIN_ANGLE_RAD: f64 = 1e-4;

/// The pairs among the sensors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CameraPairs {
    /// Left camera and baseline in m, by right camera.
    stereo: BTreeMap<u16, (u16, f64)>,
    /// Colour camera, by depth camera.
    registered: BTreeMap<u16, u16>,
}

impl CameraPairs {
    /// Finds the pairs. `sensors` and `mounts` are in the same order. Errors: all faults of the pairs that parameters name.
    pub(super) fn find(
        params: &Params,
        sensors: &[SensorConfig],
        mounts: &[SensorMount],
    ) -> Result<Self, Problems> {
        let (mut pairs, mut problems) = (Self::default(), Problems::default());
        let mounted = || sensors.iter().zip(mounts);
        for right in mounted() {
            let seq_id = right.0.seq_id;
            let Some(left_id) = params.sensor(seq_id).stereo_left else { continue };
            let unknown =
                format!("must be the SeqID of an enabled camera; sensor {left_id} is not one");
            let left = mounted().find(|(sensor, _)| sensor.seq_id == left_id);
            match left.map_or(Err(vec![unknown]), |left| baseline(left, right)) {
                Ok(baseline_m) => drop(pairs.stereo.insert(seq_id, (left_id, baseline_m))),
                Err(faults) => faults.into_iter().for_each(|fault| {
                    problems.push(format!("sensor{seq_id}.stereo_left"), fault);
                }),
            }
        }
        for depth in mounted().filter(|(sensor, _)| sensor.kind == SensorKind::Depth) {
            let seq_id = depth.0.seq_id;
            let has_own_frame = params.sensor(seq_id).frame_id.is_some();
            let mut colours = mounted().filter(|(sensor, _)| sensor.kind == SensorKind::Rgb);
            if params.depth.registered
                && !has_own_frame
                && let Some((colour, _)) = colours.find(|colour| coincide(*colour, depth))
            {
                pairs.registered.insert(seq_id, colour.seq_id);
            }
        }
        problems.or(pairs)
    }

    /// Returns the sensor that defines the optical frame of a sensor's images: the left or colour camera of its pair, or itself.
    pub fn frame_owner(&self, seq_id: u16) -> u16 {
        let left = self.stereo.get(&seq_id).map(|(left, _)| *left);
        left.or_else(|| self.registered.get(&seq_id).copied()).unwrap_or(seq_id)
    }

    /// Returns the baseline of a right camera in m; 0 for any other sensor.
    pub fn baseline_m(&self, seq_id: u16) -> f64 {
        self.stereo.get(&seq_id).map_or(0.0, |(_, metres)| *metres)
    }

    pub(super) fn describe(&self) -> Vec<String> {
        let stereo = self.stereo.iter().map(|(right, (left, metres))| {
            format!("stereo pair: sensor {left} left, sensor {right} right, baseline {metres:.4} m")
        });
        let registered = self.registered.iter().map(|(depth, colour)| {
            format!("depth of sensor {depth} is registered to sensor {colour} and is in its frame")
        });
        stereo.chain(registered).collect()
    }
}

/// A sensor of Config.json with its mount.
type Mounted<'a> = (&'a SensorConfig, &'a SensorMount);

/// Whether the images of two cameras are already rectified, so that the cameras may be a stereo pair.
pub(super) fn are_rectified(left: Mounted<'_>, right: Mounted<'_>) -> bool {
    baseline(left, right).is_ok()
}

/// Returns the position of the second sensor in the frame of the first, in m.
fn offset(first: &SensorMount, second: &SensorMount) -> [f64; 3] {
    let [a, b] =
        [first.position_frd, second.position_frd].map(|[x, y, z]| Vector::<Frd>::new(x, y, z));
    let attitude = first.orientation.attitude();
    attitude.inverse().rotate(b - a).to_array()
}

fn same_attitude(first: &SensorMount, second: &SensorMount) -> bool {
    let [a, b] = [first, second].map(|mount| mount.orientation.attitude());
    a.angle_to(b) < MIN_ANGLE_RAD
}

/// Whether two cameras see the same scene with the same pixels.
pub(super) fn coincide(first: Mounted<'_>, second: Mounted<'_>) -> bool {
    let optics = |s: &SensorConfig| (s.width, s.height, s.fov_deg, s.mount);
    optics(first.0) == optics(second.0)
        && same_attitude(first.1, second.1)
        && offset(first.1, second.1).iter().all(|metres| metres.abs() < MIN_OFFSET_M)
}

/// Returns the baseline of a pair in m, or all its faults.
fn baseline(left: Mounted<'_>, right: Mounted<'_>) -> Result<f64, Vec<String>> {
    let ((left, left_mount), (right, right_mount)) = (left, right);
    let (l, r) = (left.seq_id, right.seq_id);
    if l == r {
        return Err(vec![format!("must not name sensor {r} itself")]);
    }
    let pair = format!("sensor {l} (left) and sensor {r} (right)");
    let mut faults = Vec::new();
    for sensor in [left, right] {
        let row = sensor.kind.row();
        let has_images = matches!(row.payload, Payload::Bgr8 | Payload::Grey8);
        if !has_images || row.optics != Optics::Pinhole {
            let (id, type_id, name) = (sensor.seq_id, sensor.kind.type_id(), row.name);
            let of = format!("sensor {id} is of TypeID {type_id} ({name})");
            faults.push(format!("{of}, not a pinhole camera with 8-bit images"));
        }
    }
    let size = |s: &SensorConfig| format!("{} x {}", s.width, s.height);
    for (what, at_left, at_right) in [
        ("TypeID", left.kind.type_id().to_string(), right.kind.type_id().to_string()),
        ("size", size(left), size(right)),
        ("field of view", left.fov_deg.to_string(), right.fov_deg.to_string()),
        ("rate", left.asked_hz().to_string(), right.asked_hz().to_string()),
        ("mount", left.mount.to_string(), right.mount.to_string()),
    ] {
        if at_left != at_right {
            faults.push(format!("{pair} must have the same {what}, have {at_left} and {at_right}"));
        }
    }
    if left.mount != right.mount {
        return Err(faults);
    }
    if !same_attitude(left_mount, right_mount) {
        faults.push(format!("{pair} must have the same attitude"));
        return Err(faults);
    }
    let [forward, to_the_right, down] = offset(left_mount, right_mount);
    if to_the_right < MIN_OFFSET_M || forward.abs() > MIN_OFFSET_M || down.abs() > MIN_OFFSET_M {
        faults.push(format!(
            "sensor {r} must be exactly to the right in the frame of sensor {l}, is {forward:.4} m forward, {to_the_right:.4} m to the right, {down:.4} m down"
        ));
    }
    if faults.is_empty() { Ok(to_the_right) } else { Err(faults) }
}
