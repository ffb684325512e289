//! Stereo pairs and registered depth: from Config.json and parameters to baselines and frames.
use crate::support::geometry as g;
use rfly_bridge::config::{ParamValue, Params};
use rfly_bridge::node::{NodeError, Settings};

/// An entry of Config.json: SeqID, TypeID, place, attitude in degrees.
fn entry(seq_id: u16, type_id: u16, place: [f64; 3], angles: [f64; 3]) -> String {
    format!(
        r#"{{"SeqID": {seq_id}, "TypeID": {type_id}, "TargetCopter": 1, "TargetMountType": 0, "DataWidth": 64,
           "DataHeight": 48, "DataCheckFreq": 30, "SendProtocol": [1,0,0,0,0,0,0,0], "CameraFOV": 90,
           "SensorPosXYZ": {place:?}, "EularOrQuat": 0, "SensorAngEular": {angles:?},
           "SensorAngQuat": [0,0,0,0], "otherParams": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}}"#
    )
}

fn params(values: &[(&str, ParamValue)]) -> Params {
    let named = values.iter().map(|(name, v)| ((*name).to_owned(), v.clone()));
    Params::from_values(&named.collect::<Vec<_>>()).unwrap()
}

fn load(entries: &[String], values: &[(&str, ParamValue)]) -> Result<Settings, NodeError> {
    let thread = format!("{:?}", std::thread::current().id());
    let thread = thread.replace(['(', ')'], "");
    let name = format!("rfly_pairs_{}_{thread}.json", std::process::id());
    let path = std::env::temp_dir().join(name);
    let text = format!(r#"{{"VisionSensors": [{}]}}"#, entries.join(", "));
    std::fs::write(&path, text).unwrap();
    let config = ("config", ParamValue::Str(path.display().to_string()));
    let settings = Settings::with_params(params(&[values, &[config]].concat()));
    std::fs::remove_file(&path).unwrap();
    settings
}

const RIGHT_OF_1: (&str, ParamValue) = ("sensor2.stereo_left", ParamValue::Int(1));

#[test]
fn the_baseline_is_the_distance_along_the_images_of_the_left_camera() {
    // Looking down and to the left; the right camera is 0.12 m along the row of pixels.
    let angles = [10.0, -35.0, -60.0];
    let attitude = g::euler_zyx(angles.map(f64::to_radians));
    let place = [0.3, -0.06, 0.1];
    let right = g::add(place, g::apply(&attitude, [0.0, 0.12, 0.0]));
    let cameras = [entry(1, 3, place, angles), entry(2, 3, right, angles)];
    let settings = load(&cameras, &[RIGHT_OF_1]).unwrap();
    assert!((settings.pairs.baseline_m(2) - 0.12).abs() < 1e-9);
    assert_eq!(settings.pairs.baseline_m(1), 0.0);
    assert_eq!((settings.pairs.frame_owner(1), settings.pairs.frame_owner(2)), (1, 1));
    let alone = load(&cameras, &[]).unwrap();
    assert_eq!((alone.pairs.baseline_m(2), alone.pairs.frame_owner(2)), (0.0, 2));
}

#[test]
fn all_that_is_wrong_with_a_pair_is_said_at_once() {
    let cameras = [
        entry(1, 1, [0.0; 3], [0.0; 3]),
        entry(2, 3, [0.0, -0.1, 0.0], [0.0; 3]),
        entry(3, 1, [0.0, 0.1, 0.0], [0.0, 1.0, 0.0]),
        entry(4, 8, [0.0, 0.1, 0.0], [0.0; 3]).replace("90", "190"),
        entry(5, 1, [0.01, 0.1, 0.0], [0.0; 3]),
    ];
    let left = |seq_id: i64| ParamValue::Int(seq_id);
    let wrong = load(
        &cameras,
        &[
            ("sensor1.stereo_left", left(1)),
            ("sensor2.stereo_left", left(1)),
            ("sensor2.rate_hz", left(10)),
            ("sensor3.stereo_left", left(1)),
            ("sensor3.fov_deg", ParamValue::Float(60.0)),
            ("sensor4.stereo_left", left(1)),
            ("sensor5.stereo_left", left(9)),
            ("sensor99.stereo_left", left(1)),
        ],
    );
    insta::assert_snapshot!(wrong.unwrap_err().to_string());
    let askew = load(&cameras, &[("sensor5.stereo_left", left(1))]);
    assert!(askew.unwrap_err().to_string().contains("0.0100 m forward"));
}

#[test]
fn a_change_that_breaks_a_pair_is_refused_and_one_that_does_not_is_taken() {
    let cameras = [entry(1, 1, [0.0; 3], [0.0; 3]), entry(2, 1, [0.0, 0.1, 0.0], [0.0; 3])];
    let settings = load(&cameras, &[RIGHT_OF_1]).unwrap();
    let sideways = |metres: f64| {
        let place = [0.0, metres, 0.0].map(ParamValue::Float).to_vec();
        let place = ("sensor2.position", ParamValue::List(place));
        settings.changed(params(&[RIGHT_OF_1, place]))
    };
    assert!((sideways(0.3).unwrap().pairs.baseline_m(2) - 0.3).abs() < 1e-9);
    assert!(sideways(-0.3).is_err());
}

#[test]
fn depth_is_in_the_frame_of_the_colour_camera_that_it_coincides_with() {
    let here = ([0.3, 0.0, 0.1], [0.0, 20.0, 0.0]);
    let frame = |depth: ([f64; 3], [f64; 3]), values: &[(&str, ParamValue)]| {
        let cameras = [
            entry(1, 1, [0.0; 3], [0.0; 3]),
            entry(2, 1, here.0, here.1),
            entry(3, 2, depth.0, depth.1),
        ];
        load(&cameras, values).unwrap().pairs.frame_owner(3)
    };
    assert_eq!(frame(here, &[]), 2);
    assert_eq!(frame(([0.3, 0.001, 0.1], here.1), &[]), 3, "another place");
    assert_eq!(frame((here.0, [0.0, 20.1, 0.0]), &[]), 3, "another attitude");
    for (name, value) in [
        ("depth.registered", ParamValue::Bool(false)),
        ("sensor3.frame_id", ParamValue::Str("depth_link".to_owned())),
        ("sensor3.fov_deg", ParamValue::Float(80.0)),
        ("sensor2.enabled", ParamValue::Bool(false)),
    ] {
        assert_eq!(frame(here, &[(name, value)]), 3, "{name}");
    }
}

#[test]
fn another_size_type_or_vehicle_that_breaks_a_pair_is_refused_with_all_that_is_wrong() {
    let cameras = [
        entry(1, 1, [0.0; 3], [0.0; 3]),
        entry(2, 1, [0.0, 0.1, 0.0], [0.0; 3]),
        entry(3, 2, [0.0; 3], [0.0; 3]),
    ];
    let vehicles = [1, 2].map(ParamValue::Int).to_vec();
    let vehicles = ("vehicles", ParamValue::List(vehicles));
    let settings = load(&cameras, &[RIGHT_OF_1, vehicles.clone()]).unwrap();
    assert_eq!(settings.pairs.frame_owner(3), 1, "depth is registered");
    let changed = |values: &[(&str, ParamValue)]| {
        let all = [&[RIGHT_OF_1, vehicles.clone()], values].concat();
        settings.changed(params(&all))
    };
    let int = |name, value| (name, ParamValue::Int(value));
    let broken =
        changed(&[int("sensor1.width", 80), int("sensor1.type_id", 3), int("sensor2.vehicle", 2)]);
    let broken = broken.unwrap_err().to_string();
    for what in ["TypeID", "size", "mount"] {
        let text = format!("must have the same {what}, have");
        assert!(broken.contains(&text), "{broken}");
    }
    assert!(broken.contains("sensor2.stereo_left"), "{broken}");
    // Both together stay a pair; the depth camera is no longer at the place of one of them.
    let both = changed(&[int("sensor1.vehicle", 2), int("sensor2.vehicle", 2)]).unwrap();
    assert_eq!(both.pairs.frame_owner(2), 1);
    assert_eq!(both.pairs.frame_owner(3), 3);
    let (first, vehicles) = (&both.sensors[0], both.vehicles());
    assert_eq!((both.vehicle_of(first), vehicles), (Some(2), vec![1, 2]));
}
