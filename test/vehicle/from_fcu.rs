//! What mavros published for 235 recorded messages of an autopilot, field by field.
use super::json::{plain, same};
use super::rig::{Rig, START};
use crate::support::golden;
use rfly_bridge::msgs::{
    Message, geographic_msgs, geometry_msgs, mavros_msgs, nav_msgs, sensor_msgs, std_msgs,
};
use rfly_bridge::session::ClockLine;
use rfly_bridge::time::RosTime;
use rfly_bridge::vehicle::{TOPICS, VehicleSettings};
use rfly_bridge::wire::mavlink::raw::Heartbeat;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Where we differ from mavros on purpose.
struct Difference {
    /// Cases, all of which must differ.
    cases: &'static [&'static str],
    topic: &'static str,
    /// Path of the field; empty: one of us publishes the topic, the other one does not.
    field: &'static str,
    why: &'static str,
    /// `compat.mavros_quirks` brings it back.
    quirk: bool,
}

impl Difference {
    /// The name in the list by which this case (`group/id`) is meant.
    fn names(&self, case: &str) -> Option<&'static str> {
        let id = case.split_once('/').map(|(_, id)| id);
        let known = |name: &&&str| **name == case || Some(**name) == id;
        self.cases.iter().find(known).copied()
    }
}

const fn differ(
    cases: &'static [&'static str],
    topic: &'static str,
    field: &'static str,
    why: &'static str,
) -> Difference {
    Difference { cases, topic, field, why, quirk: false }
}

/// A difference that `compat.mavros_quirks` takes away.
const fn corrected(
    cases: &'static [&'static str],
    topic: &'static str,
    field: &'static str,
    why: &'static str,
) -> Difference {
    Difference { quirk: true, ..differ(cases, topic, field, why) }
}

/// One difference in every message of these topics, which the quirks take away: positions and velocities that the
/// autopilot counts from its own origin are in a frame that is there, and not in the map, where they would be elsewhere.
/// Topic, frame of mavros, frame here.
const FRAMES: [(&str, &str, &str); 9] = [
    ("local_position/pose", "map", LOCAL),
    ("local_position/pose_cov", "map", LOCAL),
    ("local_position/odom", "map", LOCAL),
    ("local_position/accel", "map", LOCAL),
    ("local_position/velocity_local", "base_link", LOCAL),
    ("global_position/local", "map", LOCAL),
    ("global_position/raw/gps_vel", "map", LOCAL),
    ("odometry/in", "odom", LOCAL),
    // Where it has axes of the body, that is its frame.
    ("setpoint_raw/target_local", "", "local_origin or base_link"),
];
const LOCAL: &str = "local_origin";

