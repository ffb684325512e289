use crate::support::golden::{self, numbers};
use proptest::prelude::*;
use rfly_bridge::{
    frames::{Attitude, Euler, Frd, Geoid, Ned, Separation, Vector, VehiclePose, WorldConvention},
    msgs::geometry_msgs::msg::{AccelStamped, PoseStamped, TwistStamped},
    msgs::nav_msgs::msg::{Odometry, Path},
    msgs::sensor_msgs::msg::{JointState, NavSatFix},
    msgs::std_msgs::msg::Int32,
    ros::{Middleware, Options, Qos, Recorder},
    time::RosTime,
    vehicle::{
        Crashes, GroundTruth, PATH_LENGTH, TRUTH_TOPICS, Trail, TruthPublishers, nav_sat_fix,
        odometry,
    },
    wire::{TrueState, TruthDatagram},
};

const SECOND: i64 = 1_000_000_000;

fn at(position: [f64; 3], yaw: f64) -> VehiclePose {
    VehiclePose {
        vehicle: 1,
        position: Vector::<Ned>::from(position),
        attitude: Attitude::<Frd, Ned>::from_euler(Euler { roll: 0.0, pitch: 0.0, yaw }),
    }
}

/// North-east of the origin, facing east, flying east at 2 m/s, climbing at 1 m/s, turning right.
pub(super) fn eastbound() -> (TrueState, VehiclePose) {
    let state = TrueState {
        copter_id: 1,
        velocity: [0.0, 2.0, -1.0],
        rate: Some([0.1, 0.2, 0.3]),
        ..TrueState::default()
    };
    (state, at([10.0, 20.0, -5.0], std::f64::consts::FRAC_PI_2))
}

#[test]
fn odometry_has_the_pose_in_enu_and_the_twist_in_the_body() {
    let (state, pose) = eastbound();
    let message = odometry(&state, &pose, WorldConvention::Enu, RosTime(3 * SECOND + 5));
    let p = &message.pose.pose.position;
    assert_eq!([p.x, p.y, p.z], [20.0, 10.0, 5.0]);
    // Facing east is yaw 0 in ENU.
    let q = &message.pose.pose.orientation;
    assert!(q.w.abs() > 1.0 - 1e-12, "{q:?}");
    let twist = &message.twist.twist;
    let close = |v: &rfly_bridge::msgs::geometry_msgs::msg::Vector3, want: [f64; 3]| {
        [v.x, v.y, v.z].iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12)
    };
    assert!(close(&twist.linear, [2.0, 0.0, 1.0]), "{:?}", twist.linear);
    assert!(close(&twist.angular, [0.1, -0.2, -0.3]), "{:?}", twist.angular);
    assert_eq!(message.header.stamp.sec, 3);
    assert_eq!(message.header.stamp.nanosec, 5);
    assert_eq!(message.twist.covariance, [0.0; 36]);
}

#[test]
fn a_state_without_rates_says_so() {
    let (state, pose) = eastbound();
    let state = TrueState { rate: None, ..state };
    let message = odometry(&state, &pose, WorldConvention::Enu, RosTime(0));
    assert_eq!(message.twist.covariance[21], -1.0);
    assert_eq!(message.twist.twist.angular.x, 0.0);
}

#[test]
fn in_nwu_the_position_keeps_the_axis_of_the_simulator() {
    let (state, pose) = eastbound();
    let message = odometry(&state, &pose, WorldConvention::Nwu, RosTime(0));
    let p = &message.pose.pose.position;
    assert_eq!([p.x, p.y, p.z], [10.0, -20.0, 5.0]);
}

