//! Heartbeat, IMU and true state, against recordings of what the vendor's receivers decoded.
use crate::support::golden::{self, Vector, number, numbers};
use rfly_bridge::wire::*;
use serde_json::Value;
use zerocopy::IntoBytes;

#[test]
fn every_recorded_heartbeat_is_decoded_as_by_the_vendor() {
    for vector in golden::load("recv_time") {
        let name = vector.name();
        let packets = vector.input_packets();
        match name {
            // Trap 1: the documented check word 1234567897 is not accepted, only 123456789 is.
            "wrong_checksum_1234567897" => {
                let error = HeartbeatPacket::parse(&packets[0]).unwrap_err();
                assert!(
                    matches!(
                        error,
                        WireError::Tag { expected: 123_456_789, found: 1_234_567_897, .. }
                    ),
                    "{error}"
                );
            }
            "wrong_size" => {
                let error = HeartbeatPacket::parse(&packets[0]).unwrap_err();
                assert!(
                    matches!(error, WireError::Length { expected: 32, found: 33, .. }),
                    "{error}"
                );
            }
            // What start time follows from which source is the aligner's business.
            "local_one"
            | "remote_one"
            | "local_by_lan_ip"
            | "remote_then_local"
            | "local_then_remote_ignored"
            | "remote_twice_start_not_recomputed"
            | "two_copters" => {
                for bytes in &packets {
                    let packet = HeartbeatPacket::parse(bytes).unwrap();
                    let made = HeartbeatPacket::new(
                        packet.copter_id.get(),
                        packet.start_ms.get(),
                        packet.now_ms.get(),
                        packet.count.get(),
                    );
                    assert_eq!(made.as_bytes(), bytes, "{name}");
                }
                for decoded in vector["decoded"].as_array().unwrap() {
                    assert!(packets.iter().any(|p| is_heartbeat(p, decoded)), "{name}: {decoded}");
                }
            }
            other => panic!("unknown vector {other}"),
        }
    }
}

fn is_heartbeat(bytes: &[u8], decoded: &Value) -> bool {
    let Ok(packet) = HeartbeatPacket::parse(bytes) else {
        return false;
    };
    let seconds = |ms: i64| ms as f64 / 1000.0;
    decoded["checksum"] == packet.checksum.get()
        && decoded["copterID"] == packet.copter_id.get()
        && number(&decoded["SysStartTime"]) == seconds(packet.start_ms.get())
        && number(&decoded["SysCurrentTime"]) == seconds(packet.now_ms.get())
        && decoded["HeartCount"] == packet.count.get()
}

#[test]
fn every_recorded_imu_sample_is_decoded_as_by_the_vendor() {
    for vector in golden::load("recv_imu") {
        let name = vector.name();
        let packets = vector.input_packets();
        match name {
            "imu_bad_checksum" => {
                assert!(matches!(
                    ImuPacket::parse(&packets[0]),
                    Err(WireError::Tag { expected: 1_234_567_898, .. })
                ));
            }
            "imu_bad_size" => {
                assert!(matches!(
                    ImuPacket::parse(&packets[0]),
                    Err(WireError::Length { expected: 40, found: 39, .. })
                ));
            }
            "imu_one" | "imu_no_heartbeat" => {
                for bytes in &packets {
                    let p = ImuPacket::parse(bytes).unwrap();
                    let made = ImuPacket::new(
                        p.seq.get(),
                        p.sim_time.get(),
                        p.acc.map(|x| x.get()),
                        p.rate.map(|x| x.get()),
                    );
                    assert_eq!(made.as_bytes(), bytes, "{name}");
                }
                let last = ImuPacket::parse(packets.last().unwrap()).unwrap();
                let decoded = &vector["decoded"];
                assert_eq!(decoded["seq"], last.seq.get(), "{name}");
                assert_eq!(number(&decoded["timestmp"]), last.sim_time.get(), "{name}");
                assert_eq!(
                    numbers(&decoded["acc"]),
                    last.acc.map(|x| f64::from(x.get())),
                    "{name}"
                );
                assert_eq!(
                    numbers(&decoded["rate"]),
                    last.rate.map(|x| f64::from(x.get())),
                    "{name}"
                );
            }
            other => panic!("unknown vector {other}"),
        }
    }
}

