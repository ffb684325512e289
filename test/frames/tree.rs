use crate::support::geometry as g;
use proptest::prelude::*;
use rfly_bridge::frames::{
    Attitude, Euler, FrameError, FrameNames, FrameTree, Mount, MountOrientation, SensorMount,
    Transform, Vector, VehiclePose, WorldConvention, mount_transform, pose_in_mount,
};
use rfly_bridge::time::RosTime;

pub(super) fn sensor(
    seq_id: u16,
    mount: Mount,
    position_frd: [f64; 3],
    degrees: [f64; 3],
) -> SensorMount {
    SensorMount {
        seq_id,
        mount,
        position_frd,
        orientation: MountOrientation::Euler(degrees.map(f64::to_radians)),
        optical: true,
        moving: false,
        link: None,
        optical_frame: None,
    }
}

pub(super) fn pose(vehicle: u16, position: [f64; 3], degrees: [f64; 3]) -> VehiclePose {
    let [roll, pitch, yaw] = degrees;
    let attitude = Attitude::from_euler(Euler::from_degrees(roll, pitch, yaw));
    VehiclePose { vehicle, position: Vector::from(position), attitude }
}

fn tree(names: FrameNames, sensors: &[SensorMount]) -> FrameTree {
    FrameTree::new(names, &[1], sensors).unwrap()
}

/// Checks where a frame is and where its axes point.
#[track_caller]
pub(super) fn assert_pose(seen: Transform, position: [f64; 3], forward: [f64; 3], up: [f64; 3]) {
    assert!(g::difference(&seen.translation(), &position) < 1e-12, "at {:?}", seen.translation());
    let (x, z) = (seen.rotate([1.0, 0.0, 0.0]), seen.rotate([0.0, 0.0, 1.0]));
    assert!(g::difference(&x, &forward) < 1e-12, "x axis to {x:?}");
    assert!(g::difference(&z, &up) < 1e-12, "z axis to {z:?}");
}

pub(super) const UP: [f64; 3] = [0.0, 0.0, 1.0];

#[test]
fn a_sensor_at_the_centre_is_right_of_the_vehicle_when_written_so() {
    let t = tree(
        FrameNames::default(),
        &[sensor(0, Mount::VehicleCentre(1), [0.3, -0.15, 0.1], [0.0; 3])],
    );
    let seen = t.lookup("base_link", "sensor0_link").unwrap();
    assert_pose(seen, [0.3, 0.15, -0.1], [1.0, 0.0, 0.0], UP);
}

#[test]
fn a_sensor_at_the_bottom_is_lower_by_the_parameter() {
    let names = FrameNames { bottom_m: 0.2, ..Default::default() };
    let t = tree(names, &[sensor(0, Mount::VehicleBottom(1), [0.3, 0.0, 0.1], [0.0; 3])]);
    assert_pose(
        t.lookup("base_link", "sensor0_link").unwrap(),
        [0.3, 0.0, -0.3],
        [1.0, 0.0, 0.0],
        UP,
    );
}

#[test]
fn a_camera_pitched_by_minus_90_looks_down() {
    let t = tree(
        FrameNames::default(),
        &[sensor(0, Mount::VehicleCentre(1), [0.0; 3], [0.0, -90.0, 0.0])],
    );
    let seen = t.lookup("base_link", "sensor0_link").unwrap();
    assert_pose(seen, [0.0; 3], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]);
    // What is 5 m before the camera, in the optical frame, is 5 m below the vehicle; the image's top is forward.
    let optical = t.lookup("base_link", "sensor0_optical_frame").unwrap();
    assert!(g::difference(&optical.apply([0.0, 0.0, 5.0]), &[0.0, 0.0, -5.0]) < 1e-12);
    assert!(g::difference(&optical.apply([0.0, -1.0, 0.0]), &[1.0, 0.0, 0.0]) < 1e-12);
}

#[test]
fn a_camera_yawed_by_90_looks_right() {
    let t = tree(
        FrameNames::default(),
        &[sensor(0, Mount::VehicleCentre(1), [0.0; 3], [0.0, 0.0, 90.0])],
    );
    assert_pose(t.lookup("base_link", "sensor0_link").unwrap(), [0.0; 3], [0.0, -1.0, 0.0], UP);
}

