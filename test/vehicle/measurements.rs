//! What is published was measured, by the autopilot, then: no NaN, no INT_MIN, no neighbour, no attitude of before.
use super::rig::{Rig, START};
use rfly_bridge::frames::Geoid;
use rfly_bridge::msgs::builtin_interfaces::msg::Time;
use rfly_bridge::msgs::geographic_msgs::msg::GeoPointStamped;
use rfly_bridge::msgs::geometry_msgs::msg::{
    PoseStamped, TwistStamped, TwistWithCovarianceStamped,
};
use rfly_bridge::msgs::mavros_msgs::msg::{
    ExtendedState, GlobalPositionTarget, HilActuatorControls as HilMessage, HomePosition,
    StatusText as Text, Vibration,
};
use rfly_bridge::msgs::nav_msgs::msg::Odometry;
use rfly_bridge::msgs::sensor_msgs::msg::{
    FluidPressure, Imu, MagneticField, NavSatFix, Temperature,
};
use rfly_bridge::msgs::std_msgs::msg::Float64;
use rfly_bridge::session::ClockLine;
use rfly_bridge::time::RosTime;
use rfly_bridge::vehicle::{Stamp, StampOrder, VehicleSettings};
use rfly_bridge::wire::mavlink::dialect::{
    ATTITUDE_DATA, ATTITUDE_QUATERNION_DATA, GLOBAL_POSITION_INT_DATA, GPS_GLOBAL_ORIGIN_DATA,
    HIGHRES_IMU_DATA, HOME_POSITION_DATA, HighresImuUpdatedFlags, LOCAL_POSITION_NED_DATA,
    VIBRATION_DATA, WIND_COV_DATA,
};
use rfly_bridge::wire::mavlink::raw::{
    ExtendedSysState, GpsRawInt, HilActuatorControls, LocalPositionNedCov, OdometryMessage,
    PositionTargetGlobalInt, StatusText,
};
use rfly_bridge::wire::mavlink::{Encoder, MavMessage, Outbound};
use std::time::Duration;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn rig() -> Rig {
    let mut rig =
        Rig::new(VehicleSettings { geoid: Geoid::Constant(17.0), ..VehicleSettings::default() });
    rig.beat();
    rig
}

fn attitude(time_boot_ms: u32, yaw: f32) -> MavMessage {
    MavMessage::ATTITUDE(ATTITUDE_DATA { time_boot_ms, yaw, ..ATTITUDE_DATA::default() })
}

fn local(time_boot_ms: u32, x: f32) -> MavMessage {
    MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
        time_boot_ms,
        x,
        ..LOCAL_POSITION_NED_DATA::default()
    })
}

fn global(lat: i32, lon: i32, alt: i32, relative_alt: i32) -> MavMessage {
    MavMessage::GLOBAL_POSITION_INT(GLOBAL_POSITION_INT_DATA {
        lat,
        lon,
        alt,
        relative_alt,
        ..GLOBAL_POSITION_INT_DATA::default()
    })
}

/// How many messages there are on each of these topics.
macro_rules! published {
    ($rig:expr, $($topic:literal $type:ty),+) => {
        [$($rig.messages::<$type>($topic).len()),+]
    };
}

