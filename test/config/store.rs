//! The declared parameters: listing, describing, and changing all or nothing.
use rfly_bridge::config::config_json::{self, VendorOverrides};
use rfly_bridge::config::params::{Checked, PARAMETERS, ParamType, Qos, SENSOR_PARAMETERS, Store};
use rfly_bridge::config::{AngleUnit, MountOrientation, ParamValue, Params, SensorConfig};

fn sensor(seq_id: u16, type_id: u16, orientation: &str) -> String {
    format!(
        r#"{{"SeqID": {seq_id}, "TypeID": {type_id}, "TargetCopter": 1, "TargetMountType": 0,
           "DataWidth": 64, "DataHeight": 48, "DataCheckFreq": 30, "SendProtocol": [1,0,0,0,0,0,0,0],
           "CameraFOV": 90, "SensorPosXYZ": [0.5, 0, -1], {orientation},
           "otherParams": [100,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}}"#
    )
}

const EULER: &str =
    r#""EularOrQuat": 0, "SensorAngEular": [0, -30, 90], "SensorAngQuat": [0,0,0,0]"#;
/// 90 degrees about y: pitch.
const QUATERNION: &str = r#""EularOrQuat": 1, "SensorAngEular": [1, 2, 3], "SensorAngQuat": [0.8660254037844387, 0, 0.5, 0]"#;

