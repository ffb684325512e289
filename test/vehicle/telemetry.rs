//! What the recorded cases do not show: time, loss, several senders, and values at random.
use super::rig::Rig;
use crate::support::geometry as g;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use rfly_bridge::frames::Geoid;
use rfly_bridge::msgs::geometry_msgs::msg::{
    PoseStamped, Quaternion, TwistStamped, TwistWithCovarianceStamped, Vector3,
};
use rfly_bridge::msgs::mavros_msgs::msg::{ExtendedState, GPSRAW, HomePosition, Mavlink, State};
use rfly_bridge::msgs::nav_msgs::msg::Odometry;
use rfly_bridge::msgs::sensor_msgs::msg::{BatteryState, Imu, NavSatFix};
use rfly_bridge::msgs::std_srvs::srv::{Trigger, TriggerRequest};
use rfly_bridge::ros::Qos;
use rfly_bridge::session::ClockLine;
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::dialect::{
    ATTITUDE_DATA, HIGHRES_IMU_DATA, HOME_POSITION_DATA, HighresImuUpdatedFlags,
    LOCAL_POSITION_NED_DATA,
};
use rfly_bridge::wire::mavlink::raw::{
    CommandLong, ExtendedSysState, GpsRawInt, Heartbeat, LocalPositionNedCov,
};
use rfly_bridge::wire::mavlink::{Encoder, MavMessage, Outbound, frames};
use std::f64::consts::PI;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn heartbeat() -> Heartbeat {
    Heartbeat {
        custom_mode: 0x30000,
        kind: 2,
        autopilot: 12,
        base_mode: 81,
        system_status: 3,
        mavlink_version: 3,
    }
}

fn rig() -> Rig {
    Rig::new(VehicleSettings { geoid: Geoid::Constant(17.0), ..VehicleSettings::default() })
}

/// Time passes and heartbeats come.
fn live(rig: &mut Rig, seconds: u32) {
    for _ in 0..seconds {
        rig.say(heartbeat());
        rig.pass(SECOND);
    }
}

fn attitude([roll, pitch, yaw]: [f64; 3], [p, q, r]: [f32; 3]) -> MavMessage {
    MavMessage::ATTITUDE(ATTITUDE_DATA {
        roll: roll as f32,
        pitch: pitch as f32,
        yaw: yaw as f32,
        rollspeed: p,
        pitchspeed: q,
        yawspeed: r,
        ..ATTITUDE_DATA::default()
    })
}

fn local([x, y, z]: [f32; 3], [vx, vy, vz]: [f32; 3]) -> MavMessage {
    MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
        x,
        y,
        z,
        vx,
        vy,
        vz,
        ..LOCAL_POSITION_NED_DATA::default()
    })
}

fn home() -> MavMessage {
    MavMessage::HOME_POSITION(HOME_POSITION_DATA {
        latitude: 401_540_302,
        longitude: 1_162_593_683,
        altitude: 50_000,
        q: [1.0, 0.0, 0.0, 0.0],
        ..HOME_POSITION_DATA::default()
    })
}

fn matrix(q: &Quaternion) -> g::Matrix {
    g::quaternion_matrix([q.w, q.x, q.y, q.z])
}

fn array(v: &Vector3) -> [f64; 3] {
    [v.x, v.y, v.z]
}

/// Requests for HOME_POSITION since the last call.
fn asked_for_home(rig: &Rig) -> Vec<u16> {
    let bytes = rig.sent_bytes();
    let commands = frames(&bytes).filter_map(|frame| CommandLong::parse(&frame.unwrap()));
    commands
        .filter(|c| c.command == 410 || (c.command == 512 && c.params[0] == 242.0))
        .map(|c| c.command)
        .collect()
}

#[test]
fn home_is_asked_for_until_it_is_known_and_again_after_a_loss() {
    let mut rig = rig();
    live(&mut rig, 25);
    assert_eq!(asked_for_home(&rig), [410, 512, 410]);
    rig.say(home());
    live(&mut rig, 25);
    assert!(asked_for_home(&rig).is_empty());
    let [home] = &rig.messages::<HomePosition>("home_position/home")[..] else {
        panic!("one home")
    };
    assert!((home.geo.altitude - 67.0).abs() < 1e-9, "{}", home.geo.altitude);
    rig.pass(10 * SECOND);
    live(&mut rig, 3);
    assert_eq!(asked_for_home(&rig).len(), 1, "the next autopilot may have another home");
}

