//! Parameters and files together: what is requested, and what frames are made of.
use rfly_bridge::config::params::RequestFormat;
use rfly_bridge::config::{
    Mount, MountOrientation, ParamValue, Params, SensorConfig, TransportMode, ros_args,
};
use rfly_bridge::frames;
use rfly_bridge::node::{Settings, UrdfForm, robot_description, sensor_request};
use rfly_bridge::wire::SensorKind;

fn arguments(config: &std::path::Path, more: &[&str]) -> ros_args::RosArgs {
    let config = format!("config:={}", config.display());
    let mut words = vec!["--ros-args", "-p", &config];
    for word in more {
        words.extend(["-p", word]);
    }
    ros_args::parse(words.into_iter().map(str::to_owned)).expect("arguments")
}

/// Two cameras, the second carries a quaternion.
fn load(more: &[&str]) -> Settings {
    load_with(more, "-0.5, 0.25")
}

/// The same with these angles of the first camera: pitch, or pitch and yaw.
fn load_with(more: &[&str], angles: &str) -> Settings {
    let angles = match angles.contains(',') {
        true => angles.to_owned(),
        false => format!("{angles}, 0"),
    };
    let sensor = |seq_id: u16, quaternion: &str, selector: u8| {
        format!(
            r#"{{"SeqID": {seq_id}, "TypeID": 1, "TargetCopter": 1, "TargetMountType": 0, "DataWidth": 64,
               "DataHeight": 48, "DataCheckFreq": 30, "SendProtocol": [1,0,0,0,0,0,0,0], "CameraFOV": 90,
               "SensorPosXYZ": [0.5, 0, -1], "EularOrQuat": {selector}, "SensorAngEular": [0, {angles}],
               "SensorAngQuat": {quaternion}, "otherParams": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}}"#
        )
    };
    let entries = [sensor(1, "[0,0,0,0]", 0), sensor(2, "[0,0,1,0]", 1)];
    let text = format!(r#"{{"VisionSensors": [{}]}}"#, entries.join(", "));
    let name =
        format!("rfly_settings_{}_{:?}.json", std::process::id(), std::thread::current().id());
    let path = std::env::temp_dir().join(name.replace(['(', ')'], ""));
    std::fs::write(&path, text).expect("a temporary file");
    let settings = Settings::load(&arguments(&path, more));
    std::fs::remove_file(&path).expect("it was there");
    settings.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_angle_in_degrees_is_sent_in_the_unit_that_the_simulator_takes() {
    let angle = "sensor1.orientation_deg:=[0, -90, 180]";
    let degrees = load(&[angle, "sensor1.fov_deg:=60", "sensor1.rate_hz:=5"]);
    let request = sensor_request(&degrees.sensors[0], RequestFormat::Vendor);
    assert_eq!(request.euler, [0.0, -90.0, 180.0]);
    assert_eq!((request.fov_deg, request.check_freq), (60.0, 5));

    let radians = load(&[angle, "mount_angle_unit:=radians"]);
    let request = sensor_request(&radians.sensors[0], RequestFormat::Vendor);
    let half = std::f32::consts::PI;
    assert_eq!(request.euler, [0.0, -half / 2.0, half]);
    // TF is the same whatever goes over the wire.
    for settings in [&degrees, &radians] {
        let wanted = [0.0, -std::f64::consts::FRAC_PI_2, std::f64::consts::PI];
        assert_eq!(settings.mounts()[0].orientation, frames::MountOrientation::Euler(wanted));
    }
    // The other sensor is as in the file.
    assert_eq!(sensor_request(&radians.sensors[1], RequestFormat::Vendor).eular_or_quat, 1.0);
}

#[test]
fn angles_that_a_parameter_sets_do_not_decide_the_unit_of_the_file() {
    // Radians by the values of the file; 90 could only be degrees.
    let settings = load(&["mount_angle_unit:=auto", "sensor2.orientation_deg:=[0, 90, 0]"]);
    let MountOrientation::Euler([_, pitch, _]) = settings.sensors[1].orientation else {
        panic!("the quaternion does not count any more");
    };
    assert!((pitch - std::f64::consts::FRAC_PI_2).abs() < 1e-12, "{pitch}");
}

#[test]
fn angles_that_look_like_radians_are_a_warning_unless_the_unit_is_chosen() {
    let warned = |more: &[&str], pitch: &str| {
        let settings = load_with(more, pitch);
        let mut paths = settings.warnings.iter().map(|w| w.path.as_str());
        paths.any(|path| path == "mount_angle_unit")
    };
    assert!(warned(&[], "-1.5708"));
    assert!(!warned(&[], "-90"));
    assert!(!warned(&["mount_angle_unit:=radians"], "-1.5708"));
    assert!(!warned(&["mount_angle_unit:=auto"], "-1.5708"));
}

#[test]
fn a_change_starts_from_the_files_again() {
    let first = load(&["sensor1.fov_deg:=60", "sensor1.position:=[1, 2, 3]"]);
    assert_eq!(first.sensors[0].fov_deg, 60.0);
    assert_eq!(first.origin.sensors[0].fov_deg, 90.0);
    let values = [("sensor2.rate_hz".to_owned(), ParamValue::Int(7))];
    let changed = first.changed(Params::from_values(&values).unwrap()).unwrap();
    assert_eq!(changed.sensors[0], first.origin.sensors[0], "nothing of the old values is left");
    assert_eq!(changed.sensors[1].rate_hz, 7);

    let values = [("sensor2.fov_deg".to_owned(), ParamValue::Float(200.0))];
    let refused = first.changed(Params::from_values(&values).unwrap());
    assert!(refused.unwrap_err().to_string().contains("below 180"));
}

#[test]
fn a_sensor_is_added_behind_the_others_or_refused_with_all_reasons() {
    let settings = load(&["sensor1.fov_deg:=60", "mount_angle_unit:=auto"]);
    let sensor = |change: &dyn Fn(&mut SensorConfig)| {
        let mut sensor = settings.origin.sensors[0].clone();
        (sensor.seq_id, sensor.port) = (9, 10_008);
        change(&mut sensor);
        sensor
    };
    let with = settings.with_sensor(sensor(&|_| ())).unwrap();
    let ids: Vec<_> = with.sensors.iter().map(|s| s.seq_id).collect();
    assert_eq!(ids, [1, 2, 9]);
    assert_eq!(with.sensors[..2], settings.sensors[..]);
    // It stays with parameters that change later.
    let values = [("sensor9.rate_hz".to_owned(), ParamValue::Int(7))];
    let changed = with.changed(Params::from_values(&values).unwrap()).unwrap();
    assert_eq!(changed.sensors[2].rate_hz, 7);
    let refused = settings.with_sensor(sensor(&|sensor| {
        sensor.kind = SensorKind::Pod;
        sensor.mount = Mount::VehicleCentre(5);
    }));
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("9 (pod) cannot be added"), "{refused}");
    assert!(refused.contains("serves (1), is 5"), "{refused}");
    // Others are not turned by what `auto` finds with one more.
    let degrees = sensor(&|sensor| {
        sensor.orientation = MountOrientation::Euler([0.0, 45.0, 0.0]);
    });
    let refused = settings.with_sensor(degrees).unwrap_err().to_string();
    assert!(refused.contains("mount_angle_unit"), "{refused}");
}

