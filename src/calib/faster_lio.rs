//! Faster-LIO (ROS 1): one parameter file, for `rosparam load` or for `run_mapping_offline`.
use super::yaml::{list, real, rotation, row_major, text};
use super::{CalibOutput, Consumer, fast_lio, imu::Imu, lidar::Lidar, rig::Rig};
use crate::config::{Problems, params::CloudLayout};

pub(super) const CONSUMER: Consumer =
    Consumer { name: "faster_lio", source: "gaoxiang12/faster-lio ea0e091", write };

/// Values of `LidarType` in include/pointcloud_preprocess.h.
const OUST64: u8 = 3;
const HESAI_XT32: u8 = 4;
const LIVOX: u8 = 6;

fn write(rig: &Rig<'_>, output: &mut CalibOutput) -> Result<(), Problems> {
    let (lidar, imu) = rig.find_lidar_and_imu(output, Ok)?;
    let (layout, lidar_type, lines) = match (lidar.is_livox(), lidar.layout) {
        (true, _) => (CloudLayout::Livox, LIVOX, 4),
        (false, CloudLayout::Hesai) => (CloudLayout::Hesai, HESAI_XT32, lidar.sensor.height),
        (false, _) => (CloudLayout::Ouster, OUST64, lidar.sensor.height),
    };
    let why = "Faster-LIO's handler of this layout uses the times of the points; handler 2 (Velodyne) estimates them in scans whose times are 0";
    lidar.need_layout(output, layout.name(), why);
    output.warn(
        "Faster-LIO is a ROS 1 program: its topics need ros1_bridge, or a bag converted to ROS 1 for run_mapping_offline",
    );
    output.add_file("faster_lio.yaml", file(rig, &lidar, &imu, (lidar_type, lines)));
    output.add_start("rosparam load {dir}/faster_lio.yaml");
    output.add_start("rosrun faster_lio run_mapping_online");
    Ok(())
}

fn file(rig: &Rig<'_>, lidar: &Lidar<'_>, imu: &Imu, (lidar_type, lines): (u8, u16)) -> String {
    let [acc_cov, b_acc_cov, gyr_cov, b_gyr_cov] = fast_lio::variances(rig, imu);
    format!(
        r#"common:
  lid_topic: {topic}
  imu_topic: {imu_topic}
  time_sync_en: false

preprocess:
  lidar_type: {lidar_type} # 3: Ouster, 4: Hesai, 6: Livox as PointCloud2
  scan_line: {lines}
  blind: 0.5
  time_scale: 0.001 # used only with lidar_type 2 (Velodyne)

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
  path_publish_en: true
  scan_publish_en: true
  scan_effect_pub_en: false
  dense_publish_en: false
  scan_bodyframe_pub_en: true
  tf_imu_frame: "body"
  tf_world_frame: "camera_init"

path_save_en: false

pcd_save:
  pcd_save_en: false
  interval: -1

feature_extract_enable: false
point_filter_num: {point_filter_num}
max_iteration: 3
filter_size_surf: 0.5
filter_size_map: 0.5
cube_side_length: 1000

ivox_grid_resolution: 0.5
ivox_nearby_type: 18
esti_plane_threshold: 0.1
"#,
        topic = text(&lidar.topic),
        imu_topic = text(&imu.topic),
        fov = real(lidar.fov()),
        range = real(lidar.range()),
        translation = list(&lidar.in_imu.translation()),
        rotation = row_major(&rotation(&lidar.in_imu), 16),
        point_filter_num = lidar.point_filter_num(),
    )
}
