//! The vehicle as URDF, read back by a scanner of attributes and composed with textbook rotations.
use crate::support::geometry as g;
use proptest::prelude::*;
use rfly_bridge::config::config_json::{self, VendorOverrides};
use rfly_bridge::config::{AngleUnitChoice, ParamValue, Params, resolve_angle_unit};
use rfly_bridge::frames::FrameTree;
use rfly_bridge::node::{Settings, UrdfForm, robot_description};
use std::collections::BTreeMap;

/// One entry of Config.json: type, TargetCopter, TargetMountType, position, angles in degrees.
type Entry = (u16, u16, u16, [f64; 3], [f64; 3]);

fn settings(entries: &[Entry], params: &[(&str, ParamValue)]) -> Settings {
    let sensors: Vec<_> = entries
        .iter()
        .enumerate()
        .map(|(seq_id, (type_id, target, mount, xyz, angles))| {
            format!(
                r#"{{"SeqID": {seq_id}, "TypeID": {type_id}, "TargetCopter": {target}, "TargetMountType": {mount},
                   "DataWidth": 64, "DataHeight": 48, "DataCheckFreq": 30, "SendProtocol": [1,0,0,0,0,0,0,0],
                   "CameraFOV": 90, "SensorPosXYZ": {xyz:?}, "EularOrQuat": 0, "SensorAngEular": {angles:?},
                   "SensorAngQuat": [0,0,0,0], "otherParams": [100,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}}"#
            )
        })
        .collect();
    let text = format!(r#"{{"VisionSensors": [{}]}}"#, sensors.join(", "));
    let files = [("Config.json".to_owned(), text)];
    let sensors = config_json::load(&files, &VendorOverrides::default()).unwrap().sensors;
    let values: Vec<_> =
        params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let angle_unit = resolve_angle_unit(&sensors, AngleUnitChoice::Degrees);
    Settings {
        params: Params::from_values(&values).unwrap(),
        sensors,
        warnings: Vec::new(),
        calibrations: Default::default(),
        pairs: Default::default(),
        angle_unit,
        ports: Default::default(),
        origin: Default::default(),
    }
}

fn tree(settings: &Settings) -> FrameTree {
    let vehicles = settings.vehicles();
    FrameTree::new(settings.frame_names(), &vehicles, &settings.mounts()).unwrap()
}

#[derive(Debug)]
struct Joint {
    kind: String,
    parent: String,
    xyz: [f64; 3],
    rotation: g::Matrix,
}

/// Values of an attribute, in the order of the text.
fn attributes<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let key = format!("{name}=\"");
    let after = text.split(key.as_str()).skip(1);
    after.map(|rest| rest.split_once('"').unwrap().0).collect()
}

fn numbers(text: &str) -> [f64; 3] {
    let values: Vec<f64> = text.split(' ').map(|n| n.parse().unwrap()).collect();
    values.try_into().unwrap()
}

/// Joints by child.
fn joints(urdf: &str) -> BTreeMap<String, Joint> {
    let elements = urdf.split("<joint ").skip(1);
    elements
        .map(|element| {
            let element = element.split_once("</joint>").unwrap().0;
            let links = attributes(element, "link");
            let joint = Joint {
                kind: attributes(element, "type")[0].to_owned(),
                parent: links[0].to_owned(),
                xyz: numbers(attributes(element, "xyz")[0]),
                rotation: g::euler_zyx(numbers(attributes(element, "rpy")[0])),
            };
            (links[1].to_owned(), joint)
        })
        .collect()
}

/// Position and rotation of a frame in the root.
fn chain(joints: &BTreeMap<String, Joint>, frame: &str) -> (g::Vector, g::Matrix) {
    match joints.get(frame) {
        None => ([0.0; 3], g::IDENTITY),
        Some(joint) => {
            let (at, turned) = chain(joints, &joint.parent);
            (g::add(at, g::apply(&turned, joint.xyz)), g::product(&turned, &joint.rotation))
        }
    }
}

fn urdf(settings: &Settings) -> String {
    robot_description(settings, 1, UrdfForm::Urdf).unwrap()
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let position = || prop::array::uniform3(-3.0..3.0);
    // A quarter of them looks straight up or down, where roll and yaw cannot be told apart.
    let pitch = prop_oneof![3 => -90.0..90.0, 1 => prop_oneof![Just(90.0), Just(-90.0)]];
    let angles = (-180.0..180.0, pitch, -180.0..180.0).prop_map(|(r, p, y)| [r, p, y]);
    let entry = (
        prop_oneof![Just(1), Just(2), Just(5), Just(9), Just(20), Just(30)],
        0u16..4,
        position(),
        angles,
    );
    prop::collection::vec(entry, 1..8).prop_map(|found| {
        let place =
            |(i, (type_id, mount, xyz, angles)): (usize, (u16, u16, [f64; 3], [f64; 3]))| {
                // The fourth choice is the sensor before.
                match mount {
                    3 if i > 0 => (type_id, i as u16 - 1, 4, xyz, angles),
                    other => (type_id, 1, other % 2, xyz, angles),
                }
            };
        found.into_iter().enumerate().map(place).collect()
    })
}

