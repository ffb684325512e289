//! A flight of real PX4, replayed: what each topic says, against bytes taken by hand and the summary of the recorder.
use super::rig::Rig;
use crate::support::{geometry as g, golden};
use rfly_bridge::frames::Geoid;
use rfly_bridge::msgs::geometry_msgs::msg::{PoseStamped, TwistStamped};
use rfly_bridge::msgs::mavros_msgs::msg::{
    Altitude, AttitudeTarget, EstimatorStatus, ExtendedState, GPSRAW, HomePosition, PositionTarget,
    State, StatusEvent, SysStatus, VfrHud,
};
use rfly_bridge::msgs::nav_msgs::msg::Odometry;
use rfly_bridge::msgs::sensor_msgs::msg::{BatteryState, Imu, MagneticField, NavSatFix};
use rfly_bridge::msgs::std_msgs::msg::Float64;
use rfly_bridge::vehicle::{TOPICS, VehicleSettings};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

const GEOID: f64 = 17.0;
/// NED to ENU, and FRD to FLU, as matrices.
const WORLD: g::Matrix = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]];
const BODY: g::Matrix = [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]];

/// One frame from PX4, with its payload filled up with zeros.
struct Recorded {
    time: f64,
    bytes: Vec<u8>,
    id: u32,
    payload: Vec<u8>,
}

impl Recorded {
    fn f32(&self, at: usize) -> f64 {
        f32::from_le_bytes(self.payload[at..at + 4].try_into().unwrap()).into()
    }
    fn i32(&self, at: usize) -> f64 {
        i32::from_le_bytes(self.payload[at..at + 4].try_into().unwrap()).into()
    }
    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.payload[at..at + 4].try_into().unwrap())
    }
    fn i16(&self, at: usize) -> f64 {
        i16::from_le_bytes(self.payload[at..at + 2].try_into().unwrap()).into()
    }
    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.payload[at..at + 2].try_into().unwrap())
    }
    fn vector(&self, at: usize) -> [f64; 3] {
        [self.f32(at), self.f32(at + 4), self.f32(at + 8)]
    }
}