#[test]
fn numbers_that_are_none_are_counted_and_not_published() {
    let mut rig = rig();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        rig.say(attitude(100, 0.5));
        rig.recorder.clear();
        let before = rig.counted("not_finite");
        rig.say(local(110, bad));
        rig.say(LocalPositionNedCov {
            velocity: [0.0, bad, 0.0],
            ..LocalPositionNedCov::default()
        });
        rig.say(OdometryMessage {
            frame_id: 1,
            child_frame_id: 8,
            q: [1.0, 0.0, 0.0, 0.0],
            position: [0.0, 0.0, bad],
            ..OdometryMessage::default()
        });
        rig.say(MavMessage::HIGHRES_IMU(HIGHRES_IMU_DATA {
            fields_updated: HighresImuUpdatedFlags::all(),
            yacc: bad,
            zmag: bad,
            abs_pressure: bad,
            diff_pressure: bad,
            temperature: bad,
            ..HIGHRES_IMU_DATA::default()
        }));
        rig.say(MavMessage::VIBRATION(VIBRATION_DATA {
            vibration_x: bad,
            ..VIBRATION_DATA::default()
        }));
        rig.say(MavMessage::WIND_COV(WIND_COV_DATA { wind_y: bad, ..WIND_COV_DATA::default() }));
        let published = published!(
            rig,
            "local_position/pose" PoseStamped,
            "local_position/odom" Odometry,
            "local_position/velocity_local" TwistStamped,
            "local_position/velocity_body_cov" TwistWithCovarianceStamped,
            "odometry/in" Odometry,
            "imu/data_raw" Imu,
            "imu/mag" MagneticField,
            "imu/static_pressure" FluidPressure,
            "imu/diff_pressure" FluidPressure,
            "imu/temperature_imu" Temperature,
            "vibration/raw/vibration" Vibration,
            "wind_estimation" TwistWithCovarianceStamped
        );
        assert_eq!(published, [0; 12], "{bad}");
        assert_eq!(rig.counted("not_finite") - before, 10, "{bad}");
        // The next attitude has no force that was none.
        rig.say(attitude(120, 0.5));
        let imu = &rig.messages::<Imu>("imu/data")[0];
        assert!(imu.linear_acceleration.y.is_finite());
    }
}

#[test]
fn a_place_that_is_nowhere_is_no_place_and_an_altitude_that_is_not_known_is_not_a_number() {
    const LAT: i32 = 401_540_302;
    const LON: i32 = 1_162_593_683;
    let mut rig = rig();
    for (lat, lon) in [(i32::MIN, i32::MIN), (i32::MAX, LON), (LAT, i32::MIN), (900_000_001, LON)] {
        rig.recorder.clear();
        let before = rig.counted("bad_position");
        rig.say(global(lat, lon, 0, 0));
        rig.say(GpsRawInt { lat, lon, ..GpsRawInt::default() });
        rig.say(MavMessage::GPS_GLOBAL_ORIGIN(GPS_GLOBAL_ORIGIN_DATA {
            latitude: lat,
            longitude: lon,
            ..GPS_GLOBAL_ORIGIN_DATA::default()
        }));
        rig.say(MavMessage::HOME_POSITION(HOME_POSITION_DATA {
            latitude: lat,
            longitude: lon,
            ..HOME_POSITION_DATA::default()
        }));
        rig.say(PositionTargetGlobalInt {
            lat,
            lon,
            coordinate_frame: 5,
            ..PositionTargetGlobalInt::default()
        });
        let published = published!(
            rig,
            "global_position/global" NavSatFix,
            "global_position/local" Odometry,
            "global_position/rel_alt" Float64,
            "global_position/raw/fix" NavSatFix,
            "global_position/gp_origin" GeoPointStamped,
            "home_position/home" HomePosition,
            "setpoint_raw/target_global" GlobalPositionTarget
        );
        assert_eq!(published, [0; 7], "{lat} {lon}");
        assert_eq!(rig.counted("bad_position") - before, 5);
    }
    assert_eq!(rig.handle().with(|a| (a.fcu.home, a.fcu.origin())), Some((None, None)));
    rig.recorder.clear();
    rig.say(global(LAT, LON, i32::MIN, i32::MIN));
    let fix = &rig.messages::<NavSatFix>("global_position/global")[0];
    assert!((fix.latitude - 40.154_030_2).abs() < 1e-9 && fix.altitude.is_nan());
    assert!(rig.messages::<Float64>("global_position/rel_alt")[0].data.is_nan());
    assert!(rig.messages::<Odometry>("global_position/local").is_empty());
}

#[test]
fn a_quaternion_of_which_a_part_is_not_known_is_none() {
    let mut rig = rig();
    rig.say(MavMessage::HOME_POSITION(HOME_POSITION_DATA {
        latitude: 401_540_302,
        longitude: 1_162_593_683,
        q: [f32::NAN, 0.0, 0.0, 0.0],
        approach_x: f32::INFINITY,
        ..HOME_POSITION_DATA::default()
    }));
    let home = &rig.messages::<HomePosition>("home_position/home")[0];
    let q = &home.orientation;
    assert!([q.w, q.x, q.y, q.z].iter().all(|c| c.is_nan()), "as mavros");
    assert!(home.approach.y.is_nan() && home.approach.x == 0.0);
}

