//! LIO-SAM, branch ros2: a parameter file of its nodes.
use super::imu::{Imu, Noise};
use super::rig::{GRAVITY, Rig};
use super::yaml::{list, real, rotation, rounded, row_major, text};
use super::{CalibOutput, Consumer, lidar::Lidar};
use crate::config::Problems;
use crate::config::params::{CloudLayout, ImuOrientation, TfSource};

pub(super) const CONSUMER: Consumer =
    Consumer { name: "lio_sam", source: "TixiaoShan/LIO-SAM 9d039fd", write };

/// Values of config/params.yaml, rounded.
const NOISE: Noise =
    Noise([3.993_957_088_8e-3, 6.435_665_935_4e-5, 1.563_634_395e-3, 3.564_031_869_6e-5]);

fn write<'a>(rig: &Rig<'a>, output: &mut CalibOutput) -> Result<(), Problems> {
    let check = |lidar: Lidar<'a>| lidar.require_rings("along which LIO-SAM looks for edges");
    let (lidar, imu) = rig.find_lidar_and_imu(output, check)?;
    let columns = lidar.columns()?;
    let layout = match lidar.layout {
        CloudLayout::Velodyne => CloudLayout::Velodyne.name(),
        _ => CloudLayout::Ouster.name(),
    };
    lidar.need_layout(output, layout, "LIO-SAM needs ring and time");
    let params = &rig.settings.params;
    let (now, why) = (params.imu.orientation, "LIO-SAM starts with the attitude of a 9-axis IMU");
    output.need("imu.orientation", ImuOrientation::Truth.name(), now.name(), why);
    let why = "LIO-SAM publishes odom -> base_link, and its launch file map -> odom";
    output.need("tf.source", TfSource::External.name(), params.frames.tf_source.name(), why);
    output.add_file("lio_sam.yaml", file(rig, &lidar, &imu, (layout, columns)));
    output.add_start("ros2 launch lio_sam run.launch.py params_file:={dir}/lio_sam.yaml");
    Ok(())
}

fn file(rig: &Rig<'_>, lidar: &Lidar<'_>, imu: &Imu, (layout, columns): (&str, u32)) -> String {
    let frames = &rig.settings.params.frames;
    let prefixed = |name: &str| text(&rig.tree.names().of_vehicle(rig.vehicle, name));
    let [acc_n, acc_w, gyr_n, gyr_w] = rig.noise(imu, NOISE).0.map(real);
    let imu_in_lidar = lidar.in_imu.inverse();
    format!(
        r#"/**:
  ros__parameters:
    pointCloudTopic: {topic}
    imuTopic: {imu_topic}
    odomTopic: "odometry/imu"
    gpsTopic: "odometry/gpsz"

    lidarFrame: {lidar_frame}
    baselinkFrame: {base}
    odometryFrame: {odom}
    mapFrame: {map}

    useImuHeadingInitialization: false
    useGpsElevation: false
    gpsCovThreshold: 2.0
    poseCovThreshold: 25.0

    savePCD: false
    savePCDDirectory: "/Downloads/LOAM/" # below the home directory; deleted before it is written

    sensor: {layout}
    N_SCAN: {rings}
    Horizon_SCAN: {columns}
    downsampleRate: 1
    lidarMinRange: 0.5
    lidarMaxRange: {range}

    # m/s^2/sqrt(Hz), rad/s/sqrt(Hz), and their random walks
    imuAccNoise: {acc_n}
    imuGyrNoise: {gyr_n}
    imuAccBiasN: {acc_w}
    imuGyrBiasN: {gyr_w}
    imuGravity: {GRAVITY}
    imuRPYWeight: 0.01

    # position of the IMU in the frame of the lidar
    extrinsicTrans: {translation}
    # turns vectors of the IMU into the frame of the lidar
    extrinsicRot: {rotation}
    # attitude of the lidar in the frame of the IMU
    extrinsicRPY: {rpy}

    edgeThreshold: 1.0
    surfThreshold: 0.1
    edgeFeatureMinValidNum: 10
    surfFeatureMinValidNum: 100

    odometrySurfLeafSize: 0.4
    mappingCornerLeafSize: 0.2
    mappingSurfLeafSize: 0.4

    z_tollerance: 1000.0
    rotation_tollerance: 1000.0

    numberOfCores: 4
    mappingProcessInterval: 0.15

    surroundingkeyframeAddingDistThreshold: 1.0
    surroundingkeyframeAddingAngleThreshold: 0.2
    surroundingKeyframeDensity: 2.0
    surroundingKeyframeSearchRadius: 50.0

    loopClosureEnableFlag: true
    loopClosureFrequency: 1.0
    surroundingKeyframeSize: 50
    historyKeyframeSearchRadius: 15.0
    historyKeyframeSearchTimeDiff: 30.0
    historyKeyframeSearchNum: 25
    historyKeyframeFitnessScore: 0.3

    globalMapVisualizationSearchRadius: 1000.0
    globalMapVisualizationPoseDensity: 10.0
    globalMapVisualizationLeafSize: 1.0
"#,
        topic = text(&lidar.topic),
        imu_topic = text(&imu.topic),
        lidar_frame = text(&lidar.frame),
        base = text(&rig.base()),
        odom = prefixed(&frames.odom),
        map = text(&frames.map),
        rings = lidar.sensor.height,
        range = real(lidar.range()),
        translation = list(&imu_in_lidar.translation().map(rounded)),
        rotation = row_major(&rotation(&imu_in_lidar), 19),
        rpy = row_major(&rotation(&lidar.in_imu), 19),
    )
}
