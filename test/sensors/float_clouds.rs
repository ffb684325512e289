//! Clouds with f32 points, and the odometry that comes with them.
use super::{
    golden_points::points,
    rig::{Rig, config},
};
use crate::support::cloud_payload::float_cloud;
use rfly_bridge::{
    config::params::{LabelType, Organized, WorldConvention},
    msgs::{geometry_msgs::msg::Twist, nav_msgs::msg::Odometry, sensor_msgs::msg::PointCloud2},
    sensors::{OdometryTopic, Options},
    time::RosTime,
    wire::append_cloud,
};
use std::f32::consts::FRAC_PI_2;

const RAW: [[f32; 4]; 4] = [
    [1.25, 2.5, -3.75, 4.0],
    [0.0, 0.0, 0.0, 9.0],
    [f32::NAN, 1.0, 1.0, 1.0],
    [-5.0, 0.0, 6.0, 102.0],
];
const LOCAL: &str = "/rflysim/uav1/local/odom";
const GLOBAL: &str = "/rflysim/uav1/global/odom";

fn odometry() -> OdometryTopic {
    OdometryTopic {
        local: LOCAL.to_owned(),
        global: GLOBAL.to_owned(),
        start: "uav1/odom_start".to_owned(),
        odom: "uav1/odom".to_owned(),
        world: "map".to_owned(),
        child: "uav1/base_link".to_owned(),
    }
}

fn with_odometry(type_id: u16, options: Options) -> Rig {
    let settings = config(type_id, 2, 2, 1, &[100.0]);
    Rig::open_with(&settings, options, Some(odometry()))
}

#[test]
fn every_type_publishes_the_points_in_metres_over_udp_and_from_a_block() {
    for type_id in [7, 20, 21, 22, 23] {
        for mode in [0, 1] {
            let options = Options { organized: Organized::Never, ..Options::default() };
            // The range does not scale these.
            let mut rig = Rig::open(&config(type_id, 2, 2, mode, &[7.0]), options);
            let mut payload = float_cloud([1, 0], [0.5; 6], &RAW);
            if mode == 0 {
                payload.extend([0x55; 160]); // room for more points
            }
            rig.accept(&payload).unwrap();
            let cloud: PointCloud2 = rig.last().unwrap();
            assert_eq!(
                (cloud.height, cloud.width, cloud.is_dense),
                (1, 2, true),
                "type {type_id}, mode {mode}"
            );
            let names: Vec<_> = cloud.fields.iter().map(|f| f.name.as_str()).collect();
            assert_eq!(names, ["x", "y", "z", "label"]);
            let turned = |[x, y, z]: [f32; 3]| if type_id == 21 { [y, x, -z] } else { [x, y, z] };
            let label = Some;
            assert_eq!(
                points(&cloud),
                [
                    (turned([1.25, 2.5, -3.75]), label(4.0)),
                    (turned([-5.0, 0.0, 6.0]), label(102.0)),
                ],
                "type {type_id}, mode {mode}"
            );
        }
    }
}

#[test]
fn a_whole_scan_has_rows_and_nan_where_a_point_is_missing() {
    let mut rig = Rig::open(&config(20, 2, 2, 1, &[100.0]), Options::default());
    rig.accept(&float_cloud([1, 1], [0.0; 6], &RAW)).unwrap();
    let cloud: PointCloud2 = rig.only("vehicle_lidar");
    assert_eq!((cloud.height, cloud.width, cloud.is_dense), (2, 2, false));
    let found = points(&cloud);
    for i in [1, 2] {
        assert!(found[i].0.iter().all(|x| x.is_nan()), "{:?}", found[i]);
    }
}

#[test]
fn labels_can_be_integers() {
    let options = Options { label: LabelType::Uint32, ..Options::default() };
    let mut rig = Rig::open(&config(23, 2, 2, 1, &[100.0]), options);
    rig.accept(&float_cloud([1, 1], [0.0; 6], &RAW)).unwrap();
    let cloud: PointCloud2 = rig.only("mid360_lidar");
    let labels = cloud.data.chunks_exact(16);
    let labels: Vec<_> = labels.map(|p| u32::from_le_bytes(p[12..].try_into().unwrap())).collect();
    assert_eq!(labels, [4, 102]);
}

