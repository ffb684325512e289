//! The table of parameters: typed values, refusals with suggestions.
use rfly_bridge::config::config_json::TransportOverride;
use rfly_bridge::config::params::{
    Durability, History, PARAMETERS, Qos, QosGroup, Reliability, StampMode, WorldConvention,
};
use rfly_bridge::config::{ControlLink, ParamValue, Params, SimMode, TransportMode};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

fn string(text: &str) -> ParamValue {
    ParamValue::Str(text.to_owned())
}

fn params(values: &[(&str, ParamValue)]) -> Result<Params, String> {
    let values: Vec<_> =
        values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Params::from_values(&values).map_err(|problems| problems.to_string())
}

#[test]
fn without_values_everything_has_its_default() {
    assert_eq!(params(&[]), Ok(Params::default()));
    let p = Params::default();
    assert_eq!(p.simulator_address, Ipv4Addr::LOCALHOST);
    assert_eq!((p.window, p.receive_address, p.topic_prefix.as_str()), (0, None, "rflysim"));
    assert_eq!(p.transport_mode, TransportOverride::Vendor);
    assert_eq!((p.imu.enabled, p.imu.rate_hz, p.imu.topic.as_str()), (true, 200, "imu"));
    assert_eq!(
        p.imu.angular_velocity_covariance,
        [0.001, 0.0, 0.0, 0.0, 0.001, 0.0, 0.0, 0.0, 0.001]
    );
    assert_eq!(p.frames.world, WorldConvention::Enu);
    assert_eq!(
        (p.frames.map.as_str(), p.frames.odom.as_str(), p.frames.base.as_str()),
        ("map", "odom", "base_link")
    );
    assert_eq!(p.time.mode, StampMode::Aligned);
    assert_eq!(p.request.period, Duration::from_secs(1));
    assert!(p.config.is_empty() && p.vehicles.is_empty() && p.sensors.is_empty());
}

#[test]
fn every_default_passes_the_check_of_its_own_row() {
    for row in PARAMETERS.iter() {
        let found = params(&[(row.name, row.default_value())]);
        assert_eq!(found, Ok(Params::default()), "{}", row.name);
    }
}