#[test]
fn a_request_for_home_is_answered_when_it_comes_or_when_it_does_not() {
    let mut rig = rig();
    live(&mut rig, 1);
    for known in [true, false] {
        let service = "home_position/req_update";
        let answer = rig.call_later::<Trigger>(service, TriggerRequest::default());
        // The bridge may have asked for another message a moment ago.
        rig.pass(Duration::from_millis(500));
        assert_eq!(asked_for_home(&rig).len(), 1);
        if known {
            rig.say(home());
        } else {
            live(&mut rig, 4);
        }
        let response = answer.expect();
        assert_eq!(response.success, known, "{}", response.message);
        assert_eq!(response.message.is_empty(), known);
    }
}

#[test]
fn odometry_goes_on_when_covariances_stop() {
    let mut rig = rig();
    let count = |rig: &Rig| {
        let count = rig.messages::<Odometry>("local_position/odom").len();
        rig.recorder.clear();
        count
    };
    rig.say(attitude([0.0; 3], [0.0; 3]));
    rig.say(local([1.0; 3], [0.0; 3]));
    assert_eq!(count(&rig), 1);
    rig.say(LocalPositionNedCov::default());
    rig.say(local([1.0; 3], [0.0; 3]));
    assert_eq!(count(&rig), 1, "not twice while both come");
    rig.pass(Duration::from_millis(2100));
    rig.say(attitude([0.0; 3], [0.0; 3]));
    rig.say(local([1.0; 3], [0.0; 3]));
    assert_eq!(count(&rig), 1);
}

#[test]
fn an_unknown_covariance_is_zero_as_ros_has_it() {
    let mut rig = rig();
    let mut message = LocalPositionNedCov::default();
    message.covariance[0] = f32::NAN;
    message.covariance[24] = 3.0;
    rig.say(attitude([0.0; 3], [0.0; 3]));
    rig.say(message);
    let [twist] =
        &rig.messages::<TwistWithCovarianceStamped>("local_position/velocity_body_cov")[..]
    else {
        panic!("one message")
    };
    assert_eq!(twist.twist.covariance, [0.0; 36]);
}

#[test]
fn times_since_1970_do_not_become_stamps_of_the_past_or_the_future() {
    let mut rig = rig();
    for offset in [None, Some(1_699_999_000_000_000_000), Some(-5)] {
        rig.handle().with(|autopilot| autopilot.fcu.clock = offset.map(ClockLine::constant));
        rig.recorder.clear();
        for time_usec in [1_700_000_000_123_456, u64::MAX] {
            rig.say(GpsRawInt { time_usec, ..GpsRawInt::default() });
        }
        let fixes = rig.messages::<NavSatFix>("global_position/raw/fix");
        let stamps: Vec<_> = fixes.iter().map(|fix| fix.header.stamp.sec).collect();
        assert_eq!(stamps, [1_700_000_000; 2]);
    }
}

#[test]
fn numbers_that_no_dialect_knows_pass_as_they_are() {
    let mut rig = rig();
    rig.say(ExtendedSysState { vtol_state: 200, landed_state: 9 });
    rig.say(GpsRawInt { fix_type: 42, ..GpsRawInt::default() });
    let states = rig.messages::<ExtendedState>("extended_state");
    assert_eq!((states[0].vtol_state, states[0].landed_state), (200, 9));
    assert_eq!(rig.messages::<GPSRAW>("gpsstatus/gps1/raw")[0].fix_type, 42);
}

