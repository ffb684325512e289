"""What the readers of `rfly_bridge calib` read: keys and types as their own sources have them, with repository, commit and
file. Facts only; `test_calib.py` compares what was written."""

from __future__ import annotations

from dataclasses import dataclass

REAL, WHOLE, YES_NO, TEXT = float, int, bool, str
REALS3, REALS9 = (float, 3), (float, 9)


@dataclass(frozen=True)
class Contract:
    """Keys of one file, dotted, and who reads them."""

    source: str
    reader: str
    keys: dict[str, object]


FAST_LIO = Contract(
    "Ericsii/FAST_LIO_ROS2 b6ebca01663793ad5faa55324d7af7576ed8bb2e",
    "src/laserMapping.cpp, declare_parameter",
    {
        "publish.path_en": YES_NO,
        "publish.effect_map_en": YES_NO,
        "publish.map_en": YES_NO,
        "publish.scan_publish_en": YES_NO,
        "publish.dense_publish_en": YES_NO,
        "publish.scan_bodyframe_pub_en": YES_NO,
        "max_iteration": WHOLE,
        "map_file_path": TEXT,
        "common.lid_topic": TEXT,
        "common.imu_topic": TEXT,
        "common.time_sync_en": YES_NO,
        "common.time_offset_lidar_to_imu": REAL,
        "filter_size_surf": REAL,
        "filter_size_map": REAL,
        "cube_side_length": REAL,
        "mapping.det_range": REAL,
        "mapping.fov_degree": REAL,
        "mapping.gyr_cov": REAL,
        "mapping.acc_cov": REAL,
        "mapping.b_gyr_cov": REAL,
        "mapping.b_acc_cov": REAL,
        "preprocess.blind": REAL,
        "preprocess.lidar_type": WHOLE,
        "preprocess.scan_line": WHOLE,
        "preprocess.timestamp_unit": WHOLE,
        "preprocess.scan_rate": WHOLE,
        "point_filter_num": WHOLE,
        "feature_extract_enable": YES_NO,
        "runtime_pos_log_enable": YES_NO,
        "mapping.extrinsic_est_en": YES_NO,
        "pcd_save.pcd_save_en": YES_NO,
        "pcd_save.interval": WHOLE,
        "mapping.extrinsic_T": REALS3,
        "mapping.extrinsic_R": REALS9,
    },
)

FASTER_LIO = Contract(
    "gaoxiang12/faster-lio ea0e0910a4cf2da49f569d168442a9c8c1bbe672",
    "src/laser_mapping.cc, LoadParams and LoadParamsFromYAML",
    {
        "common.lid_topic": TEXT,
        "common.imu_topic": TEXT,
        "common.time_sync_en": YES_NO,
        "publish.path_publish_en": YES_NO,
        "publish.scan_publish_en": YES_NO,
        "publish.dense_publish_en": YES_NO,
        "publish.scan_bodyframe_pub_en": YES_NO,
        "publish.scan_effect_pub_en": YES_NO,
        "publish.tf_imu_frame": TEXT,
        "publish.tf_world_frame": TEXT,
        "path_save_en": YES_NO,
        "max_iteration": WHOLE,
        "esti_plane_threshold": REAL,
        "filter_size_surf": REAL,
        "filter_size_map": REAL,
        "cube_side_length": WHOLE,
        "mapping.det_range": REAL,
        "mapping.fov_degree": REAL,
        "mapping.gyr_cov": REAL,
        "mapping.acc_cov": REAL,
        "mapping.b_gyr_cov": REAL,
        "mapping.b_acc_cov": REAL,
        "mapping.extrinsic_est_en": YES_NO,
        "mapping.extrinsic_T": REALS3,
        "mapping.extrinsic_R": REALS9,
        "preprocess.blind": REAL,
        "preprocess.time_scale": REAL,
        "preprocess.lidar_type": WHOLE,
        "preprocess.scan_line": WHOLE,
        "point_filter_num": WHOLE,
        "feature_extract_enable": YES_NO,
        "pcd_save.pcd_save_en": YES_NO,
        "pcd_save.interval": WHOLE,
        "ivox_grid_resolution": REAL,
        "ivox_nearby_type": WHOLE,
    },
)