/// A value that is allowed and is not the default.
fn another_value(name: &str) -> ParamValue {
    use rfly_bridge::config::params::ValueKind;
    let row = PARAMETERS.iter().find(|row| row.name == name).unwrap();
    match (row.kind, row.default_value()) {
        (ValueKind::Bool, ParamValue::Bool(v)) => ParamValue::Bool(!v),
        (ValueKind::Int(min, max), ParamValue::Int(v)) => {
            ParamValue::Int(if v == max { min } else { max })
        }
        (ValueKind::Float(_, max), _) => ParamValue::Float(max),
        (ValueKind::Vector(_, max), _) => ParamValue::List(vec![ParamValue::Float(max); 3]),
        (ValueKind::Choice(words), ParamValue::Str(v)) => {
            string(words.iter().find(|w| **w != v).unwrap())
        }
        _ if name == "control.link" => string("direct:14550"),
        (ValueKind::Address, _) => string("10.0.0.7"),
        (ValueKind::Str | ValueKind::Topic | ValueKind::Frame, _) => string("another"),
        (ValueKind::Networks, _) => ParamValue::List(vec![string("10.0.0.0/8")]),
        (ValueKind::Paths, _) => ParamValue::List(vec![string("a.json"), string("b.json")]),
        (ValueKind::Names(_), _) => ParamValue::List(vec![string("House_3")]),
        (ValueKind::Ints(..), _) => ParamValue::List(vec![ParamValue::Int(3)]),
        (ValueKind::Covariance, _) => ParamValue::List((1..=9).map(ParamValue::Int).collect()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_row_of_the_table_reaches_the_typed_parameters() {
    for row in PARAMETERS.iter() {
        let mut values = vec![(row.name, another_value(row.name))];
        values.extend(match row.name {
            "request.period_s" => Some(("request.timeout_s", ParamValue::Int(600))),
            "scan.min_height" => Some(("scan.max_height", ParamValue::Int(2000))),
            "scene.first_id" => Some(("scene.last_id", ParamValue::Int(65_535))),
            "redis.renderer" => Some(("redis.address", string("127.0.0.1"))),
            "scan.angle_min" => Some(("scan.angle_max", ParamValue::Float(6.0))),
            _ => None,
        });
        let changed = params(&values).unwrap_or_else(|why| panic!("{}: {why}", row.name));
        assert_ne!(changed, Params::default(), "{} changes nothing", row.name);
    }
}

#[test]
fn names_are_unique_and_documented() {
    for (i, row) in PARAMETERS.iter().enumerate() {
        assert!(PARAMETERS[..i].iter().all(|earlier| earlier.name != row.name), "{}", row.name);
        assert!(row.doc.ends_with('.') && row.doc.len() > 15, "{}", row.name);
    }
}

#[test]
fn typed_values_arrive() {
    let p = params(&[
        ("config", string("Config.json")),
        ("transport_mode", ParamValue::Int(2)),
        ("receive_address", string("192.168.31.24")),
        ("vehicles", ParamValue::List(vec![ParamValue::Int(2), ParamValue::Int(7)])),
        ("request.timeout_s", ParamValue::Int(5)),
        ("world_convention", string("nwu")),
        (
            "imu.linear_acceleration_covariance",
            ParamValue::List((1..=9).map(ParamValue::Int).collect()),
        ),
        ("sensor3.topic", string("front")),
        ("sensor3.enabled", ParamValue::Bool(false)),
        ("sensor12.encoding", string("rgb8")),
    ])
    .unwrap();
    assert_eq!(p.config, [PathBuf::from("Config.json")]);
    assert_eq!(p.transport_mode, TransportOverride::Mode(TransportMode::UdpRaw));
    assert_eq!(p.vendor_overrides().receive_address, Some([192, 168, 31, 24]));
    assert_eq!(p.vehicles, [2, 7]);
    assert_eq!(p.request.timeout, Duration::from_secs(5));
    assert_eq!(p.frames.world, WorldConvention::Nwu);
    assert_eq!(p.imu.linear_acceleration_covariance, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    assert_eq!(
        (p.sensor(3).topic.as_deref(), p.sensor(3).enabled, p.sensor(3).frame_id),
        (Some("front"), Some(false), None)
    );
    assert_eq!(p.sensor(12).encoding.as_deref(), Some("rgb8"));
    assert_eq!(p.sensor(4), Default::default());
}

#[test]
fn the_later_of_two_values_counts_and_the_earlier_is_not_even_checked() {
    let p = params(&[("window", string("wrong")), ("window", ParamValue::Int(3))]).unwrap();
    assert_eq!(p.window, 3);
}

#[test]
fn all_wrong_values_are_reported_at_once_with_range_and_suggestion() {
    let text = params(&[
        ("imu.rate", ParamValue::Int(100)),
        ("simulator_adress", string("127.0.0.1")),
        ("rate_hz", ParamValue::Int(1)),
        ("completely_different", ParamValue::Int(1)),
        ("window", ParamValue::Int(20)),
        ("imu.rate_hz", ParamValue::Float(200.0)),
        ("imu.enabled", string("yes")),
        ("diagnostics.period_s", ParamValue::Float(f64::NAN)),
        ("time.mode", string("alligned")),
        ("simulator_address", string("localhost")),
        ("vehicles", ParamValue::List(vec![ParamValue::Int(1), ParamValue::Int(1)])),
        ("topic_prefix", string("/rfly sim")),
        ("map_frame", string("/map")),
        ("odom_frame", string("base_link")),
        ("imu.angular_velocity_covariance", ParamValue::List(vec![ParamValue::Float(-1.0); 3])),
        ("imu.linear_acceleration_covariance", ParamValue::List(vec![ParamValue::Float(1.0); 4])),
        ("transport_mode", ParamValue::Int(4)),
        ("sensor3.frame", string("a")),
        ("sensor70000.topic", string("a")),
        ("sensors3.topic", string("a")),
        ("sensor3.encoding", string("rgb")),
        ("qos.images.depth", ParamValue::Int(1)),
        ("qos.image.dept", ParamValue::Int(1)),
        ("qos.image.depth", ParamValue::Int(0)),
        ("qos.cloud.preset", string("sensordata")),
        ("qos_overrides./a.subscription.depth", ParamValue::Int(1)),
        ("qos_overrides.a.publisher.depth", ParamValue::Int(1)),
        ("qos_overrides./a.publisher.deadline", ParamValue::Int(1)),
        ("qos_overrides./a.depth", ParamValue::Int(1)),
    ]);
    insta::assert_snapshot!(text.unwrap_err());
}

#[test]
fn qos_comes_from_stream_preset_policies_and_topic_in_this_order() {
    let p = params(&[
        ("qos.image.preset", string("sensor_data")),
        ("qos.image.depth", ParamValue::Int(9)),
        ("qos_overrides./a.publisher.reliability", string("reliable")),
        ("qos_overrides./tf.publisher.depth", ParamValue::Int(1)),
    ])
    .unwrap();
    let best_effort = Qos {
        reliability: Reliability::BestEffort,
        durability: Durability::Volatile,
        history: History::KeepLast,
        depth: 9,
    };
    assert_eq!(p.qos.of(QosGroup::Image, "/b"), best_effort);
    assert_eq!(
        p.qos.of(QosGroup::Image, "/a"),
        Qos { reliability: Reliability::Reliable, ..best_effort }
    );
    assert_eq!(p.qos.of(QosGroup::Cloud, "/b"), QosGroup::Cloud.default_qos());
    assert_eq!(p.qos.of(QosGroup::Tf, "/tf").depth, 1);
}

#[test]
fn the_default_qos_matches_every_reader_that_mavros_section_2_names() {
    // A reliable offer matches reliable and best-effort readers; tf2 and robot_state_publisher readers need what they ask for.
    assert!(
        QosGroup::ALL
            .iter()
            .all(|stream| stream.default_qos().reliability == Reliability::Reliable)
    );
    assert_eq!(QosGroup::TfStatic.default_qos().durability, Durability::TransientLocal);
    // It is published while somebody subscribes: a latched one would be that of the last subscriber's days.
    assert_eq!(QosGroup::CameraInfo.default_qos().durability, Durability::Volatile);
    assert!(QosGroup::CameraInfo.default_qos().depth >= QosGroup::Image.default_qos().depth);
}

#[test]
fn frames_are_prefixed_only_where_several_vehicles_need_it() {
    let frames = Params::default().frames;
    assert_eq!(
        (frames.prefix_of(1, 1), frames.prefix_of(2, 2)),
        (String::new(), "copter2/".to_owned())
    );
    let own = params(&[("frame_prefix", string("uav{id}_"))]).unwrap().frames;
    assert_eq!(own.prefix_of(3, 1), "uav3_");
}

#[test]
fn a_recording_has_a_path_that_ends_with_a_name() {
    for path in ["/", "..", "a/..", ".", "~/flight", "~", "a\u{2}b", "a\nb"] {
        for parameter in ["record.ros", "record.raw"] {
            let wrong = params(&[(parameter, string(path))]).unwrap_err();
            assert!(wrong.contains(parameter), "{path:?}: {wrong}");
        }
    }
    for path in ["flight-2_b.1", "/data/flights/a b", "../flight", "flights/1/"] {
        let record = params(&[("record.ros", string(path))]).unwrap().record;
        assert_eq!(record.ros.as_deref(), Some(path));
    }
}

#[test]
fn wrong_expressions_of_a_recording_are_reported_with_all_other_problems() {
    let wrong = params(&[
        ("record.regex", string("img_(rgb")),
        ("record.exclude_regex", string("*depth")),
        ("record.depth", string("png")),
        ("record.compression", string("lz4")),
        ("record.ros", string("/")),
        ("imu.rate_hz", ParamValue::Int(0)),
    ])
    .unwrap_err();
    for name in [
        "record.regex",
        "record.exclude_regex",
        "record.depth",
        "record.compression",
        "record.ros",
        "imu.rate_hz",
    ] {
        assert!(wrong.contains(&format!("{name} ")), "{name}: {wrong}");
    }
    let record = params(&[("record.regex", string("^/tf|img_rgb$"))]).unwrap().record;
    assert_eq!(record.regex, "^/tf|img_rgb$");
}

#[test]
fn limits_of_a_scan_are_in_order() {
    let float = ParamValue::Float;
    let wrong = params(&[
        ("scan.min_height", float(0.5)),
        ("scan.angle_max", float(-std::f64::consts::PI)),
        ("scan.range_min", float(5.0)),
        ("scan.range_max", float(5.0)),
    ])
    .unwrap_err();
    for line in [
        "scan.min_height   must be less than scan.max_height, 0.2, is 0.5",
        "scan.angle_min    must be less than scan.angle_max, -3.14",
        "scan.range_min    must be less than scan.range_max, 5, is 5",
    ] {
        assert!(wrong.contains(line), "{wrong}");
    }
    // 0 is the sensor's own range.
    assert!(params(&[("scan.range_min", float(5.0))]).is_ok());
}

#[test]
fn parameters_of_sensors_must_suit_the_sensors() {
    let case = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("config/Config.json"),
    )
    .unwrap();
    let sensors = rfly_bridge::config::config_json::load(
        &[("Config.json".to_owned(), case)],
        &Default::default(),
    )
    .unwrap()
    .sensors;
    let good = params(&[
        ("sensor0.encoding", string("rgb8")),
        ("sensor1.encoding", string("vendor")),
        ("sensor5.enabled", ParamValue::Bool(false)),
    ])
    .unwrap();
    assert_eq!(good.check_sensors(&sensors), Ok(()));
    let bad = params(&[
        ("sensor0.encoding", string("16UC1")),
        ("sensor8.encoding", string("rgb8")),
        ("sensor4.enabled", ParamValue::Bool(false)),
        ("sensor9.scan", string("band")),
        ("sensor10.scan", string("ring")),
        ("sensor8.scan", string("ring")),
        ("sensor8.rate_hz", ParamValue::Int(5)),
        ("sensor8.fov_deg", ParamValue::Float(60.0)),
        ("scan.ring", ParamValue::Int(16)),
        ("sensor99.topic", string("a")),
    ]);
    insta::assert_snapshot!(bad.unwrap().check_sensors(&sensors).unwrap_err().to_string());
}

/// `ros2 param dump` nests names at their dots.
#[test]
fn no_name_is_the_beginning_of_another() {
    let names: Vec<_> = PARAMETERS.iter().map(|parameter| parameter.name).collect();
    for name in &names {
        let inner = names.iter().find(|other| other.starts_with(&format!("{name}.")));
        assert_eq!(inner, None, "{name}");
    }
}

/// `make docs` writes these files; this test keeps them true.
#[test]
fn the_committed_parameter_files_are_what_the_table_says() {
    use rfly_bridge::config::params::{render_markdown, render_yaml};
    for (path, text) in
        [("config/bridge.yaml", render_yaml()), ("docs/parameters.md", render_markdown())]
    {
        let committed =
            std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
                .unwrap_or_default();
        assert!(committed == text, "{path} is out of date: run `make docs`");
    }
}

#[test]
fn bridge_yaml_has_every_parameter_with_its_default() {
    use rfly_bridge::config::{params::render_yaml, ros_args::params_of_file};
    let values = params_of_file("bridge.yaml", &render_yaml(), &["/rfly_bridge"])
        .unwrap_or_else(|p| panic!("{p}"));
    for row in PARAMETERS.iter() {
        assert!(
            values.iter().any(|(name, value)| name == row.name && *value == row.default_value()),
            "{}",
            row.name
        );
    }
    let read = Params::from_values(&values).unwrap_or_else(|p| panic!("{p}"));
    for stream in QosGroup::ALL {
        assert!(read.qos.groups.contains_key(stream), "{stream:?}");
        assert_eq!(read.qos.of(*stream, "/any"), stream.default_qos());
    }
    assert_eq!(Params { qos: Default::default(), ..read }, Params::default());
}

#[test]
fn help_names_every_parameter_and_fits_a_terminal() {
    let help = rfly_bridge::config::params::render_help();
    assert!(PARAMETERS.iter().all(|row| help.contains(&format!(" {} ", row.name))
        || help.contains(&format!(" {}\n", row.name))));
    assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
}

#[test]
fn overrides_of_topics_that_nobody_publishes_are_named() {
    let p = params(&[
        ("qos_overrides./tf.publisher.depth", ParamValue::Int(1)),
        ("qos_overrides./rflysim/sensor0/img_rbg.publisher.depth", ParamValue::Int(1)),
    ]);
    let found = p.unwrap().qos.problems_of_topics(&["/tf", "/rflysim/sensor0/img_rgb"]);
    let text: Vec<_> = found.iter().map(ToString::to_string).collect();
    let expected = r#"qos_overrides./rflysim/sensor0/img_rbg: no publisher on this topic; did you mean "/rflysim/sensor0/img_rgb"?"#;
    assert_eq!(text, [expected]);
}

#[test]
fn what_is_worse_on_purpose_is_told_and_nothing_is_by_default() {
    assert!(Params::default().degraded().is_empty());
    let real = ParamValue::Float;
    let vector = ParamValue::List([1.0, 1.0, 2.0].map(ParamValue::Float).to_vec());
    for (name, value, told) in [
        ("degrade.latency_s", real(0.05), "frames late by 50ms"),
        ("degrade.jitter_s", real(0.01), "jitter up to 10ms"),
        ("degrade.drop", real(0.125), "12.5 % of frames dropped"),
        ("degrade.depth_noise_m", real(0.01), "noise of depth 0.01 m + 0 z^2"),
        ("degrade.depth_noise_per_m", real(0.002), "noise of depth 0 m + 0.002 z^2"),
        ("degrade.lidar_noise_m", real(0.02), "noise of lidar ranges 0.02 m"),
        ("degrade.lidar_dropout", real(0.5), "50 % of lidar points missing"),
        ("degrade.gps_noise_m", vector.clone(), "noise of gps [1.0, 1.0, 2.0] m"),
        ("imu.accelerometer_noise_density", real(0.1), "noise of the IMU"),
        ("imu.gyroscope_noise_density", real(0.1), "noise of the IMU"),
        ("imu.accelerometer_random_walk", real(0.1), "walking biases of the IMU"),
        ("imu.gyroscope_random_walk", real(0.1), "walking biases of the IMU"),
        ("imu.accelerometer_bias", vector.clone(), "constant biases of the IMU"),
        ("imu.gyroscope_bias", vector, "constant biases of the IMU"),
    ] {
        assert_eq!(params(&[(name, value)]).unwrap().degraded(), [told]);
    }
    // A seed alone degrades nothing; all rows but it are above.
    let seeded = params(&[("degrade.seed", ParamValue::Int(5))]).unwrap();
    assert!(seeded.degraded().is_empty());
    let rows = PARAMETERS.iter().filter(|row| row.name.starts_with("degrade."));
    assert_eq!(rows.count(), 9);
}

#[test]
fn vehicles_that_the_bridge_flies_are_here_and_in_udp_simple() {
    let own = |more: &[(&str, ParamValue)]| {
        let model = ("vehicle2.model", string("point_mass"));
        let far = ("simulator_address", string("192.168.1.10"));
        params(&[&[model, far], more].concat())
    };
    let p = own(&[(
        "vehicle2.start",
        ParamValue::List(vec![1.0, 2.0, 3.0].into_iter().map(ParamValue::Float).collect()),
    )]);
    let p = p.unwrap();
    assert_eq!(p.copter_sim(2), Ipv4Addr::LOCALHOST);
    assert_eq!(p.copter_sim(1), Ipv4Addr::new(192, 168, 1, 10));
    let simple = ControlLink::Simulator(SimMode::UdpSimple);
    assert_eq!((p.control_link(2), p.per_vehicle[&2].start), (&simple, [1.0, 2.0, 3.0]));
    assert!(own(&[("vehicle2.link", string("off"))]).is_ok());
    for (name, value, wanted) in [
        ("vehicle2.link", "mavlink_full", "udp_simple"),
        ("vehicle2.address", "10.0.0.7", "loopback"),
        ("vehicle2.model", "pointmass", "point_mass"),
        ("vehicle2.modl", "point_mass", "model"),
    ] {
        let error = own(&[(name, string(value))]).unwrap_err();
        assert!(error.contains(name) && error.contains(wanted), "{error}");
    }
    let error =
        own(&[("redis.address", string("127.0.0.1")), ("simulator_address", string("127.0.0.1"))]);
    let error = error.unwrap_err();
    assert!(error.contains("vehicle2.model") && error.contains("redis.address"), "{error}");
}

#[test]
fn a_renderer_behind_redis_needs_a_server_and_channels_and_no_group() {
    let error = params(&[
        ("redis.renderer", ParamValue::Bool(true)),
        ("scene.network", ParamValue::Bool(true)),
        ("redis.r3d_rec_key", string("")),
        ("redis.r3d_send_key_20006", string("")),
    ]);
    let error = error.unwrap_err();
    for words in
        ["set redis.address", "all renderers of the server", "RedisConfig.ini", "must differ"]
    {
        assert!(error.contains(words), "{words} is missing: {error}");
    }
    let right = params(&[
        ("redis.renderer", ParamValue::Bool(true)),
        ("redis.address", string("127.0.0.1")),
    ]);
    let redis = right.expect("parameters").redis;
    // The keys of the vendor's client and of its documents.
    assert_eq!(redis.to_renderer, "GLOBAL_MESSAGE_REDIS_KEY");
    assert_eq!(redis.from_renderer, "GLOBAL_MESSAGE_R3D_SEND_KEY_20006");
}