#[test]
fn force_that_is_old_is_marked_as_unknown() {
    let mut rig = rig();
    let force = HIGHRES_IMU_DATA {
        zacc: -9.81,
        fields_updated: HighresImuUpdatedFlags::from_bits_retain(63),
        ..HIGHRES_IMU_DATA::default()
    };
    rig.say(attitude([0.0; 3], [0.0; 3]));
    rig.say(MavMessage::HIGHRES_IMU(force));
    rig.say(attitude([0.0; 3], [0.0; 3]));
    rig.pass(Duration::from_millis(300));
    rig.say(attitude([0.0; 3], [0.0; 3]));
    let known: Vec<_> = rig
        .messages::<Imu>("imu/data")
        .iter()
        .map(|imu| (imu.linear_acceleration.z > 9.8, imu.linear_acceleration_covariance[0] > 0.0))
        .collect();
    assert_eq!(known, [(false, false), (true, true), (true, false)]);
}

#[test]
fn rates_that_a_link_does_not_carry_are_marked_as_unknown() {
    let mut rig = rig();
    rig.say(attitude([0.1, 0.2, 0.3], [f32::NAN; 3]));
    rig.say(local([1.0; 3], [2.0; 3]));
    let imu = &rig.messages::<Imu>("imu/data")[0];
    assert_eq!(array(&imu.angular_velocity), [0.0; 3]);
    assert_eq!(imu.angular_velocity_covariance[0], -1.0);
    let twist = &rig.messages::<Odometry>("local_position/odom")[0].twist;
    assert_eq!(array(&twist.twist.angular), [0.0; 3]);
    let variances: Vec<_> = (0..6).map(|i| twist.covariance[7 * i] > 1e4).collect();
    assert_eq!(variances, [false, false, false, true, true, true]);
}

#[test]
fn an_attitude_that_is_none_is_counted_and_not_published() {
    let mut rig = rig();
    rig.say(attitude([f64::NAN, 0.0, 0.0], [0.0; 3]));
    assert!(rig.messages::<Imu>("imu/data").is_empty());
    let orientation = rig.handle().with(|a| a.fcu.orientation).unwrap();
    assert_eq!((orientation, rig.counted("bad_attitude")), (None, 1));
}

#[test]
fn an_unknown_battery_is_not_a_number() {
    let mut rig = rig();
    rig.say(rfly_bridge::wire::mavlink::raw::BatteryStatus {
        voltages: [u16::MAX; 10],
        current_battery: -1,
        battery_remaining: -1,
        temperature: i16::MAX,
        ..Default::default()
    });
    let [battery] = &rig.messages::<BatteryState>("battery")[..] else { panic!("one battery") };
    let values = [battery.voltage, battery.current, battery.percentage, battery.temperature];
    assert!(values.iter().all(|value| value.is_nan()), "{values:?}");
    assert!(battery.cell_voltage.is_empty());
}

#[test]
fn nothing_is_converted_for_nobody_but_states_are_kept_for_who_comes_late() {
    let mut rig = rig();
    rig.recorder.set_all_subscribers(0);
    rig.say(heartbeat());
    rig.say(attitude([0.1, 0.2, 0.3], [0.0; 3]));
    rig.say(local([1.0, 2.0, 3.0], [0.0; 3]));
    rig.say(ExtendedSysState::default());
    rig.say(home());
    for (topic, count) in [
        ("imu/data", 0),
        ("local_position/pose", 0),
        ("local_position/odom", 0),
        ("state", 1),
        ("extended_state", 1),
        ("home_position/home", 1),
    ] {
        assert_eq!(rig.recorder.raw(&format!("/mavros/{topic}")).len(), count, "{topic}");
    }
    // What others need is known all the same.
    rig.recorder.set_all_subscribers(1);
    rig.say(local([1.0, 2.0, 3.0], [0.0; 3]));
    let pose = &rig.messages::<PoseStamped>("local_position/pose")[0].pose;
    assert!((pose.orientation.w - 1.0).abs() > 0.1, "the attitude is not that of nobody");
}

fn say_as(rig: &Rig, system: u8, component: u8, message: impl Into<Outbound>) {
    rig.receive(Encoder::new(system, component).encode(&message.into()).as_bytes());
}

