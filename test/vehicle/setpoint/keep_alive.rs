//! The last setpoint goes on for a while after its sender fell silent.
use super::*;
use rfly_bridge::msgs::mavros_msgs::msg::ManualControl;
use rfly_bridge::vehicle::UdpSimpleLink;

#[test]
fn the_last_setpoint_is_repeated_for_a_while_and_then_no_more() {
    let rig = Rig::new(VehicleSettings {
        keep_alive: Duration::from_secs(2),
        ..VehicleSettings::default()
    });
    rig.pass(Duration::from_secs(1));
    assert!(local(&rig).is_empty(), "there was none yet");
    for x in 0..10 {
        let message = raw(1, POSITION_AND_YAW, |m| m.position.y = x.into());
        rig.publish("setpoint_raw/local", &message);
        rig.pass(Duration::from_millis(20));
    }
    let sent = local(&rig);
    assert_eq!(sent.len(), 10, "a sender that is fast enough is left alone");
    // What is refused is no setpoint.
    rig.publish("setpoint_raw/local", &raw(7, POSITION_AND_YAW, |_| ()));
    rig.pass(Duration::from_secs(10));
    let repeated = local(&rig);
    assert!((20..=41).contains(&repeated.len()), "{} in 2 s", repeated.len());
    assert!(repeated.iter().all(|m| m.position == [9.0, 0.0, 0.0]));
    assert_eq!(rig.counted("keep_alive_stopped"), 1);
    let again = raw(1, POSITION_AND_YAW, |_| ());
    rig.publish("setpoint_raw/local", &again);
    rig.pass(Duration::from_millis(500));
    assert!(local(&rig).len() >= 5);
}

#[test]
fn without_keep_alive_nothing_is_repeated() {
    let rig = rig();
    rig.publish("setpoint_raw/local", &raw(1, POSITION_AND_YAW, |_| ()));
    rig.pass(Duration::from_secs(5));
    assert_eq!(local(&rig).len(), 1);
}

#[test]
fn what_a_link_cannot_carry_is_neither_sent_nor_repeated() {
    let settings =
        VehicleSettings { keep_alive: Duration::from_secs(2), ..VehicleSettings::default() };
    let rig = Rig::with_link(settings, |sink| Box::new(UdpSimpleLink::new(1, sink)));
    rig.publish("manual_control/send", &ManualControl::default());
    // Position and velocity at once.
    rig.publish("setpoint_raw/local", &raw(1, 0xdc0, |_| ()));
    rig.pass(Duration::from_secs(3));
    assert!(rig.sent_bytes().is_empty());
    rig.publish("setpoint_velocity/cmd_vel", &TwistStamped::default());
    assert!(!rig.sent_bytes().is_empty());
}