/// Sensor 1 is a camera, 2 a range finder, 3 a camera with a quaternion, 8 a fisheye.
fn sensors() -> Vec<SensorConfig> {
    let entries =
        [sensor(1, 1, EULER), sensor(2, 5, EULER), sensor(3, 1, QUATERNION), sensor(8, 8, EULER)];
    let text = format!(r#"{{"VisionSensors": [{}]}}"#, entries.join(", "));
    let files = [("Config.json".to_owned(), text)];
    config_json::load(&files, &VendorOverrides::default())
        .unwrap_or_else(|problems| panic!("{problems}"))
        .sensors
}

fn own(values: &[(&str, ParamValue)]) -> Vec<(String, ParamValue)> {
    let own = |(name, value): &(&str, ParamValue)| ((*name).to_owned(), value.clone());
    values.iter().map(own).collect()
}

fn store(values: &[(&str, ParamValue)]) -> Store {
    let values = own(values);
    let params = Params::from_values(&values).unwrap_or_else(|problems| panic!("{problems}"));
    let publishers = [("/tf".to_owned(), Qos::reliable(7))];
    Store::new(&values, &params, &sensors(), |_| AngleUnit::Degrees, &publishers)
}

fn check(store: &Store, values: &[(&str, ParamValue)]) -> Result<Checked, Vec<String>> {
    let lines = |p: rfly_bridge::config::Problems| p.0.iter().map(ToString::to_string).collect();
    store.check(&own(values)).map_err(lines)
}

fn refusal(name: &str, value: ParamValue) -> String {
    let reasons = check(&store(&[]), &[(name, value)]).expect_err("refused");
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    reasons[0].clone()
}

use ParamValue::{Bool, Float, Int, List};

fn text(text: &str) -> ParamValue {
    ParamValue::Str(text.to_owned())
}

fn floats(values: &[f64]) -> ParamValue {
    List(values.iter().copied().map(Float).collect())
}

#[test]
fn every_parameter_is_declared_with_its_value_and_type() {
    let store = store(&[("window", Int(3)), ("request.timeout_s", Int(5))]);
    for row in PARAMETERS.iter() {
        let (value, kind) = store.get(row.name).expect(row.name);
        assert_eq!(kind, row.kind.param_type(), "{}", row.name);
        if !["window", "request.timeout_s"].contains(&row.name) {
            assert_eq!(*value, row.default_value(), "{}", row.name);
        }
    }
    assert_eq!(store.get("window"), Some((&Int(3), ParamType::Integer)));
    // An integer was given for a real number; on the wire it is one.
    assert_eq!(store.get("request.timeout_s"), Some((&Float(5.0), ParamType::Double)));
    assert_eq!(store.get("use_sim_time"), Some((&Bool(false), ParamType::Bool)));
    assert_eq!(store.get("windo"), None);
}

#[test]
fn sensors_have_the_parameters_that_they_can_have_with_the_values_of_the_file() {
    let store = store(&[("sensor3.topic", text("front"))]);
    for row in SENSOR_PARAMETERS.iter() {
        assert!(store.get(&format!("sensor8.{}", row.name)).is_some(), "{}", row.name);
    }
    assert!(store.get("sensor1.fisheye_factor").is_none(), "no fisheye");
    assert!(store.get("sensor2.camera_info_url").is_none(), "no camera");
    let value = |name: &str| store.get(name).map(|(value, _)| value.clone());
    assert_eq!(value("sensor1.fov_deg"), Some(Float(90.0)));
    assert_eq!(value("sensor2.fov_deg"), None, "a range finder has none");
    assert_eq!(value("sensor1.rate_hz"), Some(Int(30)));
    assert_eq!(value("sensor1.position"), Some(floats(&[0.5, 0.0, -1.0])));
    assert_eq!(value("sensor1.orientation_deg"), Some(floats(&[0.0, -30.0, 90.0])));
    assert_eq!(value("sensor3.topic"), Some(text("front")));
    let Some(List(angles)) = value("sensor3.orientation_deg") else {
        panic!("a list");
    };
    for (found, wanted) in angles.iter().zip([0.0, 60.0, 0.0]) {
        let Float(found) = found else { panic!("reals") };
        assert!((found - wanted).abs() < 1e-9, "{angles:?}");
    }
    assert_eq!(value("sensor4.topic"), None);
}

#[test]
fn qos_is_there_to_be_read() {
    let store = store(&[("qos.image.reliability", text("best_effort"))]);
    let value = |name: &str| store.get(name).map(|(value, _)| value.clone());
    assert_eq!(value("qos.image.reliability"), Some(text("best_effort")));
    assert_eq!(value("qos.image.depth"), Some(Int(3)));
    assert_eq!(value("qos_overrides./tf.publisher.depth"), Some(Int(7)));
    assert_eq!(value("qos_overrides./tf.publisher.history"), Some(text("keep_last")));
    assert_eq!(value("qos_overrides./tf.publisher.preset"), None);
    assert!(store.describe("qos_overrides./tf.publisher.depth").unwrap().read_only);
}

/// The cases of rclcpp's `list_parameters`.
#[test]
fn lists_select_by_prefix_and_depth() {
    let store = store(&[]);
    let list = |prefixes: &[&str], depth| {
        let prefixes: Vec<_> = prefixes.iter().map(|p| (*p).to_owned()).collect();
        store.list(&prefixes, depth)
    };
    let (all, _) = list(&[], 0);
    assert_eq!(all.len(), store.names().count());
    let (top, prefixes) = list(&[], 1);
    assert!(top.iter().all(|name| !name.contains('.')) && top.contains(&"window".to_owned()));
    assert!(prefixes.is_empty());
    let (two, _) = list(&[], 2);
    assert!(two.contains(&"imu.rate_hz".to_owned()) && !two.contains(&"qos.tf.depth".to_owned()));

    let (names, prefixes) = list(&["request", "window"], 0);
    assert_eq!(
        names,
        [
            "request.foreign",
            "request.format",
            "request.period_s",
            "request.piece_bytes",
            "request.timeout_s",
            "window"
        ]
    );
    assert_eq!(prefixes, ["request"]);
    assert_eq!(list(&["qos"], 1).0, [""; 0], "everything there is deeper");
    let (names, prefixes) = list(&["qos.tf"], 1);
    assert_eq!(names.len(), 5);
    assert_eq!(prefixes, ["qos.tf"]);
    assert_eq!(list(&["requ"], 0).0, [""; 0], "a prefix ends at a dot");
}

#[test]
fn descriptions_have_unit_range_choices_and_whether_a_restart_is_needed() {
    let store = store(&[]);
    let rate = store.describe("imu.rate_hz").unwrap();
    assert_eq!((rate.integers, rate.reals), (Some((1, 1000)), None));
    assert!(!rate.read_only && rate.description.ends_with("Unit: Hz."), "{rate:?}");
    let period = store.describe("diagnostics.period_s").unwrap();
    assert_eq!((period.integers, period.reals), (None, Some((0.1, 60.0))));
    let mode = store.describe("time.mode").unwrap();
    assert!(mode.read_only);
    assert_eq!(mode.constraints, "one of aligned, sim, arrival");
    assert!(!mode.description.contains('`'), "{}", mode.description);
    let position = store.describe("sensor1.position").unwrap();
    assert_eq!(position.param_type, ParamType::DoubleArray);
    assert!(position.constraints.contains("3 numbers"), "{}", position.constraints);
    assert_eq!(store.describe("sensor9.position"), None);
}

#[test]
fn what_can_change_changes_all_parameters_of_a_call_together() {
    let mut store = store(&[("imu.rate_hz", Int(100))]);
    let checked = check(
        &store,
        &[
            ("imu.rate_hz", Int(250)),
            ("sensor1.fov_deg", Int(60)),
            ("sensor3.orientation_deg", List(vec![Int(0), Float(-45.0), Int(0)])),
        ],
    )
    .unwrap();
    assert_eq!(checked.params.imu.rate_hz, 250);
    assert_eq!(checked.params.sensor(1).fov_deg, Some(60.0));
    assert_eq!(store.get("imu.rate_hz"), Some((&Int(100), ParamType::Integer)), "not yet");
    store.commit(&checked);
    assert_eq!(store.get("sensor1.fov_deg"), Some((&Float(60.0), ParamType::Double)));
    let turned = floats(&[0.0, -45.0, 0.0]);
    assert_eq!(store.get("sensor3.orientation_deg"), Some((&turned, ParamType::DoubleArray)));

    // What was set before stays.
    let next = check(&store, &[("sensor1.rate_hz", Int(10))]).unwrap();
    assert_eq!((next.params.imu.rate_hz, next.params.sensor(1).fov_deg), (250, Some(60.0)));
}

#[test]
fn refusals_say_what_would_do() {
    let unknown = refusal("sensor1.fov_degs", Float(60.0));
    assert!(unknown.contains(r#"did you mean "sensor1.fov_deg"?"#), "{unknown}");
    let range = refusal("imu.rate_hz", Int(2000));
    assert_eq!(range, "imu.rate_hz: must be in 1..=1000 Hz, is 2000");
    let kind = refusal("imu.rate_hz", text("fast"));
    assert!(kind.contains("must be an integer"), "{kind}");
    let three = refusal("sensor1.position", floats(&[1.0, 2.0]));
    assert!(three.contains("3 numbers"), "{three}");
    let nan = refusal("sensor1.fov_deg", Float(f64::NAN));
    assert!(nan.contains("must be in"), "{nan}");
    let fixed = refusal("window", Int(1));
    assert!(fixed.contains("restart needed, with -p window:=1"), "{fixed}");
    let none = refusal("sensor2.fov_deg", Float(60.0));
    assert!(none.starts_with("sensor2.fov_deg: unknown parameter"), "{none}");
}

#[test]
fn one_bad_value_refuses_the_whole_call_and_values_must_fit_each_other() {
    let store = store(&[]);
    let both = check(&store, &[("imu.rate_hz", Int(50)), ("window", Int(1)), ("x", Int(1))]);
    assert_eq!(both.expect_err("refused").len(), 2);
    let together = check(&store, &[("request.timeout_s", Float(0.5))]).expect_err("refused");
    assert!(together[0].contains("at least request.period_s"), "{together:?}");
    let values = [("request.timeout_s", Float(0.5)), ("request.period_s", Float(0.2))];
    assert!(check(&store, &values).is_ok());
    assert!(check(&store, &[]).is_ok(), "nothing is no mistake");
}

#[test]
fn a_parameter_that_changes_for_ever_does_not_grow_the_store() {
    let mut store = store(&[]);
    for n in 1..=1000 {
        let checked = check(&store, &[("imu.rate_hz", Int(n))]).unwrap();
        assert_eq!(checked.changes.len(), 1);
        store.commit(&checked);
    }
    assert!(format!("{store:?}").matches("Int(999)").count() == 0, "old values are gone");
}

#[test]
fn sensor_parameters_change_what_is_requested() {
    let all = sensors();
    let params = Params::from_values(&own(&[
        ("sensor3.orientation_deg", floats(&[0.0, -90.0, 180.0])),
        ("sensor3.position", floats(&[1.0, 2.0, 3.0])),
        ("sensor3.fov_deg", Float(45.5)),
        ("sensor3.rate_hz", Int(5)),
    ]))
    .unwrap();
    for (unit, half_turn) in
        [(AngleUnit::Degrees, 180.0), (AngleUnit::Radians, std::f64::consts::PI)]
    {
        let mut sensor = all[2].clone();
        params.sensor(3).apply(&mut sensor, unit);
        let angles = [0.0, -half_turn / 2.0, half_turn];
        assert_eq!(sensor.orientation, MountOrientation::Euler(angles));
        assert_eq!(sensor.raw_euler, angles.map(|a| a as f32));
        assert_eq!(sensor.eular_or_quat, 0.0, "the quaternion does not count any more");
        assert_eq!(sensor.raw_position(), [1.0, 2.0, 3.0]);
        assert_eq!((sensor.fov_deg, sensor.rate_hz), (45.5, 5));
    }
    let mut untouched = all[0].clone();
    params.sensor(1).apply(&mut untouched, AngleUnit::Degrees);
    assert_eq!(untouched, all[0]);
}

#[test]
fn a_field_of_view_must_suit_the_type() {
    let refused = |name: &str, fov: f64| {
        let params = Params::from_values(&own(&[(name, Float(fov))])).unwrap();
        params.check_sensors(&sensors()).unwrap_err().to_string()
    };
    let wide = refused("sensor1.fov_deg", 200.0);
    assert!(wide.contains("above 0 and below 180"), "{wide}");
    let none = refused("sensor2.fov_deg", 60.0);
    assert!(none.contains("TypeID 5 (range finder) has none"), "{none}");
}

#[test]
fn another_type_has_other_parameters_which_the_same_call_may_set() {
    let mut store = store(&[]);
    let names = |store: &Store| -> Vec<String> {
        let own = store.names().filter(|name| name.starts_with("sensor2."));
        own.map(str::to_owned).collect()
    };
    let fov = "sensor2.fov_deg".to_owned();
    assert!(!names(&store).contains(&fov), "a range finder has none");
    let camera = [
        ("sensor2.type_id", Int(1)),
        ("sensor2.fov_deg", Int(60)),
        ("sensor2.width", Int(64)),
        ("sensor2.height", Int(48)),
    ];
    let checked = check(&store, &camera).unwrap();
    store.commit(&checked);
    assert!(names(&store).contains(&fov));
    assert_eq!(store.get(&fov), Some((&Float(60.0), ParamType::Double)));
    let checked = check(&store, &[("sensor2.type_id", Int(5))]).unwrap();
    store.commit(&checked);
    assert!(!names(&store).contains(&fov));
    assert!(check(&store, &[("sensor2.fov_deg", Int(60))]).is_err());
}