proptest! {
    #[test]
    fn every_link_is_where_tf_has_its_frame(entries in entries(), bottom in 0.0..1.0f64) {
        let settings = settings(&entries, &[("vehicle_bottom_m", ParamValue::Float(bottom))]);
        let tree = tree(&settings);
        let joints = joints(&urdf(&settings));
        let mut frames = vec!["imu_link".to_owned(), "base_link_frd".to_owned()];
        for sensor in &settings.sensors {
            let names = tree.sensor(sensor.seq_id).unwrap();
            frames.extend([names.link.clone(), names.optical.clone()]);
        }
        for frame in &frames {
            prop_assert!(joints.contains_key(frame), "{frame} is missing");
            let expected = tree.lookup("base_link", frame).unwrap();
            let (at, turned) = chain(&joints, frame);
            prop_assert!(g::difference(&at, &expected.translation()) < 1e-7, "{frame} is at {at:?}");
            let turn = g::quaternion_matrix(expected.rotation());
            prop_assert!(g::matrix_difference(&turned, &turn) < 1e-7, "{frame} is turned");
        }
        frames.sort();
        frames.dedup();
        prop_assert_eq!(joints.keys().cloned().collect::<Vec<_>>(), frames, "nothing else is there");
    }
}

const AT: [f64; 3] = [0.5, 0.2, 0.1];

#[test]
fn what_the_bridge_moves_has_a_floating_joint_and_what_stands_on_the_ground_none() {
    let entries = [
        (1, 1, 0, AT, [0.0; 3]),
        (9, 1, 1, AT, [0.0, -30.0, 0.0]), // turns
        (1, 1, 3, AT, [0.0; 3]),          // stays level
        (5, 1, 4, [0.0; 3], [0.0; 3]),    // is carried by the one that turns
        (1, 1, 2, AT, [0.0; 3]),          // on the ground
    ];
    let joints = joints(&urdf(&settings(&entries, &[])));
    let kind = |frame: &str| joints.get(frame).map(|j| j.kind.as_str());
    assert_eq!(kind("sensor0_link"), Some("fixed"));
    assert_eq!(kind("sensor1_link"), Some("floating"));
    assert_eq!(kind("sensor1_optical_frame"), Some("fixed"));
    assert_eq!(kind("sensor2_link"), Some("floating"));
    assert_eq!(kind("sensor3_link"), Some("fixed"));
    assert_eq!(joints["sensor3_link"].parent, "sensor1_link");
    assert_eq!(kind("sensor4_link"), None);
    // x forward, y left, z up of a vehicle at rest.
    assert_eq!(joints["sensor2_link"].xyz, [0.5, -0.2, -0.1]);
}

#[test]
fn names_are_those_of_the_parameters() {
    let text = |value: &str| ParamValue::Str(value.to_owned());
    let entries = [(1, 1, 0, AT, [0.0; 3]), (20, 2, 0, AT, [0.0; 3])];
    let params = [("sensor0.frame_id", text("a&b_link"))];
    let settings = settings(&entries, &params);
    let first = urdf(&settings);
    assert!(first.contains(r#"<link name="copter1/base_link">"#));
    assert!(first.contains(r#"<link name="a&amp;b_link">"#));
    assert!(!first.contains("sensor1"), "sensors of vehicle 2");
    let second = robot_description(&settings, 2, UrdfForm::Urdf).unwrap();
    assert!(second.contains(r#"<child link="copter2/sensor1_link"/>"#));
    assert!(!second.contains("a&amp;b"));
    let missing = robot_description(&settings, 3, UrdfForm::Urdf).unwrap_err();
    let missing = missing.to_string();
    assert!(missing.contains("vehicle 3"), "{missing}");
    assert!(missing.contains("1, 2"), "{missing}");
}

#[test]
fn the_macro_puts_its_prefix_before_every_frame() {
    let settings = settings(&[(1, 1, 0, AT, [0.0; 3])], &[]);
    let xacro = robot_description(&settings, 1, UrdfForm::Xacro).unwrap();
    assert!(xacro.contains(r#"<xacro:macro name="rflysim_vehicle" params="prefix:=''">"#));
    let macro_body = xacro.split_once("params").unwrap().1;
    for name in ["link", "parent link", "child link", "joint name", "link name"] {
        for found in attributes(macro_body, name) {
            assert!(found.starts_with("${prefix}"), "{name}={found}");
        }
    }
    // Without the macro it is the robot itself.
    let expanded = xacro.replace("${prefix}", "");
    assert_eq!(
        joints(&expanded).keys().collect::<Vec<_>>(),
        joints(&urdf(&settings)).keys().collect::<Vec<_>>()
    );
}

#[test]
fn every_element_is_closed() {
    let settings = settings(&[(1, 1, 0, AT, [0.0; 3]), (20, 1, 0, AT, [0.0; 3])], &[]);
    for form in [UrdfForm::Urdf, UrdfForm::Xacro] {
        let text = robot_description(&settings, 1, form).unwrap();
        let text = text.split_once("?>").unwrap().1;
        let mut open = Vec::new();
        for tag in text.split('<').skip(1).filter(|t| !t.starts_with('!')) {
            let tag = tag.split_once('>').map_or(tag, |(tag, _)| tag);
            let name = tag.split(' ').next().unwrap();
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name)),
                None if tag.ends_with('/') => {}
                None => open.push(name),
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }
}
