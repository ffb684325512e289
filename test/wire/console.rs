//! Console commands, against everything the vendor's SDK sends to a renderer.
use crate::support::golden::{self, Vector};
use rfly_bridge::wire::*;
use zerocopy::IntoBytes;

/// The command of a vector of `sendUE4Cmd`; bytes are written as text.
fn command(vector: &Vector) -> String {
    let first = &vector["args"]["positional"][0];
    match first["bytes_hex"].as_str() {
        Some(hex) => String::from_utf8(golden::unhex(hex)).unwrap(),
        None => first.as_str().unwrap().to_owned(),
    }
}

fn check_round_trip(name: &str, bytes: &[u8]) {
    let text = parse_console_command(bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut buffer = [0xff; CONSOLE_LONG_LEN];
    if bytes.len() == CONSOLE_NETWORK_LEN {
        assert_eq!(
            console_command_for_network(text).map(|b| b.to_vec()).as_deref(),
            Some(bytes),
            "{name}"
        );
    } else {
        assert_eq!(console_command(text, &mut buffer), Some(bytes), "{name}");
    }
}

#[test]
fn every_recorded_renderer_datagram_is_read_and_written_byte_for_byte() {
    for vector in golden::load("ue4_send") {
        let name = vector.name();
        let sent = vector.sent();
        match vector.function() {
            "sendUE4Cmd" | "sendUE4CmdNet" => {
                let text = command(&vector);
                if sent.is_empty() {
                    // 250 bytes, or 92 for the network: refused.
                    let refused = if vector.function() == "sendUE4Cmd" {
                        console_command(&text, &mut [0; CONSOLE_LONG_LEN]).is_none()
                    } else {
                        console_command_for_network(&text).is_none()
                    };
                    assert!(refused, "{name}");
                }
                for (_, bytes) in &sent {
                    assert_eq!(parse_console_command(bytes), Ok(&*text), "{name}");
                    check_round_trip(name, bytes);
                }
            }
            "SetUE4RadianceValue" => {
                assert!(sent.is_empty(), "{name}: the vendor's function fails with a NameError")
            }
            "SetUE4RadianceValue__All"
            | "reqCam"
            | "reqCamCoptObj"
            | "reqCopt"
            | "reqObj"
            | "sendUE4SetStencilValueByActorName"
            | "sendUE4SetStencilValueByCopterID"
            | "sendUE4SetStencilValueByMeshComponentName" => {
                assert!(!sent.is_empty(), "{name}");
                sent.iter().for_each(|(_, bytes)| check_round_trip(name, bytes));
            }
            "sendUE4Pos" | "sendUE4PosNew" => {
                for (_, bytes) in &sent {
                    let state = TrueState::parse(bytes).unwrap();
                    assert_eq!(TimedStatePacket::from(&state).as_bytes(), bytes, "{name}");
                }
            }
            "sendUE4PosFull" => {
                for (_, bytes) in &sent {
                    let state = TrueState::parse(bytes).unwrap();
                    assert_eq!(FullStatePacket::from(&state).as_bytes(), bytes, "{name}");
                }
            }
            // Scene control, not part of the sensor path.
            "sendUE4Attatch"
            | "sendUE4ExtAct"
            | "sendUE4LabelID"
            | "sendUE4LabelMsg"
            | "sendUE4Pos2Ground"
            | "sendUE4PosScale"
            | "sendUE4PosScale100"
            | "sendUE4PosScale2Ground"
            | "sendUE4PosScalePwm20"
            | "sendUE4PosSimple" => {
                for (_, bytes) in &sent {
                    assert!(parse_console_command(bytes).is_err(), "{name} is no console command");
                    assert!(SensorRequest::parse(bytes).is_err(), "{name} is no sensor request");
                }
            }
            other => panic!("{name}: unknown function {other}"),
        }
    }
}

#[test]
fn recorded_commands_split_into_the_name_and_arguments_that_were_meant() {
    let split = |name: &str| {
        let vector = golden::load_one("ue4_send", name);
        let (_, bytes) = vector.sent().remove(0);
        let (command, args) = split_console_command(parse_console_command(&bytes).unwrap());
        (command.to_owned(), args.map(str::to_owned).collect::<Vec<_>>())
    };
    let wanted = |name: &str, args: &[&str]| {
        (name.to_owned(), args.iter().map(ToString::to_string).collect())
    };
    assert_eq!(
        split("reqCamCoptObj_2_Landscape_1"),
        wanted("RflyReqObjData", &["2", "Landscape_1", "0"])
    );
    assert_eq!(split("cmd_RflyClearCapture_16"), wanted("RflyClearCapture", &[]));
    assert_eq!(
        split("cmd_RflySetIDLabel_34"),
        wanted("RflySetIDLabel", &["1000", "Hi", "FFFF00", "20"])
    );
    assert_eq!(split("cmd_RflyDelVehicles_25"), wanted("RflyDelVehicles", &["1000,1001"]));
    assert_eq!(split("cmd__0"), wanted("", &[]));
}

#[test]
fn a_quotation_mark_without_its_partner_quotes_the_rest() {
    let (name, args) = split_console_command("Say \"a b");
    assert_eq!((name, args.collect::<Vec<_>>()), ("Say", vec!["a b"]));
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    let mut bytes = console_command("x", &mut [0; CONSOLE_LONG_LEN]).unwrap().to_vec();
    bytes[4] = 0xff;
    let error = parse_console_command(&bytes).unwrap_err();
    assert!(matches!(error, WireError::Field { field: "text", found: 0xff, .. }), "{error}");
}
