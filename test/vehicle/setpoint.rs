//! Setpoints beyond what mavros does: what is refused, what is repaired, what is repeated.
mod body;
mod flood;
mod global;
mod height;
mod keep_alive;

use super::rig::Rig;
use proptest::prelude::*;
use rfly_bridge::frames::Geoid;
use rfly_bridge::msgs::{
    builtin_interfaces::msg::Time,
    geographic_msgs::msg::GeoPoseStamped,
    geometry_msgs::msg::{PoseStamped, Quaternion, TwistStamped, Vector3},
    mavros_msgs::msg::{AttitudeTarget, PositionTarget, Thrust},
    mavros_msgs::srv::{SetMavFrame, SetMavFrameRequest},
    nav_msgs::msg::Path,
    std_srvs::srv::{Trigger, TriggerRequest},
    trajectory_msgs::msg::{MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint},
};
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::dialect::{GLOBAL_POSITION_INT_DATA, LOCAL_POSITION_NED_DATA};
use rfly_bridge::wire::mavlink::raw::{Heartbeat, SetAttitudeTarget, SetPositionTargetLocalNed};
use rfly_bridge::wire::mavlink::{Frame, MavMessage, frames};
use serde_json::Value;
use std::f64::consts::{FRAC_PI_2, PI};
use std::time::Duration;

fn rig() -> Rig {
    Rig::new(VehicleSettings::default())
}

