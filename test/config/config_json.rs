//! Config.json: problems with their places, relations between sensors, overrides.
use proptest::prelude::*;
use rfly_bridge::config::config_json::{Loaded, TransportOverride, VendorOverrides, load};
use rfly_bridge::config::{Mount, Problems, TransportMode};
use rfly_bridge::wire::SensorKind;
use std::path::Path;

pub(super) fn repository_file(path: &str) -> (String, String) {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    (path.rsplit('/').next().unwrap().to_owned(), text)
}

fn load_one(text: &str) -> Result<Loaded, Problems> {
    load(&[("Config.json".to_owned(), text.to_owned())], &VendorOverrides::default())
}

#[test]
fn the_demo_has_one_sensor_of_every_kind_and_no_warning() {
    let loaded = load(&[repository_file("config/Config.json")], &VendorOverrides::default())
        .unwrap_or_else(|p| panic!("{p}"));
    assert_eq!(loaded.warnings, []);
    let mut types: Vec<u16> = loaded.sensors.iter().map(|sensor| sensor.kind.type_id()).collect();
    types.sort_unstable();
    assert_eq!(types, SensorKind::ALL.map(SensorKind::type_id));
    let modes =
        [TransportMode::UdpCompressed, TransportMode::UdpRaw, TransportMode::UdpCompressedAlt];
    assert!(
        modes.iter().all(|mode| { loaded.sensors.iter().any(|sensor| sensor.transport == *mode) })
    );
}

#[test]
fn the_demo_of_two_vehicles_numbers_its_sensors_by_itself() {
    let loaded = load(&[repository_file("config/two_vehicles.json")], &VendorOverrides::default())
        .unwrap_or_else(|p| panic!("{p}"));
    assert_eq!(loaded.warnings, []);
    let mounts: Vec<_> =
        loaded.sensors.iter().map(|sensor| (sensor.seq_id, sensor.mount)).collect();
    let on = Mount::VehicleCentre;
    assert_eq!(
        mounts,
        [
            (0, on(1)),
            (1, on(1)),
            (2, on(1)),
            (3, on(2)),
            (4, on(2)),
            (5, on(2)),
            (6, Mount::Ground(1))
        ]
    );
    assert!(loaded.sensors.iter().all(|sensor| !sensor.layout_new));
}

/// Every file of `test/config/cases` with everything that is said about it.
#[test]
fn every_case_file_gives_its_list_of_problems_and_warnings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/config/cases");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 10);
    for name in names {
        let files = [(name.clone(), std::fs::read_to_string(folder.join(&name)).unwrap())];
        let (loaded, problems) =
            rfly_bridge::config::config_json::inspect(&files, &VendorOverrides::default());
        let warnings = Problems(loaded.warnings);
        let report = format!(
            "{problems}\n\nwarnings: {warnings}\n\n{} good sensors\n",
            loaded.sensors.len()
        );
        insta::assert_snapshot!(name.replace(".json", ""), report);
    }
}

pub(super) fn entry(seq_id: u16, type_id: u16, send_protocol: &str, rest: &str) -> String {
    format!(
        r#"{{"SeqID": {seq_id}, "TypeID": {type_id}, "TargetCopter": 1, "TargetMountType": 0, "DataWidth": 64, "DataHeight": 48,
        "DataCheckFreq": 30, "SendProtocol": {send_protocol}, "CameraFOV": 90, "SensorPosXYZ": [0,0,0], "SensorAngEular": [0,0,0], {rest}}}"#
    )
}

pub(super) const OLD: &str = r#""otherParams": [9,0,-90,90,-10,10,0,0]"#;
pub(super) const NEW: &str = r#""EularOrQuat": 0, "SensorAngQuat": [1,0,0,0], "otherParams": [9,0,-90,90,-10,10,0,0,0,0,0,0,0,0,0,16]"#;