#[test]
fn a_camera_yawed_and_pitched_looks_right_and_down() {
    let t = tree(
        FrameNames::default(),
        &[sensor(0, Mount::VehicleCentre(1), [0.0; 3], [0.0, -30.0, 90.0])],
    );
    let (s, c) = 30f64.to_radians().sin_cos();
    assert_pose(
        t.lookup("base_link", "sensor0_link").unwrap(),
        [0.0; 3],
        [0.0, -c, -s],
        [0.0, -s, c],
    );
}

#[test]
fn a_camera_on_the_ground_stands_in_the_simulators_world() {
    let t = tree(
        FrameNames::default(),
        &[sensor(0, Mount::Ground(1), [1.0, 2.0, -3.0], [0.0, 0.0, 90.0])],
    );
    // 1 m north, 2 m east, 3 m up, facing east.
    assert_pose(t.lookup("map", "sensor0_link").unwrap(), [2.0, 1.0, 3.0], [1.0, 0.0, 0.0], UP);
}

#[test]
fn a_level_sensor_goes_with_the_vehicle_but_does_not_tilt_or_turn() {
    let mut t = tree(
        FrameNames::default(),
        &[sensor(0, Mount::VehicleLevel(1), [0.5, 0.0, 1.0], [0.0, 0.0, 0.0])],
    );
    assert_eq!(t.lookup("map", "sensor0_link"), None, "unknown before the first state");
    t.update(&pose(1, [10.0, 20.0, -5.0], [15.0, -10.0, 120.0]), RosTime(1));
    // Half a metre north of the vehicle and a metre below, still facing north.
    assert_pose(t.lookup("map", "sensor0_link").unwrap(), [20.0, 10.5, 4.0], [0.0, 1.0, 0.0], UP);
    let body = t.lookup("map", "base_link").unwrap();
    assert!(g::difference(&body.translation(), &[20.0, 10.0, 5.0]) < 1e-12);
    assert!(body.rotate([0.0, 0.0, 1.0])[2] < 0.99, "the vehicle does tilt");
}

#[test]
fn a_sensor_on_a_sensor_adds_up() {
    let sensors = [
        sensor(7, Mount::Sensor(3), [0.1, 0.0, 0.0], [0.0, -90.0, 0.0]),
        sensor(3, Mount::VehicleCentre(1), [1.0, 0.0, 0.0], [0.0, 0.0, 90.0]),
    ];
    let t = tree(FrameNames::default(), &sensors);
    // The carrier looks right; 10 cm along its view is the other one, which looks down.
    assert_pose(
        t.lookup("base_link", "sensor7_link").unwrap(),
        [1.0, -0.1, 0.0],
        [0.0, 0.0, -1.0],
        [0.0, -1.0, 0.0],
    );
    assert_eq!(t.lookup("sensor3_link", "base_link"), None, "only downwards");
}

#[test]
fn the_vehicle_faces_north_at_yaw_0_in_both_worlds() {
    for (world, forward, position) in [
        (WorldConvention::Enu, [0.0, 1.0, 0.0], [20.0, 10.0, 5.0]),
        (WorldConvention::Nwu, [1.0, 0.0, 0.0], [10.0, -20.0, 5.0]),
    ] {
        let mut t = tree(FrameNames { world, ..Default::default() }, &[]);
        t.update(&pose(1, [10.0, 20.0, -5.0], [0.0; 3]), RosTime(1));
        assert_pose(t.lookup("map", "base_link").unwrap(), position, forward, UP);
        // The simulator's own axes are frames, too.
        let ned = t.lookup("map", "map_ned").unwrap();
        assert!(g::difference(&ned.apply([10.0, 20.0, -5.0]), &position) < 1e-12);
        let frd = t.lookup("base_link", "base_link_frd").unwrap();
        assert!(g::difference(&frd.apply([1.0, 2.0, 3.0]), &[1.0, -2.0, -3.0]) < 1e-15);
    }
}