const DIFFERENCES: &[Difference] = &[
    differ(&["attitude_quat_comp2"], "imu/data", "", AUTOPILOT),
    differ(OTHER, "local_position/pose", "", AUTOPILOT),
    differ(OTHER, "local_position/velocity_body", "", AUTOPILOT),
    differ(OTHER, "local_position/velocity_local", "", AUTOPILOT),
    corrected(NO_ATTITUDE, "local_position/odom", "", TURNED),
    corrected(NO_ATTITUDE, "local_position/pose", "", TURNED),
    corrected(NO_ATTITUDE, "local_position/velocity_body", "", TURNED),
    corrected(
        &["highres_imu_8191", "highres_imu_512", "highres_imu_3584", "highres_imu_after_quat"],
        "imu/static_pressure",
        "fluid_pressure",
        "hPa into a field of Pa",
    ),
    corrected(
        &["highres_imu_8191", "highres_imu_1024", "highres_imu_3584", "highres_imu_after_quat"],
        "imu/diff_pressure",
        "fluid_pressure",
        "hPa into a field of Pa",
    ),
    corrected(
        &["raw_imu_before_hr", "scaled_imu_before_hr"],
        "imu/mag",
        "magnetic_field",
        "mG times 1000 into a field of T",
    ),
    corrected(COV, "local_position/accel", "accel.covariance", VARIANCES),
    corrected(COV, "local_position/pose_cov", "pose.covariance", VARIANCES),
    corrected(COV, "local_position/velocity_body_cov", "twist.covariance", VARIANCES),
    corrected(COV, "local_position/odom", "pose.covariance", VARIANCES),
    corrected(COV, "local_position/odom", "twist.covariance", VARIANCES),
    corrected(
        &["gpi_home_0", "gpi_home_1", "gpi_home_2", "gpi_hdg_unknown", "gpi_after_acc"],
        "global_position/local",
        "pose.pose.position",
        "from the local origin, which is not at home; test/vehicle/origin.rs has the numbers",
    ),
    differ(
        &["gpi_before_fix"],
        "global_position/local",
        "pose.pose.position",
        "before the first fix mavros measures from the middle of the earth",
    ),
    corrected(POSITION_INT, "global_position/local", "twist.twist.linear.z", "up is positive"),
    corrected(
        BATTERY,
        "battery",
        "temperature",
        "mavros leaves it at 0; here it is what the battery says, or NaN",
    ),
    corrected(UNKNOWN_BATTERY, "battery", "voltage", "unknown is NaN"),
    corrected(UNKNOWN_BATTERY, "battery", "current", "unknown is NaN"),
    corrected(UNKNOWN_BATTERY, "battery", "percentage", "unknown is NaN"),
    corrected(BODY, "setpoint_raw/target_local", "position", FLU),
    corrected(BODY, "setpoint_raw/target_local", "velocity", FLU),
    corrected(BODY, "setpoint_raw/target_local", "acceleration_or_force", FLU),
    corrected(BODY, "setpoint_raw/target_local", "yaw", FLU),
    corrected(&["manual_control"], "manual_control/control", "x", SCALE),
    corrected(&["manual_control"], "manual_control/control", "y", SCALE),
    corrected(&["manual_control"], "manual_control/control", "z", SCALE),
    corrected(&["manual_control"], "manual_control/control", "r", SCALE),
    corrected(
        &["wind_cov"],
        "wind_estimation",
        "twist.covariance",
        "both horizontal axes have a variance",
    ),
    differ(&["statustext_chunked"], "statustext/recv", "", "the chunks of a text are joined"),
    differ(&["gps_unix_stamp"], "global_position/raw/fix", "", DIED),
    differ(&["gps_unix_stamp"], "global_position/raw/gps_vel", "", DIED),
    differ(&["gps_unix_stamp"], "global_position/raw/satellites", "", DIED),
    differ(&["gps_unix_stamp"], "gpsstatus/gps1/raw", "", DIED),
    differ(
        &["hb_px4_4_10", "hb_px4_3_1", "hb_px4_3_2", "hb_px4_9_0", "hb_px4_10_0"],
        "state",
        "mode",
        "modes that PX4 has and mavros does not know",
    ),
    differ(
        &["hb_px4_13_5", "hb_generic_autopilot"],
        "state",
        "mode",
        "a number without a name is shown as it came",
    ),
    differ(
        &["hb_final"],
        "state",
        "mode",
        "the first heartbeat after another kind of autopilot: mavros needs one more",
    ),
    differ(
        ARDUPILOT,
        "state",
        "mode",
        "the simulator flies PX4; modes of ArduPilot are shown as numbers",
    ),
];

#[rustfmt::skip] // a list
const ARDUPILOT: &[&str] = &[
    "hb_apm_copter_2", "hb_apm_copter_3", "hb_apm_copter_4", "hb_apm_copter_5", "hb_apm_copter_6",
    "hb_apm_copter_9", "hb_apm_copter_16", "hb_apm_copter_17", "hb_apm_copter_18",
    "hb_apm_plane_0", "hb_apm_plane_5", "hb_apm_plane_10", "hb_apm_plane_11", "hb_apm_plane_15",
    "hb_apm_rover_0", "hb_apm_rover_4", "hb_apm_rover_10",
];
const OTHER: &[&str] = &["lpned_other_comp"];
const AUTOPILOT: &str = "only the autopilot is the vehicle";
#[rustfmt::skip] // a list
const NO_ATTITUDE: &[&str] = &["lpned_without_attitude", "lpned_synced_0", "lpned_synced_1", "lpned_synced_2"];
const TURNED: &str = "mavros takes an unknown attitude for one that is not turned";
const COV: &[&str] = &["lpned_cov_0", "lpned_cov_1"];
const VARIANCES: &str =
    "mavros takes the variances alone, does not swap x and y, and does not turn those of the body";
