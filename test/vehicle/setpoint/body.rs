//! Positions relative to the body: behind MAVLink they become local positions, because PX4 ignores them.
use super::*;
use rfly_bridge::wire::mavlink::dialect::ATTITUDE_DATA;

const OFFBOARD: u32 = 6 << 16;

/// At 10 m north, 20 m east, 30 m up, facing `yaw` from north.
fn place(rig: &mut Rig, yaw: f32) {
    rig.say(MavMessage::ATTITUDE(ATTITUDE_DATA {
        // It leans, which is no turn.
        roll: 0.2,
        yaw,
        ..ATTITUDE_DATA::default()
    }));
    move_to(rig, [10.0, 20.0, -30.0]);
}

fn move_to(rig: &mut Rig, [x, y, z]: [f32; 3]) {
    rig.say(MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
        x,
        y,
        z,
        ..LOCAL_POSITION_NED_DATA::default()
    }));
}

fn beat(rig: &mut Rig, armed: bool, custom_mode: u32) {
    rig.say(Heartbeat {
        autopilot: 12,
        base_mode: 1 | if armed { 128 } else { 0 },
        custom_mode,
        ..Heartbeat::default()
    });
    rig.sent_bytes();
}

/// 5 m ahead, 1 m to the left, 2 m up, and a quarter to the left.
fn ahead(mask: u16) -> PositionTarget {
    raw(8, mask, |m| {
        (m.position.x, m.position.y, m.position.z) = (5.0, 1.0, 2.0);
        m.yaw = FRAC_PI_2 as f32;
    })
}

fn sent(rig: &Rig) -> SetPositionTargetLocalNed {
    let sent = local(rig);
    assert_eq!(sent.len(), 1);
    sent[0]
}

fn near(found: [f32; 3], wanted: [f64; 3]) {
    for (found, wanted) in found.into_iter().zip(wanted) {
        assert!((f64::from(found) - wanted).abs() < 1e-4, "{found} {wanted}");
    }
}

#[test]
fn a_position_of_the_body_becomes_one_of_the_local_frame() {
    let mut rig = rig();
    for heading in [0.0, 1.0, -2.5, 3.1] {
        place(&mut rig, heading);
        rig.sent_bytes();
        rig.publish("setpoint_raw/local", &ahead(POSITION_AND_YAW));
        let target = sent(&rig);
        assert_eq!(target.coordinate_frame, 1);
        assert_eq!(target.type_mask, POSITION_AND_YAW);
        let (sin, cos) = f64::from(heading).sin_cos();
        // The left is 90 degrees less than the heading.
        let wanted = [10.0 + 5.0 * cos + sin, 20.0 + 5.0 * sin - cos, -32.0];
        near(target.position, wanted);
        let turned = f64::from(heading) - FRAC_PI_2 - f64::from(target.yaw);
        assert!(turned.sin().abs() < 1e-5 && turned.cos() > 0.0, "{turned}");
    }
    assert_eq!(rig.counted("setpoint_doubtful"), 0);
    // Height alone is sent as PX4 has it: with the warning that it gets for it.
    rig.publish("setpoint_raw/local", &ahead(0x9fb));
    near(sent(&rig).position, [sent_x(), sent_y(), -32.0]);
    assert_eq!(rig.counted("setpoint_doubtful"), 1);
    // Ahead without a word about the side is no place.
    rig.publish("setpoint_raw/local", &ahead(0x9fa));
    assert!(local(&rig).is_empty());
    assert_eq!(rig.counted("setpoint_unbalanced"), 1);
}

/// Of an ignored axis any number will do; these are what the last heading gives.
fn sent_x() -> f64 {
    10.0 + 5.0 * f64::from(3.1f32).cos() + f64::from(3.1f32).sin()
}

fn sent_y() -> f64 {
    20.0 + 5.0 * f64::from(3.1f32).sin() - f64::from(3.1f32).cos()
}