#[test]
fn what_is_fixed_is_static_and_what_moves_is_not() {
    let mut gimbal = sensor(2, Mount::VehicleCentre(1), [0.0; 3], [0.0; 3]);
    gimbal.moving = true;
    let sensors = [
        sensor(0, Mount::VehicleCentre(1), [0.0; 3], [0.0; 3]),
        sensor(1, Mount::VehicleLevel(1), [0.0; 3], [0.0; 3]),
        gimbal,
    ];
    let mut t = tree(FrameNames { ned_frames: false, ..Default::default() }, &sensors);
    let edges = |all: &[rfly_bridge::msgs::geometry_msgs::msg::TransformStamped]| -> Vec<String> {
        all.iter().map(|m| format!("{} {}", m.header.frame_id, m.child_frame_id)).collect()
    };
    assert_eq!(
        edges(&t.static_transforms(RosTime(5))),
        [
            "map odom",
            "base_link imu_link",
            "base_link sensor0_link",
            "sensor0_link sensor0_optical_frame",
            "sensor1_link sensor1_optical_frame",
            "sensor2_link sensor2_optical_frame",
        ]
    );
    let stamp = RosTime(1_700_000_000_123_456_789);
    let sent = t.update(&pose(1, [1.0, 2.0, 3.0], [0.0; 3]), stamp);
    assert_eq!(edges(sent), ["odom base_link", "map sensor1_link", "base_link sensor2_link"]);
    assert!(sent.iter().all(|m| m.header.stamp == stamp.to_msg()));
    let p = &sent[0].transform.translation;
    assert_eq!((p.x, p.y, p.z), (2.0, 1.0, -3.0));
    assert!(t.update(&pose(9, [0.0; 3], [0.0; 3]), stamp).is_empty(), "a vehicle that is not ours");
}

#[test]
fn a_gimbal_turns_and_a_fixed_sensor_is_announced_anew() {
    let mut gimbal = sensor(2, Mount::VehicleCentre(1), [0.0; 3], [0.0; 3]);
    gimbal.moving = true;
    let fixed = sensor(3, Mount::VehicleCentre(1), [0.0; 3], [0.0; 3]);
    let mut t = tree(FrameNames::default(), &[gimbal, fixed]);
    let down = MountOrientation::Euler([0.0, -std::f64::consts::FRAC_PI_2, 0.0]);
    assert!(!t.remount(2, [0.0; 3], down));
    let sent = t.update(&pose(1, [0.0; 3], [0.0; 3]), RosTime(1)).to_vec();
    let turned = sent.iter().find(|m| m.child_frame_id == "sensor2_link").unwrap();
    assert!((turned.transform.rotation.y - std::f64::consts::FRAC_1_SQRT_2).abs() < 1e-12);
    assert!(t.remount(3, [1.0, 0.0, 0.0], down), "/tf_static is due again");
    assert_pose(
        t.lookup("base_link", "sensor3_link").unwrap(),
        [1.0, 0.0, 0.0],
        [0.0, 0.0, -1.0],
        [1.0, 0.0, 0.0],
    );
    assert!(!t.remount(99, [0.0; 3], down));
}

#[test]
fn two_vehicles_have_frames_of_their_own_below_one_map() {
    let names = FrameNames { prefix: "uav{id}/".into(), ..Default::default() };
    let sensors = [
        sensor(0, Mount::VehicleCentre(1), [0.0; 3], [0.0; 3]),
        sensor(1, Mount::VehicleCentre(2), [0.0; 3], [0.0; 3]),
        sensor(2, Mount::Sensor(1), [0.0; 3], [0.0; 3]),
        sensor(3, Mount::Ground(1), [0.0; 3], [0.0; 3]),
    ];
    let mut t = FrameTree::new(names, &[], &sensors).unwrap();
    assert_eq!(t.sensor(2).unwrap().link, "uav2/sensor2_link");
    assert_eq!(t.sensor(3).unwrap().optical, "sensor3_optical_frame");
    assert_eq!((t.base_link(2), t.imu_link(1)), ("uav2/base_link".into(), "uav1/imu_link".into()));
    t.update(&pose(2, [5.0, 0.0, 0.0], [0.0; 3]), RosTime(1));
    assert_eq!(t.lookup("map", "uav1/base_link"), None);
    assert!(t.lookup("map", "uav2/sensor2_optical_frame").is_some());
    let ids = [
        "uav1/sensor0_link",
        "uav2/imu_link",
        "uav2/sensor2_optical_frame",
        "sensor3_link",
        "map",
        "map_ned",
    ];
    assert_eq!(t.check(&ids), []);
}

#[test]
fn a_missing_edge_is_found_with_the_highest_frame_reached() {
    let t = tree(FrameNames::default(), &[sensor(0, Mount::VehicleCentre(1), [0.0; 3], [0.0; 3])]);
    let missing = t.check(&["sensor0_optical_frame", "camera", "base_link"]);
    assert_eq!(missing.len(), 1);
    assert_eq!((missing[0].frame.as_str(), &missing[0].highest), ("camera", &None));
    assert_eq!(
        missing[0].to_string(),
        r#"frame "camera" has no path to "map": no transform mentions it"#
    );
}