fn flight() -> Vec<Recorded> {
    let file = golden::fixture("golden/mavros/px4_flight.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["d"] == "<")
        .map(|line| {
            let bytes = golden::unhex(line["h"].as_str().unwrap());
            assert_eq!(bytes[0], 0xfd, "PX4 speaks MAVLink 2");
            let mut payload = bytes[10..10 + usize::from(bytes[1])].to_vec();
            payload.resize(255, 0);
            Recorded {
                time: line["t"].as_f64().unwrap(),
                id: u32::from_le_bytes([bytes[7], bytes[8], bytes[9], 0]),
                payload,
                bytes,
            }
        })
        .collect()
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.iter()
        .zip(b)
        .all(|(a, b)| (a - b).abs() <= 1e-5 * b.abs().max(1.0) || a.is_nan() && b.is_nan())
}

/// What was seen, for the comparison with the summary.
#[derive(Default)]
struct Seen {
    /// Time, position and velocity, ENU.
    poses: Vec<(f64, [f64; 3], [f64; 3])>,
    /// Time and FLU in ENU.
    attitudes: Vec<(f64, g::Matrix)>,
    modes: Vec<(f64, bool, String, u8)>,
    landed: Vec<(f64, u8)>,
    topics: BTreeMap<&'static str, usize>,
}

impl Seen {
    /// Compares what a frame gave with its bytes.
    fn check(&mut self, rig: &Rig, m: &Recorded) {
        let enu_from_flu = self.attitudes.last().map(|(_, attitude)| *attitude);
        macro_rules! one {
            ($type:ty, $topic:literal) => {{
                let mut messages = rig.messages::<$type>($topic);
                assert_eq!(messages.len(), 1, "{} at {} s", $topic, m.time);
                messages.remove(0)
            }};
        }
        match m.id {
            0 => {
                let state = one!(State, "state");
                assert_eq!((state.connected, state.armed), (true, m.payload[6] & 128 != 0));
                let new = (state.armed, state.mode, state.system_status);
                if self.modes.last().map(|(_, a, b, c)| (*a, b.clone(), *c)) != Some(new.clone()) {
                    self.modes.push((m.time, new.0, new.1, new.2));
                }
            }
            1 => {
                let status = one!(SysStatus, "sys_status");
                assert_eq!(status.sensors_health, m.u32(8));
                assert_eq!((status.load, status.voltage_battery), (m.u16(12), m.u16(14)));
            }
            24 => {
                let fix = one!(NavSatFix, "global_position/raw/fix");
                assert!(close(&[fix.latitude, fix.longitude], &[m.i32(8) / 1e7, m.i32(12) / 1e7]));
                assert!(close(&[fix.altitude], &[m.i32(16) / 1e3 + GEOID]));
                assert_eq!(one!(GPSRAW, "gpsstatus/gps1/raw").fix_type, m.payload[28]);
            }
            30 => {
                let imu = one!(Imu, "imu/data");
                let ned_from_frd = g::euler_zyx(m.vector(4));
                let expected = g::product(&g::product(&WORLD, &ned_from_frd), &BODY);
                let q = &imu.orientation;
                let found = g::quaternion_matrix([q.w, q.x, q.y, q.z]);
                assert!(g::matrix_difference(&found, &expected) < 1e-6, "at {} s", m.time);
                let rates = &imu.angular_velocity;
                assert!(close(&[rates.x, rates.y, rates.z], &g::apply(&BODY, m.vector(16))));
                self.attitudes.push((m.time, expected));
            }
            32 => {
                if self.attitudes.is_empty() {
                    return; // a pose needs one
                }
                let pose = one!(PoseStamped, "local_position/pose").pose;
                let (position, velocity) =
                    (g::apply(&WORLD, m.vector(4)), g::apply(&WORLD, m.vector(16)));
                let p = &pose.position;
                assert!(close(&[p.x, p.y, p.z], &position));
                let local = one!(TwistStamped, "local_position/velocity_local").twist.linear;
                assert!(close(&[local.x, local.y, local.z], &velocity));
                let body = one!(TwistStamped, "local_position/velocity_body").twist.linear;
                let odom = one!(Odometry, "local_position/odom");
                assert_eq!((&odom.pose.pose, &odom.twist.twist.linear), (&pose, &body));
                if let Some(r) = enu_from_flu {
                    let back = g::apply(&r, [body.x, body.y, body.z]);
                    assert!(close(&back, &velocity), "{back:?} {velocity:?}");
                }
                self.poses.push((m.time, position, velocity));
            }
            33 => {
                let fix = one!(NavSatFix, "global_position/global");
                let place = [m.i32(4) / 1e7, m.i32(8) / 1e7, m.i32(12) / 1e3 + GEOID];
                assert!(close(&[fix.latitude, fix.longitude, fix.altitude], &place));
                assert!(close(
                    &[one!(Float64, "global_position/rel_alt").data],
                    &[m.i32(16) / 1e3]
                ));
                let heading = one!(Float64, "global_position/compass_hdg").data;
                assert!(close(&[heading], &[f64::from(m.u16(26)) / 1e2]));
                let velocity = one!(Odometry, "global_position/local").twist.twist.linear;
                let expected = [m.i16(22) / 1e2, m.i16(20) / 1e2, -m.i16(24) / 1e2];
                assert!(close(&[velocity.x, velocity.y, velocity.z], &expected));
            }
            74 => {
                let hud = one!(VfrHud, "vfr_hud");
                let found = [hud.airspeed, hud.groundspeed, hud.altitude, hud.climb].map(f64::from);
                assert!(close(&found, &[m.f32(0), m.f32(4), m.f32(8), m.f32(12)]));
                assert!(close(&[hud.throttle.into()], &[f64::from(m.u16(18)) / 1e2]));
            }
            83 => {
                let target = one!(AttitudeTarget, "setpoint_raw/target_attitude");
                let q = [m.f32(4), m.f32(8), m.f32(12), m.f32(16)];
                let expected = g::product(&g::product(&WORLD, &g::quaternion_matrix(q)), &BODY);
                let o = &target.orientation;
                let found = g::quaternion_matrix([o.w, o.x, o.y, o.z]);
                assert!(g::matrix_difference(&found, &expected) < 1e-5);
                assert!(close(&[target.thrust.into()], &[m.f32(32)]));
            }
            85 => {
                let target = one!(PositionTarget, "setpoint_raw/target_local");
                assert_eq!((target.coordinate_frame, target.type_mask), (1, m.u16(48)));
                let (p, v) = (&target.position, &target.velocity);
                assert!(close(&[p.x, p.y, p.z], &[m.f32(8), m.f32(4), -m.f32(12)]));
                assert!(close(&[v.x, v.y, v.z], &[m.f32(20), m.f32(16), -m.f32(24)]));
                let turned = f64::from(target.yaw) + m.f32(40) - std::f64::consts::FRAC_PI_2;
                assert!(turned.is_nan() || turned.sin().abs() < 1e-5 && turned.cos() > 0.0);
            }
            105 => {
                let force = one!(Imu, "imu/data_raw").linear_acceleration;
                assert!(close(&[force.x, force.y, force.z], &g::apply(&BODY, m.vector(8))));
                if m.u16(60) & 0b1_1100_0000 != 0 {
                    let field = one!(MagneticField, "imu/mag").magnetic_field;
                    let tesla = g::apply(&BODY, m.vector(32)).map(|gauss| gauss * 1e-4);
                    let found = [field.x, field.y, field.z];
                    assert!(g::difference(&found, &tesla) < 1e-11);
                    let strength = g::difference(&found, &[0.0; 3]);
                    assert!((1e-6..1e-4).contains(&strength), "that of the earth: {strength}");
                }
            }
            141 => {
                let altitude = one!(Altitude, "altitude");
                let found = [altitude.monotonic, altitude.amsl, altitude.relative].map(f64::from);
                assert!(close(&found, &[m.f32(8), m.f32(12), m.f32(20)]));
            }
            147 => {
                let battery = one!(BatteryState, "battery");
                assert!(close(&[battery.percentage.into()], &[f64::from(m.payload[35]) / 1e2]));
                assert!((10.0..20.0).contains(&battery.voltage), "{}", battery.voltage);
                // The simulated battery of PX4 is charged with 1 A.
                assert!(close(&[battery.current.into()], &[-m.i16(30) / 1e2]));
            }
            230 => {
                let status = one!(EstimatorStatus, "estimator_status");
                assert_eq!(status.attitude_status_flag, m.u16(40) & 1 != 0);
            }
            242 => {
                let home = one!(HomePosition, "home_position/home");
                let found = [home.geo.latitude, home.geo.longitude, home.geo.altitude];
                assert!(close(&found, &[m.i32(0) / 1e7, m.i32(4) / 1e7, m.i32(8) / 1e3 + GEOID]));
            }
            245 => {
                let state = one!(ExtendedState, "extended_state");
                assert_eq!((state.vtol_state, state.landed_state), (m.payload[0], m.payload[1]));
                if self.landed.last().map(|(_, landed)| *landed) != Some(state.landed_state) {
                    self.landed.push((m.time, state.landed_state));
                }
            }
            410 => assert_eq!(one!(StatusEvent, "status_event").px4_id, m.u32(0) & 0xff_ffff),
            _ => (),
        }
    }

    fn count(&mut self, rig: &Rig) {
        let published = TOPICS.iter().filter(|spec| spec.is_published());
        for spec in published.filter(|spec| !spec.name.starts_with('/')) {
            let count = rig.recorder.raw(&format!("/mavros/{}", spec.name)).len();
            *self.topics.entry(spec.name).or_default() += count;
        }
    }
}

fn rows(table: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(table["rows"].clone()).unwrap()
}

fn nearest<T>(of: &[T], time: f64, when: impl Fn(&T) -> f64) -> &T {
    let far = |item: &&T| ((when(item) - time).abs() * 1e6) as u64;
    of.iter().min_by_key(far).unwrap()
}

#[test]
fn the_recorded_flight_gives_the_topics_with_the_right_content() {
    let flight = flight();
    let rig =
        Rig::new(VehicleSettings { geoid: Geoid::Constant(GEOID), ..VehicleSettings::default() });
    let mut seen = Seen::default();
    let mut frames = BTreeMap::<u32, usize>::new();
    let mut now = 0.0;
    for frame in &flight {
        rig.pass(Duration::from_secs_f64(frame.time - now));
        now = frame.time;
        rig.recorder.clear();
        rig.receive(&frame.bytes);
        *frames.entry(frame.id).or_default() += 1;
        seen.check(&rig, frame);
        seen.count(&rig);
    }
    assert_eq!(rig.counted("frames"), flight.len() as u64);

    // One message for each frame, and nothing by itself.
    for (topic, id) in [
        ("state", 0),
        ("sys_status", 1),
        ("global_position/raw/fix", 24),
        ("imu/data", 30),
        ("local_position/pose", 32),
        ("local_position/odom", 32),
        ("global_position/global", 33),
        ("vfr_hud", 74),
        ("setpoint_raw/target_attitude", 83),
        ("setpoint_raw/target_local", 85),
        ("setpoint_raw/target_global", 87),
        ("imu/data_raw", 105),
        ("altitude", 141),
        ("estimator_status", 230),
        ("home_position/home", 242),
        ("extended_state", 245),
        ("status_event", 410),
    ] {
        // The first position comes before the first attitude.
        let without = usize::from(topic == "local_position/pose" || topic == "local_position/odom");
        assert_eq!(seen.topics[topic] + without, frames[&id], "{topic}");
    }
    // SYS_STATUS stands in for the battery until the battery speaks.
    assert!((frames[&147]..frames[&147] + 10).contains(&seen.topics["battery"]));

    let summary = golden::json("golden/mavros/px4_flight_summary.json");
    for row in rows(&summary["trajectory_ned"]) {
        let [t, north, east, down, vn, ve, vd] = row[..] else { panic!("{row:?}") };
        let (at, position, velocity) = nearest(&seen.poses, t, |pose| pose.0);
        // The recording is thinned: what is near in time is near in place.
        let near = |found: &[f64; 3], expected: [f64; 3], per_second: f64| {
            g::difference(found, &expected) < 0.02 + per_second * (at - t).abs()
        };
        assert!((at - t).abs() < 0.5, "no pose at {t} s");
        assert!(near(position, [east, north, -down], 8.0), "position at {t} s: {position:?}");
        assert!(near(velocity, [ve, vn, -vd], 12.0), "velocity at {t} s: {velocity:?}");
    }
    for row in rows(&summary["attitude"]) {
        let [t, roll, pitch, yaw] = row[..] else { panic!("{row:?}") };
        let expected = g::product(&g::product(&WORLD, &g::euler_zyx([roll, pitch, yaw])), &BODY);
        let (at, attitude) = nearest(&seen.attitudes, t, |attitude| attitude.0);
        let difference = g::matrix_difference(attitude, &expected);
        assert!(difference < 2e-3 + 4.0 * (at - t).abs(), "attitude at {t} s: {difference}");
    }
    let changes = summary["heartbeat_changes"].as_array().unwrap();
    let expected: Vec<_> = changes
        .iter()
        .map(|change| {
            let number = |key: &str| change[key].as_u64().unwrap();
            let mode = match (number("main"), number("sub")) {
                (6, 0) => "OFFBOARD",
                (3, 0) => "POSCTL",
                (4, 6) => "AUTO.LAND",
                other => panic!("{other:?}"),
            };
            let armed = number("base_mode") & 128 != 0;
            (armed, mode.to_owned(), number("system_status") as u8)
        })
        .collect();
    let modes: Vec<_> = seen.modes.iter().map(|(_, a, b, c)| (*a, b.clone(), *c)).collect();
    assert_eq!(modes, expected);
    let landed: Vec<(f64, u8)> =
        serde_json::from_value(summary["landed_state_changes"].clone()).unwrap();
    assert_eq!(landed.len(), seen.landed.len());
    for ((t, state), (at, found)) in landed.iter().zip(&seen.landed) {
        assert_eq!((state, (t - at).abs() < 0.5), (found, true));
    }
}
