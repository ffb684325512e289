//! A camera that is told its direction by topic.
use super::rig::start_in;
use crate::support::wait::wait_until;
use rfly_bridge::emulator::world::World;
use rfly_bridge::msgs::geometry_msgs::msg::Vector3Stamped;
use rfly_bridge::msgs::mavros_msgs::msg::MountControl;
use rfly_bridge::msgs::sensor_msgs::msg::Image;
use rfly_bridge::msgs::tf2_msgs::msg::TFMessage;
use rfly_bridge::ros::Qos;
use rfly_bridge::time::RosTime;
use rfly_bridge::wire::{RequestLayout, SendProtocol, SensorRequest};
use std::net::UdpSocket;

const COMMAND: &str = "/rflysim/sensor0/mount_control/command";
const STATUS: &str = "/rflysim/sensor0/mount_control/status";
const TF_STATIC: &str = "/tf_static";

fn command(mode: u8, [roll, pitch, yaw]: [f32; 3]) -> MountControl {
    MountControl { mode, roll, pitch, yaw, ..MountControl::default() }
}

/// Roll, pitch, yaw in degrees.
fn degrees(status: &Vector3Stamped) -> [f64; 3] {
    let v = &status.vector;
    [v.x, v.y, v.z].map(|angle| (angle.to_degrees() * 1e3).round() / 1e3)
}

#[test]
fn a_camera_turns_as_it_is_told_and_says_so_with_the_first_image_that_shows_it() {
    let rig = start_in(World::still(1), None, &["sensor0.gimbal:=true"], |_, _| {});
    let statuses = || rig.messages::<Vector3Stamped>(STATUS);
    let last = || statuses().last().map(degrees);
    wait_until(|| !rig.messages::<Image>(super::rig::IMAGE).is_empty());
    assert_eq!(last(), Some([0.0; 3]));
    assert_eq!(statuses()[0].header.frame_id, "sensor0_link");

    let tell = rig.middleware.publisher::<MountControl>(COMMAND, Qos::DEFAULT);
    let tell = tell.expect("a publisher");
    // A stream: only some of it is shown, and its end in any case.
    for step in 1..=10_u8 {
        let angles = [0.0, -4.0 * f32::from(step), 2.0 * f32::from(step)];
        tell.publish(&command(2, angles)).unwrap();
    }
    wait_until(|| last() == Some([0.0, -40.0, 20.0]));
    let shown = RosTime::from_msg(&statuses().last().unwrap().header.stamp);
    // TF has the direction from the same frame on, and the frame follows.
    let moved = || {
        let transforms = rig.messages::<TFMessage>(TF_STATIC).into_iter();
        let mut transforms = transforms.flat_map(|message| message.transforms);
        transforms.find(|transform| {
            let stamp = RosTime::from_msg(&transform.header.stamp);
            transform.child_frame_id == "sensor0_link" && stamp == shown
        })
    };
    wait_until(|| moved().is_some());
    let moved = moved().expect("it was there");
    let q = &moved.transform.rotation;
    let forward = [
        1.0 - 2.0 * (q.y * q.y + q.z * q.z),
        2.0 * (q.x * q.y + q.w * q.z),
        2.0 * (q.x * q.z - q.w * q.y),
    ];
    // 40 degrees down and 20 to the right.
    let (pitch, yaw) = (40f64.to_radians(), 20f64.to_radians());
    let wanted = [pitch.cos() * yaw.cos(), -pitch.cos() * yaw.sin(), -pitch.sin()];
    for (found, wanted) in forward.iter().zip(wanted) {
        assert!((found - wanted).abs() < 1e-6, "{forward:?} {wanted:?}");
    }
    let is_shown = |image: &Image| RosTime::from_msg(&image.header.stamp) == shown;
    wait_until(|| rig.messages::<Image>(super::rig::IMAGE).iter().any(is_shown));

    // What cannot be done changes nothing.
    for wrong in [command(4, [1.0; 3]), command(2, [0.0, 400.0, 0.0]), command(2, [f32::NAN; 3])] {
        tell.publish(&wrong).unwrap();
    }
    tell.publish(&command(1, [5.0; 3])).unwrap();
    wait_until(|| last() == Some([0.0; 3]));
    let statuses = statuses();
    assert!(!statuses.iter().any(|status| degrees(status)[1] > 0.0));
}

#[test]
fn a_pod_says_itself_where_it_looks() {
    let rig = start_in(World::still(1), None, &["sensor0.gimbal:=true"], |_, _| {});
    let statuses = || rig.messages::<Vector3Stamped>(STATUS);
    wait_until(|| statuses().len() == 1);
    let report = SensorRequest {
        layout: RequestLayout::Long,
        seq_id: 0,
        bitmask: 0,
        type_id: 9,
        target_copter: 1,
        mount_type: 0,
        width: 64,
        height: 48,
        check_freq: 30,
        send_protocol: SendProtocol::default(),
        fov_deg: 90.0,
        position: [0.0; 3],
        eular_or_quat: 0.0,
        euler: [1.0, -17.5, 33.0],
        quaternion: [0.0; 4],
        other_params: [0.0; 16],
    };
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = ("127.0.0.1", rig.ports.report);
    socket.send_to(report.emit(&mut [0; 148]), to).unwrap();
    wait_until(|| statuses().last().map(degrees) == Some([1.0, -17.5, 33.0]));
}
