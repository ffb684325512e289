//! What the vendor's loader leaves out, as its golden answers have it.
use super::codes;
use rfly_bridge::doctor::{Code, check_vendor_loader};
use serde_json::{Value, json};

fn sensor() -> Value {
    json!({
        "SeqID": 0, "TypeID": 1, "TargetCopter": 1, "TargetMountType": 0,
        "DataWidth": 640, "DataHeight": 480, "DataCheckFreq": 30,
        "SendProtocol": [1, 127, 0, 0, 1, 9999, 0, 0], "CameraFOV": 90,
        "SensorPosXYZ": [0.3, 0, 0], "SensorAngEular": [0, 0, 0],
        "otherParams": [0, 0, 0, 0, 0, 0, 0, 0],
    })
}

fn why(key: &str, value: Value) -> String {
    let mut sensor = sensor();
    sensor[key] = value;
    let text = json!({"VisionSensors": [sensor]}).to_string();
    let found = check_vendor_loader("Config.json", &text);
    assert_eq!(codes(&found), [Code::LoaderDrops]);
    found[0].what.clone()
}

#[test]
fn a_good_file_has_no_findings_and_the_shipped_one_is_good() {
    let text = json!({"VisionSensors": [sensor()]}).to_string();
    assert_eq!(check_vendor_loader("Config.json", &text), []);
    let shipped = include_str!("../../config/Config.json");
    assert_eq!(check_vendor_loader("Config.json", shipped), []);
}

#[test]
fn a_wrong_type_or_length_drops_the_sensor() {
    assert!(why("DataWidth", json!(640.0)).contains("DataWidth is 640.0, not an integer"));
    assert!(why("CameraFOV", json!("90")).contains("CameraFOV is not a number"));
    assert!(why("SendProtocol", json!([1, 127])).contains("SendProtocol has 2 numbers, not 8"));
    assert!(why("SensorAngEular", json!(0)).contains("SensorAngEular is not a list of 3"));
    // The key that selects the new layout wants more parameters, and a quaternion.
    assert!(why("EularOrQuat", json!(0)).contains("SensorAngQuat is not a list of 4"));
}

#[test]
fn a_comment_sign_within_quotes_breaks_the_file() {
    let text = "{\"VisionSensors\": [], \"name\": \"http://host\"}";
    let found = check_vendor_loader("Config.json", text);
    assert_eq!(codes(&found), [Code::LoaderDrops]);
    assert!(found[0].what.contains("even within quotes"));
    assert_eq!(check_vendor_loader("Config.json", "{\"VisionSensors\": []} // none"), []);
}