proptest! {
    /// The twist in the body, turned by the pose, is the velocity in the world.
    #[test]
    fn pose_and_twist_agree(
        roll in -3.0..3.0_f64, pitch in -1.5..1.5_f64, yaw in -3.0..3.0_f64,
        north in -30.0..30.0_f64, east in -30.0..30.0_f64, down in -30.0..30.0_f64,
    ) {
        let attitude = Attitude::<Frd, Ned>::from_euler(Euler { roll, pitch, yaw });
        let pose = VehiclePose { vehicle: 1, position: Vector::from([0.0; 3]), attitude };
        let state = TrueState { velocity: [north, east, down], ..TrueState::default() };
        let message = odometry(&state, &pose, WorldConvention::Enu, RosTime(0));
        let q = &message.pose.pose.orientation;
        let rotation = nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q.w, q.x, q.y, q.z));
        let v = &message.twist.twist.linear;
        let world = rotation * nalgebra::Vector3::new(v.x, v.y, v.z);
        prop_assert!((world - nalgebra::Vector3::new(east, north, -down)).norm() < 1e-9);
    }

    #[test]
    fn a_path_is_bounded_and_thinned(steps in proptest::collection::vec(0.0..0.3_f64, 1..6000)) {
        let mut trail = Trail::default();
        let mut x = 0.0;
        for (n, step) in steps.iter().enumerate() {
            x += step;
            trail.extend(&at([x, 0.0, 0.0], 0.0), WorldConvention::Enu, RosTime(n as i64));
        }
        let poses = trail.message("map", RosTime(0)).poses;
        prop_assert!(poses.len() <= PATH_LENGTH);
        for pair in poses.windows(2) {
            prop_assert!(pair[1].pose.position.y - pair[0].pose.position.y >= 0.1 - 1e-9);
        }
        prop_assert!((x - poses.last().unwrap().pose.position.y) < 0.1);
    }
}

#[test]
fn a_vehicle_that_is_set_down_elsewhere_begins_a_new_path() {
    let mut trail = Trail::default();
    let go = |trail: &mut Trail, north: f64, stamp: i64| {
        trail.extend(&at([north, 0.0, 0.0], 0.0), WorldConvention::Enu, RosTime(stamp));
        trail.message("map", RosTime(stamp)).poses.len()
    };
    assert_eq!(go(&mut trail, 0.0, 1), 1);
    assert_eq!(go(&mut trail, 1.0, 2), 2);
    assert_eq!(go(&mut trail, 500.0, 3), 1, "a jump");
    assert_eq!(go(&mut trail, 501.0, 4), 2);
    assert_eq!(go(&mut trail, 502.0, 1), 1, "the clock went back");
}

pub(super) fn recorded() -> (GroundTruth, Recorder) {
    let (middleware, recorder) = Middleware::recorder(&Options::new("test")).unwrap();
    let publishers = TruthPublishers {
        odometry: middleware.publisher("/odom", Qos::DEFAULT).unwrap(),
        path: middleware.publisher("/path", Qos::LATCHED).unwrap(),
        pose: middleware.publisher("/pose", Qos::DEFAULT).unwrap(),
        twist: middleware.publisher("/twist", Qos::DEFAULT).unwrap(),
        accel: middleware.publisher("/accel", Qos::DEFAULT).unwrap(),
        gps: middleware.publisher("/gps", Qos::DEFAULT).unwrap(),
        motor_speeds: middleware.publisher("/motor_speeds", Qos::DEFAULT).unwrap(),
        crash: middleware.publisher("/crash", Qos::DEFAULT).unwrap(),
    };
    let truth = GroundTruth::new(
        publishers,
        WorldConvention::Enu,
        "map".to_owned(),
        "copter1/base_link".to_owned(),
        Geoid::Constant(17.0),
    );
    (truth, recorder)
}

#[test]
fn nothing_is_published_without_subscribers_and_a_late_one_gets_the_whole_path() {
    let (mut truth, recorder) = recorded();
    let (state, _) = eastbound();
    for n in 0..20 {
        let pose = at([f64::from(n), 0.0, 0.0], 0.0);
        truth.publish(&state, &pose, RosTime(i64::from(n) * SECOND)).unwrap();
    }
    assert!(recorder.raw("/odom").is_empty() && recorder.raw("/path").is_empty());
    recorder.set_all_subscribers(1);
    // It stands still: the path comes because somebody has joined.
    truth.publish(&state, &at([19.0, 0.0, 0.0], 0.0), RosTime(19 * SECOND + 1)).unwrap();
    let path: Vec<Path> = recorder.messages("/path").unwrap();
    assert_eq!(path.len(), 1);
    assert_eq!(path[0].poses.len(), 20);
    assert_eq!(path[0].header.frame_id, "map");
    assert!(path[0].poses.iter().all(|p| p.header.frame_id == "map"));
    let odometry: Vec<Odometry> = recorder.messages("/odom").unwrap();
    assert_eq!(odometry[0].header.frame_id, "map");
    assert_eq!(odometry[0].child_frame_id, "copter1/base_link");
}

