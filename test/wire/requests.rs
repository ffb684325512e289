//! Sensor requests, in both directions, against everything the vendor's SDK sends.
use crate::support::golden::{self, Vector};
use rfly_bridge::wire::*;
use serde_json::Value;
use zerocopy::IntoBytes;

#[test]
fn every_recorded_sensor_request_is_read_and_written_byte_for_byte() {
    for vector in golden::load("vision_req") {
        match vector.function() {
            "jsonLoad+sendReqToUE4" | "sendUpdateUEImage" | "sendUpdateUEImaged" => {
                check_requests(&vector)
            }
            "sendUE4Cmd" => check_console(&vector),
            other => panic!("{}: unknown function {other}", vector.name()),
        }
    }
}

fn check_console(vector: &Vector) {
    for (_, bytes) in vector.sent() {
        let text = parse_console_command(&bytes).unwrap();
        assert_eq!(console_command(text, &mut [0; 256]), Some(&*bytes), "{}", vector.name());
    }
}

fn check_requests(vector: &Vector) {
    let name = vector.name();
    let config: Value = serde_json::from_str(vector["args"]["config"].as_str().unwrap()).unwrap();
    let sensors = config["VisionSensors"].as_array().unwrap();
    let mut sensors_left = sensors.iter();
    let sent = vector.sent();
    assert!(!sent.is_empty(), "{name} sends something");
    let mut last = None;
    for (port, bytes) in &sent {
        assert!((20010..20030).contains(port), "{name}: {port} is a renderer window");
        if bytes.len() == CONSOLE_SHORT_LEN {
            assert_eq!(parse_console_command(bytes), Ok("RflyClearCapture"), "{name}");
            check_console(vector_of(&[bytes]).first().unwrap());
            continue;
        }
        let request = SensorRequest::parse(bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(request.emit(&mut [0; 148]), bytes, "{name}");
        // An update to a remote host is sent twice.
        let sensor = if last == Some(bytes) { None } else { sensors_left.next() };
        last = Some(bytes);
        if let Some(sensor) = sensor {
            let mut sensor = sensor.clone();
            let changes = vector["args"]["then_set"].as_object().into_iter().flatten();
            changes.for_each(|(key, value)| sensor[key] = value.clone());
            check_values(name, &request, &sensor);
        }
        let mask = vector["args"]["bitmask"].as_u64().unwrap_or(0);
        assert_eq!(u64::from(request.bitmask), mask, "{name}");
        let gimbal = request.layout == RequestLayout::Gimbal;
        assert_eq!(gimbal, vector.function() == "sendUpdateUEImaged", "{name}");
    }
    if vector.function() == "jsonLoad+sendReqToUE4" {
        assert_eq!(sensors_left.next(), None, "{name}: one request per sensor");
    }
}

fn vector_of(packets: &[&Vec<u8>]) -> Vec<Vector> {
    let make =
        |p: &&Vec<u8>| serde_json::json!({"name": "command", "hex": golden::hex(p), "port": 20010});
    packets.iter().map(make).map(Vector).collect()
}

/// Compares everything that the loader passes on unchanged; numbers, ports and transports are the loader's business.
fn check_values(name: &str, request: &SensorRequest, sensor: &Value) {
    let int = |key: &str| u16::try_from(sensor[key].as_u64().unwrap()).unwrap();
    let reals =
        |key: &str| golden::numbers(&sensor[key]).into_iter().map(|x| x as f32).collect::<Vec<_>>();
    assert_eq!(request.type_id, int("TypeID"), "{name}");
    assert_eq!(request.target_copter, int("TargetCopter"), "{name}");
    assert_eq!(request.mount_type, int("TargetMountType"), "{name}");
    assert_eq!(request.width, int("DataWidth"), "{name}");
    assert_eq!(request.height, int("DataHeight"), "{name}");
    assert_eq!(request.check_freq, int("DataCheckFreq"), "{name}");
    assert_eq!(request.fov_deg, golden::number(&sensor["CameraFOV"]) as f32, "{name}");
    assert_eq!(request.position.to_vec(), reals("SensorPosXYZ"), "{name}");
    assert_eq!(request.euler.to_vec(), reals("SensorAngEular"), "{name}");
    let params = reals("otherParams");
    assert_eq!(request.other_params[..params.len()], params, "{name}");
    assert!(request.other_params[params.len()..].iter().all(|x| *x == 0.0), "{name}");
    if let Some(choice) = sensor.get("EularOrQuat") {
        assert_eq!(request.eular_or_quat, golden::number(choice) as f32, "{name}");
        assert_eq!(request.quaternion.to_vec(), reals("SensorAngQuat"), "{name}");
        assert_ne!(request.layout, RequestLayout::Old, "{name}");
    }
}

#[test]
fn every_recorded_imu_request_is_read_and_written_byte_for_byte() {
    let mut seen = 0;
    for vector in golden::load("coptersim_send") {
        let name = vector.name();
        match vector.function() {
            "sendImuReqClient" => {
                let [(port, bytes)] = &vector.sent()[..] else { panic!("{name}: one datagram") };
                let args = &vector["args"]["positional"];
                let (id, rate) = (args[0].as_u64().unwrap(), args[2].as_u64().unwrap());
                assert_eq!(u64::from(*port), 30100 + 2 * (id - 1), "{name}");
                let request = ImuRequestPacket::parse(bytes).unwrap();
                let remote = vector["args"]["RemotSendIP"].as_str().filter(|ip| !ip.is_empty());
                let ip: std::net::Ipv4Addr = remote.unwrap_or("127.0.0.1").parse().unwrap();
                let user_port = u16::try_from(31000 + id - 1).unwrap();
                let made =
                    ImuRequestPacket::new(u16::try_from(rate).unwrap(), ip.octets(), user_port);
                assert_eq!(request, &made, "{name}");
                assert_eq!(made.as_bytes(), bytes, "{name}");
                seen += 1;
            }
            "sendReqToCopterSim" => {
                let [(_, bytes)] = &vector.sent()[..] else { panic!("{name}: one datagram") };
                let args = &vector["args"];
                let request = ImuRequestPacket::parse(bytes).unwrap();
                assert_eq!(u64::from(request.sensor_type.get()), args["sensorType"], "{name}");
                assert_eq!(u64::from(request.rate_hz.get()), args["updateFreq"], "{name}");
                assert_eq!(u64::from(request.port.get()), args["port"], "{name}");
                assert_eq!(
                    request.ip.map(f64::from).to_vec(),
                    golden::numbers(&args["IP"]),
                    "{name}"
                );
                assert_eq!(
                    request.params.map(|x| f64::from(x.get())).to_vec(),
                    golden::numbers(&args["Params"]),
                    "{name}"
                );
                assert_eq!(request.as_bytes(), bytes, "{name}");
                seen += 1;
            }
            // Control of CopterSim and of models, not part of the sensor path.
            "getSimIpID"
            | "sendCustomData"
            | "sendEnGpsMode"
            | "sendEnXyMode"
            | "sendPX4UorbRflyCtrl"
            | "sendReCopterSim"
            | "sendReDllMap"
            | "sendReGPSOrin"
            | "sendReGPSPos"
            | "sendReSimDllIdx"
            | "sendReSimDllName"
            | "sendReSimIP"
            | "sendReSimMapIdx"
            | "sendReSimMapName"
            | "sendReSimUdpMode"
            | "sendReSimXYyaw"
            | "sendReSimXyzRPYaw"
            | "sendRebootPix"
            | "sendSILIntFloat"
            | "sendStartMsg" => {
                for (_, bytes) in vector.sent() {
                    assert!(
                        ImuRequestPacket::parse(&bytes).is_err(),
                        "{name} is no sensor request"
                    );
                }
            }
            other => panic!("{name}: unknown function {other}"),
        }
    }
    assert_eq!(seen, 3);
}

#[test]
fn the_long_layout_has_either_check_word_for_any_type() {
    for vector in golden::load("vision_req") {
        if vector.function() != "sendUpdateUEImaged" {
            continue;
        }
        let (_, mut bytes) = vector.sent().remove(0);
        for type_id in [1_u16, 9, 20, 23] {
            bytes[8..10].copy_from_slice(&type_id.to_le_bytes());
            for (word, layout) in [(12345_u16, RequestLayout::Gimbal), (12346, RequestLayout::Long)]
            {
                bytes[..2].copy_from_slice(&word.to_le_bytes());
                let request = SensorRequest::parse(&bytes).unwrap();
                assert_eq!((request.layout, request.type_id), (layout, type_id));
                assert_eq!(request.emit(&mut [0; 148]), bytes);
            }
        }
        bytes[..2].copy_from_slice(&12347_u16.to_le_bytes());
        assert!(matches!(SensorRequest::parse(&bytes), Err(WireError::Tag { found: 12347, .. })));
        return;
    }
    panic!("no vector of this layout");
}