#[test]
fn an_old_attitude_never_gets_a_new_stamp() {
    let mut rig = rig();
    let poses = |rig: &Rig| {
        let published = published!(
            rig,
            "local_position/pose" PoseStamped,
            "local_position/odom" Odometry,
            "local_position/velocity_body" TwistStamped,
            "local_position/velocity_local" TwistStamped
        );
        rig.recorder.clear();
        let estimate = rig.handle().with(|a| a.fcu.estimate.take()).flatten();
        (published, estimate.is_some())
    };
    // Before the first one there is none; velocities of the world need none.
    rig.say(local(100, 1.0));
    assert_eq!(poses(&rig), ([0, 0, 0, 1], false));
    rig.say(attitude(110, 0.5));
    rig.say(local(120, 1.0));
    assert_eq!(poses(&rig), ([1; 4], true));
    // Attitudes have stopped, positions have not.
    rig.pass(ms(400));
    rig.say(local(520, 1.0));
    assert_eq!(poses(&rig), ([1; 4], true));
    rig.pass(ms(400));
    rig.say(local(920, 1.0));
    assert_eq!(poses(&rig), ([0, 0, 0, 1], false));
    assert_eq!(rig.counted("position_without_attitude"), 2);
    rig.say(attitude(930, 0.5));
    rig.say(local(940, 1.0));
    assert_eq!(poses(&rig), ([1; 4], true));
    // The estimator says that it has lost it.
    rig.say(MavMessage::ATTITUDE_QUATERNION(ATTITUDE_QUATERNION_DATA {
        time_boot_ms: 950,
        q1: f32::NAN,
        ..ATTITUDE_QUATERNION_DATA::default()
    }));
    rig.say(local(960, 1.0));
    assert_eq!(poses(&rig), ([0, 0, 0, 1], false));
    assert_eq!(rig.counted("bad_attitude"), 1);
}

#[test]
fn what_was_overtaken_on_its_way_is_counted_and_not_published_after_what_is_newer() {
    let mut rig = rig();
    let sample = |time_usec| {
        MavMessage::HIGHRES_IMU(HIGHRES_IMU_DATA {
            time_usec,
            fields_updated: HighresImuUpdatedFlags::all(),
            ..HIGHRES_IMU_DATA::default()
        })
    };
    for at in [5000u32, 5020, 5010, 5030] {
        rig.say(attitude(at, 0.5));
        rig.say(local(at, 1.0));
        rig.say(sample(u64::from(at) * 1000));
    }
    let published = published!(
        rig,
        "imu/data" Imu,
        "imu/data_raw" Imu,
        "local_position/pose" PoseStamped
    );
    assert_eq!(published, [3; 3]);
    assert_eq!(rig.counted("late"), 3);
    // One that starts again is not late.
    rig.say(attitude(20, 0.5));
    assert_eq!(rig.messages::<Imu>("imu/data").len(), 4);
}

#[test]
fn only_the_autopilot_is_the_vehicle() {
    let rig = rig();
    let mut others = 0;
    for component in [2, 154, 191, 197] {
        let say = |message: Outbound| {
            rig.receive(Encoder::new(1, component).encode(&message).as_bytes());
        };
        say(attitude(100, 0.5).into());
        say(local(100, 50.0).into());
        say(global(401_540_302, 1_162_593_683, 50_000, 0).into());
        say(ExtendedSysState { landed_state: 2, ..ExtendedSysState::default() }.into());
        others += 4;
    }
    let published = published!(
        rig,
        "imu/data" Imu,
        "local_position/pose" PoseStamped,
        "local_position/velocity_local" TwistStamped,
        "global_position/global" NavSatFix,
        "extended_state" ExtendedState
    );
    assert_eq!(published, [0; 5]);
    assert_eq!(rig.counted("foreign_component"), others);
    // What it has to say to people is heard.
    let mut text = [0; 50];
    text[..4].copy_from_slice(b"lens");
    let say = StatusText { severity: 4, text, ..StatusText::default() };
    rig.receive(Encoder::new(1, 154).encode(&say.into()).as_bytes());
    assert_eq!(rig.messages::<Text>("statustext/recv").len(), 1);
}

