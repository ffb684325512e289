//! Orientations of length 0, which are none.
use super::rig::Rig;
use rfly_bridge::msgs::{
    geometry_msgs::msg::{PoseStamped, Quaternion},
    mavros_msgs::msg::{AttitudeTarget, Thrust},
};
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::MavMessage;
use std::f32::consts::FRAC_PI_2;

#[test]
fn no_orientation_is_refused_where_an_attitude_is_wanted_and_is_east_elsewhere() {
    let rig = Rig::new(VehicleSettings { use_quaternion: true, ..VehicleSettings::default() });
    let none = Quaternion { w: 0.0, ..Quaternion::default() };
    let mut pose = PoseStamped::default();
    pose.pose.orientation = none.clone();
    rig.publish("vision_pose/pose", &pose);
    rig.publish("setpoint_attitude/attitude", &pose);
    let thrust = Thrust { thrust: 0.5, ..Thrust::default() };
    rig.publish("setpoint_attitude/thrust", &thrust);
    let target = AttitudeTarget { orientation: none, ..AttitudeTarget::default() };
    rig.publish("setpoint_raw/attitude", &target);
    assert!(rig.sent().is_empty());
    assert_eq!(rig.counted("setpoint_orientation"), 3);
    rig.publish("setpoint_position/local", &pose);
    let [MavMessage::SET_POSITION_TARGET_LOCAL_NED(sent)] = &rig.sent()[..] else {
        panic!("one setpoint");
    };
    assert!((sent.yaw - FRAC_PI_2).abs() < 1e-6, "to the east");
}