LIO_SAM = Contract(
    "TixiaoShan/LIO-SAM 9d039fd2949676071fcdc19818600e210cad6733 (branch ros2)",
    "include/lio_sam/utility.hpp, ParamServer",
    {
        "pointCloudTopic": TEXT,
        "imuTopic": TEXT,
        "odomTopic": TEXT,
        "gpsTopic": TEXT,
        "lidarFrame": TEXT,
        "baselinkFrame": TEXT,
        "odometryFrame": TEXT,
        "mapFrame": TEXT,
        "useImuHeadingInitialization": YES_NO,
        "useGpsElevation": YES_NO,
        "gpsCovThreshold": REAL,
        "poseCovThreshold": REAL,
        "savePCD": YES_NO,
        "savePCDDirectory": TEXT,
        "sensor": TEXT,
        "N_SCAN": WHOLE,
        "Horizon_SCAN": WHOLE,
        "downsampleRate": WHOLE,
        "lidarMinRange": REAL,
        "lidarMaxRange": REAL,
        "imuAccNoise": REAL,
        "imuGyrNoise": REAL,
        "imuAccBiasN": REAL,
        "imuGyrBiasN": REAL,
        "imuGravity": REAL,
        "imuRPYWeight": REAL,
        "extrinsicTrans": REALS3,
        "extrinsicRot": REALS9,
        "extrinsicRPY": REALS9,
        "edgeThreshold": REAL,
        "surfThreshold": REAL,
        "edgeFeatureMinValidNum": WHOLE,
        "surfFeatureMinValidNum": WHOLE,
        "odometrySurfLeafSize": REAL,
        "mappingCornerLeafSize": REAL,
        "mappingSurfLeafSize": REAL,
        "z_tollerance": REAL,
        "rotation_tollerance": REAL,
        "numberOfCores": WHOLE,
        "mappingProcessInterval": REAL,
        "surroundingkeyframeAddingDistThreshold": REAL,
        "surroundingkeyframeAddingAngleThreshold": REAL,
        "surroundingKeyframeDensity": REAL,
        "surroundingKeyframeSearchRadius": REAL,
        "loopClosureEnableFlag": YES_NO,
        "loopClosureFrequency": REAL,
        "surroundingKeyframeSize": WHOLE,
        "historyKeyframeSearchRadius": REAL,
        "historyKeyframeSearchTimeDiff": REAL,
        "historyKeyframeSearchNum": WHOLE,
        "historyKeyframeFitnessScore": REAL,
        "globalMapVisualizationSearchRadius": REAL,
        "globalMapVisualizationPoseDensity": REAL,
        "globalMapVisualizationLeafSize": REAL,
    },
)

VINS = Contract(
    "HKUST-Aerial-Robotics/VINS-Fusion be55a937a57436548ddfb1bd324bc1e9a9e828e0; zinuok/VINS-Fusion-ROS2 "
    "270c5be8a5f9c3893ebd03c2a5b2a77b4c85e96c reads the same and use_gpu*",
    "vins_estimator/src/estimator/parameters.cpp, readParameters",
    {
        "imu": WHOLE,
        "num_of_cam": WHOLE,
        "imu_topic": TEXT,
        "image0_topic": TEXT,
        "output_path": TEXT,
        "cam0_calib": TEXT,
        "image_width": WHOLE,
        "image_height": WHOLE,
        "estimate_extrinsic": WHOLE,
        "estimate_td": WHOLE,
        "td": REAL,
        "multiple_thread": WHOLE,
        "use_gpu": WHOLE,
        "use_gpu_acc_flow": WHOLE,
        "use_gpu_ceres": WHOLE,
        "max_cnt": WHOLE,
        "min_dist": WHOLE,
        "F_threshold": REAL,
        "show_track": WHOLE,
        "flow_back": WHOLE,
        "max_solver_time": REAL,
        "max_num_iterations": WHOLE,
        "keyframe_parallax": REAL,
        "acc_n": REAL,
        "gyr_n": REAL,
        "acc_w": REAL,
        "gyr_w": REAL,
        "g_norm": REAL,
    },
)
VINS_PINHOLE = Contract(
    VINS.source,
    "camera_models/src/camera_models/PinholeCamera.cc, readFromYamlFile",
    {
        "distortion_parameters": ("k1", "k2", "p1", "p2"),
        "projection_parameters": ("fx", "fy", "cx", "cy"),
    },
)
VINS_KANNALA_BRANDT = Contract(
    VINS.source,
    "camera_models/src/camera_models/EquidistantCamera.cc, readFromYamlFile",
    {"projection_parameters": ("k2", "k3", "k4", "k5", "mu", "mv", "u0", "v0")},
)