#[test]
fn a_localisation_of_the_users_is_taken_for_granted() {
    let names = FrameNames { publishes_pose: false, ..Default::default() };
    let mut t = tree(names, &[sensor(0, Mount::VehicleCentre(1), [0.0; 3], [0.0; 3])]);
    assert_eq!(t.check(&["sensor0_optical_frame"]), []);
    let announced = t.static_transforms(RosTime(0));
    assert!(
        announced.iter().all(|m| m.child_frame_id != "odom" && m.child_frame_id != "base_link")
    );
    assert!(t.update(&pose(1, [0.0; 3], [0.0; 3]), RosTime(1)).is_empty());
}

#[track_caller]
fn problems(names: FrameNames, sensors: &[SensorMount]) -> Vec<FrameError> {
    FrameTree::new(names, &[1], sensors).unwrap_err()
}

#[test]
fn everything_that_is_no_tree_is_refused() {
    let plain = |seq_id| sensor(seq_id, Mount::VehicleCentre(1), [0.0; 3], [0.0; 3]);
    let named = |seq_id, link: &str| SensorMount { link: Some(link.into()), ..plain(seq_id) };
    let seen = problems(FrameNames::default(), &[named(0, "cam"), named(1, "cam")]);
    assert!(
        matches!(&seen[..], [FrameError::TwoParents { frame, .. }] if frame == "cam"),
        "{seen:?}"
    );

    let seen = problems(FrameNames::default(), &[plain(0), plain(0)]);
    assert!(seen.contains(&FrameError::DuplicateSensor(0)), "{seen:?}");

    let seen = problems(FrameNames::default(), &[sensor(4, Mount::Sensor(9), [0.0; 3], [0.0; 3])]);
    assert_eq!(seen, [FrameError::NoCarrier { seq_id: 4, carrier: 9 }]);

    let circle = [
        sensor(4, Mount::Sensor(5), [0.0; 3], [0.0; 3]),
        sensor(5, Mount::Sensor(4), [0.0; 3], [0.0; 3]),
    ];
    let seen = problems(FrameNames::default(), &circle);
    assert!(seen.iter().any(|p| matches!(p, FrameError::Cycle(_))), "{seen:?}");

    let seen = problems(FrameNames::default(), &[sensor(4, Mount::Sensor(4), [0.0; 3], [0.0; 3])]);
    assert!(seen.iter().any(|p| matches!(p, FrameError::Cycle(_))), "{seen:?}");

    // Two vehicles without a prefix that tells them apart.
    let seen =
        problems(FrameNames::default(), &[sensor(0, Mount::VehicleCentre(2), [0.0; 3], [0.0; 3])]);
    assert!(
        seen.iter()
            .any(|p| matches!(p, FrameError::TwoParents { frame, .. } if frame == "base_link")),
        "{seen:?}"
    );

    let names = FrameNames { imu_link: "map".into(), ..Default::default() };
    let seen = problems(names, &[]);
    assert!(seen.iter().any(|p| matches!(p, FrameError::Cycle(_))), "{seen:?}");

    for bad in ["", "/cam", "my cam"] {
        assert_eq!(
            problems(FrameNames::default(), &[named(0, bad)])[0],
            FrameError::BadName(bad.into())
        );
    }
}

fn mounts() -> impl Strategy<Value = Mount> {
    prop_oneof![
        Just(Mount::VehicleCentre(1)),
        Just(Mount::VehicleBottom(1)),
        Just(Mount::Ground(1)),
        Just(Mount::VehicleLevel(1)),
    ]
}

fn angles() -> impl Strategy<Value = [f64; 3]> {
    [-180.0..180.0, -89.0..89.0, -180.0..180.0]
}

fn metres() -> impl Strategy<Value = [f64; 3]> {
    prop::array::uniform3(-50.0..50.0)
}

/// Where a point before the sensor is in the simulator's world, by matrices alone.
fn expected(
    mount: Mount,
    vehicle: &([f64; 3], [f64; 3]),
    at: [f64; 3],
    angles: [f64; 3],
    bottom: f64,
    point: [f64; 3],
) -> [f64; 3] {
    let turn = |degrees: [f64; 3]| g::euler_zyx(degrees.map(f64::to_radians));
    let in_mount = |at| g::add(at, g::apply(&turn(angles), point));
    match mount {
        Mount::VehicleCentre(_) => g::add(vehicle.0, g::apply(&turn(vehicle.1), in_mount(at))),
        Mount::VehicleBottom(_) => {
            g::add(vehicle.0, g::apply(&turn(vehicle.1), in_mount(g::add(at, [0.0, 0.0, bottom]))))
        }
        Mount::Ground(_) => in_mount(at),
        _ => g::add(vehicle.0, in_mount(at)),
    }
}

