//! What is sent.
use super::*;

/// Sends a message through a new link; what it made of it.
fn translated(simple_mode: bool, message: &Outbound) -> Result<Option<String>, SendError> {
    let sent = Sent::default();
    let mut link: Box<dyn Link> = if simple_mode {
        Box::new(UdpSimpleLink::new(1, sink(&sent)))
    } else {
        Box::new(UdpFullLink::new(1, sink(&sent)))
    };
    link.send(message, 1, 191)?;
    let sent = sent.lock().unwrap();
    assert!(sent.len() <= 1);
    Ok(sent.first().map(|bytes| hex(bytes)))
}

/// The calls of the vendor's client that are one MAVLink message: name, message, and the UDP datagram of either mode.
pub(super) fn calls() -> Vec<(String, Outbound, Option<String>, Option<String>)> {
    let by_name = |file: &str| -> BTreeMap<String, golden::Vector> {
        let vectors = golden::load(file).into_iter();
        vectors.map(|v| (v.name().to_owned(), v)).collect()
    };
    let (full, simple) = (by_name("control_udp_full"), by_name("control_udp_simple"));
    let text = |v: &golden::Vector| v["hex"].as_str().map(str::to_owned);
    let vectors = golden::load("control_mavlink").into_iter();
    let both = vectors.filter(|v| full.contains_key(v.name()) && !v.has("more"));
    // Goes to the ground station's port in every mode.
    both.filter(|v| v.name() != "qgc_cmd")
        .map(|vector| {
            let bytes = golden::unhex(vector["hex"].as_str().unwrap());
            let frame = frames(&bytes).next().unwrap().unwrap();
            let message = RawMessage::new(frame.id, frame.payload).unwrap();
            let name = vector.name();
            (name.to_owned(), message.into(), text(&full[name]), text(&simple[name]))
        })
        .collect()
}

fn bytes_of(command: SimpleCommand) -> Result<Option<String>, ()> {
    Ok(Some(hex(SimpleCommandPacket::from(command).as_bytes())))
}

/// What is not as the vendor's client has it, and why.
fn intended(name: &str, simple_mode: bool) -> Option<Result<Option<String>, ()>> {
    use SimpleCommand as C;
    let nan = f32::NAN;
    Some(match (name, simple_mode) {
        // By place, as the message says; the vendor's client sends its local coordinates.
        ("takeoff", _) => return None,
        // Where the vendor's client sends nothing, though there is a datagram.
        ("takeoff_local", _) => bytes_of(C::TakeOff { position: [1.0, 2.0, -3.0] }),
        ("takeoff_gps", _) => {
            bytes_of(C::TakeOffGlobal { latitude: 40.16, longitude: 116.27, altitude: 100.0 })
        }
        // What has no datagram is refused, not ignored.
        (
            "land"
            | "land_gps"
            | "set_mode_auto_loiter"
            | "set_mode_rtl"
            | "set_mode_posctl"
            | "param_int"
            | "param_real"
            | "param_int_denormal"
            | "copter_speed"
            | "ground_speed"
            | "rwto"
            | "cmd_long"
            | "endOffboard",
            _,
        ) => Err(()),
        // Without yaw the vendor's client turns the vehicle north.
        ("05_SendPosNEDNoYaw", true) => {
            bytes_of(C::PositionNed { position: [1.0, 2.0, -3.0], yaw: nan })
        }
        ("07_SendPosFRDNoYaw", true) => {
            bytes_of(C::PositionFrd { position: [1.0, 1.0, -1.0], yaw: nan })
        }
        // Modes 6 to 8: the fourth number is not lost, and nobody can take it for the other one.
        ("09_SendAccPX4", true) => {
            bytes_of(C::AccelerationYawRate { acceleration: [0.1, 0.2, -0.3], yaw_rate: 0.0 })
        }
        ("10_SendAccPX4", true) => {
            bytes_of(C::AccelerationYaw { acceleration: [0.1, 0.2, -0.3], yaw: 0.7 })
        }
        // There is no acceleration of the body; the vendor's client sends it as one of the world.
        ("11_SendAccPX4", true) => Err(()),
        // Global positions have a mode of their own; the vendor's client leaves the mode as it was.
        ("12_SendPosGlobal", true) => bytes_of(C::PositionGlobal {
            latitude: 40.154_03,
            longitude: 116.259_37,
            altitude: 60.0,
            yaw: 0.5,
        }),
        ("13_SendPosGlobal", true) => Err(()),
        ("14_SendPosGlobal", true) => bytes_of(C::PositionGlobal {
            latitude: 40.1,
            longitude: 116.2,
            altitude: 60.0,
            yaw: nan,
        }),
        // Modes that the vendor's client cannot send: it fails.
        ("15_SendVelYawAlt", true) => {
            bytes_of(C::SpeedAltitudeHeading { speed: 12.0, down: -50.0, heading: 0.5 })
        }
        ("16_SendVelYawAlt", true) => bytes_of(C::SpeedAltitudeHeading {
            speed: 12.0,
            down: -50.0,
            heading: 628.0 / 100.0, // what the vendor's client puts in place of 0
        }),
        ("18_SendPosNEDExt", true) => bytes_of(C::TakeOff { position: [1.0, 2.0, -3.0] }),
        (
            "17_SendPosNEDExt" | "19_SendPosNEDExt" | "20_SendPosNEDExt" | "21_SendPosNEDExt"
            | "25_SendAttPX4" | "26_SendAttPX4",
            true,
        ) => Err(()),
        _ => return None,
    })
}