#[rustfmt::skip] // a list
const BATTERY: &[&str] = &[
    "sys_status_0", "sys_status_1", "sys_status_unknown", "battery_0_lipo4", "battery_0_unknown",
    "battery_1_lion6", "battery_0_coalesce", "battery_0_12cells", "battery_0_type2",
    "battery_0_type4",
];
#[rustfmt::skip] // a list
const POSITION_INT: &[&str] = &[
    "gpi_before_fix", "gpi_no_home", "gpi_home_0", "gpi_home_1", "gpi_home_2", "gpi_hdg_unknown",
    "gpi_after_acc",
];
const UNKNOWN_BATTERY: &[&str] = &["sys_status_unknown", "battery_0_unknown"];
const BODY: &[&str] = &["pos_target_f8", "pos_target_f9"];
const FLU: &str = "frames of the body are FLU, as in the setpoint that they answer";
const SCALE: &str = "the scale is that of manual_control/send";
const DIED: &str = "mavros dies of a UNIX time";

/// Groups of another test: the protocols of parameters and missions.
const ELSEWHERE: &[&str] = &["mission_param"];
/// Cases without counterpart here.
const TOPICS_ELSEWHERE: &[&str] = &["time_reference"];

fn every_type<R>(name: &str, with: impl TypeVisitor<R>) -> R {
    macro_rules! visit {
        ($($package:ident::$($type:ident)+;)+) => {$($(
            if name == <$package::msg::$type as Message>::TYPE {
                return with.visit::<$package::msg::$type>();
            }
        )+)+};
    }
    visit! {
        geographic_msgs::GeoPointStamped;
        geometry_msgs::AccelWithCovarianceStamped PoseStamped PoseWithCovarianceStamped TwistStamped
            TwistWithCovarianceStamped;
        mavros_msgs::ActuatorControl Altitude AttitudeTarget DebugValue EstimatorStatus ExtendedState GPSRAW
            GlobalPositionTarget HilActuatorControls HomePosition ManualControl Mavlink NavControllerOutput
            PositionTarget RCIn RCOut State StatusEvent StatusText SysStatus VfrHud Vibration;
        nav_msgs::Odometry;
        sensor_msgs::BatteryState FluidPressure Imu MagneticField NavSatFix Temperature TimeReference;
        std_msgs::Float64 UInt32;
    }
    panic!("{name} is not in the list above");
}

trait TypeVisitor<R> {
    fn visit<M: Message>(self) -> R;
}

struct Published<'a>(&'a Rig, &'a str);

impl TypeVisitor<Vec<Value>> for Published<'_> {
    fn visit<M: Message>(self) -> Vec<Value> {
        self.0.messages::<M>(self.1).iter().map(plain).collect()
    }
}

/// Everything published since the last clear, by topic.
fn published(rig: &Rig) -> BTreeMap<&'static str, Vec<Value>> {
    TOPICS
        .iter()
        .filter(|spec| spec.is_published())
        .filter(|spec| !rig.recorder.raw(&format!("/mavros/{}", spec.name)).is_empty())
        .map(|spec| (spec.name, every_type(spec.interface, Published(rig, spec.name))))
        .collect()
}

fn standby() -> Heartbeat {
    Heartbeat {
        custom_mode: 0x30000,
        kind: 2,
        autopilot: 12,
        base_mode: 81,
        system_status: 3,
        mavlink_version: 3,
    }
}

/// Takes the field out of a recorded message.
fn take(message: &mut Value, path: &str) -> Value {
    let (inner, last) = path.rsplit_once('.').map_or((None, path), |(a, b)| (Some(a), b));
    let inner = inner.into_iter().flat_map(|inner| inner.split('.'));
    let mut at = message;
    for key in inner {
        at = match key.parse::<usize>() {
            Ok(index) => at.get_mut(index),
            Err(_) => at.get_mut(key),
        }
        .unwrap_or_else(|| panic!("no field {path}"));
    }
    at.as_object_mut()
        .and_then(|fields| fields.remove(last))
        .unwrap_or_else(|| panic!("no field {path}"))
}

