//! The control port in UDP modes, against what the vendor's client sends and decodes.
use crate::support::golden::{self, Vector, number, numbers};
use proptest::prelude::*;
use rfly_bridge::wire::*;
use zerocopy::IntoBytes;

fn floats(value: &serde_json::Value) -> Vec<f32> {
    numbers(value).iter().map(|x| *x as f32).collect()
}

#[test]
fn every_recorded_mode_is_read_as_a_command_and_written_byte_for_byte() {
    for vector in golden::load("control_udp_simple_raw") {
        let name = vector.name();
        let [(20100, bytes)] = &vector.sent()[..] else { panic!("{name}: one datagram") };
        let args = &vector["args"]["positional"];
        let mode = i32::try_from(args[0].as_i64().unwrap()).unwrap();
        let mut controls = [0.0; 4];
        match args[1].as_array() {
            Some(_) => controls.copy_from_slice(&floats(&args[1])),
            None => controls[0] = number(&args[1]) as f32,
        }
        let made = SimpleCommandPacket::new(mode, controls);
        assert_eq!(made.as_bytes(), bytes, "{name}");
        let packet = SimpleCommandPacket::parse(bytes).unwrap();
        let command = SimpleCommand::try_from(packet).unwrap();
        // Numbers that the mode does not use are not kept.
        let used = match mode {
            -1 => 0,
            9 => 1,
            10 | 30 => 2,
            11..=13 => 3,
            _ => 4,
        };
        let again = SimpleCommandPacket::from(command);
        assert_eq!(again.mode.get(), mode, "{name}");
        let kept = again.controls.map(|x| x.get());
        if mode == 9 {
            assert_eq!(kept, [1.0, 0.0, 0.0, 0.0], "{name}: armed is 1");
        } else {
            assert_eq!(kept[..used], controls[..used], "{name}");
        }
        assert!(kept[used..].iter().all(|x| *x == 0.0), "{name}");
    }
}

#[test]
fn a_mode_that_no_manual_describes_is_no_command() {
    for mode in [15, 29, 31, i32::MAX] {
        let packet = SimpleCommandPacket::new(mode, [0.0; 4]);
        let read = SimpleCommand::try_from(&packet);
        assert!(matches!(read, Err(WireError::Field { field: "mode", .. })), "{mode}: {read:?}");
    }
}

/// What the vendor's client sends in UDP modes is readable, whatever it should have sent.
#[test]
fn every_recorded_datagram_to_the_control_port_is_read() {
    let mut seen = [0; 3];
    for file in ["control_udp_simple", "control_udp_full", "control_init"] {
        for vector in golden::load(file) {
            let name = vector.name();
            for (port, bytes) in vector.sent() {
                match bytes.len() {
                    24 => {
                        let packet = SimpleCommandPacket::parse(&bytes).unwrap();
                        let command = SimpleCommand::try_from(packet).unwrap();
                        let again = SimpleCommandPacket::from(command);
                        assert_eq!(again.as_bytes(), bytes, "{file} {name}");
                        check_command(&vector, command);
                        seen[0] += 1;
                    }
                    120 => {
                        let packet = FullSetpointPacket::parse(&bytes).unwrap();
                        check_setpoint(&vector, packet);
                        seen[1] += 1;
                    }
                    // A MAVLink frame to the ground station's port, in every mode.
                    _ => {
                        assert_eq!((name, port), ("qgc_cmd", 18570));
                        assert!(wire_frame(&bytes));
                        seen[2] += 1;
                    }
                }
            }
        }
    }
    assert_eq!(seen, [36, 30, 2], "commands, set-points, others");
}

fn wire_frame(bytes: &[u8]) -> bool {
    mavlink::frames(bytes).all(|frame| frame.is_ok())
}

fn check_command(vector: &Vector, command: SimpleCommand) {
    let expected = match vector.name() {
        "arm" | "arm_default" => SimpleCommand::Arm(true),
        // The first datagram after opening the link, in either mode.
        "disarm" | "InitMavLoop_0" | "InitMavLoop_1" => SimpleCommand::Arm(false),
        "cruise_speed" => SimpleCommand::Cruise { speed: 15.0, radius: 0.0 },
        "cruise_radius" => SimpleCommand::Cruise { speed: 0.0, radius: 50.0 },
        "takeoff" => SimpleCommand::TakeOff { position: [100.0, 20.0, -30.0] },
        _ => return,
    };
    assert_eq!(command, expected, "{}", vector.name());
}