#[test]
fn mavros_topic_of_positions_in_the_frame_of_the_body_works_as_well() {
    let settings = VehicleSettings {
        position_frame: rfly_bridge::vehicle::SetpointFrame::BodyNed,
        ..VehicleSettings::default()
    };
    let mut rig = Rig::new(settings);
    place(&mut rig, 0.0);
    rig.sent_bytes();
    let mut message = PoseStamped::default();
    message.pose.position.x = 5.0;
    message.pose.orientation.w = 1.0;
    rig.publish("setpoint_position/local", &message);
    let target = sent(&rig);
    near(target.position, [15.0, 20.0, -30.0]);
    assert_eq!((target.coordinate_frame, target.yaw), (1, 0.0));
}

#[test]
fn without_a_pose_of_the_last_half_second_it_is_refused() {
    let mut rig = rig();
    let mut refused = 0;
    let mut refuse = |rig: &Rig| {
        rig.publish("setpoint_raw/local", &ahead(POSITION_AND_YAW));
        assert!(local(rig).is_empty());
        refused += 1;
        assert_eq!(rig.counted("setpoint_no_position"), refused);
    };
    refuse(&rig);
    move_to(&mut rig, [1.0; 3]);
    refuse(&rig); // which way it faces is not known
    place(&mut rig, 0.0);
    move_to(&mut rig, [1.0, f32::NAN, 1.0]);
    refuse(&rig);
    place(&mut rig, 0.0);
    rig.advance(Duration::from_millis(501));
    refuse(&rig);
    place(&mut rig, 0.0);
    rig.sent_bytes();
    rig.publish("setpoint_raw/local", &ahead(POSITION_AND_YAW));
    sent(&rig);
}

#[test]
fn a_repeated_position_of_the_body_is_one_step_once_the_vehicle_follows() {
    let mut rig = rig();
    place(&mut rig, 0.0);
    beat(&mut rig, false, 0);
    let ask = |rig: &Rig| {
        rig.publish("setpoint_raw/local", &ahead(POSITION_AND_YAW));
        sent(rig).position
    };
    near(ask(&rig), [15.0, 19.0, -32.0]);
    // It does not follow yet: it is still 5 m from where it is.
    move_to(&mut rig, [11.0, 20.0, -30.0]);
    near(ask(&rig), [16.0, 19.0, -32.0]);
    beat(&mut rig, true, OFFBOARD);
    near(ask(&rig), [16.0, 19.0, -32.0]);
    for step in 0..10u8 {
        rig.advance(Duration::from_millis(400));
        place(&mut rig, 0.1 * f32::from(step));
        rig.sent_bytes();
        near(ask(&rig), [16.0, 19.0, -32.0]);
    }
    // Another setpoint, or a pause, ends the step.
    place(&mut rig, 0.0);
    rig.sent_bytes();
    rig.publish("setpoint_raw/local", &raw(8, VELOCITY_AND_YAW_RATE, |_| ()));
    sent(&rig);
    near(ask(&rig), [15.0, 19.0, -32.0]);
    move_to(&mut rig, [15.0, 20.0, -32.0]);
    near(ask(&rig), [15.0, 19.0, -32.0]);
    rig.advance(Duration::from_millis(1001));
    place(&mut rig, 0.0);
    beat(&mut rig, true, OFFBOARD);
    move_to(&mut rig, [15.0, 20.0, -32.0]);
    near(ask(&rig), [20.0, 19.0, -34.0]);
    // So does a change of the mode.
    move_to(&mut rig, [0.0, 0.0, -5.0]);
    beat(&mut rig, true, 4 << 16 | 3 << 24);
    near(ask(&rig), [5.0, -1.0, -7.0]);
}

#[test]
fn a_step_beyond_the_limit_is_refused_and_other_autopilots_get_the_message_as_it_is() {
    let settings = VehicleSettings { max_position: 14.0, ..VehicleSettings::default() };
    let mut near_limit = Rig::new(settings);
    place(&mut near_limit, 0.0);
    near_limit.publish("setpoint_raw/local", &ahead(POSITION_AND_YAW));
    assert_eq!(near_limit.counted("setpoint_too_far"), 1);
    let mut other = rig();
    other.say(Heartbeat { autopilot: 3, ..Heartbeat::default() });
    place(&mut other, 0.0);
    other.sent_bytes();
    other.publish("setpoint_raw/local", &ahead(POSITION_AND_YAW));
    let target = sent(&other);
    assert_eq!(target.coordinate_frame, 8);
    near(target.position, [5.0, -1.0, -2.0]);
}
