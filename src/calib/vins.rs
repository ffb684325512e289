//! VINS-Fusion: files for OpenCV's `FileStorage`, in one directory.
use super::rig::{GRAVITY, Rig};
use super::yaml::{real, rounded, row_major, text};
use super::{CalibOutput, Consumer, camera::Camera, imu::Noise, kalibr::VisualInertial};
use crate::config::{Problems, params::QosGroup};
use std::fmt::Write as _;

pub(super) const CONSUMER: Consumer = Consumer {
    name: "vins",
    source: "HKUST-Aerial-Robotics/VINS-Fusion be55a93, in ROS 2 zinuok/VINS-Fusion-ROS2 270c5be",
    write,
};

/// acc_n, acc_w, gyr_n, gyr_w of config/euroc/euroc_stereo_imu_config.yaml.
const DEVIATIONS: [f64; 4] = [0.1, 0.001, 0.01, 0.0001];
const CAMERAS: [&str; 2] = ["cam0.yaml", "cam1.yaml"];

fn write(rig: &Rig<'_>, output: &mut CalibOutput) -> Result<(), Problems> {
    let sensors = VisualInertial::find(rig, output)?;
    rig.warn_if_best_effort(QosGroup::Imu, &sensors.imu.topic, output);
    sensors.warn_if_best_effort(rig, output);
    output.add_file("vins.yaml", main_file(rig, &sensors));
    for ((camera, _), name) in sensors.cameras.iter().zip(CAMERAS) {
        output.add_file(name, camera_file(camera));
    }
    output.add_start("ros2 run vins vins_node {dir}/vins.yaml");
    Ok(())
}

fn main_file(rig: &Rig<'_>, VisualInertial { imu, cameras }: &VisualInertial<'_>) -> String {
    let defaults = Noise::from_samples(DEVIATIONS, imu.rate_hz);
    let samples = rig.noise(imu, defaults).sample_deviations(imu.rate_hz);
    let [acc_n, acc_w, gyr_n, gyr_w] = samples.map(|d| real(rounded(d)));
    let mut poses = String::new();
    let mut size = [0; 2];
    for (i, ((camera, pose), file)) in cameras.iter().zip(CAMERAS).enumerate() {
        size = [camera.sensor.width, camera.sensor.height];
        let _ = write!(
            poses,
            r#"
image{i}_topic: {topic}
cam{i}_calib: {file}
# pose of the camera in the frame of the IMU
body_T_cam{i}: !!opencv-matrix
   rows: 4
   cols: 4
   dt: d
   data: {pose}
"#,
            topic = text(&camera.topic),
            file = text(file),
            pose = row_major(&pose.matrix(), 10),
        );
    }
    let [width, height] = size;
    format!(
        r#"%YAML:1.0
---
imu: 1
num_of_cam: {count}
imu_topic: {imu_topic}
output_path: "."
image_width: {width}
image_height: {height}
{poses}
estimate_extrinsic: 0 # the extrinsics are exact
estimate_td: 0
td: 0.0 # stamps are of one clock

multiple_thread: 1
use_gpu: 0 # the keys use_gpu* are of the ports with CUDA
use_gpu_acc_flow: 0
use_gpu_ceres: 0

max_cnt: 150
min_dist: 30
freq: 10
F_threshold: 1.0
show_track: 1
flow_back: 1

max_solver_time: 0.04
max_num_iterations: 8
keyframe_parallax: 10.0

acc_n: {acc_n}
gyr_n: {gyr_n}
acc_w: {acc_w}
gyr_w: {gyr_w}
g_norm: {GRAVITY}

load_previous_pose_graph: 0
pose_graph_save_path: "."
save_image: 0
"#,
        count = cameras.len(),
        imu_topic = text(&imu.topic),
    )
}

fn camera_file(camera: &Camera<'_>) -> String {
    let [fx, fy, cx, cy] = camera.intrinsics().map(real);
    let [a, b, c, d] = camera.distortion().map(real);
    let sensor = camera.sensor;
    let (model, lens) = if camera.is_fisheye() {
        let lens = format!(
            "projection_parameters:\n   k2: {a}\n   k3: {b}\n   k4: {c}\n   k5: {d}\n   \
             mu: {fx}\n   mv: {fy}\n   u0: {cx}\n   v0: {cy}\n"
        );
        ("KANNALA_BRANDT", lens)
    } else {
        let lens = format!(
            "distortion_parameters:\n   k1: {a}\n   k2: {b}\n   p1: {c}\n   p2: {d}\n\
             projection_parameters:\n   fx: {fx}\n   fy: {fy}\n   cx: {cx}\n   cy: {cy}\n"
        );
        ("PINHOLE", lens)
    };
    format!(
        "%YAML:1.0\n---\nmodel_type: {model}\ncamera_name: sensor{}\nimage_width: {}\nimage_height: {}\n{lens}",
        sensor.seq_id, sensor.width, sensor.height
    )
}