fn check_setpoint(vector: &Vector, packet: &FullSetpointPacket) {
    let name = vector.name();
    assert_eq!(packet.copter_id.get(), 1, "{name}");
    if let Some(state) = vector["state"].as_object() {
        assert_eq!(packet.type_mask.get(), state["type_mask"], "{name}");
        assert_eq!(packet.frame.get(), state["coordinate_frame"], "{name}");
    }
    let args = &vector["args"]["setpoint"];
    let position = packet.position.map(|x| x.get());
    let velocity = packet.velocity.map(|x| x.get());
    match name {
        "00_SendVelNED" => assert_eq!((velocity, packet.yaw_rate.get()), ([1.5, -2.0, -0.5], 0.25)),
        "04_SendPosNED" => assert_eq!((position, packet.yaw.get()), ([10.0, -5.0, -15.0], 1.57)),
        "10_SendAccPX4" => {
            assert_eq!(packet.acceleration.map(|x| x.get()), [0.1, 0.2, -0.3]);
            assert_eq!(packet.yaw.get(), 0.7);
        }
        "24_SendAttPX4" => {
            let mut q = [0.0; 4];
            q.copy_from_slice(&floats(&args[0]));
            let made = FullSetpointPacket::new(3250, 1, 7, 8).with_attitude(q, [0.0; 3], 0.5);
            assert_eq!(&made, packet, "{name}");
        }
        "25_SendAttPX4" => {
            let mut rates = [0.0; 3];
            rates.copy_from_slice(&floats(&args[0]));
            let q = [1.0, 0.0, 0.0, 0.0];
            let made = FullSetpointPacket::new(3250, 1, 128, 8).with_attitude(q, rates, 0.5);
            assert_eq!(&made, packet, "{name}");
        }
        _ => {}
    }
}

#[test]
fn every_recorded_state_is_decoded_as_by_the_vendor_and_written_byte_for_byte() {
    for vector in golden::load("recv_ctrl_udp") {
        let name = vector.name();
        let bytes = &vector.input_packets()[0];
        let decoded = &vector["decoded_changes"];
        match name {
            "full120" | "full120_not_fixed" | "full120_crash" | "full120_zero_home" => {
                check_full(name, FullEstimatePacket::parse(bytes).unwrap(), decoded);
            }
            // Trap 16: 112 is the only inner length that means a state.
            "full120_inner_len_120_ignored" => {
                let error = FullEstimatePacket::parse(bytes).unwrap_err();
                assert!(matches!(error, WireError::Field { field: "len", found: 120, .. }));
            }
            "simple52" => {
                let packet = SimpleEstimatePacket::parse(bytes).unwrap();
                assert_eq!(packet.report(), SimpleReport::State(packet));
                check_floats(&decoded["uavAngEular"], packet.euler);
                check_floats(&decoded["uavPosNED"], packet.position);
                check_floats(&decoded["uavVelNED"], packet.velocity);
                check_home(&decoded["uavPosGPSHome"], packet.home);
                let made = SimpleEstimatePacket::state(
                    packet.home.map(|x| x.get()),
                    packet.euler.map(|x| x.get()),
                    packet.position.map(|x| x.get()),
                    packet.velocity.map(|x| x.get()),
                );
                assert_eq!(made.as_bytes(), bytes, "{name}");
            }
            "simple52_ekf" => {
                let packet = SimpleEstimatePacket::parse(bytes).unwrap();
                assert_eq!(packet.report(), SimpleReport::PositionFix);
                let own = SimpleEstimatePacket::estimator_fixed();
                assert_eq!(own.report(), SimpleReport::PositionFix);
            }
            "simple52_crash" | "simple52_crash_none" => {
                let packet = SimpleEstimatePacket::parse(bytes).unwrap();
                let with = decoded["isVehicleCrashID"].as_i64();
                let with = with.map(|id| i32::try_from(id).unwrap());
                assert_eq!(packet.report(), SimpleReport::Collision { with }, "{name}");
                let made = SimpleEstimatePacket::collision(with.unwrap_or(-1));
                assert_eq!(made.as_bytes()[..16], bytes[..16], "{name}");
            }
            "simple52_other" => {
                let error = SimpleEstimatePacket::parse(bytes).unwrap_err();
                assert!(matches!(error, WireError::Tag { .. }), "{error}");
            }
            "simple_full_packet_in_simple_mode" => {
                let error = SimpleEstimatePacket::parse(bytes).unwrap_err();
                assert!(matches!(error, WireError::Length { found: 120, .. }));
            }
            "simple_packet_in_full_mode" => {
                let error = FullEstimatePacket::parse(bytes).unwrap_err();
                assert!(matches!(error, WireError::Length { found: 52, .. }));
            }
            other => panic!("unknown vector {other}"),
        }
    }
}