fn parsed<T>(rig: &Rig, parse: fn(&Frame<'_>) -> Option<T>) -> Vec<T> {
    let bytes = rig.sent_bytes();
    frames(&bytes).filter_map(|frame| parse(&frame.expect("a frame"))).collect()
}

/// Local setpoints since the last call.
fn local(rig: &Rig) -> Vec<SetPositionTargetLocalNed> {
    parsed(rig, SetPositionTargetLocalNed::parse)
}

fn attitudes(rig: &Rig) -> Vec<SetAttitudeTarget> {
    parsed(rig, SetAttitudeTarget::parse)
}

fn stamp(ms: u32) -> Time {
    Time { sec: (ms / 1000) as i32, nanosec: ms % 1000 * 1_000_000 }
}

fn raw(frame: u8, mask: u16, change: impl FnOnce(&mut PositionTarget)) -> PositionTarget {
    let mut message =
        PositionTarget { coordinate_frame: frame, type_mask: mask, ..PositionTarget::default() };
    change(&mut message);
    message
}

const POSITION_AND_YAW: u16 = 0x9f8;
const VELOCITY_AND_YAW_RATE: u16 = 0x5c7;

#[test]
fn what_px4_cannot_do_is_refused_and_counted_by_reason() {
    let rig = rig();
    for (frame, mask, key) in [
        (7, POSITION_AND_YAW, "setpoint_frame"),
        (9, VELOCITY_AND_YAW_RATE, "setpoint_frame"),
        (12, VELOCITY_AND_YAW_RATE, "setpoint_frame"),
        (1, 0xe3f, "setpoint_force"),
        (1, 0xfff, "setpoint_nothing"),
        (1, 0xbff, "setpoint_nothing"),
        (8, 0xfff, "setpoint_nothing"),
        // Where the vehicle is, is not known.
        (8, POSITION_AND_YAW, "setpoint_no_position"),
        (8, VELOCITY_AND_YAW_RATE | 0x20, "setpoint_partial"),
    ] {
        let before = rig.counted(key);
        rig.publish("setpoint_raw/local", &raw(frame, mask, |_| ()));
        assert!(local(&rig).is_empty(), "{frame} {mask:#x}");
        assert_eq!(rig.counted(key), before + 1, "{frame} {mask:#x}");
    }
    assert_eq!(rig.counted("setpoint_refused"), 9);
    // The bit of forces alone, with all accelerations ignored, is common and harmless.
    rig.publish("setpoint_raw/local", &raw(1, 0xdf8 | 0x200, |_| ()));
    assert_eq!(local(&rig).len(), 1);
}

#[test]
fn what_px4_takes_but_hardly_means_is_sent_with_a_warning() {
    let rig = rig();
    for (frame, mask) in [
        (1, VELOCITY_AND_YAW_RATE | 0x20),
        (1, POSITION_AND_YAW & !0x08),
        (8, VELOCITY_AND_YAW_RATE & !0x07),
        (8, 0x9c7),
    ] {
        let before = rig.counted("setpoint_doubtful");
        rig.publish("setpoint_raw/local", &raw(frame, mask, |_| ()));
        assert_eq!(local(&rig)[0].type_mask, mask);
        let after = rig.counted("setpoint_doubtful");
        assert_eq!(after, before + 1, "{frame} {mask:#x}");
    }
    for mask in [0x000, POSITION_AND_YAW, VELOCITY_AND_YAW_RATE, 0xc3f] {
        rig.publish("setpoint_raw/local", &raw(1, mask, |_| ()));
    }
    assert_eq!(local(&rig).len(), 4);
    assert_eq!(rig.counted("setpoint_doubtful"), 4);
}

#[test]
fn another_autopilot_is_not_measured_by_px4() {
    let mut rig = rig();
    let ardupilot = Heartbeat { autopilot: 3, kind: 2, mavlink_version: 3, ..Heartbeat::default() };
    rig.say(ardupilot);
    rig.sent_bytes();
    rig.publish("setpoint_raw/local", &raw(9, VELOCITY_AND_YAW_RATE, |_| ()));
    assert_eq!(local(&rig)[0].coordinate_frame, 9);
}

#[test]
fn not_a_number_means_not_controlled_as_long_as_something_is() {
    let rig = rig();
    // As the vendor's client sends positions without yaw.
    let message = raw(1, 0xbf8, |m| {
        (m.position.x, m.yaw) = (1.0, f32::NAN);
    });
    rig.publish("setpoint_raw/local", &message);
    let sent = local(&rig);
    assert_eq!(sent[0].type_mask, 0xbf8 | 0x400);
    assert!(sent[0].yaw.is_nan(), "{:?}", sent[0]);
    assert_eq!(sent[0].position[1], 1.0);
    // Ignored fields may hold anything.
    let message = raw(1, VELOCITY_AND_YAW_RATE, |m| {
        (m.position.x, m.position.y) = (f64::NAN, f64::INFINITY);
    });
    rig.publish("setpoint_raw/local", &message);
    let sent = local(&rig);
    assert_eq!(sent[0].type_mask, VELOCITY_AND_YAW_RATE);
    assert_eq!(sent[0].position[0], f32::INFINITY);
    assert!(sent[0].position[1].is_nan());
    // An axis that nothing controls.
    let message = raw(1, POSITION_AND_YAW, |m| m.position.z = f64::NAN);
    rig.publish("setpoint_raw/local", &message);
    let message = raw(1, VELOCITY_AND_YAW_RATE, |m| m.yaw_rate = f32::INFINITY);
    rig.publish("setpoint_raw/local", &message);
    assert!(local(&rig).is_empty());
    assert_eq!(rig.counted("setpoint_nan"), 1);
    assert_eq!(rig.counted("setpoint_infinite"), 1);
}

#[test]
fn what_is_too_far_or_too_fast_is_refused() {
    let rig = Rig::new(VehicleSettings {
        max_position: 100.0,
        max_speed: 20.0,
        ..VehicleSettings::default()
    });
    let mut pose = PoseStamped::default();
    (pose.pose.position.x, pose.pose.position.y) = (80.0, 80.0);
    rig.publish("setpoint_position/local", &pose);
    assert_eq!(rig.counted("setpoint_too_far"), 1);
    let mut twist = TwistStamped::default();
    (twist.twist.linear.x, twist.twist.linear.z) = (15.0, 15.0);
    rig.publish("setpoint_velocity/cmd_vel", &twist);
    assert_eq!(rig.counted("setpoint_too_fast"), 1);
    twist.twist.linear.x = f64::NAN;
    rig.publish("setpoint_velocity/cmd_vel", &twist);
    assert!(local(&rig).is_empty());
    pose.pose.position.y = 10.0;
    rig.publish("setpoint_position/local", &pose);
    assert_eq!(local(&rig)[0].position, [10.0, 80.0, 0.0]);
    // A field that is ignored may be anywhere.
    let far = raw(1, VELOCITY_AND_YAW_RATE, |m| m.position.x = 1e9);
    rig.publish("setpoint_raw/local", &far);
    assert_eq!(local(&rig).len(), 1);
}

#[test]
fn thrust_is_a_fraction() {
    let rig = rig();
    let target = |thrust| AttitudeTarget {
        type_mask: 7,
        thrust,
        orientation: Quaternion { w: 1.0, ..Quaternion::default() },
        ..AttitudeTarget::default()
    };
    for thrust in [f32::NAN, f32::INFINITY, 50.0, -50.0] {
        rig.publish("setpoint_raw/attitude", &target(thrust));
    }
    assert!(attitudes(&rig).is_empty());
    assert_eq!(rig.counted("setpoint_thrust"), 4);
    // Slightly beyond, a controller relies on the limit that mavros sets.
    for (thrust, sent) in [(1.2, 1.0), (-0.1, 0.0), (0.5, 0.5)] {
        rig.publish("setpoint_raw/attitude", &target(thrust));
        assert_eq!(attitudes(&rig)[0].thrust, sent);
    }
    let mut flat = target(0.5);
    flat.orientation.w = 0.0;
    rig.publish("setpoint_raw/attitude", &flat);
    flat.orientation.w = f64::NAN;
    rig.publish("setpoint_raw/attitude", &flat);
    assert!(attitudes(&rig).is_empty());
}

fn with_quaternion() -> Rig {
    Rig::new(VehicleSettings { use_quaternion: true, ..VehicleSettings::default() })
}

fn attitude_at(ms: u32, x: f64) -> PoseStamped {
    let mut message = PoseStamped::default();
    message.header.stamp = stamp(ms);
    message.pose.orientation = Quaternion { x, w: 1.0, ..Quaternion::default() };
    message
}

fn thrust_at(ms: u32, thrust: f32) -> Thrust {
    let mut message = Thrust { thrust, ..Thrust::default() };
    message.header.stamp = stamp(ms);
    message
}

#[test]
fn attitude_and_thrust_are_paired_by_the_nearest_stamp_and_used_once() {
    let rig = with_quaternion();
    rig.publish("setpoint_attitude/attitude", &attitude_at(1000, 0.0));
    rig.publish("setpoint_attitude/attitude", &attitude_at(1020, 0.0));
    assert!(attitudes(&rig).is_empty());
    rig.publish("setpoint_attitude/thrust", &thrust_at(1018, 0.3));
    let sent = attitudes(&rig);
    assert_eq!((sent[0].time_boot_ms, sent[0].thrust), (1020, 0.3));
    rig.publish("setpoint_attitude/thrust", &thrust_at(1019, 0.4));
    assert!(attitudes(&rig).is_empty(), "1000 was too old, 1020 is used");
    rig.publish("setpoint_attitude/attitude", &attitude_at(1040, 0.0));
    assert_eq!(attitudes(&rig)[0].thrust, 0.4);
    // Seconds apart is no pair.
    rig.publish("setpoint_attitude/attitude", &attitude_at(5000, 0.0));
    rig.publish("setpoint_attitude/thrust", &thrust_at(3000, 0.5));
    assert!(attitudes(&rig).is_empty());
}

#[test]
fn attitudes_without_thrust_do_not_pile_up_and_are_complained_about() {
    let rig = with_quaternion();
    for n in 0..30 {
        rig.publish("setpoint_attitude/attitude", &attitude_at(1000 + n, 0.0));
    }
    assert_eq!(rig.counted("setpoint_unpaired"), 20);
    rig.publish("setpoint_attitude/thrust", &thrust_at(1015, 0.5));
    let sent = attitudes(&rig);
    assert_eq!(sent[0].time_boot_ms, 1020, "the oldest that is left");
}

#[test]
fn the_half_that_is_not_chosen_is_refused() {
    let rig = rig();
    rig.publish("setpoint_attitude/attitude", &attitude_at(1000, 0.0));
    rig.publish("setpoint_attitude/thrust", &thrust_at(1000, 0.5));
    assert!(attitudes(&rig).is_empty());
    assert_eq!(rig.counted("setpoint_not_used"), 1);
    assert_eq!(rig.counted("setpoint_refused"), 0, "it is no drop");
}

#[test]
fn body_rates_are_those_of_the_body() {
    let rig = rig();
    let mut message = TwistStamped::default();
    message.header.stamp = stamp(10);
    message.twist.angular = Vector3 { x: 0.1, y: 0.2, z: 0.3 };
    rig.publish("setpoint_attitude/cmd_vel", &message);
    rig.publish("setpoint_attitude/thrust", &thrust_at(10, 0.5));
    let sent = attitudes(&rig);
    assert_eq!(sent[0].body_rates, [0.1, -0.2, -0.3]);
    assert_eq!((sent[0].type_mask, sent[0].q[0]), (0x80, 1.0));
}

fn via(ms: u64, x: f64) -> MultiDOFJointTrajectoryPoint {
    let mut point = MultiDOFJointTrajectoryPoint::default();
    let mut transform = rfly_bridge::msgs::geometry_msgs::msg::Transform::default();
    transform.translation.x = x;
    transform.rotation.w = 1.0;
    point.transforms.push(transform);
    point.time_from_start.sec = (ms / 1000) as i32;
    point.time_from_start.nanosec = (ms % 1000 * 1_000_000) as u32;
    point
}

#[test]
fn points_of_a_trajectory_are_sent_when_their_time_has_come() {
    let rig = rig();
    let message = MultiDOFJointTrajectory {
        points: vec![via(0, 1.0), via(200, 2.0), via(1500, 3.0)],
        ..MultiDOFJointTrajectory::default()
    };
    rig.publish("setpoint_trajectory/local", &message);
    let path: Vec<Path> = rig.messages("setpoint_trajectory/desired");
    assert_eq!(path[0].poses.len(), 3);
    assert_eq!(path[0].header.frame_id, "local_origin");
    rig.poll();
    let east = |rig: &Rig| -> Vec<f32> { local(rig).iter().map(|m| m.position[1]).collect() };
    assert_eq!(east(&rig), [1.0]);
    rig.pass(Duration::from_millis(190));
    assert_eq!(east(&rig), [0.0; 0]);
    rig.pass(Duration::from_millis(10));
    assert_eq!(east(&rig), [2.0]);
    let answer = rig.call::<Trigger>("setpoint_trajectory/reset", &TriggerRequest::default());
    assert!(answer.success);
    rig.pass(Duration::from_secs(3));
    assert_eq!(east(&rig), [0.0; 0]);
}

#[test]
fn the_frame_of_a_topic_can_be_chosen_by_service_unless_px4_has_none() {
    let rig = rig();
    let choose = |frame: u8| {
        let request = SetMavFrameRequest { mav_frame: frame };
        let answer = rig.call::<SetMavFrame>("setpoint_velocity/mav_frame", &request);
        answer.success
    };
    assert!(choose(8));
    let mut message = TwistStamped::default();
    (message.twist.linear.x, message.twist.linear.y) = (1.0, 2.0);
    rig.publish("setpoint_velocity/cmd_vel", &message);
    let sent = local(&rig);
    assert_eq!(sent[0].coordinate_frame, 8);
    assert_eq!(sent[0].velocity, [1.0, -2.0, 0.0]);
    assert!(!choose(7) && !choose(9) && !choose(3));
    rig.publish("setpoint_velocity/cmd_vel", &message);
    assert_eq!(local(&rig)[0].coordinate_frame, 8);
}

#[test]
fn a_place_on_earth_becomes_one_on_the_map() {
    let mut rig =
        Rig::new(VehicleSettings { geoid: Geoid::Constant(17.0), ..VehicleSettings::default() });
    let mut goal = GeoPoseStamped::default();
    goal.header.stamp = stamp(1000);
    goal.pose.position.latitude = 47.001;
    goal.pose.position.longitude = 8.002;
    goal.pose.position.altitude = 527.0;
    rig.publish("setpoint_position/global_to_local", &goal);
    assert_eq!(rig.counted("setpoint_no_position"), 1);
    rig.say(MavMessage::GLOBAL_POSITION_INT(GLOBAL_POSITION_INT_DATA {
        lat: 470_000_000,
        lon: 80_000_000,
        alt: 500_000,
        ..GLOBAL_POSITION_INT_DATA::default()
    }));
    rig.say(MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
        x: 5.0,
        y: -3.0,
        z: -20.0,
        ..LOCAL_POSITION_NED_DATA::default()
    }));
    rig.sent_bytes();
    rig.publish("setpoint_position/global_to_local", &goal);
    // Radii of curvature of WGS 84 at 47 degrees; 510 m above sea level is 10 m above the vehicle.
    let (meridian, normal, height) = (6_369_677.0, 6_389_589.0, 517.0);
    let north = 0.001_f64.to_radians() * (meridian + height);
    let east = 0.002_f64.to_radians() * (normal + height) * 47_f64.to_radians().cos();
    let [x, y, z] = local(&rig)[0].position.map(f64::from);
    assert!((x - (5.0 + north)).abs() < 0.02, "{x} {north}");
    assert!((y - (-3.0 + east)).abs() < 0.02, "{y} {east}");
    assert!((z - -30.0).abs() < 0.02, "{z}");
    rig.publish("setpoint_position/global_to_local", &goal);
    assert!(local(&rig).is_empty(), "its stamp is not newer");
    assert_eq!(rig.counted("setpoint_not_newer"), 1);
}