#[test]
fn the_true_state_in_actuator_controls_is_a_true_state() {
    let mut rig = rig();
    let mut controls = [0.0; 16];
    for (to, value) in controls.iter_mut().zip(1u8..) {
        *to = f32::from(value);
    }
    let truth = HilActuatorControls { time_usec: 12_345, flags: 1_234_567_890, controls, mode: 0 };
    rig.say(truth);
    rig.say(HilActuatorControls { mode: 2, ..truth });
    let motors = HilActuatorControls { flags: 1, ..truth };
    rig.say(motors);
    let shown = rig.messages::<HilMessage>("hil/actuator_controls");
    assert_eq!(shown.len(), 1, "the motors");
    assert_eq!(shown[0].flags, 1);
    let truths = rig.handle().with(|a| a.fcu.take_truths()).unwrap();
    let [(first, _), (second, _)] = &truths[..] else { panic!("{truths:?}") };
    assert_eq!((first.copter_id, first.sim_time), (1, 12.345));
    assert_eq!(first.euler, [1.0, 2.0, 3.0]);
    assert_eq!(first.position, [4.0, 5.0, 6.0]);
    assert_eq!(first.velocity, [7.0, 8.0, 9.0]);
    assert_eq!(first.rate, Some([10.0, 11.0, 12.0]));
    assert_eq!((first.collided_with, second.collided_with), (None, Some(16)));
    // The time of the motors is one since boot.
    let stamp = &shown[0].header.stamp;
    assert_eq!(i64::from(stamp.sec), START.0 / 1_000_000_000);
}

fn ns(stamp: &Time) -> i64 {
    i64::from(stamp.sec) * 1_000_000_000 + i64::from(stamp.nanosec)
}

#[test]
fn stamps_are_never_later_than_now_nor_go_back() {
    let mut rig = rig();
    let now = |rig: &Rig| rig.handle().with(|a| a.fcu.now.ros.0).unwrap();
    // The autopilot's clock is thought to be ahead, behind, and far off.
    let offsets = [5_000_000, -30_000_000, 84_000_000, -394_000_000, 3_000_000_000, 0];
    let mut last = [0; 2];
    for (round, offset) in offsets.into_iter().enumerate() {
        for step in 0..20u32 {
            rig.pass(ms(10));
            let boot_ms = 5000 + (round as u32 * 20 + step) * 10;
            let line = now(&rig) - i64::from(boot_ms) * 1_000_000 + offset;
            rig.handle().with(|a| a.fcu.clock = Some(ClockLine::constant(line)));
            rig.say(attitude(boot_ms, 0.5));
            rig.say(local(boot_ms, 1.0));
            let imu = ns(&rig.messages::<Imu>("imu/data")[0].header.stamp);
            let pose = ns(&rig.messages::<PoseStamped>("local_position/pose")[0].header.stamp);
            let estimate = rig.handle().with(|a| a.fcu.estimate.take()).flatten();
            assert_eq!(estimate.unwrap().stamp.0, pose, "TF has the stamps of poses");
            rig.recorder.clear();
            for (stamp, last) in [imu, pose].into_iter().zip(&mut last) {
                assert!(stamp <= now(&rig), "{} ns ahead", stamp - now(&rig));
                assert!(stamp > *last, "{} ns back", *last - stamp);
                *last = stamp;
            }
        }
        rig.beat();
    }
}

#[test]
fn a_clock_of_this_host_that_is_set_back_takes_the_stamps_with_it() {
    let mut order = StampOrder::default();
    let mut next = |at, now| order.next(Stamp::new(RosTime(at), RosTime(now))).0;
    assert_eq!(next(100, 90), 90, "not later than now");
    assert_eq!(next(80, 100), 91, "not back");
    assert_eq!(next(91, 100), 91, "the same sample");
    assert_eq!(next(45, 50), 50, "the clock was set");
    assert_eq!(next(55, 60), 55);
}
