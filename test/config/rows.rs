//! Rows of Config.json with values of parameters.
use rfly_bridge::config::config_json::{self, EntryChange, VendorOverrides};
use rfly_bridge::config::{Mount, SensorConfig, TransportMode};
use rfly_bridge::wire::SensorKind;

/// A camera on vehicle 1, and a camera that it carries.
fn sensors() -> Vec<SensorConfig> {
    let entry = |seq_id: u16, mount: u16, mode: u16| {
        format!(
            r#"{{"SeqID": {seq_id}, "TypeID": 1, "TargetCopter": 1, "TargetMountType": {mount}, "DataWidth": 64,
               "DataHeight": 48, "DataCheckFreq": 30, "SendProtocol": [{mode},127,0,0,1,0,7,8], "CameraFOV": 90,
               "SensorPosXYZ": [0.1, 0.2, 0.3], "SensorAngEular": [0.1, 0, 0], "otherParams": [0,0,0,0,0,0,0,5]}}"#
        )
    };
    let text = format!(r#"{{"VisionSensors": [{}, {}]}}"#, entry(1, 0, 2), entry(2, 4, 1));
    let files = [("Config.json".to_owned(), text)];
    let loaded = config_json::load(&files, &VendorOverrides::default());
    loaded.unwrap().sensors
}

#[test]
fn a_row_with_other_values_is_that_of_a_file_with_them() {
    let file = &sensors()[0];
    let change = EntryChange {
        type_id: Some(20),
        width: Some(360),
        height: Some(16),
        vehicle: Some(3),
        other_params: Some(vec![50.0, 0.0, -180.0, 180.0]),
    };
    let row = change.apply(file, None).unwrap();
    let known = SensorConfig {
        kind: SensorKind::Lidar,
        mount: Mount::VehicleCentre(3),
        width: 360,
        height: 16,
        // A lidar has no raw transport.
        transport: TransportMode::UdpCompressed,
        other_params: row.other_params,
        ..file.clone()
    };
    assert_eq!(row, known);
    assert_eq!(row.other_params[..4], [50.0, 0.0, -180.0, 180.0]);
    assert_eq!(row.other_params[4..], [0.0; 12]);
    assert_eq!(EntryChange::default().apply(file, None).unwrap(), *file);
}

#[test]
fn all_that_is_wrong_with_a_row_has_the_name_of_its_parameter() {
    let [camera, carried] = &sensors()[..] else { panic!("two sensors") };
    let problems = |change: &EntryChange, sensor: &SensorConfig| -> Vec<String> {
        let problems = change.apply(sensor, Some(200.0)).unwrap_err();
        problems.0.iter().map(ToString::to_string).collect()
    };
    let change = EntryChange {
        width: Some(0),
        height: Some(9000),
        vehicle: Some(0),
        other_params: Some(vec![0.0; 9]),
        ..EntryChange::default()
    };
    let found = problems(&change, camera);
    for text in [
        "sensor1.width: must be in 1..=8192 px, is 0",
        "sensor1.height: must be in 1..=8192 px, is 9000",
        "sensor1.vehicle: must be in 1..=10000",
        "sensor1.fov_deg: must be above 0 and below 180 deg",
        "sensor1.other_params: must have 8 values",
    ] {
        assert!(found.iter().any(|p| p.starts_with(text)), "{found:?}");
    }
    assert_eq!(found.len(), 5, "{found:?}");
    let change = EntryChange { vehicle: Some(2), ..EntryChange::default() };
    let found = problems(&change, carried).join("; ");
    assert!(found.contains("sensor 1 carries it; set sensor1.vehicle"), "{found}");
    let change = EntryChange { type_id: Some(20), ..EntryChange::default() };
    let found = problems(&change, camera);
    assert_eq!(found.len(), 1, "a lidar has no field of view: {found:?}");
    assert!(found[0].starts_with("sensor1.other_params[0]: the range scales"), "{found:?}");
}