fn get<'a>(message: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(message, |at, key| &at[key])
}

/// Attitudes are normalised here, and cells are divided by 1000 where mavros multiplies; they come with 24 bits.
const TOLERANCE: f64 = 3e-7;
/// Everything else is the same arithmetic.
const EXACT: f64 = 1e-12;

fn tolerance(topic: &str) -> f64 {
    let rounded =
        ["battery", "imu/data", "local_position/", "odometry/", "home_position/", "setpoint_raw/"];
    let global = topic == "global_position/local" || topic == "global_position/gp_lp_offset";
    if global || rounded.iter().any(|prefix| topic.starts_with(prefix)) && topic != "imu/data_raw" {
        TOLERANCE
    } else {
        EXACT
    }
}

struct Comparison {
    quirks: bool,
    problems: Vec<String>,
    used: BTreeSet<(usize, &'static str)>,
    compared: usize,
    /// Rows of [`FRAMES`] that there were messages of.
    frames: BTreeSet<usize>,
}

impl Comparison {
    fn topic(&mut self, case: &str, topic: &str, ours: &[Value], theirs: &[Value]) {
        let differences: Vec<_> = DIFFERENCES
            .iter()
            .enumerate()
            .filter(|(_, d)| !(self.quirks && d.quirk))
            .filter(|(_, d)| d.topic == topic && d.names(case).is_some())
            .collect();
        if let Some((n, _)) = differences.iter().find(|(_, d)| d.field.is_empty()) {
            if ours.len() != theirs.len() {
                self.mark(*n, case);
            }
            return;
        }
        if ours.len() != theirs.len() {
            let text = format!("{case} {topic}: {} messages, not {}", ours.len(), theirs.len());
            return self.problems.push(text);
        }
        for (ours, theirs) in ours.iter().zip(theirs) {
            let mut rest = theirs.clone();
            if !self.quirks {
                self.frame(case, topic, &mut rest);
            }
            for (n, difference) in &differences {
                let recorded = take(&mut rest, difference.field);
                if same(get(ours, difference.field), &recorded, tolerance(topic)).is_err() {
                    self.mark(*n, case);
                }
            }
            self.compared += 1;
            if let Err(problem) = same(ours, &rest, tolerance(topic)) {
                self.problems.push(format!("{case} {topic}{problem}"));
            }
        }
    }

    /// With a known clock, stamps are those of the autopilot, give or take what mavros' estimate was off; else the
    /// present.
    fn stamps(
        &mut self,
        case: &str,
        topic: &str,
        ours: &[Value],
        theirs: Option<&Value>,
        now: RosTime,
    ) {
        let ns = |stamp: &Value| {
            let part = |key: &str| stamp[key].as_i64().expect("a stamp");
            part("sec") * 1_000_000_000 + part("nanosec")
        };
        for ours in ours.iter().filter(|message| message.get("header").is_some()) {
            let ours = ns(&ours["header"]["stamp"]);
            // Before mavros knows the clock it takes the present.
            let (expected, tolerance) =
                theirs.map_or((now.0, i64::MAX), |theirs| (ns(theirs), 1_000_000));
            let late = ours > now.0;
            if late || (ours - expected).abs() > tolerance {
                let text = format!("{case} {topic}: stamp {ours} instead of {expected}");
                self.problems.push(text);
            }
        }
    }

    /// Replaces the frame that mavros gave by ours.
    fn frame(&mut self, case: &str, topic: &str, theirs: &mut Value) {
        let listed = FRAMES.iter().position(|(name, ..)| *name == topic);
        let Some((at, (_, recorded, ours))) = listed.map(|at| (at, FRAMES[at])) else {
            return;
        };
        let of_body = matches!(theirs["coordinate_frame"].as_u64(), Some(8 | 9 | 12));
        let frame = &mut theirs["header"]["frame_id"];
        assert_eq!(*frame, recorded, "{case} {topic}");
        *frame = match (topic, of_body) {
            ("setpoint_raw/target_local", true) => "base_link".into(),
            ("setpoint_raw/target_local", false) => LOCAL.into(),
            _ => ours.into(),
        };
        self.frames.insert(at);
    }

