//! OpenVINS: the file of its estimator, and IMU and cameras in Kalibr's form.
use super::kalibr::{self, VisualInertial};
use super::rig::{GRAVITY, Rig};
use super::yaml::{nested, real, text};
use super::{CalibOutput, Consumer, imu::Noise};
use crate::config::Problems;
use std::fmt::Write as _;

pub(super) const CONSUMER: Consumer =
    Consumer { name: "openvins", source: "rpng/open_vins 6948812", write };

/// Values of config/euroc_mav/kalibr_imu_chain.yaml.
const NOISE: Noise = Noise([2e-3, 3e-3, 1.6968e-4, 1.9393e-5]);

fn write(rig: &Rig<'_>, output: &mut CalibOutput) -> Result<(), Problems> {
    let sensors = VisualInertial::find(rig, output)?;
    sensors.warn_if_best_effort(rig, output);
    let count = sensors.cameras.len();
    output.add_file("estimator_config.yaml", estimator(&sensors));
    output.add_file("kalibr_imu_chain.yaml", imu_chain(rig, &sensors));
    output.add_file("kalibr_imucam_chain.yaml", camera_chain(&sensors));
    // The arguments of the launch file override the values of estimator_config.yaml.
    output.add_start(format!(
        "ros2 launch ov_msckf subscribe.launch.py config_path:={{dir}}/estimator_config.yaml max_cameras:={count} use_stereo:={}",
        count == 2
    ));
    Ok(())
}

fn imu_chain(rig: &Rig<'_>, sensors: &VisualInertial<'_>) -> String {
    let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut out = format!(
        "%YAML:1.0\n\nimu0:\n  rostopic: {}\n  time_offset: 0.0\n  update_rate: {}\n  model: \"kalibr\"\n{}",
        text(&sensors.imu.topic),
        real(sensors.imu.rate_hz),
        kalibr::noise(&rig.noise(&sensors.imu, NOISE), 2),
    );
    for key in ["Tw", "R_IMUtoGYRO", "Ta", "R_IMUtoACC"] {
        let _ = writeln!(out, "  {key}:\n{}", nested(&identity, 4));
    }
    let _ = writeln!(out, "  Tg:\n{}", nested(&[[0.0; 3]; 3], 4));
    out
}

fn camera_chain(sensors: &VisualInertial<'_>) -> String {
    let mut out = String::from("%YAML:1.0\n\n");
    for (i, (camera, pose)) in sensors.cameras.iter().enumerate() {
        let _ = write!(
            out,
            "cam{i}:\n  T_imu_cam: # pose of the camera in the frame of the IMU\n{}\n  timeshift_cam_imu: 0.0\n  cam_overlaps: {}\n{}",
            nested(&pose.matrix(), 4),
            sensors.overlaps(i),
            kalibr::intrinsics(camera),
        );
    }
    out
}

fn estimator(sensors: &VisualInertial<'_>) -> String {
    let rate = sensors.cameras.iter().map(|(camera, _)| camera.sensor.asked_hz());
    format!(
        r#"%YAML:1.0

verbosity: "INFO"

use_fej: true
integration: "rk4"
use_stereo: {stereo}
max_cameras: {count}

# the files describe the simulator's cameras exactly
calib_cam_extrinsics: false
calib_cam_intrinsics: false
calib_cam_timeoffset: false
calib_imu_intrinsics: false
calib_imu_g_sensitivity: false

max_clones: 11
max_slam: 50
max_slam_in_update: 25
max_msckf_in_update: 40
dt_slam_delay: 1

gravity_mag: {GRAVITY}

feat_rep_msckf: "GLOBAL_3D"
feat_rep_slam: "ANCHORED_MSCKF_INVERSE_DEPTH"
feat_rep_aruco: "ANCHORED_MSCKF_INVERSE_DEPTH"

# initializes at rest; without it, initialization needs a jerk, which a smooth take-off lacks
try_zupt: true
zupt_chi2_multipler: 0
zupt_max_velocity: 0.1
zupt_noise_multiplier: 10
zupt_max_disparity: 0.5
zupt_only_at_beginning: true

init_window_time: 2.0
init_imu_thresh: 1.5
init_max_disparity: 10.0
init_max_features: 50

# initializes in motion as well
init_dyn_use: true
init_dyn_mle_opt_calib: false
init_dyn_mle_max_iter: 50
init_dyn_mle_max_time: 0.05
init_dyn_mle_max_threads: 6
init_dyn_num_pose: 6
init_dyn_min_deg: 10.0
init_dyn_inflation_ori: 10
init_dyn_inflation_vel: 100
init_dyn_inflation_bg: 10
init_dyn_inflation_ba: 100
init_dyn_min_rec_cond: 1.0e-12
init_dyn_bias_g: [0.0, 0.0, 0.0]
init_dyn_bias_a: [0.0, 0.0, 0.0]

record_timing_information: false
record_timing_filepath: "/tmp/traj_timing.txt"
save_total_state: false
filepath_est: "/tmp/ov_estimate.txt"
filepath_std: "/tmp/ov_estimate_std.txt"
filepath_gt: "/tmp/ov_groundtruth.txt"

use_klt: true
num_pts: 200
fast_threshold: 20
grid_x: 5
grid_y: 5
min_px_dist: 10
knn_ratio: 0.70
track_frequency: {track} # above the rate of the cameras
downsample_cameras: false
num_opencv_threads: 4
histogram_method: "HISTOGRAM"

use_aruco: false
num_aruco: 1024
downsize_aruco: true

up_msckf_sigma_px: 1
up_msckf_chi2_multipler: 1
up_slam_sigma_px: 1
up_slam_chi2_multipler: 1
up_aruco_sigma_px: 1
up_aruco_chi2_multipler: 1

use_mask: false

relative_config_imu: "kalibr_imu_chain.yaml"
relative_config_imucam: "kalibr_imucam_chain.yaml"
"#,
        stereo = sensors.cameras.len() == 2,
        count = sensors.cameras.len(),
        track = real(f64::from(rate.max().unwrap_or_default()) + 1.0),
    )
}