OPENVINS = Contract(
    "rpng/open_vins 69488123ed9362dd44b6f28e7f4680abbff1442b",
    "parse_config of ov_msckf/src/core/VioManagerOptions.h, ov_msckf/src/state/StateOptions.h, "
    "ov_init/src/init/InertialInitializerOptions.h and ov_msckf/src/run_subscribe_msckf.cpp",
    {
        **dict.fromkeys(
            "use_fej use_stereo calib_cam_extrinsics calib_cam_intrinsics calib_cam_timeoffset calib_imu_intrinsics "
            "calib_imu_g_sensitivity try_zupt zupt_only_at_beginning init_dyn_use init_dyn_mle_opt_calib "
            "record_timing_information use_klt downsample_cameras use_aruco downsize_aruco use_mask".split(),
            YES_NO,
        ),
        **dict.fromkeys(
            "max_cameras max_clones max_slam max_slam_in_update max_msckf_in_update init_max_features init_dyn_mle_max_iter "
            "init_dyn_mle_max_threads init_dyn_num_pose num_pts fast_threshold grid_x grid_y min_px_dist num_opencv_threads "
            "num_aruco".split(),
            WHOLE,
        ),
        **dict.fromkeys(
            "gravity_mag dt_slam_delay zupt_chi2_multipler zupt_max_velocity zupt_noise_multiplier zupt_max_disparity "
            "init_window_time init_imu_thresh init_max_disparity init_dyn_mle_max_time init_dyn_min_deg "
            "init_dyn_inflation_ori init_dyn_inflation_vel init_dyn_inflation_bg init_dyn_inflation_ba "
            "init_dyn_min_rec_cond knn_ratio track_frequency up_msckf_sigma_px up_msckf_chi2_multipler up_slam_sigma_px "
            "up_slam_chi2_multipler up_aruco_sigma_px up_aruco_chi2_multipler".split(),
            REAL,
        ),
        **dict.fromkeys(
            "verbosity integration feat_rep_msckf feat_rep_slam feat_rep_aruco record_timing_filepath histogram_method "
            "relative_config_imu relative_config_imucam".split(),
            TEXT,
        ),
        "init_dyn_bias_g": REALS3,
        "init_dyn_bias_a": REALS3,
    },
)

NOISE = (
    "accelerometer_noise_density",
    "accelerometer_random_walk",
    "gyroscope_noise_density",
    "gyroscope_random_walk",
)
"""Kalibr 1f60227442d25e36365ef5f72cd80b9666d73467, kalibr_common/ConfigReader.py, ImuParameters; OpenVINS reads the same."""

KALIBR_CAMERA = Contract(
    "ethz-asl/kalibr 1f60227442d25e36365ef5f72cd80b9666d73467",
    "aslam_offline_calibration/kalibr/python/kalibr_common/ConfigReader.py, CameraParameters and CameraChainParameters",
    {
        "camera_model": TEXT,
        "intrinsics": (float, 4),
        "distortion_model": TEXT,
        "distortion_coeffs": (float, 4),
        "resolution": (int, 2),
        "rostopic": TEXT,
        "timeshift_cam_imu": REAL,
    },
)

