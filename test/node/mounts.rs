//! From Config.json to the frame tree.
use crate::support::geometry as g;
use rfly_bridge::config::config_json::{self, VendorOverrides};
use rfly_bridge::config::{AngleUnitChoice, Params, resolve_angle_unit};
use rfly_bridge::frames::FrameTree;
use rfly_bridge::node::Settings;

fn tree(angles: &str, choice: AngleUnitChoice) -> FrameTree {
    let sensor = |seq_id: u16, type_id: u16| {
        format!(
            r#"{{"SeqID": {seq_id}, "TypeID": {type_id}, "TargetCopter": 1, "TargetMountType": 0, "DataWidth": 64,
               "DataHeight": 48, "DataCheckFreq": 30, "SendProtocol": [1,0,0,0,0,0,0,0], "CameraFOV": 90,
               "SensorPosXYZ": [0.5, -0.25, 0], "EularOrQuat": 0, "SensorAngEular": {angles},
               "SensorAngQuat": [0,0,0,0], "otherParams": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}}"#
        )
    };
    let text = format!(r#"{{"VisionSensors": [{}, {}]}}"#, sensor(1, 1), sensor(2, 9));
    let files = [("Config.json".to_owned(), text)];
    let sensors = config_json::load(&files, &VendorOverrides::default()).unwrap().sensors;
    let angle_unit = resolve_angle_unit(&sensors, choice);
    let settings = Settings {
        params: Params::default(),
        sensors,
        warnings: Vec::new(),
        calibrations: Default::default(),
        pairs: Default::default(),
        angle_unit,
        ports: Default::default(),
        origin: Default::default(),
    };
    FrameTree::new(settings.frame_names(), &settings.vehicles(), &settings.mounts()).unwrap()
}

#[track_caller]
fn assert_looks(tree: &FrameTree, frame: &str, wanted: [f64; 3]) {
    let link = tree.lookup("base_link", frame).unwrap();
    assert!(g::difference(&link.translation(), &[0.5, 0.25, 0.0]) < 1e-12);
    let x = link.rotate([1.0, 0.0, 0.0]);
    assert!(g::difference(&x, &wanted) < 1e-6, "{frame} looks along {x:?}");
}

#[test]
fn a_camera_and_the_pod_camera_pitched_in_degrees_look_down() {
    let tree = tree("[0, -90, 0]", AngleUnitChoice::Degrees);
    assert_looks(&tree, "sensor1_link", [0.0, 0.0, -1.0]);
    assert_looks(&tree, "sensor2_link", [0.0, 0.0, -1.0]);
}

#[test]
fn radians_are_for_all_but_the_pod_camera() {
    let tree = tree("[0, -1.5, 0]", AngleUnitChoice::Radians);
    let (s, c) = 1.5f64.sin_cos();
    assert_looks(&tree, "sensor1_link", [c, 0.0, -s]);
    let (s, c) = 1.5f64.to_radians().sin_cos();
    assert_looks(&tree, "sensor2_link", [c, 0.0, -s]);
}
