//! The simulated network, against what the vendor's SDK sends and reads.
use crate::support::golden::{self, numbers};
use rfly_bridge::frames::{Euler, WorldConvention};
use rfly_bridge::model::{NetSim, NetSimReceived};
use rfly_bridge::msgs::geometry_msgs::msg::{Point, Quaternion, Vector3};
use rfly_bridge::msgs::rfly_bridge_msgs::msg::{NetSimData, NetSimRequest, NetSimState};
use serde_json::Value;

const ENU: WorldConvention = WorldConvention::Enu;

fn net() -> NetSim {
    NetSim::new(ENU, [1, 3])
}

/// The clock of the recorded call is in the datagram.
fn unix_time(sent: &[u8]) -> f64 {
    f64::from_le_bytes(sent[24..32].try_into().unwrap())
}

fn enu(value: &Value) -> [f64; 3] {
    let v = numbers(value);
    [v[1], v[0], -v[2]]
}

fn orientation(euler: &[f64]) -> Quaternion {
    use rfly_bridge::frames::{Attitude, Frd, Ned};
    let [roll, pitch, yaw] = [euler[0], euler[1], euler[2]];
    let attitude = Attitude::<Frd, Ned>::from_euler(Euler { roll, pitch, yaw });
    let [w, x, y, z] = ENU.attitude(attitude);
    Quaternion { x, y, z, w }
}

fn vector3([x, y, z]: [f64; 3]) -> Vector3 {
    Vector3 { x, y, z }
}

#[test]
fn every_recorded_datagram_is_made_from_its_message_byte_for_byte() {
    for vector in golden::load("netsim_send") {
        let args = &vector["args"];
        let sent: Vec<_> = vector.sent().into_iter().map(|(_, bytes)| bytes).collect();
        let now = unix_time(&sent[0]);
        let ids = |value: &Value| -> Vec<u16> {
            let all = value.as_array().into_iter().flatten();
            all.map(|id| u16::try_from(id.as_u64().unwrap()).unwrap()).collect()
        };
        let made = match vector.function() {
            "netForwardBuf" => {
                let message = NetSimData {
                    sender: 1,
                    receivers: ids(&args["sendList"]),
                    data: golden::unhex(args["positional"][0]["bytes_hex"].as_str().unwrap()),
                    ..NetSimData::default()
                };
                net().data(&message, now)
            }
            "sendReqUavLoop" => {
                let wanted = ids(&args["netReqIDList"]);
                net().request(&NetSimRequest { sender: 1, wanted }, now)
            }
            "getMavEvent" => {
                let home = numbers(&args["uavPosGPSHome"]);
                let [x, y, z] = enu(&args["uavGlobalPos"]);
                let message = NetSimState {
                    sender: 3,
                    time: args["uavTimeStmp"].as_f64().unwrap(),
                    orientation: orientation(&numbers(&args["uavAngEular"])),
                    velocity: vector3(enu(&args["uavVelNED"])),
                    home_latitude: home[0],
                    home_longitude: home[1],
                    home_altitude: home[2],
                    position: vector3(enu(&args["uavPosNED"])),
                    global_position: Point { x, y, z },
                    ..NetSimState::default()
                };
                net().state(&message, now)
            }
            other => panic!("unknown function {other}"),
        };
        let hex = |all: &[Vec<u8>]| all.iter().map(|b| golden::hex(b)).collect::<Vec<_>>();
        assert_eq!(hex(&made.unwrap()), hex(&sent), "{}", vector.name());
    }
}

