//! Config.json against what the vendor's loader made of the same text.
use crate::support::golden::{self, Vector, number, numbers};
use rfly_bridge::config::config_json::{Loaded, TransportOverride, VendorOverrides, inspect};
use rfly_bridge::config::{Problems, SensorConfig, TransportMode};
use rfly_bridge::wire::{RequestLayout, SensorRequest};
use serde_json::Value;

fn overrides(args: &Value) -> VendorOverrides {
    let transport = match (args["ChangeMode"].as_i64(), args["isLinux"].as_bool()) {
        (Some(-1), Some(true)) => TransportOverride::Vendor,
        (Some(-1), Some(false)) => TransportOverride::File,
        (Some(mode), _) => {
            TransportOverride::Mode(TransportMode::from_repr(mode.try_into().unwrap()).unwrap())
        }
        other => panic!("{other:?}"),
    };
    VendorOverrides { transport, ..VendorOverrides::default() }
}

fn read(vector: &Vector, overrides: &VendorOverrides) -> (Loaded, Problems) {
    let text = vector["args"]["config"].as_str().unwrap().to_owned();
    inspect(&[("Config.json".to_owned(), text)], overrides)
}

fn f32s(value: &Value) -> Vec<f32> {
    numbers(value).into_iter().map(|v| v as f32).collect()
}

fn int(value: &Value) -> u16 {
    value.as_bool().map_or_else(|| number(value) as u16, u16::from)
}

fn assert_sensor(name: &str, ours: &SensorConfig, vendor: &Value) {
    let mount = ours.mount;
    let integers = [
        ours.seq_id,
        ours.kind.type_id(),
        mount.target(),
        mount.number(),
        ours.width,
        ours.height,
        ours.rate_hz,
    ];
    let keys = [
        "SeqID",
        "TypeID",
        "TargetCopter",
        "TargetMountType",
        "DataWidth",
        "DataHeight",
        "DataCheckFreq",
    ];
    assert_eq!(integers, keys.map(|key| int(&vendor[key])), "{name}");
    let [a, b, c, d] = ours.ip.map(f64::from);
    let [r0, r1] = [ours.piece_bytes, ours.segmentation].map(f64::from);
    let send = vec![ours.transport.number().into(), a, b, c, d, ours.port.into(), r0, r1];
    assert_eq!(send, numbers(&vendor["SendProtocol"]), "{name}");
    assert_eq!(ours.fov_deg, number(&vendor["CameraFOV"]) as f32, "{name}");
    assert_eq!(ours.raw_position().to_vec(), f32s(&vendor["SensorPosXYZ"]), "{name}");
    assert_eq!(ours.eular_or_quat, number(&vendor["EularOrQuat"]) as f32, "{name}");
    assert_eq!(ours.raw_euler.to_vec(), f32s(&vendor["SensorAngEular"]), "{name}");
    assert_eq!(ours.raw_quaternion.to_vec(), f32s(&vendor["SensorAngQuat"]), "{name}");
    assert_eq!(ours.other_params.to_vec(), f32s(&vendor["otherParams"]), "{name}");
}

/// What we refuse although the vendor goes on without the sensor, or gives up without a place.
fn expected_problem(vector: &str) -> Option<&'static str> {
    Some(match vector {
        "skip_bad_width_float" | "all_bad" => "Config.json: VisionSensors[0].DataWidth",
        "skip_bad_len_sendprotocol" => "Config.json: VisionSensors[0].SendProtocol",
        "skip_old_with_16_params" => "Config.json: VisionSensors[0].EularOrQuat",
        "skip_new_with_8_params" => "Config.json: VisionSensors[0].otherParams",
        // The vendor does not read that spelling; here it lacks the quaternion that has to come with it.
        "EulerOrQuat_spelling_with_16_params_skipped" | "skip_bad_quat_len" => {
            "Config.json: VisionSensors[0].SensorAngQuat"
        }
        "fov_string_skipped" => "Config.json: VisionSensors[0].CameraFOV",
        "missing_key_raises" => "Config.json: VisionSensors[0].DataCheckFreq",
        "empty_list" => "Config.json: VisionSensors",
        _ => return None,
    })
}