proptest! {
    /// A point seen by a sensor, carried through TF, is where the simulator has it.
    #[test]
    fn points_land_where_the_simulator_has_them(
        mount in mounts(), at in metres(), turned in angles(), on in metres(), on_turned in angles(),
        place in metres(), heading in angles(), point in metres(), nwu in any::<bool>(), bottom in 0.0..1.0,
    ) {
        let world = if nwu { WorldConvention::Nwu } else { WorldConvention::Enu };
        let names = FrameNames { world, bottom_m: bottom, ..Default::default() };
        let sensors = [sensor(0, mount, at, turned), sensor(1, Mount::Sensor(0), on, on_turned)];
        let mut t = tree(names, &sensors);
        t.update(&pose(1, place, heading), RosTime(1));
        let [x, y, z] = point;

        let ned = expected(mount, &(place, heading), at, turned, bottom, point);
        let wanted = if nwu { [ned[0], -ned[1], -ned[2]] } else { [ned[1], ned[0], -ned[2]] };
        let link = t.lookup("map", "sensor0_link").unwrap();
        prop_assert!(g::difference(&link.apply([x, -y, -z]), &wanted) < 1e-10);
        let optical = t.lookup("map", "sensor0_optical_frame").unwrap();
        prop_assert!(g::difference(&optical.apply([y, z, x]), &wanted) < 1e-10);

        // The same through the sensor that is mounted on the first one.
        let inner = g::add(on, g::apply(&g::euler_zyx(on_turned.map(f64::to_radians)), point));
        let ned = expected(mount, &(place, heading), at, turned, bottom, inner);
        let wanted = if nwu { [ned[0], -ned[1], -ned[2]] } else { [ned[1], ned[0], -ned[2]] };
        let link = t.lookup("map", "sensor1_link").unwrap();
        prop_assert!(g::difference(&link.apply([x, -y, -z]), &wanted) < 1e-10);
    }

    #[test]
    fn quaternion_and_angles_mean_the_same(mount in mounts(), at in metres(), turned in angles(), scale in 0.1..10.0) {
        let with_angles = sensor(0, mount, at, turned);
        let [roll, pitch, yaw] = turned.map(f64::to_radians);
        // Half-angle products of the z-y-x sequence.
        let z = [(yaw / 2.0).cos(), 0.0, 0.0, (yaw / 2.0).sin()];
        let y = [(pitch / 2.0).cos(), 0.0, (pitch / 2.0).sin(), 0.0];
        let x = [(roll / 2.0).cos(), (roll / 2.0).sin(), 0.0, 0.0];
        let q = g::quaternion_product(g::quaternion_product(z, y), x);
        let mut with_quaternion = with_angles.clone();
        with_quaternion.orientation = MountOrientation::Quaternion(q.map(|c| c * scale));
        let both = [with_angles, with_quaternion].map(|s| {
            let mut t = tree(FrameNames::default(), &[s]);
            t.update(&pose(1, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), RosTime(1));
            t.lookup("map", "sensor0_link").unwrap()
        });
        prop_assert!(g::difference(&both[0].translation(), &both[1].translation()) < 1e-13);
        let [a, b] = both.map(|t| g::quaternion_matrix(t.rotation()));
        prop_assert!(g::matrix_difference(&a, &b) < 1e-14);
    }
}

proptest! {
    #[test]
    fn a_pose_in_the_parent_is_that_of_the_mount_again(
        kind in 0_u16..5,
        position in prop::array::uniform3(-5.0..5.0_f64),
        degrees in prop::array::uniform3(-80.0..80.0_f64),
        nwu: bool,
        bottom in 0.0..1.0_f64,
    ) {
        let world = if nwu { WorldConvention::Nwu } else { WorldConvention::Enu };
        let mount = Mount::from_numbers(kind, 1).expect("a mount");
        let asked = MountOrientation::Euler(degrees.map(f64::to_radians));
        let (_, pose) = mount_transform(mount, position, asked, world, bottom);
        let (again, orientation) = pose_in_mount(mount, &pose, world, bottom).expect("finite");
        prop_assert!(g::difference(&again, &position) < 1e-12);
        prop_assert!(orientation.attitude().angle_to(asked.attitude()) < 1e-7);
    }
}
