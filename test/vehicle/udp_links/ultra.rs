//! UDP_UltraSimple: commands as in UDP_Simple, the state from the true one.
use super::super::rig::Rig;
use super::*;
use rfly_bridge::msgs::geometry_msgs::msg::PoseStamped;
use rfly_bridge::msgs::mavros_msgs::msg::State;
use rfly_bridge::msgs::sensor_msgs::msg::NavSatFix;
use rfly_bridge::vehicle::{UdpUltraSimpleLink, VehicleSettings};
use rfly_bridge::wire::{ShortStatePacket, TrueState};

fn rig() -> Rig {
    Rig::with_link(VehicleSettings::default(), |sink| Box::new(UdpUltraSimpleLink::new(1, sink)))
}

fn truth(sim_time: f64, position: [f64; 3]) -> TrueState {
    TrueState {
        copter_id: 1,
        sim_time,
        position,
        velocity: [1.0, -2.0, 0.5],
        euler: [0.1, -0.2, 0.3],
        gps: [40.154, 116.259, 50.0 - position[2]],
        ..TrueState::default()
    }
}

fn hear(rig: &Rig, state: &TrueState) {
    rig.handle().tell(|autopilot| autopilot.true_state(state));
    rig.poll();
}

fn last<M: rfly_bridge::msgs::Message>(rig: &Rig, topic: &str) -> M {
    rig.messages::<M>(topic).pop().expect("a message")
}

#[test]
fn the_state_is_the_true_one_counted_from_where_the_vehicle_was_first() {
    let rig = rig();
    hear(&rig, &truth(10.0, [30.0, -12.0, -1.0]));
    assert!(last::<State>(&rig, "state").connected);
    hear(&rig, &truth(10.02, [33.0, -8.0, -6.0]));
    let pose: PoseStamped = last(&rig, "local_position/pose");
    let p = &pose.pose.position;
    // East, north, up.
    assert_eq!([p.x, p.y, p.z], [4.0, 3.0, 5.0]);
    let fix: NavSatFix = last(&rig, "global_position/global");
    assert!((fix.latitude - 40.154).abs() < 1e-6 && (fix.longitude - 116.259).abs() < 1e-6);
}

#[test]
fn it_counts_anew_when_the_simulation_does_and_not_after_silence() {
    let rig = rig();
    let height = |rig: &Rig| last::<PoseStamped>(rig, "local_position/pose").pose.position.z;
    hear(&rig, &truth(100.0, [0.0; 3]));
    hear(&rig, &truth(101.0, [0.0, 0.0, -20.0]));
    assert_eq!(height(&rig), 20.0);
    // The simulation stood still while it flew.
    rig.pass(std::time::Duration::from_secs(30));
    assert!(!last::<State>(&rig, "state").connected);
    hear(&rig, &truth(101.1, [0.0, 0.0, -21.0]));
    assert!(last::<State>(&rig, "state").connected);
    assert_eq!(height(&rig), 21.0);
    hear(&rig, &truth(1.0, [0.0, 0.0, -3.0]));
    assert_eq!(height(&rig), 0.0);
    assert!(!last::<State>(&rig, "state").armed);
}

#[test]
fn commands_are_those_of_udp_simple_and_states_of_unknown_layout_are_left() {
    let rig = rig();
    hear(&rig, &truth(10.0, [0.0; 3]));
    rig.sent_bytes();
    let mut wish = PoseStamped::default();
    (wish.pose.position.z, wish.pose.orientation.w) = (3.0, 1.0);
    rig.publish("setpoint_position/local", &wish);
    let sent = rig.sent_bytes();
    assert_eq!(sent[..8], [1_234_567_890, 2].map(i32::to_le_bytes).concat());
    hear(&rig, &truth(11.0, [0.0; 3]));
    let state: State = last(&rig, "state");
    assert_eq!((state.armed, &*state.mode), (true, "OFFBOARD"));
    let short = ShortStatePacket::from(&truth(11.0, [9.0; 3]));
    let unknown = SimpleEstimatePacket::state([0; 3], [0.0; 3], [9.0; 3], [0.0; 3]);
    for bytes in [short.as_bytes(), unknown.as_bytes(), &[0; 48]] {
        rig.recorder.clear();
        rig.receive(bytes);
        assert!(rig.messages::<PoseStamped>("local_position/pose").is_empty());
    }
    assert_eq!(rig.counted("udp_ultrasimple_state"), 3);
}