#[test]
fn clouds_are_sent_as_they_are_in_every_mode_of_udp() {
    let camera = load(&[]).sensors[0].clone();
    let raw = |kind, transport| SensorConfig { kind, transport, ..camera.clone() }.is_sent_raw();
    let in_modes = |kind| {
        [TransportMode::SharedMemory, TransportMode::UdpCompressed, TransportMode::UdpRaw]
            .map(|mode| raw(kind, mode))
    };
    assert_eq!(in_modes(SensorKind::Rgb), [false, false, true]);
    assert_eq!(in_modes(SensorKind::Lidar), [false, true, true]);
    assert!(raw(SensorKind::DepthCloud, TransportMode::UdpCompressedAlt));
}

#[test]
fn controlled_vehicles_have_a_frame_that_their_autopilots_count_in() {
    let with_frame = |more: &[&str]| -> Vec<u16> {
        let names = load(more).frame_names();
        names.autopilots.into_iter().collect()
    };
    assert_eq!(with_frame(&["vehicles:=[1, 2, 3]"]), [1, 2, 3]);
    assert_eq!(with_frame(&["vehicles:=[1, 2, 3]", "vehicle2.link:='off'"]), [1, 3]);
    // As mavros: positions are said to be in the map.
    assert_eq!(with_frame(&["compat.mavros_quirks:=true"]), [0; 0]);
    assert_eq!(with_frame(&["control.local_frame:=map"]), [0; 0]);
    assert_eq!(with_frame(&["control.local_frame:=world", "map_frame:=world"]), [0; 0]);
    let named = load(&["control.local_frame:=start"]);
    assert_eq!(named.frame_names().local_origin, "start");
    // It is no part of the robot.
    let robot = robot_description(&named, 1, UrdfForm::Urdf).expect("a description");
    assert!(robot.contains("base_link") && !robot.contains("start"));
    let taken = [("control.local_frame".to_owned(), ParamValue::Str("odom".to_owned()))];
    let refused = Params::from_values(&taken).unwrap_err().to_string();
    assert!(refused.contains("control.local_frame") && refused.contains("odom_frame"), "{refused}");
}

#[test]
fn a_parameter_file_names_a_bridge_of_a_fleet_by_the_name_of_its_host_too() {
    let folder = std::env::temp_dir().join(format!("rfly_fleet_names_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let [fleet, file] = ["fleet.yaml", "params.yaml"].map(|name| folder.join(name));
    let hosts = "hosts:\n  pc1: {bridge: 127.0.0.1, START_INDEX: 1, VehicleNum: 1}\n";
    let section = |node: &str, text: &str| format!("{node}:\n  ros__parameters: {{{text}}}\n");
    let sections = [
        section("/**", "window: 1"),
        section("rfly_bridge", "window: 2, imu.rate_hz: 300"),
        section("rfly_bridge_pc1", "topic_prefix: own"),
        section("rfly_bridge_pc2", "window: 4"),
    ];
    std::fs::write(&fleet, hosts).expect("a temporary file");
    std::fs::write(&file, sections.concat()).expect("a temporary file");
    let load = |more: &[&str]| {
        let [fleet, file] = [&fleet, &file].map(|path| path.display().to_string());
        let fleet = format!("fleet.file:={fleet}");
        let words = ["--ros-args", "--params-file", &file, "-p", &fleet, "-p", "fleet.host:=pc1"];
        let words = words.iter().chain(more).map(|word| (*word).to_owned());
        let settings = Settings::load(&ros_args::parse(words).expect("arguments"));
        settings.unwrap_or_else(|error| panic!("{error}"))
    };
    let (named, renamed) = (load(&[]), load(&["-r", "__node:=other"]));
    std::fs::remove_dir_all(&folder).expect("it was there");
    assert_eq!(named.node_name(), "rfly_bridge_pc1");
    assert_eq!((named.params.topic_prefix.as_str(), named.params.window), ("own", 2));
    assert_eq!((renamed.params.topic_prefix.as_str(), renamed.params.window), ("pc1", 1));
}
