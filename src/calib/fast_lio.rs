//! FAST-LIO2 in ROS 2: a parameter file of its node.
use super::imu::{Imu, Noise};
use super::yaml::{list, real, rotation, rounded, row_major, text};
use super::{CalibOutput, Consumer, lidar::Lidar, rig::Rig};
use crate::config::Problems;
use crate::config::params::{CloudLayout, QosGroup};

pub(super) const CONSUMER: Consumer =
    Consumer { name: "fast_lio", source: "Ericsii/FAST_LIO_ROS2 b6ebca0", write };

/// Values of `LID_TYPE` in src/preprocess.h. VELO16 and MID360 are not used: their handlers replace times of 0 by estimates.
const AVIA: u8 = 1;
const OUST64: u8 = 3;

/// Square roots of the variances in the example files: 0.1, 0.0001, 0.1, 0.0001.
const DEVIATIONS: [f64; 4] = [0.316_227_766_016_837_94, 0.01, 0.316_227_766_016_837_94, 0.01];

fn write(rig: &Rig<'_>, output: &mut CalibOutput) -> Result<(), Problems> {
    let (lidar, imu) = rig.find_lidar_and_imu(output, Ok)?;
    let (topic, lidar_type, lines) = if lidar.is_livox() {
        let topic = format!("{}/custom", lidar.topic);
        rig.warn_if_best_effort(QosGroup::Cloud, &topic, output);
        (topic, AVIA, 4)
    } else {
        let why = "FAST-LIO2's handler 3 uses the times of the points as they are; handler 2 (Velodyne) estimates them where they are 0";
        lidar.need_layout(output, CloudLayout::Ouster.name(), why);
        (lidar.topic.clone(), OUST64, lidar.sensor.height)
    };
    rig.warn_if_best_effort(QosGroup::Imu, &imu.topic, output);
    output.add_file("fast_lio.yaml", file(rig, &lidar, &imu, (&topic, lidar_type, lines)));
    output.add_start(
        "ros2 launch fast_lio mapping.launch.py config_path:={dir} config_file:=fast_lio.yaml",
    );
    Ok(())
}

/// Returns the variances of samples: accelerometer, its bias, gyroscope, its bias. The filter multiplies them by dt² in
/// each step (include/IKFoM_toolkit/esekfom/esekfom.hpp).
pub(super) fn variances(rig: &Rig<'_>, imu: &Imu) -> [String; 4] {
    let defaults = Noise::from_samples(DEVIATIONS, imu.rate_hz);
    let samples = rig.noise(imu, defaults).sample_deviations(imu.rate_hz);
    samples.map(|deviation| real(rounded(deviation * deviation)))
}

fn file(
    rig: &Rig<'_>,
    lidar: &Lidar<'_>,
    imu: &Imu,
    (topic, lidar_type, lines): (&str, u8, u16),
) -> String {
    let [acc_cov, b_acc_cov, gyr_cov, b_gyr_cov] = variances(rig, imu);
    format!(
        r#"/**:
  ros__parameters:
    feature_extract_enable: false
    point_filter_num: {point_filter_num}
    max_iteration: 3
    filter_size_surf: 0.5
    filter_size_map: 0.5
    cube_side_length: 1000.0
    runtime_pos_log_enable: false
    map_file_path: "./test.pcd"

    common:
      lid_topic: {topic}
      imu_topic: {imu_topic}
      time_sync_en: false
      time_offset_lidar_to_imu: 0.0 # stamps are of one clock

    preprocess:
      lidar_type: {lidar_type} # 1: livox_ros_driver2/CustomMsg, 3: Ouster
      scan_line: {lines}
      scan_rate: {rate}
      timestamp_unit: 3 # ns
      blind: 0.5

    mapping:
      acc_cov: {acc_cov}
      gyr_cov: {gyr_cov}
      b_acc_cov: {b_acc_cov}
      b_gyr_cov: {b_gyr_cov}
      fov_degree: {fov}
      det_range: {range}
      extrinsic_est_en: false # the extrinsics below are exact
      # pose of the lidar in the frame of the IMU
      extrinsic_T: {translation}
      extrinsic_R: {rotation}

    publish:
      path_en: true
      effect_map_en: false
      map_en: false
      scan_publish_en: true
      dense_publish_en: true
      scan_bodyframe_pub_en: true

    pcd_save:
      pcd_save_en: false
      interval: -1
"#,
        point_filter_num = lidar.point_filter_num(),
        topic = text(topic),
        imu_topic = text(&imu.topic),
        rate = lidar.rate_hz(),
        fov = real(lidar.fov()),
        range = real(lidar.range()),
        translation = list(&lidar.in_imu.translation()),
        rotation = row_major(&rotation(&lidar.in_imu), 20),
    )
}
