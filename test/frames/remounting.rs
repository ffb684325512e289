//! Sensors that move to another vehicle.
use super::tree::{UP, assert_pose, pose, sensor};
use crate::support::geometry as g;
use rfly_bridge::frames::{FrameNames, FrameTree, Mount, MountOrientation};
use rfly_bridge::time::RosTime;

#[test]
fn a_sensor_moves_to_another_vehicle_with_what_it_carries_and_the_rest_stays() {
    let names = FrameNames { prefix: "uav{id}/".to_owned(), ..FrameNames::default() };
    let sensors = [
        sensor(1, Mount::VehicleCentre(1), [1.0, 0.0, 0.0], [0.0; 3]),
        sensor(2, Mount::Sensor(1), [0.0, 0.0, -1.0], [0.0; 3]),
        sensor(3, Mount::VehicleCentre(1), [0.0; 3], [0.0; 3]),
    ];
    let mut t = FrameTree::new(names, &[1, 2], &sensors).unwrap();
    t.update(&pose(1, [10.0, 0.0, 0.0], [0.0; 3]), RosTime(1));
    t.update(&pose(2, [0.0, 20.0, 0.0], [0.0; 3]), RosTime(1));
    let down = MountOrientation::Euler([0.0, -std::f64::consts::FRAC_PI_2, 0.0]);
    t.remount(3, [0.0, 0.0, 5.0], down);
    let moved = sensor(1, Mount::VehicleCentre(2), [2.0, 0.0, 0.0], [0.0; 3]);
    assert!(t.has_mount(&sensors[0]) && !t.has_mount(&moved));
    t.replace_mount(&moved).unwrap();
    assert!(t.has_mount(&moved));
    assert_eq!(t.sensor(2).unwrap().link, "uav2/sensor2_link");
    // NED (0, 20, 0) is ENU (20, 0, 0); the sensors look north, which is y.
    let north = [0.0, 1.0, 0.0];
    let at = |frame: &str| t.lookup("map", frame).unwrap();
    assert_pose(at("uav2/sensor1_link"), [20.0, 2.0, 0.0], north, UP);
    assert_pose(at("uav2/sensor2_link"), [20.0, 2.0, 1.0], north, UP);
    let other = t.lookup("uav1/base_link", "uav1/sensor3_link").unwrap();
    assert!(g::difference(&other.translation(), &[0.0, 0.0, -5.0]) < 1e-12);
    assert!(t.lookup("map", "uav1/sensor1_link").is_none());
    let fixed = t.static_transforms(RosTime(1));
    assert!(!fixed.iter().any(|f| f.child_frame_id.starts_with("uav1/sensor1")));
    // A sensor cannot carry its carrier; nothing changes.
    assert!(t.replace_mount(&sensor(1, Mount::Sensor(2), [0.0; 3], [0.0; 3])).is_err());
    assert!(t.has_mount(&moved));
}

#[test]
fn a_new_sensor_is_mounted_and_the_rest_stays() {
    let first = sensor(1, Mount::VehicleCentre(1), [1.0, 0.0, 0.0], [0.0; 3]);
    let mut t = FrameTree::new(FrameNames::default(), &[1], &[first]).unwrap();
    t.update(&pose(1, [10.0, 0.0, 0.0], [0.0; 3]), RosTime(1));
    t.remount(1, [2.0, 0.0, 0.0], MountOrientation::Euler([0.0; 3]));
    t.replace_mount(&sensor(2, Mount::Sensor(1), [0.0, 0.0, -1.0], [0.0; 3])).unwrap();
    let north = [0.0, 1.0, 0.0];
    let at = |frame: &str| t.lookup("map", frame).unwrap();
    assert_pose(at("sensor1_link"), [0.0, 12.0, 0.0], north, UP);
    assert_pose(at("sensor2_link"), [0.0, 12.0, 1.0], north, UP);
    // A carrier that is not there.
    assert!(t.replace_mount(&sensor(3, Mount::Sensor(9), [0.0; 3], [0.0; 3])).is_err());
    assert!(t.sensor(3).is_none() && t.sensor(2).is_some());
}
