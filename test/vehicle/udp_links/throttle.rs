//! Changes of the throttle, and heights that are held by it.
use super::super::rig::Rig;
use super::rows::{POSITION, attitude, local, numbers, row, tell, vehicle};
use super::*;
use rfly_bridge::msgs::geometry_msgs::msg::PoseStamped;
use rfly_bridge::msgs::mavros_msgs::msg::{AttitudeTarget, StatusText};
use rfly_bridge::msgs::mavros_msgs::srv;
use rfly_bridge::vehicle::VehicleSettings;
use std::time::Duration;

#[test]
fn changes_of_the_throttle_are_checked_and_refused_where_there_are_none() {
    let step = |thrust, type_mask| AttitudeTarget {
        orientation: attitude(),
        thrust,
        type_mask,
        ..Default::default()
    };
    let rig = vehicle("UDP_Simple");
    for (thrust, mask, key) in [
        (1.5, 0, "setpoint_thrust"),
        (f32::NAN, 0, "setpoint_thrust"),
        (0.1, 128, "setpoint_nothing"),
        (0.1, 64, "setpoint_nothing"),
    ] {
        let before = rig.counted(key);
        rig.publish("setpoint_raw/throttle_step", &step(thrust, mask));
        assert!(rig.nothing_sent(), "{thrust} {mask}");
        assert_eq!(rig.counted(key), before + 1, "{thrust} {mask}");
    }
    // A vehicle that was disarmed is not armed by it.
    rig.call_later::<srv::CommandBool>("cmd/arming", srv::CommandBoolRequest { value: false });
    rig.sent_bytes();
    rig.publish("setpoint_raw/throttle_step", &step(0.1, 0));
    assert!(rig.nothing_sent());
    let mavlink = Rig::new(VehicleSettings::default());
    let read_only =
        Rig::with_link(VehicleSettings { read_only: true, ..Default::default() }, |sink| {
            Box::new(UdpSimpleLink::new(1, sink))
        });
    for (rig, why) in
        [(vehicle("UDP_Full"), "UDP_Simple"), (mavlink, "UDP_Simple"), (read_only, "read_only")]
    {
        rig.poll();
        rig.sent_bytes();
        rig.recorder.clear();
        rig.publish("setpoint_raw/throttle_step", &step(0.1, 0));
        assert!(rig.nothing_sent());
        rig.poll();
        let texts = rig.messages::<StatusText>("statustext/recv");
        assert!(texts.last().unwrap().text.contains(why), "{texts:?}");
    }
}

#[test]
fn a_change_of_the_throttle_is_not_repeated_and_ends_the_setpoint_before_it() {
    let settings = VehicleSettings { keep_alive: Duration::from_secs(2), ..Default::default() };
    let rig = Rig::with_link(settings, |sink| Box::new(UdpSimpleLink::new(1, sink)));
    tell(&rig, "UDP_Simple", [0.0; 3]);
    local(&rig, 1, POSITION, |m| m.position.z = 3.0);
    rig.pass(Duration::from_millis(300));
    assert!(rig.sent_bytes().len() > 24, "a setpoint is repeated");
    let message = AttitudeTarget { orientation: attitude(), thrust: 0.1, ..Default::default() };
    rig.publish("setpoint_raw/throttle_step", &message);
    rig.pass(Duration::from_secs(1));
    assert_eq!(rig.sent_bytes().len(), 24);
}

#[test]
fn a_height_is_held_in_every_mode() {
    let mut message = PoseStamped::default();
    (message.pose.orientation, message.pose.position.z) = (attitude(), 3.0);
    let rig = vehicle("UDP_Simple");
    rig.publish("setpoint_attitude/height", &message);
    let sent = rig.sent_bytes();
    assert_eq!(hex(&sent[..8]), hex(&row(4, [0.0; 4])[..8]));
    // 3 m too low: 0.5 to begin with, and 0.5 more.
    assert_eq!(numbers(&sent[8..])[3], 1.0);
    let rig = vehicle("UDP_Full");
    rig.publish("setpoint_attitude/height", &message);
    assert_eq!(rig.sent_bytes()[60..64], 1f32.to_le_bytes());
}