    fn mark(&mut self, n: usize, case: &str) {
        let name = DIFFERENCES[n].names(case);
        self.used.insert((n, name.expect("it was found by it")));
    }
}

#[test]
fn recorded_messages_give_what_mavros_gave() {
    compare(false);
}

#[test]
fn with_quirks_its_defects_are_there_as_well() {
    compare(true);
}

fn compare(quirks: bool) {
    let recorded = golden::json("golden/mavros/from_fcu.json");
    let mut comparison = Comparison {
        quirks,
        problems: Vec::new(),
        used: BTreeSet::new(),
        compared: 0,
        frames: BTreeSet::new(),
    };
    let mut group = String::new();
    let mut rig = None;
    let mut cases = 0;
    for case in recorded["cases"].as_array().expect("cases") {
        let of = case["group"].as_str().expect("a group");
        let name = format!("{of}/{}", case["id"].as_str().expect("an id"));
        if ELSEWHERE.contains(&of) {
            continue;
        }
        cases += 1;
        if group != of {
            group = of.to_owned();
            let mut new = Rig::new(VehicleSettings {
                geoid: rfly_bridge::frames::Geoid::Constant(17.0),
                quirks,
                ..VehicleSettings::default()
            });
            new.say(standby());
            rig = Some(new);
        }
        let rig = rig.as_ref().expect("made with the first group");
        // No stamp is later than the present.
        let seconds = case["t_send"].as_f64().expect("a time");
        rig.set_wall_clock(match case["fcu_boot_epoch_ns"].is_i64() {
            true => RosTime((seconds * 1e9) as i64 + 1_000_000_000),
            false => START,
        });
        rig.handle().with(|autopilot| {
            let offset = case["fcu_boot_epoch_ns"].as_i64();
            autopilot.fcu.clock = offset.map(ClockLine::constant);
        });
        rig.recorder.clear();
        for frame in case["frames"].as_array().expect("frames") {
            rig.receive(&golden::unhex(frame.as_str().expect("hex")));
        }
        if name == "state/statustext_50" {
            rig.pass(Duration::from_millis(200)); // there might be more
        }
        let now = rig.handle().with(|autopilot| autopilot.fcu.now.ros);
        let now = now.expect("an autopilot");
        let mut ours = published(rig);
        let mut theirs: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for message in case["ros"].as_array().expect("messages") {
            let topic = message["topic"].as_str().expect("a topic");
            let topic = topic.strip_prefix("/mavros/").expect("below the prefix");
            theirs.entry(topic).or_default().push(message["fields"].clone());
            if let Some(ours) = ours.get(topic) {
                let synchronised = case["fcu_boot_epoch_ns"].is_i64();
                let stamp = synchronised.then_some(&message["stamp"]);
                comparison.stamps(&name, topic, ours, stamp, now);
            }
        }
        for topic in TOPICS_ELSEWHERE {
            ours.remove(topic);
            theirs.remove(topic);
        }
        let topics: BTreeSet<&str> = ours.keys().copied().chain(theirs.keys().copied()).collect();
        let none = Vec::new();
        for topic in topics {
            let (a, b) = (ours.get(topic), theirs.get(topic));
            comparison.topic(&name, topic, a.unwrap_or(&none), b.unwrap_or(&none));
        }
    }
    let rows = if quirks { 0 } else { FRAMES.len() };
    assert_eq!(comparison.frames.len(), rows, "each row has a message");
    let listed = DIFFERENCES.iter().enumerate();
    for (n, difference) in listed.filter(|(_, d)| !(quirks && d.quirk)) {
        for case in difference.cases {
            if !comparison.used.contains(&(n, *case)) {
                let (topic, field) = (difference.topic, difference.field);
                let text = format!("{case} {topic}.{field} is listed, but there is no difference");
                comparison.problems.push(text);
            }
        }
        assert!(!difference.why.is_empty());
    }
    assert!(
        comparison.problems.is_empty(),
        "{} problems:\n{}",
        comparison.problems.len(),
        comparison.problems.join("\n")
    );
    let compared = if quirks { 312 } else { 300 };
    assert_eq!((cases, comparison.compared), (221, compared));
}