#[test]
fn a_pose_with_the_stamp_of_the_one_before_is_not_sent_again() {
    let rig = rig();
    let pose = attitude_at(500, 0.0);
    rig.publish("vision_pose/pose", &pose);
    rig.publish("vision_pose/pose", &pose);
    assert_eq!(rig.sent().len(), 1);
    // Without a stamp it is of now.
    rig.publish("vision_pose/pose", &attitude_at(0, 0.0));
    let MavMessage::VISION_POSITION_ESTIMATE(sent) = &rig.sent()[0] else {
        panic!("another message");
    };
    assert_eq!(sent.usec, 1_700_000_000_000_000);
}

#[test]
fn a_setpoint_leaves_within_the_call_that_brings_it() {
    let rig = rig();
    let message = raw(1, POSITION_AND_YAW, |m| m.position.x = 1.0);
    let publisher = rig
        .ros
        .publisher::<PositionTarget>("/mavros/setpoint_raw/local", rfly_bridge::ros::Qos::DEFAULT)
        .unwrap();
    publisher.publish(&message).unwrap();
    assert_eq!(rig.sent_bytes().len(), 12 + 53, "one frame, before any poll");
    for _ in 0..16 {
        publisher.publish(&message).unwrap();
    }
    rig.sent_bytes();
    // Room for its bytes, in the test; the frame id of the header, the encoding and the decoding of the recorder.
    let info = allocation_counter::measure(|| {
        publisher.publish(&message).unwrap();
    });
    assert!(info.count_total <= 8, "{info:?}");
    assert!(info.bytes_total <= 1024, "{info:?}");
}