#[test]
fn every_config_json_vector_gives_the_vendors_sensors_and_a_place_for_what_it_skips() {
    let (files, others): (Vec<_>, Vec<_>) =
        golden::load("config_json").into_iter().partition(|v| v.function() == "jsonLoad");
    assert_eq!(files.len() + others.len(), 29);
    // The other two are about adding sensors by a call, which has no counterpart here.
    assert!(others.iter().all(|v| v.function() == "addVisSensor"));

    for vector in files {
        let name = vector.name();
        let (loaded, problems) = read(&vector, &overrides(&vector["args"]));
        let decoded = &vector["decoded"];
        let base = name.split('/').next().unwrap();
        if base == "hash_inside_string_breaks" || base == "slashes_inside_string_breaks" {
            // The vendor dies on a comment mark inside a string ; it is no comment.
            assert_eq!(decoded["return"], Value::Null);
            assert_eq!((loaded.sensors.len(), problems.0.len()), (1, 0), "{name}: {problems}");
            continue;
        }
        let vendor = decoded["VisSensor"].as_array().unwrap();
        assert_eq!(loaded.sensors.len(), vendor.len(), "{name}: {problems}");
        for (ours, theirs) in loaded.sensors.iter().zip(vendor) {
            assert_sensor(name, ours, theirs);
            assert_eq!(Some(ours.layout_new), decoded["isNewJson"].as_bool(), "{name}");
        }
        let paths: Vec<_> = problems.0.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, Vec::from_iter(expected_problem(base)), "{name}");
    }
}

#[test]
fn every_recorded_request_follows_from_its_config_json() {
    let vectors =
        golden::load("vision_req").into_iter().filter(|v| v.function() == "jsonLoad+sendReqToUE4");
    let mut requests = 0;
    for vector in vectors {
        let (name, args) = (vector.name(), &vector["args"]);
        let mut overrides = overrides(args);
        // "Direct UDP" turns mode 0 into 1, which is what the vendor's loader does on Linux by itself.
        if args["isUE4DirectUDP"] == Value::Bool(true) {
            assert_eq!(
                overrides.transport,
                TransportOverride::Mode(TransportMode::SharedMemory),
                "{name}"
            );
            overrides.transport = TransportOverride::Mode(TransportMode::UdpCompressed);
        }
        let remote =
            args["RemotSendIP"].as_str().and_then(|a| a.parse::<std::net::Ipv4Addr>().ok());
        overrides.receive_address = remote.map(|a| a.octets());
        let (loaded, problems) = read(&vector, &overrides);
        assert!(problems.is_empty(), "{name}: {problems}");

        let sent: Vec<_> = vector
            .sent()
            .into_iter()
            .filter_map(|(_, bytes)| SensorRequest::parse(&bytes).ok())
            .collect();
        assert_eq!(sent.len(), loaded.sensors.len(), "{name}");
        for (request, ours) in sent.iter().zip(&loaded.sensors) {
            requests += 1;
            assert_eq!(request.layout == RequestLayout::New, ours.layout_new, "{name}");
            let numbers = [
                request.seq_id,
                request.type_id,
                request.target_copter,
                request.mount_type,
                request.width,
                request.height,
            ];
            assert_eq!(
                numbers,
                [
                    ours.seq_id,
                    ours.kind.type_id(),
                    ours.mount.target(),
                    ours.mount.number(),
                    ours.width,
                    ours.height
                ],
                "{name}"
            );
            assert_eq!(request.check_freq, ours.rate_hz, "{name}");
            let send = request.send_protocol;
            assert_eq!(
                (send.mode, send.port, send.piece_bytes, send.segmentation),
                (ours.transport.number(), ours.port, ours.piece_bytes, ours.segmentation),
                "{name}"
            );
            assert_eq!(send.ip, ours.ip.map(u16::from), "{name}");
            assert_eq!(
                (request.fov_deg, request.position),
                (ours.fov_deg, ours.raw_position()),
                "{name}"
            );
            assert_eq!(
                (request.euler, request.quaternion),
                (ours.raw_euler, ours.raw_quaternion),
                "{name}"
            );
            assert_eq!(
                (request.eular_or_quat, request.other_params),
                (ours.eular_or_quat, ours.other_params),
                "{name}"
            );
        }
    }
    assert_eq!(requests, 45);
}
