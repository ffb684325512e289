//! Kalibr: a file of the cameras with their poses relative to the IMU, and a file of the IMU, in the format of Kalibr's programs.
use super::imu::{Imu, Noise};
use super::yaml::{nested, real, text};
use super::{CalibOutput, Consumer, camera::Camera, rig::Rig};
use crate::config::{Problems, params::QosGroup};
use crate::frames::Transform;
use std::fmt::Write as _;

pub(super) const CONSUMER: Consumer =
    Consumer { name: "kalibr", source: "ethz-asl/kalibr 1f60227", write };

/// ADIS16448, from the help text of kalibr_calibrate_imu_camera.
const NOISE: Noise = Noise([0.006, 0.0002, 0.0004, 4e-6]);

fn write(rig: &Rig<'_>, output: &mut CalibOutput) -> Result<(), Problems> {
    let sensors = VisualInertial::find(rig, output)?;
    output.add_file("camchain-imucam.yaml", chain(&sensors));
    output.add_file("imu.yaml", imu_file(rig, &sensors.imu));
    output.warn(
        "Kalibr is a ROS 1 program and needs a target in the scene to calibrate; the files are for readers of its format",
    );
    output.add_start(
        "kalibr_calibrate_imu_camera --cams {dir}/camchain-imucam.yaml --imu {dir}/imu.yaml --target TARGET --bag BAG",
    );
    Ok(())
}

/// The IMU, and the cameras with their poses in its frame.
pub(super) struct VisualInertial<'a> {
    pub(super) imu: Imu,
    pub(super) cameras: Vec<(Camera<'a>, Transform)>,
}

impl<'a> VisualInertial<'a> {
    pub(super) fn find(rig: &Rig<'a>, output: &mut CalibOutput) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let imu = problems.keep(rig.find_imu(output));
        let mut cameras = Vec::new();
        for camera in problems.keep(rig.find_cameras(output)).unwrap_or_default() {
            let pose = problems.keep(rig.pose_in_imu(&camera.frame));
            cameras.extend(pose.map(|pose| (camera, pose)));
        }
        match imu {
            Some(imu) if problems.is_empty() => Ok(Self { imu, cameras }),
            _ => Err(problems),
        }
    }

    /// Warns if the images are published with best effort.
    pub(super) fn warn_if_best_effort(&self, rig: &Rig<'_>, output: &mut CalibOutput) {
        for (camera, _) in &self.cameras {
            rig.warn_if_best_effort(QosGroup::Image, &camera.topic, output);
        }
    }

    /// Returns the indices of the cameras that overlap with camera `index`: all others.
    pub(super) fn overlaps(&self, index: usize) -> String {
        let others = (0..self.cameras.len()).filter(|i| *i != index);
        format!("[{}]", others.map(|i| i.to_string()).collect::<Vec<_>>().join(", "))
    }
}

/// Formats the lens and the image of a camera for Kalibr and OpenVINS. Kalibr's `equidistant` is a pinhole with distortion, as in
/// `sensor_msgs/CameraInfo`.
pub(super) fn intrinsics(camera: &Camera<'_>) -> String {
    let model = if camera.is_fisheye() { "equidistant" } else { "radtan" };
    let exact = |values: [f64; 4]| format!("[{}]", values.map(real).join(", "));
    format!(
        r#"  camera_model: pinhole
  intrinsics: {intrinsics} # fu, fv, pu, pv
  distortion_model: {model}
  distortion_coeffs: {distortion}
  resolution: [{width}, {height}]
  rostopic: {topic}
"#,
        intrinsics = exact(camera.intrinsics()),
        distortion = exact(camera.distortion()),
        width = camera.sensor.width,
        height = camera.sensor.height,
        topic = text(&camera.topic),
    )
}

/// Formats the noise of the IMU for Kalibr and OpenVINS.
pub(super) fn noise(noise: &Noise, indent: usize) -> String {
    let mut out = String::new();
    let keys = [
        ("accelerometer_noise_density", "m/s^2/sqrt(Hz)"),
        ("accelerometer_random_walk", "m/s^3/sqrt(Hz)"),
        ("gyroscope_noise_density", "rad/s/sqrt(Hz)"),
        ("gyroscope_random_walk", "rad/s^2/sqrt(Hz)"),
    ];
    for ((key, unit), value) in keys.into_iter().zip(noise.0) {
        let _ = writeln!(out, "{:indent$}{key}: {} # {unit}", "", real(value));
    }
    out
}

fn chain(sensors: &VisualInertial<'_>) -> String {
    let mut out = String::new();
    for (i, (camera, pose)) in sensors.cameras.iter().enumerate() {
        let _ = write!(
            out,
            "cam{i}:\n  T_cam_imu: # turns points of the IMU's frame into the camera's\n{}\n",
            nested(&pose.inverse().matrix(), 4),
        );
        if let Some((_, previous)) = i.checked_sub(1).and_then(|i| sensors.cameras.get(i)) {
            let from_previous = pose.inverse() * *previous;
            let _ = write!(
                out,
                "  T_cn_cnm1: # turns points of the previous camera's frame into this one's\n{}\n",
                nested(&from_previous.matrix(), 4),
            );
        }
        let _ = write!(
            out,
            "  timeshift_cam_imu: 0.0 # stamps are of one clock\n  cam_overlaps: {}\n{}",
            sensors.overlaps(i),
            intrinsics(camera),
        );
    }
    out
}

fn imu_file(rig: &Rig<'_>, imu: &Imu) -> String {
    format!(
        "rostopic: {}\nupdate_rate: {}\n{}",
        text(&imu.topic),
        real(imu.rate_hz),
        noise(&rig.noise(imu, NOISE), 0),
    )
}