/// What the vendor's own wrapper of mavros publishes.
#[test]
fn the_vendors_client_flies() {
    let text = include_str!("../fixtures/golden/mavros_ctrl.json");
    let cases: Vec<Value> = serde_json::from_str(text).unwrap();
    let rig = rig();
    let mut sent = Vec::new();
    for case in &cases {
        let function = case["function"].as_str().unwrap();
        if !["SendVelNED", "SendVelFRD", "SendPosNED", "SendPosVelNED"].contains(&function) {
            continue;
        }
        let mut message = case["decoded"].clone();
        message.as_object_mut().unwrap().remove("frame_id");
        rig.publish_json::<PositionTarget>("setpoint_raw/local", &message);
        sent.push((case["name"].as_str().unwrap(), local(&rig)));
    }
    let one = |name: &str| {
        let (_, sent) = sent.iter().find(|(n, _)| *n == name).unwrap();
        assert_eq!(sent.len(), 1, "{name}");
        sent[0]
    };
    // The client turns NED to a world with x forward and y left, which mavros takes for ENU: its x is our y.
    for (name, frame, velocity) in
        [("SendVelNED", 1, [-2.0, 1.0, -3.0]), ("SendVelFRD", 8, [1.0, 2.0, -3.0])]
    {
        let m = one(name);
        assert_eq!((m.coordinate_frame, m.velocity), (frame, velocity), "{name}");
        assert_eq!((m.type_mask, m.yaw_rate), (1991, 0.5), "{name}");
    }
    let m = one("SendPosNED");
    assert_eq!(m.position, [-2.0, 1.0, -3.0]);
    assert!((m.yaw - 0.5).abs() < 1e-6);
    let m = one("SendPosNED#2");
    assert_eq!(m.position, [-2.0, 1.0, -3.0]);
    assert_eq!(m.type_mask, 3064 | 0x400, "yaw is NaN");
    let m = one("SendPosVelNED");
    assert_eq!((m.position, m.velocity), ([-2.0, 1.0, -3.0], [-0.2, 0.1, -0.3]));
    assert!((m.yaw - 0.25).abs() < 1e-6 && (m.yaw_rate - 0.5).abs() < 1e-6);
    // Height is not given at all: nobody would hold it.
    let (_, none) = sent.iter().find(|(n, _)| *n == "SendPosVelNED#2").unwrap();
    assert!(none.is_empty());
}