#[test]
fn every_call_of_the_vendors_client_gives_its_datagram_or_is_on_the_list() {
    let mut same = [0; 2];
    let mut attitudes = 0;
    for (name, message, full, simple) in calls() {
        for (simple_mode, wanted) in [(false, full), (true, simple)] {
            let found = translated(simple_mode, &message);
            if let Err(SendError::Unsupported { why, .. }) = &found {
                assert!(why.len() > 10, "{name}: a reason that helps");
            }
            let found = found.map_err(drop);
            if let Some(expected) = intended(&name, simple_mode) {
                assert_ne!(expected, Ok(wanted), "{name}: not different at all");
                assert_eq!(found, expected, "{name} {simple_mode}");
                continue;
            }
            match &*name {
                "22_SendAttPX4" | "23_SendAttPX4" | "24_SendAttPX4" | "27_SendAttPX4"
                    if simple_mode =>
                {
                    check_attitude(&name, &found.unwrap().unwrap());
                    attitudes += 1;
                }
                // Altitude hold: the vendor's client puts the altitude where the thrust belongs.
                "27_SendAttPX4" => {
                    let found = found.unwrap().unwrap();
                    let wanted = wanted.unwrap();
                    // Thrust is at 60, and everything else is the same.
                    assert_eq!(found[..120], wanted[..120], "{name}");
                    assert_ne!(found[120..128], wanted[120..128], "{name}");
                    assert_eq!(found[128..], wanted[128..], "{name}");
                }
                "takeoff" => check_takeoff(&found.unwrap().unwrap()),
                _ => {
                    assert_eq!(found, Ok(wanted), "{name} {simple_mode}");
                    same[usize::from(simple_mode)] += 1;
                }
            }
        }
    }
    assert_eq!(attitudes, 4);
    // `set_mode_offboard` sends nothing: CopterSim goes there by itself.
    assert_eq!(same, [33, 13], "UDP_Full, UDP_Simple");
}

pub(super) fn command(text: &str) -> SimpleCommand {
    let bytes = golden::unhex(text);
    SimpleCommand::try_from(SimpleCommandPacket::parse(&bytes).unwrap()).unwrap()
}