pub(super) fn file(name: &str, entries: &[String]) -> (String, String) {
    (name.to_owned(), format!(r#"{{"VisionSensors": [{}]}}"#, entries.join(",")))
}

#[test]
fn several_files_are_appended_and_one_new_layout_is_the_layout_of_all() {
    let old = file(
        "a.json",
        &[entry(1, 1, "[1,0,0,0,0,0,0,0]", OLD), entry(0, 1, "[1,0,0,0,0,0,0,0]", OLD)],
    );
    let new = file(
        "b.json",
        &[entry(7, 20, "[1,0,0,0,0,0,0,0]", NEW), entry(0, 20, "[1,0,0,0,0,0,0,0]", NEW)],
    );
    let alone = load(std::slice::from_ref(&old), &VendorOverrides::default()).unwrap();
    assert!(alone.sensors.iter().all(|sensor| !sensor.layout_new));
    let both = load(&[old, new], &VendorOverrides::default()).unwrap();
    let found: Vec<_> =
        both.sensors.iter().map(|s| (s.seq_id, s.port, s.layout_new, s.other_params[15])).collect();
    assert_eq!(
        found,
        [
            (1, 10_000, true, 0.0),
            (2, 10_001, true, 0.0),
            (7, 10_006, true, 16.0),
            (8, 10_007, true, 16.0)
        ]
    );
}

#[test]
fn automatic_numbers_start_anew_in_each_file_so_a_clash_is_reported_and_not_renumbered() {
    let one = |name: &str| file(name, &[entry(0, 1, "[1,0,0,0,0,0,0,0]", OLD)]);
    let problems = load(&[one("a.json"), one("b.json")], &VendorOverrides::default()).unwrap_err();
    assert_eq!(
        problems.to_string(),
        "1 problem\n  b.json: VisionSensors[0].SeqID   0 is also the SeqID of a.json: VisionSensors[0]"
    );
}

#[test]
fn problems_of_all_files_come_at_once() {
    let bad = file("b.json", &[entry(0, 1, "[9,0,0,0,0,0,0,0]", OLD)]);
    let broken = ("a.json".to_owned(), "{".to_owned());
    let problems = load(&[broken, bad], &VendorOverrides::default()).unwrap_err();
    let paths: Vec<_> = problems.0.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["a.json:1:1", "b.json: VisionSensors[0].SendProtocol[0]"]);
}

#[test]
fn the_transport_parameter_decides_what_becomes_of_the_mode() {
    use TransportMode::{SharedMemory, UdpCompressed, UdpCompressedAlt, UdpRaw};
    let files = [file(
        "a.json",
        &[
            entry(1, 1, "[0,0,0,0,0,0,0,0]", OLD),
            entry(2, 1, "[2,0,0,0,0,0,0,0]", OLD),
            entry(3, 20, "[1,0,0,0,0,0,0,0]", OLD),
        ],
    )];
    let modes = |transport| -> Vec<_> {
        let loaded =
            load(&files, &VendorOverrides { transport, ..VendorOverrides::default() }).unwrap();
        loaded.sensors.iter().map(|sensor| sensor.transport).collect()
    };
    assert_eq!(modes(TransportOverride::File), [SharedMemory, UdpRaw, UdpCompressed]);
    assert_eq!(modes(TransportOverride::Vendor), [UdpCompressed, UdpRaw, UdpCompressed]);
    assert_eq!(modes(TransportOverride::Mode(SharedMemory)), [SharedMemory; 3]);
    // A lidar has no raw mode; the parameter is meant for those that have it.
    assert_eq!(modes(TransportOverride::Mode(UdpRaw)), [UdpRaw, UdpRaw, UdpCompressed]);
    assert_eq!(
        modes(TransportOverride::Mode(UdpCompressedAlt)),
        [UdpCompressedAlt, UdpCompressedAlt, UdpCompressed]
    );
}

#[test]
fn a_mode_that_the_parameter_replaces_need_not_be_valid_and_neither_need_an_address() {
    let files = [file("a.json", &[entry(1, 1, "[7,300,0,0,1,0,0,0]", OLD)])];
    assert!(load(&files, &VendorOverrides::default()).is_err());
    let overrides = VendorOverrides {
        transport: TransportOverride::Mode(TransportMode::UdpRaw),
        receive_address: Some([192, 168, 31, 24]),
        ..VendorOverrides::default()
    };
    let sensor = &load(&files, &overrides).unwrap().sensors[0];
    assert_eq!((sensor.transport, sensor.ip), (TransportMode::UdpRaw, [192, 168, 31, 24]));
}

#[test]
fn ports_only_clash_where_data_comes_over_udp() {
    let ports = |first: u16, second: u16, transport| {
        let sent = |mode: u16| format!("[{mode},0,0,0,0,9000,0,0]");
        let rows = [entry(1, 1, &sent(first), OLD), entry(2, 1, &sent(second), OLD)];
        let overrides = VendorOverrides { transport, ..VendorOverrides::default() };
        let loaded = load(&[file("a.json", &rows)], &overrides)?;
        Ok::<_, Problems>(Vec::from_iter(loaded.sensors.iter().map(|s| s.port)))
    };
    use TransportOverride::{File, Mode, Vendor};
    let raw = Mode(TransportMode::UdpRaw);
    assert_eq!(ports(0, 0, File), Ok(vec![9000, 9000]));
    // What was meant for shared memory gives way.
    assert_eq!(ports(0, 0, Vendor), Ok(vec![10_000, 10_001]));
    assert_eq!(ports(0, 0, raw), Ok(vec![10_000, 10_001]));
    assert_eq!(ports(0, 1, Vendor), Ok(vec![10_000, 9000]));
    for transport in [File, Vendor, raw] {
        let Problems(problems) = ports(1, 2, transport).unwrap_err();
        assert_eq!(problems[0].path, "a.json: VisionSensors[1].SendProtocol[5]");
    }
}

#[test]
fn all_mount_types_are_read() {
    let mounts = ["0", "1", "2", "3", "4"].map(|mount| {
        entry(9, 1, "[1,0,0,0,0,0,0,0]", OLD)
            .replace(r#""TargetMountType": 0"#, &format!(r#""TargetMountType": {mount}"#))
    });
    let entries: Vec<_> = mounts
        .iter()
        .enumerate()
        .map(|(i, text)| text.replace(r#""SeqID": 9"#, &format!(r#""SeqID": {}"#, i + 1)))
        .collect();
    let loaded = load(&[file("a.json", &entries)], &VendorOverrides::default()).unwrap();
    let found: Vec<_> = loaded.sensors.iter().map(|sensor| sensor.mount).collect();
    assert_eq!(
        found,
        [
            Mount::VehicleCentre(1),
            Mount::VehicleBottom(1),
            Mount::Ground(1),
            Mount::VehicleLevel(1),
            Mount::Sensor(1)
        ]
    );
    assert!(found.iter().enumerate().all(|(i, mount)| usize::from(mount.number()) == i));
}

#[test]
fn the_spelling_of_the_documents_means_what_that_of_the_loader_means() {
    let of = |text: &str| {
        let loaded = load(&[file("a.json", &[text.to_owned()])], &VendorOverrides::default());
        loaded.unwrap_or_else(|p| panic!("{p}"))
    };
    let loader = entry(1, 20, "[1,0,0,0,0,0,0,0]", NEW)
        .replace(r#""EularOrQuat": 0"#, r#""EularOrQuat": 1"#)
        .replace("[0,0,0], \"Eul", "[1,2,3], \"Eul");
    let documents =
        loader.replace("EularOrQuat", "EulerOrQuat").replace("SensorAngEular", "SensorAngEuler");
    assert_ne!(loader, documents);
    assert_eq!(of(&loader), of(&documents));
    let sensor = &of(&documents).sensors[0];
    assert_eq!((sensor.eular_or_quat, sensor.layout_new), (1.0, true));
    assert_eq!(sensor.raw_euler, [1.0, 2.0, 3.0]);
}

#[test]
fn sixteen_parameters_without_the_keys_of_the_attitude_are_a_problem_with_sensor_and_key() {
    let params = r#""otherParams": [9,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]"#;
    let files = [file("a.json", &[entry(7, 20, "[1,0,0,0,0,0,0,0]", params)])];
    let problems = load(&files, &VendorOverrides::default()).unwrap_err();
    assert_eq!(problems.0.len(), 1);
    let problem = &problems.0[0];
    assert_eq!(problem.path, "a.json: VisionSensors[0].EularOrQuat");
    for word in ["sensor 7", "16", "SensorAngQuat"] {
        assert!(problem.message.contains(word), "{}", problem.message);
    }
}

#[test]
fn a_rate_of_0_is_sent_as_it_is_and_means_30_hz() {
    let of = |rate: &str| {
        let entry = entry(1, 1, "[1,0,0,0,0,0,0,0]", OLD)
            .replace(r#""DataCheckFreq": 30"#, &format!(r#""DataCheckFreq": {rate}"#));
        let loaded = load(&[file("a.json", &[entry])], &VendorOverrides::default());
        let sensor = loaded.unwrap().sensors.remove(0);
        (sensor.rate_hz, sensor.asked_hz())
    };
    assert_eq!(of("0"), (0, 30));
    assert_eq!(of("1"), (1, 1));
    assert_eq!(of("1000"), (1000, 1000));
}

/// The comment rule of the vendor, word for word: lines that begin with a mark go, then everything from the first `//`,
/// then everything from the first `#`.
fn vendor_comments(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        if start.starts_with("//") || start.starts_with('#') {
            continue;
        }
        let cut = line.find("//").map_or(line, |at| &line[..at]);
        out.push_str(cut.find('#').map_or(cut, |at| &cut[..at]));
        out.push('\n');
    }
    out
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        let _ = load_one(&text);
    }

    #[test]
    fn json_like_text_never_panics(text in "[\\[\\]{}:,\"\\\\/# \n\r0-9.eE+truefalsenl-]{0,200}") {
        let _ = load_one(&text);
    }

    /// Any value in the place of any key: refused or taken, but never a panic and never a value out of its range.
    #[test]
    fn any_value_of_any_key_is_taken_or_refused(key in 0..14_usize, value in prop_oneof![
        Just("null".to_owned()), Just("true".to_owned()), Just("\"x\"".to_owned()), Just("{}".to_owned()), Just("[]".to_owned()),
        any::<i64>().prop_map(|v| v.to_string()), any::<u64>().prop_map(|v| v.to_string()), (-1e40..1e40_f64).prop_map(|v| format!("{v:e}")),
        proptest::collection::vec(any::<i32>(), 0..17).prop_map(|v| format!("{v:?}")),
        proptest::collection::vec(-400.0..400.0_f64, 8).prop_map(|v| format!("{v:?}")),
    ]) {
        let keys = ["SeqID", "TypeID", "TargetCopter", "TargetMountType", "DataWidth", "DataHeight", "DataCheckFreq", "SendProtocol",
            "CameraFOV", "SensorPosXYZ", "SensorAngEular", "EularOrQuat", "SensorAngQuat", "otherParams"];
        let text = entry(1, 20, "[1,0,0,0,0,0,0,0]", NEW);
        let text = text.replacen('{', &format!("{{\"{}\": 0, ", "unused"), 1);
        let text = format!("{}, \"{}\": {value}}}", text.trim_end_matches('}'), keys[key]);
        if let Ok(loaded) = load_one(&format!("{{\"VisionSensors\": [{text}]}}")) {
            for sensor in loaded.sensors {
                prop_assert!(sensor.port != 0 && (1..=1000).contains(&sensor.asked_hz()));
                prop_assert!(sensor.other_params.iter().chain(&sensor.raw_euler).all(|v| v.is_finite()));
            }
        }
    }

    /// What the vendor can read we read, and it means the same: every entry of the list is named in a problem.
    #[test]
    fn comments_mean_what_they_mean_to_the_vendor(lines in proptest::collection::vec(prop_oneof![
        4 => prop_oneof![
            Just("1, // \"a"), Just("\"x\" ,"), Just("2, # // y"), Just("// c"), Just("  # c \""), Just(" \t//"), Just("3,//4,"),
            Just("\"\\\"\", # \""), Just("\"\\\\\", // \""), Just("5,#6,"), Just(""),
        ].prop_map(str::to_owned),
        1 => "[\"#/\\\\ a1,]{0,8}",
    ], 0..8)) {
        let list = format!("[\n{}\n0]", lines.join("\n"));
        if let Ok(theirs) = serde_json::from_str::<Vec<serde_json::Value>>(&vendor_comments(&list)) {
            let ours = load_one(&format!("{{\"VisionSensors\": {list}}}")).unwrap_err();
            let ours: Vec<_> = ours.0.into_iter().map(|problem| problem.message).collect();
            let theirs: Vec<_> = theirs.iter().map(|value| format!("must be an object, is {value}")).collect();
            prop_assert_eq!(ours, theirs);
        }
    }
}

pub(super) const SENT: &str = "[1,0,0,0,0,0,0,0]";
const NONE: &str = r#""otherParams": [1,0,0,0,0,0,0,0]"#;

#[test]
fn sensors_whose_data_have_no_layout_are_left_out_and_the_others_load() {
    let files = [file(
        "Config.json",
        &[
            entry(0, 6, SENT, NONE),
            entry(1, 1, SENT, OLD),
            entry(2, 10, "[1,0,0,0,0,10000,0,0]", OLD),
        ],
    )];
    let loaded = load(&files, &VendorOverrides::default()).unwrap();
    let read: Vec<_> = loaded.sensors.iter().map(|s| s.seq_id).collect();
    assert_eq!((read, loaded.warnings), (vec![1], vec![]));
    let skipped: Vec<_> = loaded.skipped.iter().map(ToString::to_string).collect();
    assert_eq!(skipped.len(), 2);
    assert!(
        skipped[0].contains("VisionSensors[0].TypeID")
            && skipped[0].contains("6 is the microphone")
    );
    assert!(skipped[1].contains("10 is the optical flow") && skipped[1].contains("it is left out"));

    let strict = VendorOverrides { refuse_unsupported: true, ..VendorOverrides::default() };
    let Problems(refused) = load(&files, &strict).unwrap_err();
    let refused: Vec<_> = refused.iter().map(ToString::to_string).collect();
    assert_eq!(
        refused.len(),
        3,
        "two types and the port of the last, which is another's: {refused:?}"
    );
}

#[test]
fn mistakes_beside_a_sensor_that_is_left_out_stay_mistakes() {
    let carried = entry(3, 1, SENT, OLD).replace(
        r#""TargetCopter": 1, "TargetMountType": 0"#,
        r#""TargetCopter": 6, "TargetMountType": 4"#,
    );
    let wrong = entry(7, 10, SENT, OLD).replace(r#""DataCheckFreq": 30"#, r#""DataCheckFreq": -1"#);
    for (entries, problem) in [
        (
            vec![entry(6, 6, SENT, NONE), carried],
            "its carrier, Config.json: VisionSensors[0], is left out",
        ),
        (vec![entry(1, 1, SENT, OLD), wrong], "DataCheckFreq"),
        (vec![entry(1, 1, SENT, OLD), entry(1, 6, SENT, NONE)], "is also the SeqID"),
        (vec![entry(1, 11, SENT, OLD)], "must be one of"),
    ] {
        let problems =
            load(&[file("Config.json", &entries)], &VendorOverrides::default()).unwrap_err();
        assert!(problems.to_string().contains(problem), "{problems}");
    }
}
