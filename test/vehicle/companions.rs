//! What companion computers bring and read: their processes, gimbals, range finders; and logs, which are refused.
#![expect(deprecated, reason = "gimbals in use still send MOUNT_ORIENTATION")]
use super::rig::{Rig, hex};
use rfly_bridge::msgs::geometry_msgs::msg::{Quaternion, Vector3Stamped};
use rfly_bridge::msgs::mavros_msgs::msg::{CompanionProcessStatus, MountControl, StatusText};
use rfly_bridge::msgs::mavros_msgs::srv::{LogRequestList, LogRequestListRequest};
use rfly_bridge::msgs::sensor_msgs::msg::Range;
use rfly_bridge::msgs::std_srvs::srv::{Trigger, TriggerRequest};
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::dialect::{
    DISTANCE_SENSOR_DATA, MOUNT_ORIENTATION_DATA, MavAutopilot, MavCmd, MavDistanceSensor,
    MavSensorOrientation, MavState, MavType,
};
use rfly_bridge::wire::mavlink::raw::Heartbeat;
use rfly_bridge::wire::mavlink::{MavMessage, frames};
use std::f64::consts::FRAC_1_SQRT_2;

fn rig() -> Rig {
    let rig = Rig::new(VehicleSettings::default());
    rig.poll();
    rig.sent_bytes();
    rig
}

fn heartbeat() -> Heartbeat {
    Heartbeat {
        custom_mode: 0,
        kind: 2,
        autopilot: 12,
        base_mode: 81,
        system_status: 3,
        mavlink_version: 3,
    }
}

/// Recorded by mavros 2.12: golden/mavros/to_fcu.json, case `companion_status`; the sequence number is not compared.
#[test]
fn a_companion_process_shows_itself_as_mavros_has_it() {
    let rig = rig();
    let message =
        CompanionProcessStatus { state: 4, component: 197, ..CompanionProcessStatus::default() };
    rig.publish("companion_process/status", &message);
    let sent = rig.sent_bytes();
    let sent = frames(&sent).next().unwrap().unwrap();
    let recorded = hex("fd090000cd01c500000000000000120c0104031491");
    let recorded = frames(&recorded).next().unwrap().unwrap();
    assert_eq!(
        (sent.system, sent.component, sent.id, sent.payload),
        (recorded.system, recorded.component, recorded.id, recorded.payload)
    );
    let MavMessage::HEARTBEAT(decoded) = sent.message().unwrap() else { panic!("no heartbeat") };
    assert_eq!(decoded.mavtype, MavType::MAV_TYPE_ONBOARD_CONTROLLER);
    assert_eq!(decoded.autopilot, MavAutopilot::MAV_AUTOPILOT_PX4);
    assert_eq!(decoded.system_status, MavState::MAV_STATE_ACTIVE);
}

#[test]
fn a_companion_process_does_not_speak_as_the_autopilot() {
    let rig = rig();
    for component in [0, 1] {
        let message =
            CompanionProcessStatus { state: 4, component, ..CompanionProcessStatus::default() };
        rig.publish("companion_process/status", &message);
    }
    assert!(rig.nothing_sent());
    assert_eq!(rig.counted("setpoint_component"), 2);
}