#[test]
fn on_a_line_the_first_autopilot_is_the_vehicle() {
    let rig = Rig::new(VehicleSettings { adopt_system: true, ..VehicleSettings::default() });
    let ground_station = Heartbeat { autopilot: 8, kind: 6, ..heartbeat() };
    say_as(&rig, 255, 190, ground_station);
    say_as(&rig, 7, 154, Heartbeat { autopilot: 8, kind: 26, ..heartbeat() });
    assert!(rig.messages::<State>("state").is_empty());
    say_as(&rig, 7, 1, heartbeat());
    say_as(&rig, 8, 1, heartbeat());
    assert_eq!(rig.messages::<State>("state").len(), 1);
    for (system, x) in [(7, 1.0), (8, 2.0)] {
        say_as(&rig, system, 1, attitude([0.0; 3], [0.0; 3]));
        say_as(&rig, system, 1, local([x; 3], [0.0; 3]));
    }
    let poses = rig.messages::<PoseStamped>("local_position/pose");
    assert_eq!(poses.len(), 1);
    let ids = rig.handle().with(|a| (a.fcu.system, a.fcu.component)).unwrap();
    assert_eq!(ids, (7, 1));
    // The other one is taken once the first is gone.
    rig.pass(11 * SECOND);
    say_as(&rig, 8, 1, heartbeat());
    assert_eq!(rig.handle().with(|a| a.fcu.system), Some(8));
}

#[test]
fn without_that_only_the_configured_system_is_heard() {
    let rig = rig();
    say_as(&rig, 7, 1, heartbeat());
    say_as(&rig, 7, 1, local([1.0; 3], [0.0; 3]));
    assert!(rig.messages::<State>("state").is_empty());
    assert!(rig.messages::<PoseStamped>("local_position/pose").is_empty());
}

#[test]
fn frames_are_shown_as_they_came_and_sent_as_they_are_given() {
    let mut rig = rig();
    let message = local([1.0, 2.0, 3.0], [4.0, 5.0, 0.0]);
    rig.say(message.clone());
    let [shown] = &rig.recorder.messages::<Mavlink>("/uas1/mavlink_source").unwrap()[..] else {
        panic!("one frame")
    };
    assert_eq!((shown.framing_status, shown.magic), (1, 253));
    assert_eq!((shown.sysid, shown.compid, shown.msgid), (1, 1, 32));
    let bytes: Vec<u8> = shown.payload64.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut expected = 0_u32.to_le_bytes().to_vec();
    expected.extend([1.0_f32, 2.0, 3.0, 4.0, 5.0].iter().flat_map(|v| v.to_le_bytes()));
    assert_eq!(&bytes[..usize::from(shown.len)], &expected[..usize::from(shown.len)]);
    rig.sent_bytes();
    let given = Mavlink { sysid: 42, compid: 99, ..shown.clone() };
    let publisher = rig.ros.publisher::<Mavlink>("/uas1/mavlink_sink", Qos::DEFAULT).unwrap();
    publisher.publish(&given).unwrap();
    let bytes = rig.sent_bytes();
    let [Ok(frame)] = frames(&bytes).collect::<Vec<_>>()[..] else { panic!("one frame") };
    assert_eq!((frame.system, frame.component), (42, 99));
    assert_eq!(frame.message(), Ok(message));
    // Too short for its length, and unknown: counted, not sent.
    for bad in [Mavlink { len: 200, ..given.clone() }, Mavlink { msgid: 0xff_ffff, ..given }] {
        publisher.publish(&bad).unwrap();
    }
    assert!(rig.sent_bytes().is_empty());
    assert_eq!(rig.counted("bad_mavlink_sink"), 2);
}

#[test]
fn the_check_values_of_mavros_come_out_of_the_topics() {
    let mut rig = rig();
    // ENU rpy(10, 20, 30) is NED rpy(10, -20, 60); NED rpy(0, 0, 0) is ENU yaw 90.
    for (ned, enu) in [([10.0, -20.0, 60.0], [10.0, 20.0, 30.0]), ([0.0; 3], [0.0, 0.0, 90.0])] {
        rig.recorder.clear();
        rig.say(attitude(ned.map(f64::to_radians), [0.0; 3]));
        let imu = &rig.messages::<Imu>("imu/data")[0];
        let expected = g::euler_zyx(enu.map(f64::to_radians));
        assert!(g::matrix_difference(&matrix(&imu.orientation), &expected) < 1e-6);
    }
}