/// 3 m north, 4 m east, 5 m up, facing east, nose 0.25 rad up: REP 103 has x east, and pitch positive downwards.
#[test]
fn odometry_has_the_stamp_of_its_cloud_and_the_frame_of_its_axis_type() {
    let stamp = RosTime(1_700_000_001_000_000_007);
    for (axis_type, frame) in [(0, "uav1/odom"), (1, "map")] {
        let mut rig = with_odometry(23, Options::default());
        let pose = [3.0, 4.0, -5.0, 0.0, 0.25, FRAC_PI_2];
        rig.accept_at(&float_cloud([1, axis_type], pose, &RAW), stamp).unwrap();
        let [odometry] = &rig.recorder.messages::<Odometry>(GLOBAL).unwrap()[..] else {
            panic!("one message")
        };
        let cloud: PointCloud2 = rig.only("mid360_lidar");
        assert_eq!(odometry.header.stamp, cloud.header.stamp);
        assert_eq!(odometry.header.stamp, stamp.to_msg());
        assert_eq!(odometry.header.frame_id, frame);
        assert_eq!(odometry.child_frame_id, "uav1/base_link");
        let p = &odometry.pose.pose.position;
        assert_eq!([p.x, p.y, p.z], [4.0, 3.0, 5.0]);
        // Yaw 0 in ENU, pitch -0.25 about y: the half angle by hand.
        let q = &odometry.pose.pose.orientation;
        let wanted = [0.0, -(0.125_f64).sin(), 0.0, (0.125_f64).cos()];
        let sign = q.w.signum();
        for (found, wanted) in [q.x, q.y, q.z, q.w].into_iter().zip(wanted) {
            assert!((found * sign - wanted).abs() < 1e-6, "{q:?}");
        }
        assert_eq!(odometry.twist.covariance[0], -1.0, "unknown");
        assert_eq!(odometry.twist.twist, Twist::default());
    }
}

#[test]
fn odometry_keeps_the_simulators_x_axis_with_nwu() {
    let options = Options { world: WorldConvention::Nwu, ..Options::default() };
    let mut rig = with_odometry(20, options);
    let pose = [3.0, 4.0, -5.0, 0.0, 0.0, FRAC_PI_2];
    rig.accept(&float_cloud([1, 0], pose, &RAW)).unwrap();
    let odometry = rig.recorder.messages::<Odometry>(GLOBAL).unwrap().remove(0);
    let p = &odometry.pose.pose.position;
    assert_eq!([p.x, p.y, p.z], [3.0, -4.0, 5.0]);
    let q = &odometry.pose.pose.orientation;
    assert!((q.z / q.w + 1.0).abs() < 1e-6, "a right turn: {q:?}");
}

#[test]
fn the_older_form_has_no_odometry() {
    let mut rig = with_odometry(20, Options::default());
    let mut payload = Vec::new();
    append_cloud([1.0; 6], [[1i16, 2, 3, 4]; 4], &mut payload);
    rig.accept(&payload).unwrap();
    assert_eq!(rig.published::<PointCloud2>("vehicle_lidar").len(), 1);
    assert!(rig.recorder.messages::<Odometry>(GLOBAL).unwrap().is_empty());
}

#[test]
fn odometry_that_says_nothing_is_counted_and_its_cloud_published() {
    let mut rig = with_odometry(20, Options::default());
    let causes = [
        (2, [0.0; 6], "odometry_frame"),
        (-1, [0.0; 6], "odometry_frame"),
        (0, [f32::NAN, 0.0, 0.0, 0.0, 0.0, 0.0], "not_finite"),
    ];
    for (i, (axis_type, pose, cause)) in causes.into_iter().enumerate() {
        let error = rig.accept(&float_cloud([1, axis_type], pose, &RAW));
        let error = error.unwrap_err();
        assert_eq!((error.cause().name(), error.is_foreign()), (cause, false));
        assert_eq!(rig.published::<PointCloud2>("vehicle_lidar").len(), i + 1);
    }
    assert!(rig.recorder.messages::<Odometry>(GLOBAL).unwrap().is_empty());
}

#[test]
fn a_payload_of_neither_form_is_dropped_with_a_cause_of_its_own() {
    for type_id in [7, 20, 21, 22, 23] {
        let mut rig = with_odometry(type_id, Options::default());
        let whole = float_cloud([1, 0], [0.0; 6], &RAW);
        // 28 bytes are a head without points, the others have 4 shorter points.
        let readable = [28, 36 + 6 * 4, 36 + 8 * 4, 36 + 12 * 4];
        for len in (0..whole.len()).filter(|len| !readable.contains(len)) {
            let error = rig.accept(&whole[..len]).unwrap_err();
            assert_eq!(error.cause().name(), "cloud_form", "{len} bytes");
            assert!(error.is_foreign());
        }
        assert!(rig.last::<PointCloud2>().is_none());
    }
}

#[test]
fn odometry_alone_is_reason_enough_to_look_at_a_cloud() {
    let settings = config(20, 2, 2, 1, &[100.0]);
    let mut rig = Rig::open_with(&settings, Options::default(), Some(odometry()));
    rig.recorder.set_all_subscribers(0);
    assert!(!rig.sensor.is_wanted());
    rig.recorder.set_subscribers(GLOBAL, 1);
    assert!(rig.sensor.is_wanted());
    rig.accept(&float_cloud([1, 0], [0.0; 6], &RAW)).unwrap();
    assert!(rig.last::<PointCloud2>().is_none());
    assert_eq!(rig.recorder.messages::<Odometry>(GLOBAL).unwrap().len(), 1);
}
