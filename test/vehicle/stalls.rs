//! A stall of this process changes when datagrams are read, and nothing of what they say: ages count from their arrival.
use super::rig::Rig;
use rfly_bridge::msgs::geometry_msgs::msg::PoseStamped;
use rfly_bridge::msgs::nav_msgs::msg::Odometry;
use rfly_bridge::msgs::sensor_msgs::msg::Imu;
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::MavMessage;
use rfly_bridge::wire::mavlink::dialect::{
    ATTITUDE_DATA, ATTITUDE_QUATERNION_DATA, LOCAL_POSITION_NED_DATA,
};
use std::time::Duration;

const STALL: Duration = Duration::from_secs(5);

fn connected() -> Rig {
    let mut rig = Rig::new(VehicleSettings::default());
    rig.beat();
    rig
}

fn position(time_boot_ms: u32) -> MavMessage {
    MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
        time_boot_ms,
        x: 1.0,
        ..LOCAL_POSITION_NED_DATA::default()
    })
}

fn turned(time_boot_ms: u32, half: f32) -> MavMessage {
    let q1 = (1.0 - half * half).sqrt();
    MavMessage::ATTITUDE_QUATERNION(ATTITUDE_QUATERNION_DATA {
        time_boot_ms,
        q1,
        q4: half,
        ..ATTITUDE_QUATERNION_DATA::default()
    })
}

#[test]
fn a_position_that_waited_has_the_attitude_that_arrived_just_before_it() {
    let mut rig = connected();
    rig.say(turned(1000, 0.5));
    // 10 ms after the attitude the position arrives; this process stands still.
    rig.advance(STALL);
    rig.say_late(position(1010), STALL - Duration::from_millis(10));
    assert_eq!(rig.messages::<PoseStamped>("local_position/pose").len(), 1);
    assert_eq!(rig.messages::<Odometry>("local_position/odom").len(), 1);
    // One that arrived as much later has none.
    rig.say(position(1010 + 5000));
    assert_eq!(rig.messages::<PoseStamped>("local_position/pose").len(), 1);
}

#[test]
fn a_lesser_message_that_waited_beside_the_better_one_is_not_taken() {
    let mut rig = connected();
    rig.say(turned(1000, 0.5));
    let attitude = ATTITUDE_DATA { time_boot_ms: 1010, ..ATTITUDE_DATA::default() };
    rig.advance(STALL);
    rig.say_late(MavMessage::ATTITUDE(attitude), STALL - Duration::from_millis(10));
    assert_eq!(rig.messages::<Imu>("imu/data").len(), 1);
    // The better one is silent now.
    rig.say(MavMessage::ATTITUDE(ATTITUDE_DATA { time_boot_ms: 6000, ..ATTITUDE_DATA::default() }));
    assert_eq!(rig.messages::<Imu>("imu/data").len(), 2);
}