fn check_floats<const N: usize>(
    wanted: &serde_json::Value,
    found: [zerocopy::little_endian::F32; N],
) {
    assert_eq!(numbers(wanted), found.map(|x| f64::from(x.get())));
}

fn check_home(wanted: &serde_json::Value, home: [zerocopy::little_endian::I32; 3]) {
    let [latitude, longitude, altitude] = home.map(|x| f64::from(x.get()));
    let wanted = numbers(wanted);
    assert_eq!(wanted, [latitude / 1e7, longitude / 1e7, altitude / 1e3]);
}

fn check_full(name: &str, packet: &FullEstimatePacket, decoded: &serde_json::Value) {
    let time = f64::from(packet.time_boot_ms.get()) / 1000.0;
    assert_eq!(number(&decoded["uavTimeStmp"]), time, "{name}");
    let crash = decoded["isVehicleCrashID"].as_i64();
    let hit = Some(packet.collided_with.get()).filter(|_| packet.collided_with.get() >= 0);
    if name != "full120_zero_home" {
        assert_eq!(crash, hit.map(i64::from), "{name}");
        check_floats(&decoded["uavAngEular"], packet.euler);
        check_floats(&decoded["uavPosNED"], packet.position);
        check_floats(&decoded["uavVelNED"], packet.velocity);
        check_home(&decoded["uavPosGPSHome"], packet.home);
        let [latitude, longitude, altitude] = packet.gps.map(|x| f64::from(x.get()));
        let gps = [latitude / 1e7, longitude / 1e7, altitude / 1e3];
        assert_eq!(numbers(&decoded["uavPosGPS"])[..3], gps, "{name}");
        let fixed = decoded["isPX4Ekf3DFixed"].as_bool().unwrap_or(false);
        assert_eq!(packet.estimator_fixed.get() > 0.5, fixed, "{name}");
    }
    let made = FullEstimatePacket {
        collided_with: packet.collided_with,
        gps: packet.gps,
        gps_velocity: packet.gps_velocity,
        home: packet.home,
        relative_altitude: packet.relative_altitude,
        heading: packet.heading,
        satellites: packet.satellites,
        fix_type: packet.fix_type,
        euler: packet.euler,
        position: packet.position,
        velocity: packet.velocity,
        horizontal_accuracy: packet.horizontal_accuracy,
        vertical_accuracy: packet.vertical_accuracy,
        estimator_fixed: packet.estimator_fixed,
        ..FullEstimatePacket::new(packet.time_boot_ms.get(), packet.copter_id.get())
    };
    assert_eq!(made.as_bytes(), packet.as_bytes(), "{name}");
}

#[test]
fn every_recorded_output_of_the_autopilot_is_decoded_as_by_the_vendor() {
    for vector in golden::load("recv_px4ext") {
        let bytes = &vector.input_packets()[0];
        match vector.name() {
            "px4ext" => {
                let packet = Px4ExtPacket::parse(bytes).unwrap();
                let decoded = &vector["decoded"];
                assert_eq!(decoded["CopterID"], packet.copter_id.get());
                assert_eq!(number(&decoded["runnedTime"]), packet.sim_time.get());
                check_floats(&decoded["controls"], packet.controls);
                let controls = packet.controls.map(|x| x.get());
                let made = Px4ExtPacket::new(1, packet.sim_time.get(), controls);
                assert_eq!(made.as_bytes(), bytes);
            }
            "px4ext_bad" => {
                let error = Px4ExtPacket::parse(bytes).unwrap_err();
                assert!(matches!(error, WireError::Tag { .. }), "{error}");
            }
            other => panic!("unknown vector {other}"),
        }
    }
}

