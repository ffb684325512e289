//! Inputs of a vehicle's model, against everything the vendor's SDK sends, and the simulated network between vehicles.
use crate::support::golden::{self, numbers};
use rfly_bridge::wire::*;
use serde_json::Value;
use zerocopy::IntoBytes;

/// A list, padded with zeros or cut.
fn list<const N: usize>(value: &Value) -> [f64; N] {
    let given = numbers(value);
    std::array::from_fn(|i| given.get(i).copied().unwrap_or_default())
}

fn list32<const N: usize>(value: &Value) -> [f32; N] {
    list(value).map(|x| x as f32)
}

fn ints(value: &Value) -> [i32; 8] {
    list(value).map(|x| x as i32)
}

fn set(value: &Value, applies: bool) -> InputSet {
    let n = u8::try_from(value.as_u64().unwrap()).unwrap();
    if applies { InputSet::Extended(n) } else { InputSet::Waiting(n) }
}

#[test]
fn every_recorded_model_input_is_made_from_its_arguments_byte_for_byte() {
    let mut seen = 0;
    for vector in golden::load("dll_send") {
        let name = vector.name();
        let args = &vector["args"]["positional"];
        let id = |i: usize| i32::try_from(args[i].as_i64().unwrap_or(-1)).unwrap();
        // The vendor's object is vehicle 1, which a call without an id means.
        let own = |i: usize| if id(i) > 0 { id(i) } else { 1 };
        let plain = InputSet::Plain;
        let made: Vec<Vec<u8>> = match vector.function() {
            "sendCustomData" => {
                let tag = id(2);
                bytes(&CustomDataPacket::new(id(0), tag, list(&args[1])))
            }
            "sendSILIntFloat" => {
                bytes(&SilInputsPacket::new(own(2), plain, ints(&args[0]), list32(&args[1])))
            }
            "sendSILIntDouble" => {
                let all = [numbers(&args[0]), numbers(&args[1])].concat();
                let values = std::array::from_fn(|i| all[i]);
                bytes(&DoubleInputsPacket::new(own(2), plain, values))
            }
            "sendInDoubCtrls" => bytes(&DoubleInputsPacket::new(own(1), plain, list(&args[0]))),
            "sendInCtrlExt" => {
                let set = set(&args[2], true);
                bytes(&SilInputsPacket::new(own(3), set, ints(&args[0]), list32(&args[1])))
            }
            "sendInCtrlExtDoub" => {
                let applies = args[3].as_bool().unwrap_or(true);
                let set = set(&args[1], applies);
                bytes(&DoubleInputsPacket::new(own(2), set, list(&args[0])))
            }
            "sendInCtrlExtAll" => {
                let values = numbers(&args[0]);
                if values.len() > 140 {
                    assert_eq!(
                        DoubleInputsPacket::split(1, &values),
                        None,
                        "{name}: the vendor cuts it"
                    );
                }
                let fits = &values[..values.len().min(140)];
                let packets = DoubleInputsPacket::split(1, fits).unwrap();
                packets.iter().flat_map(bytes).collect()
            }
            "sendModelInParams" | "sendInitInParams" => {
                let which = if vector.function() == "sendInitInParams" {
                    ModelParameters::Initial
                } else {
                    ModelParameters::Faults
                };
                let mask = u32::try_from(args[0].as_u64().unwrap()).unwrap();
                if mask == u32::MAX {
                    assert!(vector.sent().is_empty(), "{name}: the vendor cannot send bit 31");
                    continue;
                }
                bytes(&ModelParametersPacket::new(which, mask, list(&args[1])))
            }
            "sendDynModiParams" => {
                let mask = args[0].as_u64().unwrap();
                bytes(&DynamicParametersPacket::new(id(2), mask, list(&args[1])))
            }
            "sendUE2Coptersim" => bytes(&RendererInputsPacket::new(own(1), list(&args[0]))),
            "sendFloatsColl" => {
                let size = args[0].as_f64().unwrap() as f32;
                let [velocity, position] = [1, 3].map(|i| list32(&args[i]));
                bytes(&RayInputsPacket::new(own(4), size, velocity, list32(&args[2]), position))
            }
            "sendColl20d" => {
                bytes(&SurroundingsPacket::new(id(1), Surroundings::Collision, list32(&args[0])))
            }
            "sendTerrIn15d" => {
                bytes(&SurroundingsPacket::new(id(1), Surroundings::Terrain, list32(&args[0])))
            }
            other => panic!("{name}: unknown function {other}"),
        };
        let sent: Vec<_> =
            vector.sent().into_iter().map(|(_, bytes)| golden::hex(&bytes)).collect();
        let made: Vec<_> = made.iter().map(|bytes| golden::hex(bytes)).collect();
        assert_eq!(made, sent, "{name}");
        for (port, bytes) in vector.sent() {
            if port != CustomDataPacket::PORT {
                assert!(ModelInput::parse(&bytes).is_ok(), "{name} is read");
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 43);
}

fn bytes(packet: &impl Packet) -> Vec<Vec<u8>> {
    vec![packet.as_bytes().to_vec()]
}

#[test]
fn what_a_model_loader_reads_is_read_alike() {
    for vector in golden::load("recv_modelload") {
        let name = vector.name();
        for packet in vector.input_packets() {
            match (name, ModelInput::parse(&packet)) {
                ("sil_120", Ok(ModelInput::Sil(inputs))) => {
                    let wanted = &vector["decoded"][0];
                    assert_eq!(inputs.ints.map(|x| x.get()), ints(&wanted[1]));
                    assert_eq!(inputs.floats.map(|x| x.get()), list32(&wanted[2]));
                }
                ("doub_232", Ok(ModelInput::Doubles(inputs))) => {
                    let wanted = &vector["decoded"][0];
                    let all = [numbers(&wanted[1]), numbers(&wanted[2])].concat();
                    assert_eq!(inputs.values.map(|x| x.get()).to_vec(), all);
                }
                ("ray_60", Ok(ModelInput::Rays(rays))) => {
                    let wanted = numbers(&vector["decoded"][0][1]);
                    assert_eq!(f64::from(rays.copter_id.get()), wanted[1]);
                    assert_eq!(rays.rays.map(|x| f64::from(x.get()))[..], wanted[9..15]);
                }
                // The check word of a further set: the vendor's loader reads the plain inputs only.
                ("wrong_checksum", Ok(ModelInput::Sil(inputs))) => {
                    assert_eq!(inputs.set(), Some(InputSet::Extended(1)));
                }
                (name, read) => {
                    let other = name.starts_with("offboard");
                    assert!(other && read.is_err(), "{name}: {read:?}");
                }
            }
        }
    }
}

#[test]
fn inputs_of_the_autopilot_are_made_as_the_vendor_makes_them() {
    let mut seen = 0;
    for vector in golden::load("coptersim_send") {
        if vector.function() != "sendPX4UorbRflyCtrl" {
            continue;
        }
        for (_, sent) in vector.sent() {
            let ModelInput::Uorb(read) = ModelInput::parse(&sent).unwrap() else {
                panic!("{} is an input of the autopilot", vector.name());
            };
            let words = [read.modes.get(), read.flags.get()];
            let made = UorbInputsPacket::new(
                read.copter_id.get(),
                words,
                list32(&vector["args"]["positional"][0]),
            );
            assert_eq!(golden::hex(made.as_bytes()), golden::hex(&sent), "{}", vector.name());
            seen += 1;
        }
    }
    assert!(seen > 0);
}

#[test]
fn the_simulated_network_is_written_and_read_as_the_vendor_does() {
    for vector in golden::load("netsim_send") {
        let (name, args) = (vector.name(), &vector["args"]);
        for (_, sent) in vector.sent() {
            let read = NetSimMessage::parse(&sent).unwrap();
            match read {
                NetSimMessage::Request(header) => {
                    let made =
                        NetSimHeader::new(1, (4, 0b10_0001), header.unix_time.get()).into_request();
                    assert_eq!(made.as_bytes(), sent, "{name}");
                    let wanted = numbers(&args["netReqIDList"]);
                    let named: Vec<_> =
                        (0..100).filter(|id| header.names(*id)).map(f64::from).collect();
                    assert_eq!(named, wanted, "{name}");
                }
                NetSimMessage::State(header, state) => {
                    let made = NetSimHeader::new(3, (0, 0), header.unix_time.get());
                    assert_eq!(made.as_bytes(), &sent[..32], "{name}");
                    assert_eq!(state.time.get(), args["uavTimeStmp"], "{name}");
                    assert_eq!(
                        state.euler.map(|x| x.get()),
                        list32(&args["uavAngEular"]),
                        "{name}"
                    );
                    assert_eq!(
                        state.velocity.map(|x| x.get()),
                        list32(&args["uavVelNED"]),
                        "{name}"
                    );
                    assert_eq!(state.home.map(|x| x.get()), list(&args["uavPosGPSHome"]), "{name}");
                    assert_eq!(state.position.map(|x| x.get()), list(&args["uavPosNED"]), "{name}");
                    assert_eq!(
                        state.global_position.map(|x| x.get()),
                        list(&args["uavGlobalPos"]),
                        "{name}"
                    );
                }
                NetSimMessage::Data(header, data) => {
                    let text = golden::unhex(args["positional"][0]["bytes_hex"].as_str().unwrap());
                    assert_eq!(data, text, "{name}");
                    assert_eq!(header.copter_id.get(), 1, "{name}");
                }
            }
        }
    }
    for vector in golden::load("recv_netsim") {
        let decoded = &vector["decoded"];
        for packet in vector.input_packets() {
            match (vector.name(), NetSimMessage::parse(&packet)) {
                ("state136" | "state_update", Ok(NetSimMessage::State(header, state))) => {
                    let wanted = &decoded["UavData"][0];
                    assert_eq!(header.copter_id.get(), wanted["CopterID"]);
                    // Of two states in order, the second stays.
                    if state.time.get() == wanted["uavTimeStmp"] {
                        assert_eq!(state.position.map(|x| x.get()), list(&wanted["uavPosNED"]));
                    }
                }
                ("raw_payload", Ok(NetSimMessage::Data(_, data))) => {
                    assert_eq!(golden::hex(data), decoded["bufData_hex"].as_str().unwrap());
                }
                ("request_me", Ok(NetSimMessage::Request(header))) => assert!(header.names(1)),
                ("request_other", Ok(NetSimMessage::Request(header))) => assert!(!header.names(1)),
                ("bad_checksum" | "short", Err(_)) => {}
                (name, read) => panic!("{name}: {read:?}"),
            }
        }
    }
}

#[test]
fn every_command_to_a_model_has_the_numbers_that_the_vendor_computes() {
    for vector in golden::load("rflysimcp") {
        let args = numbers(&vector["args"]);
        let three = [args[0], args[1], args[2]].map(|x| x as f32);
        let fourth = args.get(3).map(|x| *x as f32);
        let command = match vector.name() {
            "getPosNED" => ModelCommand::Position(three, fourth.unwrap()),
            "getPosLocal" => ModelCommand::LocalPosition(three, fourth.unwrap()),
            "getVelNedNoYaw" | "getVelNED" => ModelCommand::Velocity(three, fourth),
            "getVelFRD" => ModelCommand::BodyVelocity(three, fourth.unwrap()),
            other => panic!("unknown function {other}"),
        };
        let (ints, floats) = command.inputs();
        let all: Vec<_> = ints.map(f64::from).into_iter().chain(floats.map(f64::from)).collect();
        assert_eq!(all, numbers(&vector["decoded"]["inSILDoub28"]), "{}", vector.name());
    }
}
