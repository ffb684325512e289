//! Config.json as users and documents write it, and rows that are added.
use super::config_json::{NEW, OLD, SENT, entry, file, repository_file};
use rfly_bridge::config::config_json::{VendorOverrides, inspect, load, load_one};
use rfly_bridge::config::{Problems, TransportMode};
use rfly_bridge::wire::SensorKind;

#[test]
fn what_users_and_documents_write_is_loaded_as_it_is_meant() {
    let sensors = |name: &str| {
        let files = [repository_file(&format!("test/config/cases/{name}.json"))];
        let (loaded, _) = inspect(&files, &VendorOverrides::default());
        loaded.sensors
    };
    let kinds: Vec<_> = sensors("older_lidars").iter().map(|s| (s.seq_id, s.kind)).collect();
    use SensorKind::{GlobalLidar, Lidar, Mid40, Range, Segmentation};
    assert_eq!(
        kinds,
        [
            (1, Lidar),
            (2, GlobalLidar),
            (3, Lidar),
            (4, Mid40),
            (5, Lidar),
            (6, Segmentation),
            (7, Range),
            (9, Segmentation),
            (10, Range),
        ]
    );
    let params: Vec<_> = sensors("short_other_params")
        .iter()
        .map(|s| (s.seq_id, s.kind.type_id(), s.other_params[..6].to_vec()))
        .collect();
    let row = |first: &[f32]| {
        let mut row = first.to_vec();
        row.resize(6, 0.0);
        row
    };
    assert_eq!(
        params,
        [
            (1, 40, row(&[])),
            (2, 5, row(&[200.0])),
            (3, 5, row(&[200.0])),
            (4, 20, row(&[50.0, 0.0, -180.0, 180.0, -15.0, 15.0])),
            (8, 1, row(&[])),
        ]
    );
    let types: Vec<_> =
        sensors("livox_numbers").iter().map(|s| (s.kind.type_id(), s.other_params[1])).collect();
    assert_eq!(types, [(20, 2.956), (21, 2.956), (22, 2.956)]);
    let ports: Vec<_> = sensors("shared_ports").iter().map(|s| s.port).collect();
    let known = [9999, 10_000, 10_001, 7000, 8000, 8000, 10_006, 10_006];
    assert_eq!(ports, known);
}

#[test]
fn one_more_row_is_read_beside_the_sensors_that_are_there() {
    let files =
        [file("a.json", &[entry(3, 1, SENT, OLD), entry(5, 1, "[1,0,0,0,0,7000,0,0]", OLD)])];
    let others = load(&files, &VendorOverrides::default()).unwrap().sensors;
    let more = |row: &str| load_one(row, &others, &VendorOverrides::default());
    let (sensor, notes) = more(&entry(0, 1, "[0,0,0,0,0,0,0,0]", OLD)).unwrap();
    assert_eq!((sensor.seq_id, sensor.port), (6, 10_005));
    assert_eq!(sensor.transport, TransportMode::UdpCompressed);
    assert!(notes[0].path == "row.SendProtocol[0]", "{notes:?}");
    // What was meant for shared memory gives way to those that are there.
    let (sensor, _) = more(&entry(9, 1, "[0,0,0,0,0,7000,0,0]", OLD)).unwrap();
    assert_eq!(sensor.port, 10_008);
    // Its request has the layout of its row, or that of the others.
    let (sensor, _) = more(&entry(9, 1, SENT, NEW)).unwrap();
    assert!(sensor.layout_new && !others[0].layout_new);

    let problems = |row: &str| -> Vec<String> {
        let Problems(problems) = more(row).unwrap_err();
        problems.iter().map(|p| format!("{}: {}", p.path, p.message)).collect()
    };
    let carried = entry(5, 1, SENT, OLD)
        .replace("\"DataWidth\": 64", "\"DataWith\": 64")
        .replace(r#""TargetMountType": 0"#, r#""TargetMountType": 4"#);
    let found = problems(&carried);
    for text in [
        "row.DataWith: unknown key, and \"DataWidth\" is missing",
        "row.SeqID: 5 is also the SeqID of sensor5",
        "row.TargetCopter: with TargetMountType 4 it must be the SeqID of an earlier sensor (3, 5); it is 1",
    ] {
        assert!(found.iter().any(|p| p.starts_with(text)), "{found:?}");
    }
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(
        problems(&entry(9, 1, "[1,0,0,0,0,7000,0,0]", OLD)),
        ["row.SendProtocol[5]: UDP port 7000 is also used by sensor5"]
    );
    assert!(
        problems(&entry(9, 10, SENT, OLD))[0].starts_with("row.TypeID: 10 is the optical flow")
    );
    assert!(problems("[]")[0].starts_with("row: must be an object"));
    assert!(problems("{")[0].starts_with("row:1:1: invalid JSON"));
    let mut many: Vec<_> = (0..32).map(|id| entry(id, 1, SENT, OLD)).collect();
    many.push(entry(50, 10, SENT, OLD));
    let many = load(&[file("a.json", &many)], &VendorOverrides::default()).unwrap();
    assert_eq!(
        (many.sensors.len(), many.skipped.len()),
        (32, 1),
        "what is left out does not count"
    );
    let full = load_one(&entry(40, 1, SENT, OLD), &many.sensors, &VendorOverrides::default());
    assert!(full.unwrap_err().to_string().contains("at most 32 sensors"));
}