proptest! {
    #[test]
    fn every_command_is_read_as_it_was_written(
        mode in prop_oneof![-1..=14_i32, Just(30)],
        numbers in any::<[f32; 4]>(),
    ) {
        let packet = SimpleCommandPacket::new(mode, numbers);
        let command = SimpleCommand::try_from(&packet).unwrap();
        let written = SimpleCommandPacket::from(command);
        let again = SimpleCommand::try_from(&written).unwrap();
        // Bytes, because not-a-number differs from itself.
        let last = SimpleCommandPacket::from(again);
        prop_assert_eq!(written.as_bytes(), last.as_bytes());
        prop_assert_eq!(written.mode.get(), mode);
    }
}

/// What the vendor's stand-in for an autopilot does with each struct, by the names of its methods.
#[test]
fn structs_mean_what_the_vendors_stand_in_takes_them_for() {
    use SimpleCommand as C;
    let mut seen = 0;
    for vector in golden::load("recv_vehicleapi") {
        let name = vector.name();
        let datagram = &vector.input_packets()[0];
        let calls = vector["decoded"]["calls"].as_array().unwrap();
        let Ok(packet) = SimpleCommandPacket::parse(datagram) else {
            assert_eq!(name, "bad_checksum");
            assert!(calls.is_empty());
            continue;
        };
        let (method, values) = match SimpleCommand::try_from(packet).unwrap() {
            // A velocity is nothing to a vehicle that only knows places.
            C::Nothing | C::VelocityNed { .. } => {
                assert!(calls.is_empty(), "{name}");
                continue;
            }
            C::PositionNed { position, yaw } => ("SendPosNED", [&position[..], &[yaw]].concat()),
            C::Arm(arm) => ("SendMavArm", vec![f32::from(u8::from(arm))]),
            C::Cruise { speed, radius } => {
                // Two methods of theirs.
                let both: Vec<_> = calls.iter().map(|call| floats(&call[1])).collect();
                assert_eq!(both, [[speed], [radius]], "{name}");
                seen += 1;
                continue;
            }
            C::TakeOff { position } => ("sendMavTakeOff", position.to_vec()),
            C::TakeOffGlobal { latitude, longitude, altitude } => {
                ("sendMavTakeOffGPS", vec![latitude, longitude, altitude])
            }
            C::SpeedAltitudeHeading { speed, down, heading } => {
                ("SendVelYawAlt", vec![speed, down, heading])
            }
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(calls.len(), 1, "{name}");
        assert_eq!(calls[0][0], method, "{name}");
        assert_eq!(floats(&calls[0][1]), values, "{name}");
        seen += 1;
    }
    assert_eq!(seen, 7);
}

/// The vendor's controller is built from a CopterID, or from its port.
#[test]
fn a_vehicles_port_is_the_one_that_the_vendors_controller_takes() {
    let ports = Ports::default();
    let mut seen = 0;
    for vector in golden::load("ctrl_constructor") {
        let (args, made) = (&vector["args"], &vector["decoded"]);
        let id = u16::try_from(made["CopterID"].as_u64().unwrap()).unwrap();
        let port = u16::try_from(made["port"].as_u64().unwrap()).unwrap();
        // A port of its own: `Direct:15552`; ours is `control.link: direct:...`.
        if args[2].as_str().is_some_and(|link| link.starts_with("Direct:")) {
            continue;
        }
        assert_eq!(ports.autopilot(id), port, "{}", vector.name());
        if let Some(first) = args[0].as_u64() {
            assert!([u64::from(id), u64::from(port)].contains(&first), "{}", vector.name());
        }
        seen += 1;
    }
    assert_eq!(seen, 11);
}