#[test]
fn a_gimbal_command_is_one_command_and_numbers_only() {
    let rig = rig();
    let command = MountControl {
        mode: 2,
        pitch: -30.0,
        roll: 1.0,
        yaw: 90.0,
        altitude: 4.0,
        latitude: 5.0,
        longitude: 6.0,
        ..MountControl::default()
    };
    rig.publish("mount_control/command", &command);
    let sent = rig.sent();
    let [MavMessage::COMMAND_LONG(sent)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(sent.command, MavCmd::MAV_CMD_DO_MOUNT_CONTROL);
    assert_eq!(
        [sent.param1, sent.param2, sent.param3, sent.param4, sent.param5, sent.param6, sent.param7],
        [-30.0, 1.0, 90.0, 4.0, 5.0, 6.0, 2.0]
    );
    let broken = MountControl { yaw: f32::NAN, ..command };
    rig.publish("mount_control/command", &broken);
    assert!(rig.nothing_sent());
}

#[test]
fn the_gimbal_tells_where_it_looks() {
    let mut rig = rig();
    rig.say(heartbeat());
    rig.say(MavMessage::MOUNT_ORIENTATION(MOUNT_ORIENTATION_DATA {
        time_boot_ms: 1000,
        pitch: 90.0,
        ..MOUNT_ORIENTATION_DATA::default()
    }));
    let q: Vec<Quaternion> = rig.messages("mount_control/orientation");
    assert_eq!(q.len(), 1);
    assert!((q[0].y - FRAC_1_SQRT_2).abs() < 1e-9 && (q[0].w - FRAC_1_SQRT_2).abs() < 1e-9);
    let status: Vec<Vector3Stamped> = rig.messages("mount_control/status");
    assert!((status[0].vector.y - std::f64::consts::FRAC_PI_2).abs() < 1e-9);
    rig.say(MavMessage::MOUNT_ORIENTATION(MOUNT_ORIENTATION_DATA {
        roll: f32::NAN,
        ..MOUNT_ORIENTATION_DATA::default()
    }));
    assert_eq!(rig.messages::<Quaternion>("mount_control/orientation").len(), 1);
}

fn distance(id: u8, orientation: MavSensorOrientation, current_distance: u16) -> MavMessage {
    MavMessage::DISTANCE_SENSOR(DISTANCE_SENSOR_DATA {
        time_boot_ms: 1000,
        min_distance: 20,
        max_distance: 4000,
        current_distance,
        mavtype: MavDistanceSensor::MAV_DISTANCE_SENSOR_ULTRASOUND,
        id,
        orientation,
        horizontal_fov: 0.5,
        ..DISTANCE_SENSOR_DATA::default()
    })
}

#[test]
fn range_finders_of_the_vehicle_have_topics_and_a_frame_that_looks_where_they_look() {
    let mut rig = rig();
    rig.say(heartbeat());
    let down = MavSensorOrientation::MAV_SENSOR_ROTATION_PITCH_270;
    for centimetres in [1234, 10, 4001] {
        rig.say(distance(0, down, centimetres));
    }
    rig.say(distance(9, down, 100));
    let ranges: Vec<Range> = rig.messages("distance_sensor/hrlv_ez4_pub");
    assert_eq!(ranges.len(), 3);
    assert_eq!(ranges[0].header.frame_id, "hrlv_ez4_sonar");
    assert_eq!(ranges[0].radiation_type, Range::ULTRASOUND);
    assert_eq!((ranges[0].range, ranges[0].min_range, ranges[0].max_range), (12.34, 0.2, 40.0));
    // REP 117.
    assert_eq!((ranges[1].range, ranges[2].range), (f32::NEG_INFINITY, f32::INFINITY));
    let placed = rig.handle().with(|a| std::mem::take(&mut a.fcu.body_frames));
    let placed = placed.unwrap();
    assert_eq!(rig.counted("distance_sensor_id"), 1);
    assert_eq!(placed.len(), 1, "once, not with every message");
    assert_eq!(placed[0].name, "hrlv_ez4_sonar");
    // x of the frame, in the body's axes: down is -z in FLU.
    let x = placed[0].attitude.rotate([1.0, 0.0, 0.0].into()).to_array();
    assert!(x[2] < -0.999, "{x:?}");
}

#[test]
fn range_finders_of_the_companion_reach_the_vehicle_as_centimetres() {
    let rig = rig();
    let mut range = Range {
        radiation_type: Range::INFRARED,
        field_of_view: 0.1,
        min_range: 0.3,
        max_range: 30.0,
        range: 2.345,
        ..Range::default()
    };
    range.header.stamp.sec = 3;
    rig.publish("distance_sensor/laser_1_sub", &range);
    range.range = f32::INFINITY;
    rig.publish("distance_sensor/sonar_1_sub", &range);
    range.range = f32::NAN;
    rig.publish("distance_sensor/sonar_1_sub", &range);
    let sent = rig.sent();
    let [MavMessage::DISTANCE_SENSOR(laser), MavMessage::DISTANCE_SENSOR(sonar)] = &sent[..] else {
        panic!("{sent:?}")
    };
    assert_eq!(
        (laser.time_boot_ms, laser.min_distance, laser.max_distance, laser.current_distance),
        (3000, 30, 3000, 235)
    );
    assert_eq!((laser.id, laser.horizontal_fov), (3, 0.0));
    assert_eq!(laser.mavtype, MavDistanceSensor::MAV_DISTANCE_SENSOR_LASER);
    assert_eq!(laser.orientation, MavSensorOrientation::MAV_SENSOR_ROTATION_PITCH_270);
    assert_eq!((sonar.id, sonar.current_distance, sonar.horizontal_fov), (2, 3001, 0.1));
}

#[test]
fn logs_are_refused_with_the_reason() {
    let rig = rig();
    let list = rig.call::<LogRequestList>(
        "log_transfer/raw/log_request_list",
        &LogRequestListRequest::default(),
    );
    assert!(!list.success);
    let erase =
        rig.call::<Trigger>("log_transfer/raw/log_request_erase", &TriggerRequest::default());
    assert!(!erase.success && erase.message.contains("logs are not transferred"));
    rig.poll();
    let texts: Vec<StatusText> = rig.messages("statustext/recv");
    assert!(texts.iter().any(|t| t.text.contains("log_request_list")), "{texts:?}");
}