#[test]
fn every_recorded_datagram_is_read_as_the_vendor_reads_it() {
    let mut seen = 0;
    for vector in golden::load("recv_netsim") {
        let (decoded, now) = (&vector["decoded"], vector["args"]["now"].as_f64().unwrap());
        let mut net = NetSim::new(ENU, [1]);
        let mut newest = None;
        for packet in vector.input_packets() {
            newest = Some(net.receive(&packet, now));
        }
        match (vector.name(), newest.unwrap()) {
            ("state136" | "state_update", Ok(NetSimReceived::State(state))) => {
                let wanted = &decoded["UavData"][0];
                assert_eq!(u64::from(state.sender), wanted["CopterID"].as_u64().unwrap());
                assert_eq!(state.time, wanted["uavTimeStmp"].as_f64().unwrap());
                let at = &state.position;
                assert_eq!([at.x, at.y, at.z], enu(&wanted["uavPosNED"]));
                let velocity = &state.velocity;
                assert_eq!([velocity.x, velocity.y, velocity.z], enu(&wanted["uavVelNED"]));
                let turned = orientation(&numbers(&wanted["uavAngEular"]));
                let q = &state.orientation;
                let same = q.w * turned.w + q.x * turned.x + q.y * turned.y + q.z * turned.z;
                assert!(same.abs() > 1.0 - 1e-9, "{q:?}");
            }
            ("raw_payload", Ok(NetSimReceived::Data(data))) => {
                assert_eq!(golden::hex(&data.data), decoded["bufData_hex"].as_str().unwrap());
                assert_eq!((data.sender, data.delay), (3, 1.0));
            }
            (name @ ("request_me" | "request_other"), Ok(NetSimReceived::Request(request))) => {
                // Who asked for vehicle 1 gets its states from now on.
                let sent = net.state(
                    &NetSimState {
                        sender: 1,
                        orientation: orientation(&[0.0; 3]),
                        ..Default::default()
                    },
                    now,
                );
                let first = i32::from_le_bytes(sent.unwrap()[0][12..16].try_into().unwrap());
                let wanted = numbers(&decoded["netSendIDList"]);
                let receivers = if first == 0 { vec![] } else { vec![f64::from(first)] };
                assert_eq!(receivers, wanted, "{name}: {request:?}");
            }
            ("bad_checksum" | "short", Err(_)) => {}
            (name, read) => panic!("{name}: {read:?}"),
        }
        seen += 1;
    }
    assert_eq!(seen, 7);
}

#[test]
fn a_foreign_sender_and_data_that_would_be_a_state_are_refused() {
    let data = |sender, len| NetSimData { sender, data: vec![1; len], ..NetSimData::default() };
    let texts = [
        net().data(&data(2, 1), 0.0).unwrap_err().text,
        net().data(&data(1, 104), 0.0).unwrap_err().text,
        net().data(&data(1, 0), 0.0).unwrap_err().text,
        net()
            .state(
                &NetSimState {
                    sender: 1,
                    orientation: Quaternion { w: 0.0, ..Default::default() },
                    ..Default::default()
                },
                0.0,
            )
            .unwrap_err()
            .text,
    ];
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn a_number_of_a_state_that_is_not_finite_is_refused_by_its_name() {
    type Case = (&'static str, fn(&mut NetSimState, f64));
    let cases: [Case; 6] = [
        ("time", |state, value| state.time = value),
        ("home_latitude", |state, value| state.home_latitude = value),
        ("home_longitude", |state, value| state.home_longitude = value),
        ("home_altitude", |state, value| state.home_altitude = value),
        ("position", |state, value| state.position.y = value),
        ("global_position", |state, value| state.global_position.z = value),
    ];
    for (field, set) in cases {
        let refused = |value: f64| {
            let mut state = NetSimState {
                sender: 1,
                orientation: orientation(&[0.0; 3]),
                ..Default::default()
            };
            set(&mut state, value);
            net().state(&state, 0.0).err()
        };
        assert_eq!(refused(1e300), None, "{field}");
        for value in [f64::NAN, f64::INFINITY] {
            let error = refused(value).expect("it is refused");
            assert_eq!(error.cause.name(), "not_finite");
            let (fields, _) = error.text.split_once(": must be finite").expect("its fields");
            assert!(fields.split(", ").any(|name| name == field), "{}", error.text);
        }
    }
}

#[test]
fn a_velocity_that_is_infinite_in_a_packet_is_refused() {
    let state = |z| NetSimState {
        sender: 1,
        orientation: orientation(&[0.0; 3]),
        velocity: vector3([1.0, 2.0, z]),
        ..Default::default()
    };
    assert!(net().state(&state(1e38), 0.0).is_ok());
    for z in [1e39, -1e300, f64::INFINITY, f64::NAN] {
        let refused = net().state(&state(z), 0.0).unwrap_err();
        assert_eq!(refused.cause.name(), "not_finite");
        assert!(refused.text.starts_with("velocity: must be finite as 32-bit numbers"), "{z}");
    }
}
