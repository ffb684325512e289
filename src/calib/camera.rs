//! The cameras of a vehicle, and stereo pairs.
use super::{CalibOutput, rig::Rig};
use crate::config::params::{DepthEncoding, QosGroup};
use crate::config::{Problem, Problems, SensorConfig};
use crate::msgs::{sensor_msgs::msg::CameraInfo, std_msgs::msg::Header};
use crate::sensors::{Lens, Options, Size, camera_info, spec_of};
use crate::wire::{Optics, Payload, SensorKind};

#[derive(Clone)]
pub(super) struct Camera<'a> {
    pub(super) sensor: &'a SensorConfig,
    pub(super) topic: String,
    pub(super) info_topic: String,
    pub(super) frame: String,
    pub(super) info: CameraInfo,
}

impl Camera<'_> {
    /// fx, fy, cx, cy.
    pub(super) fn intrinsics(&self) -> [f64; 4] {
        let k = self.info.k;
        [k[0], k[4], k[2], k[5]]
    }

    /// The first four coefficients: k1, k2, p1, p2, or k1 to k4 of an equidistant lens.
    pub(super) fn distortion(&self) -> [f64; 4] {
        let d = |i: usize| self.info.d.get(i).copied().unwrap_or_default();
        [d(0), d(1), d(2), d(3)]
    }

    pub(super) fn is_fisheye(&self) -> bool {
        self.sensor.kind.row().optics == Optics::Fisheye
    }
}

/// Returns the stereo pair (left, right) that the parameters name, else the first rectified pair.
pub(super) fn stereo_pair<'a>(rig: &Rig<'a>, cameras: &[Camera<'a>]) -> Option<[Camera<'a>; 2]> {
    let pairs = cameras.iter().flat_map(|left| cameras.iter().map(move |right| (left, right)));
    let is_in_parameters = |(left, right): &(&Camera<'_>, &Camera<'_>)| {
        let [left, right] = [left, right].map(|camera| camera.sensor.seq_id);
        left != right && rig.settings.pairs.frame_owner(right) == left
    };
    let is_rectified = |(left, right): &(&Camera<'_>, &Camera<'_>)| {
        rig.settings.are_rectified(left.sensor, right.sensor)
    };
    let (left, right) =
        pairs.clone().find(is_in_parameters).or_else(|| pairs.clone().find(is_rectified))?;
    Some([left.clone(), right.clone()])
}

impl<'a> Rig<'a> {
    pub(super) fn camera(&self, sensor: &'a SensorConfig) -> Result<Camera<'a>, Problem> {
        let row = sensor.kind.row();
        let path = || format!("sensor {}", sensor.seq_id);
        let lens = match (row.payload, row.optics) {
            (Payload::Bgr8 | Payload::Grey8 | Payload::Grey16, Optics::Pinhole) => Lens::Pinhole,
            (Payload::Bgr8 | Payload::Grey8, Optics::Fisheye) => {
                Lens::Fisheye { factor: self.settings.fisheye_factor(sensor) }
            }
            _ => {
                let message = format!("is a {}, which is not a camera", row.name);
                return Err(Problem::new(path(), message));
            }
        };
        self.check_rigid(sensor)?;
        let size = Size { width: sensor.width.into(), height: sensor.height.into() };
        let calibration = self.settings.calibrations.of(sensor.seq_id);
        let info = match calibration {
            Some(calibration) => calibration.message(Header::default()),
            None => camera_info(lens, size, sensor.fov_deg, Header::default()),
        };
        if info.k[0] == 0.0 {
            let message = format!("no lens has a field of view of {} degrees", sensor.fov_deg);
            return Err(Problem::new(path(), message));
        }
        let spec = spec_of(sensor.kind);
        let image_topic = self.settings.sensor_topic(sensor);
        let info_spec = spec.topics.iter().find(|t| t.interface.ends_with("/CameraInfo"));
        let info_topic = info_spec.map(|topic| spec.topic_name(topic, &image_topic));
        let frames = self.tree.sensor(sensor.seq_id);
        let frame = frames.map(|f| f.optical.clone()).unwrap_or_default();
        Ok(Camera {
            sensor,
            topic: self.resolve(&image_topic)?,
            info_topic: self.resolve(&info_topic.unwrap_or_default())?,
            frame,
            info,
        })
    }

    /// Warns if an image or its `camera_info` is published with best effort.
    pub(super) fn warn_if_camera_best_effort(&self, camera: &Camera<'_>, output: &mut CalibOutput) {
        self.warn_if_best_effort(QosGroup::Image, &camera.topic, output);
        self.warn_if_best_effort(QosGroup::CameraInfo, &camera.info_topic, output);
    }

    /// Returns the cameras of these types; leaves out those that are not fixed on the vehicle or have an invalid field of view.
    pub(super) fn rigid_cameras(&self, kinds: &[SensorKind]) -> Vec<Camera<'a>> {
        let sensors = self.sensors().filter(|s| kinds.contains(&s.kind));
        sensors.filter_map(|s| self.camera(s).ok()).collect()
    }