fn turned(yaw: f64) -> Quaternion {
    Quaternion { w: (yaw / 2.0).cos(), z: (yaw / 2.0).sin(), ..Quaternion::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn positions_come_back(x in -1e4..1e4, y in -1e4..1e4, z in -1e4..1e4, yaw in -PI..PI) {
        let rig = rig();
        let mut pose = PoseStamped::default();
        (pose.pose.position.x, pose.pose.position.y, pose.pose.position.z) = (x, y, z);
        pose.pose.orientation = turned(yaw);
        rig.publish("setpoint_position/local", &pose);
        let sent = local(&rig)[0];
        let [north, east, down] = sent.position.map(f64::from);
        for (a, b) in [(east, x), (north, y), (-down, z)] {
            prop_assert!((a - b).abs() <= 1e-3, "{a} {b}");
        }
        let error = (FRAC_PI_2 - f64::from(sent.yaw) - yaw) / (2.0 * PI);
        prop_assert!((error - error.round()).abs() < 1e-6);
        prop_assert!(sent.yaw.abs() <= std::f32::consts::PI);
    }

    #[test]
    fn the_yaw_of_an_attitude_is_that_of_a_position(yaw in -PI..PI) {
        // Two ways through the code, one through quaternions.
        let rig = rig();
        let target = AttitudeTarget {
            type_mask: 7,
            orientation: turned(yaw),
            thrust: 0.5,
            ..AttitudeTarget::default()
        };
        rig.publish("setpoint_raw/attitude", &target);
        let [w, x, y, z] = attitudes(&rig)[0].q.map(f64::from);
        rig.publish("setpoint_raw/local", &raw(1, POSITION_AND_YAW, |m| m.yaw = yaw as f32));
        let other = f64::from(local(&rig)[0].yaw);
        let ned = (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z));
        let error = (ned - other) / (2.0 * PI);
        prop_assert!((error - error.round()).abs() < 1e-6, "{ned} {other}");
        prop_assert!(x.abs() < 1e-6 && y.abs() < 1e-6);
    }
}