#[test]
fn every_recorded_true_state_is_decoded_as_by_the_vendor_and_written_byte_for_byte() {
    for vector in golden::load("recv_true") {
        let name = vector.name();
        let bytes = &vector.input_packets()[0];
        let parsed = TruthDatagram::parse(bytes);
        let decoded = &vector["decoded_changes"];
        match name {
            "netdata200" | "netdata200_crash" | "sout168" | "simple112" => {
                let Ok(TruthDatagram::State(state)) = parsed else { panic!("{name}: {parsed:?}") };
                check_state(&vector, &state);
                let (short, full, timed) = (
                    ShortStatePacket::from(&state),
                    FullStatePacket::from(&state),
                    TimedStatePacket::from(&state),
                );
                let written: &[u8] = match bytes.len() {
                    200 => short.as_bytes(),
                    168 => full.as_bytes(),
                    _ => timed.as_bytes(),
                };
                assert_eq!(written, bytes, "{name}");
            }
            "outcopter264" => {
                let Ok(TruthDatagram::ModelOutput(packet)) = parsed else {
                    panic!("{name}: {parsed:?}")
                };
                assert_eq!(
                    numbers(&decoded["trueSimulinkData"]),
                    packet.data.map(|x| x.get()),
                    "{name}"
                );
                let made =
                    ModelOutputPacket::new(packet.copter_id.get(), packet.data.map(|x| x.get()));
                assert_eq!(made.as_bytes(), bytes, "{name}");
            }
            "gps32" | "gps32_with_home" => {
                let Ok(TruthDatagram::MapCentre(packet)) = parsed else {
                    panic!("{name}: {parsed:?}")
                };
                assert_eq!(
                    numbers(&decoded["trueGpsUeCenter"]),
                    packet.gps.map(|x| x.get()),
                    "{name}"
                );
                let made =
                    MapCentrePacket::new(packet.copter_id.get(), packet.gps.map(|x| x.get()));
                assert_eq!(made.as_bytes(), bytes, "{name}");
            }
            "crash12" | "crash12_none" => {
                let packet = CrashPacket::parse(bytes).unwrap();
                let made = CrashPacket::new(packet.copter_id.get(), packet.target_id.get());
                assert_eq!(made.as_bytes(), bytes, "{name}");
                let with =
                    decoded["isVehicleCrashID"].as_i64().map(|id| i32::try_from(id).unwrap());
                assert_eq!(with.is_some(), name == "crash12");
                let copter_id = Some(packet.copter_id.get());
                assert_eq!(parsed, Ok(TruthDatagram::Collision { copter_id, with }), "{name}");
            }
            // Trap 15: 152 is the only inner length that means a state.
            "netdata200_wrong_inner_len" => {
                assert!(
                    matches!(parsed, Err(WireError::Field { field: "len", .. })),
                    "{name}: {parsed:?}"
                );
            }
            // A foreign packet must not move a vehicle.
            "sout168_bad_checksum" => {
                assert!(
                    matches!(parsed, Err(WireError::Tag { expected: 123_456_789, .. })),
                    "{name}: {parsed:?}"
                );
            }
            "simple112_bad_checksum" => {
                assert!(
                    matches!(parsed, Err(WireError::Tag { expected: 1_234_567_891, .. })),
                    "{name}: {parsed:?}"
                );
            }
            "crash12_bad" => {
                assert!(
                    matches!(parsed, Err(WireError::Tag { expected: 1_234_567_890, .. })),
                    "{name}: {parsed:?}"
                );
            }
            "unknown_size" => {
                assert!(
                    matches!(parsed, Err(WireError::Length { found: 100, .. })),
                    "{name}: {parsed:?}"
                );
            }
            other => panic!("unknown vector {other}"),
        }
    }
}

fn check_state(vector: &Vector, state: &TrueState) {
    let name = vector.name();
    let decoded = &vector["decoded_changes"];
    assert_eq!(number(&decoded["trueTimeStmp"]), state.sim_time, "{name}");
    assert_eq!(numbers(&decoded["trueAngEular"]), state.euler, "{name}");
    assert_eq!(numbers(&decoded["truePosNED"]), state.position, "{name}");
    assert_eq!(numbers(&decoded["trueVelNED"]), state.velocity, "{name}");
    assert_eq!(numbers(&decoded["trueMotorRPMS"]), state.motor_rpm, "{name}");
    assert_eq!(numbers(&decoded["truePosGPS"]), state.gps, "{name}");
    let optional = |key: &str| decoded.get(key).map(numbers);
    assert_eq!(optional("trueAngQuatern"), state.quaternion.map(|v| v.to_vec()), "{name}");
    assert_eq!(optional("trueAngRate"), state.rate.map(|v| v.to_vec()), "{name}");
    assert_eq!(optional("trueAccB"), state.acc.map(|v| v.to_vec()), "{name}");
    let crash = decoded["isVehicleCrashID"].as_i64();
    assert_eq!(crash, state.collided_with.map(i64::from), "{name}");
}

#[test]
fn the_recorded_truth_of_the_model_interface_is_decoded_as_by_the_vendor() {
    for vector in golden::load("recv_dll_true") {
        assert_eq!(vector.name(), "dll_168_and_264");
        let packets = vector.input_packets();
        let [state, output] = &packets[..] else { panic!("two datagrams") };
        let decoded = &vector["decoded"];
        let truth = TrueState::parse(state).unwrap();
        let wanted = &decoded["out3Ddata"];
        assert_eq!(number(&wanted["runnedTime"]), truth.sim_time);
        for (key, value) in [
            ("VelE", truth.velocity.to_vec()),
            ("PosE", truth.position.to_vec()),
            ("AngEuler", truth.euler.to_vec()),
            ("AngQuatern", truth.quaternion.unwrap().to_vec()),
            ("MotorRPMS", truth.motor_rpm.to_vec()),
            ("AccB", truth.acc.unwrap().to_vec()),
            ("RateB", truth.rate.unwrap().to_vec()),
            ("PosGPS", truth.gps.to_vec()),
        ] {
            assert_eq!(numbers(&wanted[key]), value, "{key}");
        }
        assert_eq!(FullStatePacket::from(&truth).as_bytes(), state);
        let model = ModelOutputPacket::parse(output).unwrap();
        assert_eq!(numbers(&decoded["outCopterVect"]), model.data.map(|x| x.get()));
    }
}

#[test]
fn a_collision_without_a_state_is_still_reported() {
    let mut bytes = golden::load_one("recv_true", "netdata200_crash").input_packets().remove(0);
    bytes[4] = 0;
    assert_eq!(
        TruthDatagram::parse(&bytes),
        Ok(TruthDatagram::Collision { copter_id: None, with: Some(5) })
    );
}