    /// Returns two cameras, or one, and adds them to the report.
    pub(super) fn find_cameras(
        &self,
        output: &mut CalibOutput,
    ) -> Result<Vec<Camera<'a>>, Problems> {
        let cameras = if self.choice.cameras.is_empty() {
            self.default_cameras(output)?
        } else {
            self.chosen_cameras()?
        };
        for (camera, role) in cameras.iter().zip(["camera", "second camera"]) {
            output.used.push((role, describe(camera)));
            self.warn_if_bottom_unknown(camera.sensor, output);
        }
        Ok(cameras)
    }

    fn chosen_cameras(&self) -> Result<Vec<Camera<'a>>, Problems> {
        let mut problems = Problems::default();
        if self.choice.cameras.len() > 2 {
            problems.push("--cameras", "more than two cameras");
        }
        let mut cameras = Vec::new();
        for seq_id in &self.choice.cameras {
            let sensor = self.sensor("--cameras", *seq_id);
            let camera = sensor.and_then(|sensor| self.camera(sensor));
            cameras.extend(problems.keep(camera));
        }
        if let [left, right] = &cameras[..] {
            let (a, b) = (left.sensor, right.sensor);
            for (is_wrong, what) in [
                ((a.width, a.height) != (b.width, b.height), "different sizes"),
                (a.asked_hz() != b.asked_hz(), "different rates"),
                (a.seq_id == b.seq_id, "equal SeqIDs"),
            ] {
                if is_wrong {
                    problems.push("--cameras", format!("two cameras with {what}"));
                }
            }
        }
        problems.or(cameras)
    }

    fn default_cameras(&self, output: &mut CalibOutput) -> Result<Vec<Camera<'a>>, Problems> {
        let cameras = self.rigid_cameras(&[SensorKind::Rgb, SensorKind::Grey]);
        if let Some(pair) = stereo_pair(self, &cameras) {
            return Ok(pair.into());
        }
        output.warn(format!("one camera only: stereo needs {STEREO_PAIR}"));
        let message = format!(
            "none fixed on vehicle {}: a sensor with TypeID 1 or 3 is needed, or --cameras",
            self.vehicle
        );
        let one = cameras.into_iter().next();
        Ok(vec![one.ok_or_else(|| Problem::new("camera", message))?])
    }
}

/// Requirements of a stereo pair.
pub(super) const STEREO_PAIR: &str = "two cameras of one TypeID (1 or 3) fixed side by side on the vehicle, with parallel \
     axes, the same size, rate and field of view";

/// Requires depth as 16UC1, in millimetres.
pub(super) fn require_millimetres(rig: &Rig<'_>, depth: &Camera<'_>, output: &mut CalibOutput) {
    let seq_id = depth.sensor.seq_id;
    let name = format!("sensor{seq_id}.encoding");
    let now = Options::new(&rig.settings.params, seq_id).depth.name();
    output.need(&name, DepthEncoding::Millimetres.name(), now, "mono16 is not read as depth");
}

/// Describes a camera for the report.
pub(super) fn describe(camera: &Camera<'_>) -> String {
    let SensorConfig { seq_id, kind, width, height, .. } = camera.sensor;
    let (kind, hz) = (spec_of(*kind).name, camera.sensor.asked_hz());
    format!("sensor {seq_id}, {kind}, {}, {width} x {height}, {hz} Hz", camera.topic)
}