/// NED to ENU, and FRD to FLU, as matrices.
const WORLD: g::Matrix = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]];
const BODY: g::Matrix = [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]];

/// Block, row and column of the upper triangles of three blocks.
const UPPER: [(usize, usize, usize); 18] = {
    let mut all = [(0, 0, 0); 18];
    let mut n = 0;
    while n < 18 {
        let (row, column) = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)][n % 6];
        all[n] = (n / 6, row, column);
        n += 1;
    }
    all
};

fn linear_part(rows: &[f64; 36]) -> g::Matrix {
    std::array::from_fn(|row| std::array::from_fn(|column| rows[6 * row + column]))
}

#[test]
fn poses_twists_and_covariances_agree_with_matrices_whatever_the_attitude() {
    let rig = std::cell::RefCell::new(rig());
    let vector = || [-30.0..30.0_f32, -30.0..30.0_f32, -30.0..30.0_f32];
    let angles = [-PI..PI, -1.5..1.5_f64, -PI..PI];
    let given = (angles, vector(), vector(), vector(), prop::array::uniform9(-2.0..2.0_f32));
    TestRunner::default()
        .run(&given, |(angles, rates, position, velocity, root)| {
            let rig = &mut *rig.borrow_mut();
            rig.recorder.clear();
            rig.say(attitude(angles, rates));
            rig.say(local(position, velocity));
            let [position, velocity, rates] = [position, velocity, rates].map(|v| v.map(f64::from));
            // As it went over the wire.
            let angles = angles.map(|angle| f64::from(angle as f32));
            let enu_from_flu = g::product(&g::product(&WORLD, &g::euler_zyx(angles)), &BODY);
            let body_velocity = g::apply(&g::transpose(&enu_from_flu), g::apply(&WORLD, velocity));
            let close = |a: &[f64], b: &[f64]| g::difference(a, b) < 1e-4;
            let odom = &rig.messages::<Odometry>("local_position/odom")[0];
            let pose = &odom.pose.pose;
            prop_assert!(g::matrix_difference(&matrix(&pose.orientation), &enu_from_flu) < 1e-6);
            let at = [pose.position.x, pose.position.y, pose.position.z];
            prop_assert_eq!(at, g::apply(&WORLD, position));
            let twist = &odom.twist.twist;
            prop_assert!(close(&array(&twist.linear), &body_velocity));
            prop_assert_eq!(array(&twist.angular), g::apply(&BODY, rates));
            let world = &rig.messages::<TwistStamped>("local_position/velocity_local")[0].twist;
            prop_assert_eq!(array(&world.linear), g::apply(&WORLD, velocity));
            let turned = g::apply(&enu_from_flu, g::apply(&BODY, rates));
            prop_assert!(close(&array(&world.angular), &turned));

            // A covariance is a root times its transpose.
            let root: g::Matrix =
                std::array::from_fn(|r| std::array::from_fn(|c| f64::from(root[3 * r + c])));
            let ned = g::product(&root, &g::transpose(&root));
            let mut message = LocalPositionNedCov::default();
            let at = |row: usize, column: usize| row * 9 - row * (row + 1) / 2 + column;
            for (block, row, column) in UPPER {
                message.covariance[at(3 * block + row, 3 * block + column)] =
                    ned[row][column] as f32;
            }
            rig.say(message);
            let odom = &rig.messages::<Odometry>("local_position/odom")[1];
            let enu = g::product(&g::product(&WORLD, &ned), &g::transpose(&WORLD));
            let flu = g::product(&g::product(&g::transpose(&enu_from_flu), &enu), &enu_from_flu);
            prop_assert!(g::matrix_difference(&linear_part(&odom.pose.covariance), &enu) < 1e-5);
            prop_assert!(g::matrix_difference(&linear_part(&odom.twist.covariance), &flu) < 1e-5);
            // The odometry without covariance counts again only later.
            rig.pass(Duration::from_millis(2010));
            Ok(())
        })
        .unwrap();
}