#[test]
fn a_late_state_is_left_out_and_a_restart_is_not() {
    let (mut truth, recorder) = recorded();
    recorder.set_all_subscribers(1);
    let (state, _) = eastbound();
    let stamps = [10 * SECOND, 10 * SECOND - 90_000_000, 10 * SECOND, 11 * SECOND, 2 * SECOND];
    for (n, stamp) in stamps.into_iter().enumerate() {
        let pose = at([n as f64, 0.0, 0.0], 0.0);
        truth.publish(&state, &pose, RosTime(stamp)).unwrap();
    }
    let odometry: Vec<Odometry> = recorder.messages("/odom").unwrap();
    let seconds: Vec<_> = odometry.iter().map(|m| m.header.stamp.sec).collect();
    assert_eq!(seconds, [10, 11, 2]);
    let paths: Vec<Path> = recorder.messages("/path").unwrap();
    let lengths: Vec<_> = paths.iter().map(|m| m.poses.len()).collect();
    assert_eq!(
        lengths,
        [1, 2, 1],
        "the late state is not in the path, and a restart begins another"
    );
}

#[test]
fn paths_come_at_most_twice_a_second_and_the_last_one_is_complete() {
    let (mut truth, recorder) = recorded();
    recorder.set_all_subscribers(1);
    let (state, _) = eastbound();
    // 100 Hz for 2 s, then it hovers for 1 s.
    for n in 0..300_i64 {
        let pose = at([n.min(200) as f64, 0.0, 0.0], 0.0);
        truth.publish(&state, &pose, RosTime(n * SECOND / 100)).unwrap();
    }
    let paths: Vec<Path> = recorder.messages("/path").unwrap();
    assert!((4..=6).contains(&paths.len()), "{}", paths.len());
    assert_eq!(paths.last().unwrap().poses.len(), 201);
    assert_eq!(recorder.raw("/odom").len(), 300);
}

/// Every recorded true state, on every topic, against the vendor's values.
#[test]
fn every_recorded_state_gives_the_vendors_values_on_every_topic() {
    for name in ["netdata200", "netdata200_crash", "sout168", "simple112"] {
        let vector = golden::load_one("recv_true", name);
        let bytes = vector.input_packets().remove(0);
        let Ok(TruthDatagram::State(state)) = TruthDatagram::parse(&bytes) else {
            panic!("{name}")
        };
        let decoded = &vector["decoded_changes"];
        let (mut truth, recorder) = recorded();
        recorder.set_all_subscribers(1);
        let [north, east, down]: [f64; 3] = numbers(&decoded["truePosNED"]).try_into().unwrap();
        // Level and facing north: the body's axes are those of the world.
        let pose = at([north, east, down], 0.0);
        truth.publish(&state, &pose, RosTime(5 * SECOND)).unwrap();
        let message: Vec<PoseStamped> = recorder.messages("/pose").unwrap();
        let p = &message[0].pose.position;
        assert_eq!([p.x, p.y, p.z], [east, north, -down], "{name}");
        assert_eq!(message[0].header.frame_id, "map");
        let message: Vec<TwistStamped> = recorder.messages("/twist").unwrap();
        assert_eq!(message[0].header.frame_id, "copter1/base_link");
        let [vn, ve, vd]: [f64; 3] = numbers(&decoded["trueVelNED"]).try_into().unwrap();
        let v = &message[0].twist.linear;
        assert!(close([v.x, v.y, v.z], [vn, -ve, -vd]), "{name}: {v:?}");
        let w = &message[0].twist.angular;
        match decoded.get("trueAngRate").map(numbers) {
            Some(r) => assert!(close([w.x, w.y, w.z], [r[0], -r[1], -r[2]]), "{name}"),
            None => assert!(w.x.is_nan() && w.y.is_nan() && w.z.is_nan(), "{name}: not known"),
        }
        let message: Vec<AccelStamped> = recorder.messages("/accel").unwrap();
        match decoded.get("trueAccB").map(numbers) {
            Some(a) => {
                let l = &message[0].accel.linear;
                assert!(close([l.x, l.y, l.z], [a[0], -a[1], -a[2]]), "{name}");
                assert!(message[0].accel.angular.x.is_nan(), "{name}");
            }
            None => assert!(message.is_empty(), "{name}"),
        }
        let message: Vec<NavSatFix> = recorder.messages("/gps").unwrap();
        let fix = &message[0];
        let gps = numbers(&decoded["truePosGPS"]);
        assert_eq!([fix.latitude, fix.longitude], gps[..2], "{name}");
        assert_eq!(fix.altitude, gps[2] + 17.0, "{name}: above the ellipsoid");
        assert_eq!((fix.status.status, fix.position_covariance_type), (0, 3));
        let message: Vec<JointState> = recorder.messages("/motor_speeds").unwrap();
        let wanted: Vec<f64> = numbers(&decoded["trueMotorRPMS"])
            .iter()
            .map(|rpm| rpm / 60.0 * std::f64::consts::TAU)
            .collect();
        assert_eq!(message[0].name[0], "motor1", "{name}");
        assert_eq!(message[0].name.len(), 8, "{name}");
        for (found, wanted) in message[0].velocity.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-9, "{name}");
        }
        assert_eq!(message[0].velocity.len(), wanted.len());
    }
}