RTABMAP = Contract(
    "introlab/rtabmap_ros aec4f91f6150e82572bae1a5378fd9e5be924ca0",
    "rtabmap_launch/launch/rtabmap.launch.py, DeclareLaunchArgument",
    dict.fromkeys(
        "frame_id map_frame_id vo_frame_id args approx_sync stereo rgb_topic depth_topic camera_info_topic left_image_topic "
        "right_image_topic left_camera_info_topic right_camera_info_topic imu_topic wait_imu_to_init".split(),
        TEXT,
    ),
)

NVBLOX = Contract(
    "NVIDIA-ISAAC-ROS/isaac_ros_nvblox 319438a008ca72de17066533767ff45b73170076",
    "nvblox_ros/include/nvblox_ros/node_params.hpp; use_tf_transforms: transformer.hpp; input_qos: src/lib/nvblox_node.cpp",
    {
        "num_cameras": WHOLE,
        "use_tf_transforms": YES_NO,
        "global_frame": TEXT,
        "use_depth": YES_NO,
        "use_color": YES_NO,
        "use_segmentation": YES_NO,
        "use_lidar": YES_NO,
        "input_qos": TEXT,
        "map_clearing_frame_id": TEXT,
        "esdf_slice_bounds_visualization_attachment_frame_id": TEXT,
        "workspace_height_bounds_visualization_attachment_frame_id": TEXT,
        "lidar_width": WHOLE,
        "lidar_height": WHOLE,
        "lidar_min_valid_range_m": REAL,
        "use_non_equal_vertical_fov_lidar_params": YES_NO,
        "min_angle_below_zero_elevation_rad": REAL,
        "max_angle_above_zero_elevation_rad": REAL,
        "use_lidar_motion_compensation": YES_NO,
    },
)
NVBLOX_TOPICS = {f"camera_0/{kind}/{topic}" for kind in ("depth", "color") for topic in ("image", "camera_info")} | {
    "pointcloud"
}
"""nvblox_ros/src/lib/nvblox_node.cpp, subscribeToTopics."""

PX4CTRL = Contract(
    "ZJU-FAST-Lab/Fast-Drone-250 8ff64274b161bb829653faf5946656658e7e2c9f; in ROS 2 Young-yang-lei/ly_px4ctrl_ros2 "
    "d7606679c7eab8030a08129f3e6975773333d3f5 reads the same",
    "px4ctrl/src/PX4CtrlParam.cpp, read_essential_param; types: PX4CtrlParam.h",
    {
        **{f"gain.{name}": REAL for name in "Kp0 Kp1 Kp2 Kv0 Kv1 Kv2 Kvi0 Kvi1 Kvi2 KAngR KAngP KAngY".split()},
        # Of the port only.
        **{f"gain.{name}": REAL for name in "Kvd0 Kvd1 Kvd2".split()},
        **{f"rotor_drag.{name}": REAL for name in "x y z k_thrust_horz".split()},
        **{f"msg_timeout.{name}": REAL for name in "odom rc cmd imu bat".split()},
        "pose_solver": WHOLE,
        **dict.fromkeys("mass gra ctrl_freq_max max_manual_vel max_angle low_voltage".split(), REAL),
        "use_bodyrate_ctrl": YES_NO,
        **{f"rc_reverse.{name}": YES_NO for name in "roll pitch yaw throttle".split()},
        **{f"auto_takeoff_land.{name}": YES_NO for name in "enable enable_auto_arm no_RC".split()},
        **{f"auto_takeoff_land.{name}": REAL for name in "takeoff_height takeoff_land_speed".split()},
        **{f"thrust_model.{name}": YES_NO for name in "print_value accurate_thrust_model".split()},
        **{f"thrust_model.{name}": REAL for name in "K1 K2 K3 hover_percentage".split()},
    },
)