/// Mode 4 has angles; they are those of the quaternion in the vendor's MAVLink message, by the textbook's formula.
fn check_attitude(name: &str, text: &str) {
    let SimpleCommand::Attitude { euler, throttle } = command(text) else {
        panic!("{name}: {text}")
    };
    assert!((0.0..=1.0).contains(&throttle), "{name}");
    let vector = golden::load_one("control_mavlink", name);
    let bytes = golden::unhex(vector["hex"].as_str().unwrap());
    let frame = frames(&bytes).next().unwrap().unwrap();
    let Ok(MavMessage::SET_ATTITUDE_TARGET(target)) = frame.message() else { panic!("{name}") };
    let [w, x, y, z] = target.q.map(f64::from);
    let norm = (w * w + x * x + y * y + z * z).sqrt();
    let [w, x, y, z] = [w, x, y, z].map(|q| q / norm);
    let wanted = [
        (2.0 * (w * x + y * z)).atan2(1.0 - 2.0 * (x * x + y * y)),
        (2.0 * (w * y - z * x)).asin(),
        (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z)),
    ];
    for (found, wanted) in euler.iter().zip(wanted) {
        assert!((f64::from(*found) - wanted).abs() < 1e-6, "{name}: {euler:?} {wanted:?}");
    }
}

/// 100 m north and 20 m east of the map's centre, 30 m up: within the precision of the message.
fn check_takeoff(text: &str) {
    let SimpleCommand::TakeOffGlobal { latitude, longitude, altitude } = command(text) else {
        panic!("{text}")
    };
    let vector = golden::load_one("control_mavlink", "takeoff");
    let bytes = golden::unhex(vector["hex"].as_str().unwrap());
    let sent = CommandLong::parse(&frames(&bytes).next().unwrap().unwrap()).unwrap();
    assert_eq!([latitude, longitude, altitude], sent.params[4..]);
}

#[test]
fn speed_and_radius_do_not_erase_each_other() {
    let (mut link, sent) = simple();
    for (name, _) in [("cruise_speed", 0), ("cruise_radius", 1)] {
        let (_, message, ..) = calls().into_iter().find(|(n, ..)| n == name).unwrap();
        link.send(&message, 1, 191).unwrap();
    }
    let last = sent.lock().unwrap().pop().unwrap();
    let expected = SimpleCommand::Cruise { speed: 15.0, radius: 50.0 };
    assert_eq!(command(&hex(&last)), expected);
}

#[test]
fn a_speed_that_is_not_above_0_is_refused_for_that() {
    for speed in [-1.0, 0.0, f32::NAN] {
        for simple_mode in [false, true] {
            let params = [1.0, speed, -1.0, 0.0, 0.0, 0.0, 0.0];
            let message = CommandLong { command: 178, params, ..CommandLong::default() };
            let refused = translated(simple_mode, &message.into());
            let Err(SendError::Unsupported { why, .. }) = refused else {
                panic!("{speed}: {refused:?}")
            };
            assert!(why.contains("above 0"), "{why}");
        }
    }
}

#[test]
fn masks_that_have_no_datagram_are_refused_with_a_reason() {
    let (_, message, ..) = calls().into_iter().find(|(n, ..)| n == "04_SendPosNED").unwrap();
    let Outbound::Raw(raw) = &message else { panic!("raw") };
    let with = |mask: u16, frame: u8| -> Outbound {
        let mut payload = raw.payload().to_vec();
        payload.resize(53, 0);
        payload[48..50].copy_from_slice(&mask.to_le_bytes());
        payload[52] = frame;
        RawMessage::new(84, &payload).unwrap().into()
    };
    // Position and velocity; nothing; yaw alone; force; velocity with yaw; position with yaw rate.
    for mask in [0x9c0, 0xfff, 0xbff, 0xe3f, 0x9c7, 0x5f8] {
        let refused = translated(true, &with(mask, 1));
        let Err(SendError::Unsupported { link, why }) = refused else {
            panic!("{mask:#x}: {refused:?}")
        };
        assert_eq!(link, "UDP_Simple");
        assert!(!why.is_empty());
        assert!(translated(false, &with(mask, 1)).is_ok(), "UDP_Full has masks");
    }
    for frame in [7, 9] {
        for simple_mode in [false, true] {
            assert!(translated(simple_mode, &with(0x9f8, frame)).is_err(), "{frame}");
        }
    }
    // One axis is left alone.
    let text = translated(true, &with(0x9fc, 1)).unwrap().unwrap();
    let SimpleCommand::PositionNed { position, yaw } = command(&text) else { panic!("{text}") };
    assert_eq!((position[..2].to_vec(), yaw), (vec![10.0, -5.0], 1.57));
    assert!(position[2].is_nan());
}