fn close(found: [f64; 3], wanted: [f64; 3]) -> bool {
    found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9)
}

#[test]
fn a_place_that_the_simulator_does_not_know_is_not_published() {
    let mut geoid = Separation::new(Geoid::Constant(0.0));
    for gps in [[0.0; 3], [f64::NAN, 1.0, 1.0], [1.0, 1.0, f64::INFINITY]] {
        let state = TrueState { gps, ..TrueState::default() };
        assert!(nav_sat_fix(&state, &mut geoid, RosTime(0)).is_none(), "{gps:?}");
    }
}

#[test]
fn every_topic_of_the_table_is_one_that_can_be_opened() {
    let names: std::collections::BTreeSet<_> = TRUTH_TOPICS.iter().map(|t| t.name).collect();
    assert_eq!(names.len(), TRUTH_TOPICS.len());
    assert!(names.iter().all(|name| name.starts_with("ground_truth/")));
}

#[test]
fn a_collision_is_told_once_whichever_datagrams_carry_it() {
    let at = |tenths: i64| RosTime(tenths * SECOND / 10);
    // In every state.
    let mut crashes = Crashes::default();
    assert_eq!(crashes.take(None, true, at(0)), None);
    assert_eq!(crashes.take(Some(5), true, at(1)), Some(5));
    assert_eq!(crashes.take(Some(5), true, at(2)), None);
    assert_eq!(crashes.take(Some(6), true, at(3)), Some(6));
    assert_eq!(crashes.take(None, true, at(4)), Some(-1));
    assert_eq!(crashes.take(None, true, at(5)), None);
    // As events: the same within a second is the same.
    assert_eq!(crashes.take(Some(4), false, at(10)), Some(4));
    assert_eq!(crashes.take(Some(4), false, at(15)), None);
    assert_eq!(crashes.take(Some(4), false, at(30)), Some(4));
    assert_eq!(crashes.take(None, false, at(31)), Some(-1));
    assert_eq!(crashes.take(None, false, at(32)), None);
    // Both at once.
    assert_eq!(crashes.take(Some(7), false, at(40)), Some(7));
    assert_eq!(crashes.take(Some(7), true, at(41)), None);
    assert_eq!(crashes.take(None, true, at(42)), None, "the event is not over");
    assert_eq!(crashes.take(None, false, at(43)), Some(-1));
}

#[test]
fn crash_events_are_published_whoever_subscribes_and_their_beginning_is_reported() {
    let (mut truth, recorder) = recorded();
    recorder.set_all_subscribers(1);
    assert!(truth.collision(Some(3), false, RosTime(0)).unwrap());
    assert!(!truth.collision(Some(3), false, RosTime(1)).unwrap());
    assert!(!truth.collision(None, false, RosTime(2)).unwrap());
    let crashes: Vec<Int32> = recorder.messages("/crash").unwrap();
    let ids: Vec<_> = crashes.iter().map(|m| m.data).collect();
    assert_eq!(ids, [3, -1]);
}
