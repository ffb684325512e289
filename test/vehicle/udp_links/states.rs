//! What comes back.
use super::calls::{calls, command};
use super::*;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

/// What a datagram becomes, or by which name it is counted.
fn read(link: &mut dyn Link, datagram: &[u8]) -> Result<Vec<MavMessage>, &'static str> {
    let mut buffer = Vec::new();
    let bytes = link.incoming(datagram, &mut buffer).map_err(Counter::name)?;
    let messages = frames(bytes)
        .map(|frame| {
            let frame = frame.unwrap();
            assert_eq!((frame.system, frame.component), (1, 1));
            frame.message().unwrap()
        })
        .collect();
    Ok(messages)
}

fn messages(link: &mut dyn Link, datagram: &[u8]) -> Vec<MavMessage> {
    read(link, datagram).unwrap_or_default()
}

fn heartbeat(link: &mut dyn Link, datagram: &[u8]) -> Option<(bool, u32)> {
    let mut buffer = Vec::new();
    frames(link.incoming(datagram, &mut buffer).unwrap())
        .find_map(|frame| Heartbeat::parse(&frame.unwrap()))
        .map(|h| (h.base_mode & 128 != 0, h.custom_mode))
}

#[test]
fn every_recorded_state_becomes_messages_with_the_values_of_the_vendors_client() {
    for vector in golden::load("recv_ctrl_udp") {
        let name = vector.name();
        let bytes = &vector.input_packets()[0];
        let decoded = &vector["decoded_changes"];
        let simple_mode = vector["args"]["UDPMode"] == 1;
        let mut link: Box<dyn Link> = if simple_mode {
            Box::new(UdpSimpleLink::new(1, Box::new(|_| true)))
        } else {
            Box::new(UdpFullLink::new(1, Box::new(|_| true)))
        };
        let found = messages(&mut *link, bytes);
        let texts: Vec<String> = found.iter().filter_map(text).collect();
        let mut wanted = Vec::new();
        if decoded["isPX4Ekf3DFixed"] == true {
            wanted.push("estimator has a 3D fix".to_owned());
        }
        if let Some(id) = decoded["isVehicleCrashID"].as_i64() {
            wanted.push(format!("collision with object {id}"));
        }
        assert_eq!(texts, wanted, "{name}");
        // Each is said once.
        let again = read(&mut *link, bytes);
        assert!(again.iter().flatten().all(|m| text(m).is_none()), "{name}");
        let expected_problem = match name {
            "full120_inner_len_120_ignored" | "simple52_other" => Some("malformed"),
            "simple_full_packet_in_simple_mode" => Some("udp_full_state"),
            "simple_packet_in_full_mode" => Some("udp_simple_state"),
            _ => None,
        };
        assert_eq!(again.err(), expected_problem, "{name}");
        if decoded.get("uavPosNED").is_none() {
            if name != "full120_zero_home" {
                assert_eq!(found.len(), texts.len(), "{name}: {found:?}");
            }
            continue;
        }
        check_messages(name, &found, decoded, simple_mode);
    }
}

fn text(message: &MavMessage) -> Option<String> {
    let MavMessage::STATUSTEXT(STATUSTEXT_DATA { text, .. }) = message else {
        return None;
    };
    Some(text.to_str().unwrap().to_owned())
}

fn check_messages(
    name: &str,
    found: &[MavMessage],
    decoded: &serde_json::Value,
    simple_mode: bool,
) {
    let numbers = |key: &str| golden::numbers(&decoded[key]);
    let mut seen = Vec::new();
    for message in found {
        match message {
            MavMessage::ATTITUDE(m) => {
                let angles = [m.roll, m.pitch, m.yaw].map(f64::from);
                assert_eq!(numbers("uavAngEular"), angles, "{name}");
                assert!(m.rollspeed.is_nan() && m.yawspeed.is_nan(), "{name}: not invented");
                seen.push("attitude");
            }
            MavMessage::LOCAL_POSITION_NED(m) => {
                assert_eq!(numbers("uavPosNED"), [m.x, m.y, m.z].map(f64::from), "{name}");
                assert_eq!(numbers("uavVelNED"), [m.vx, m.vy, m.vz].map(f64::from));
                let time = if simple_mode { 0.0 } else { number(&decoded["uavTimeStmp"]) };
                assert_eq!(f64::from(m.time_boot_ms) / 1e3, time, "{name}");
                seen.push("local");
            }
            MavMessage::HOME_POSITION(m) => {
                let [lat, lon, alt] = [m.latitude, m.longitude, m.altitude].map(f64::from);
                assert_eq!(numbers("uavPosGPSHome"), [lat / 1e7, lon / 1e7, alt / 1e3]);
                assert!(m.q[0].is_nan());
                seen.push("home");
            }
            MavMessage::GLOBAL_POSITION_INT(m) => {
                let [lat, lon, alt] = [m.lat, m.lon, m.alt].map(f64::from);
                assert_eq!(numbers("uavPosGPS")[..3], [lat / 1e7, lon / 1e7, alt / 1e3]);
                assert_eq!((m.vx, m.vy, m.vz), (10, -20, 5), "cm/s as recorded");
                assert_eq!((m.relative_alt, m.hdg), (1500, 9000));
                seen.push("global");
            }
            MavMessage::GPS_RAW_INT(m) => {
                assert_eq!((m.fix_type as u8, m.satellites_visible), (3, 15));
                assert_eq!((m.vel, m.eph, m.cog), (22, u16::MAX, u16::MAX));
                seen.push("gps");
            }
            MavMessage::HEARTBEAT(_) => seen.push("heartbeat"),
            _ => assert!(text(message).is_some(), "{name}: {message:?}"),
        }
    }
    let mut wanted = vec!["heartbeat", "home", "attitude", "local"];
    if !simple_mode {
        wanted.extend(["global", "gps"]);
    }
    assert_eq!(seen, wanted, "{name}");
}

fn full_state(time_boot_ms: u32) -> Vec<u8> {
    FullEstimatePacket::new(time_boot_ms, 1).as_bytes().to_vec()
}

#[test]
fn the_heartbeat_says_what_was_commanded_once_a_second_and_at_once_after_a_command() {
    let (mut link, _) = full();
    assert_eq!(heartbeat(&mut link, &full_state(5000)), Some((false, 0)));
    assert_eq!(heartbeat(&mut link, &full_state(5010)), None);
    assert_eq!(heartbeat(&mut link, &full_state(6000)), Some((false, 0)));
    let arm = |on: f32| -> Outbound {
        let mut command = CommandLong { command: 400, ..CommandLong::default() };
        command.params[0] = on;
        command.into()
    };
    link.send(&arm(1.0), 1, 191).unwrap();
    assert_eq!(heartbeat(&mut link, &full_state(6010)), Some((true, 0)));
    // The first set-point makes it OFFBOARD.
    let (_, setpoint, ..) = calls().into_iter().find(|(n, ..)| n == "00_SendVelNED").unwrap();
    link.send(&setpoint, 1, 191).unwrap();
    let flying = Some((true, 6 << 16));
    assert_eq!(heartbeat(&mut link, &full_state(6020)), flying);
    link.send(&setpoint, 1, 191).unwrap();
    assert_eq!(heartbeat(&mut link, &full_state(6030)), None);
    // Disarmed: a set-point that is still on its way does not arm it again.
    link.send(&arm(0.0), 1, 191).unwrap();
    assert_eq!(heartbeat(&mut link, &full_state(6040)), Some((false, 0)));
    assert!(link.send(&setpoint, 1, 191).is_err());
    link.send(&arm(1.0), 1, 191).unwrap();
    link.send(&setpoint, 1, 191).unwrap();
    assert_eq!(heartbeat(&mut link, &full_state(6050)), flying);
    // A simulator that was started anew is not armed.
    assert_eq!(heartbeat(&mut link, &full_state(20)), Some((false, 0)));
}

/// Counts warnings.
struct Warnings(Arc<Mutex<usize>>);

impl<S: tracing::Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let warning = *event.metadata().level() == tracing::Level::WARN;
        *self.0.lock().unwrap() += usize::from(warning);
    }
}

#[test]
fn arming_is_rounded_as_px4_does() {
    for (value, armed) in [
        (1.0, Some(true)),
        (0.5, Some(true)),
        (1.4, Some(true)),
        (0.49, Some(false)),
        (-0.4, Some(false)),
        (2.0, None),
        (-1.0, None),
        (f32::NAN, None),
    ] {
        let (mut link, sent) = simple();
        let mut arm = CommandLong { command: 400, ..CommandLong::default() };
        arm.params[0] = value;
        assert_eq!(link.send(&arm.into(), 1, 191).is_ok(), armed.is_some(), "{value}");
        let sent = sent.lock().unwrap().pop();
        let found = sent.map(|bytes| command(&hex(&bytes)));
        assert_eq!(found, armed.map(SimpleCommand::Arm), "{value}");
    }
}

#[test]
fn datagrams_of_another_mode_are_an_alarm_only_where_they_go_on() {
    let heard = Arc::new(Mutex::new(0));
    let subscriber = tracing_subscriber::registry().with(Warnings(heard.clone()));
    tracing::subscriber::with_default(subscriber, || {
        let (mut link, _) = full();
        let simple = SimpleEstimatePacket::state([0; 3], [0.0; 3], [0.0; 3], [0.0; 3]);
        // What was on its way when the mode was changed, some MAVLink, and what both modes have.
        for time in 0..100u32 {
            messages(&mut link, &[0xfd; 30]);
            messages(&mut link, simple.as_bytes());
            assert!(!messages(&mut link, &full_state(5000 + 10 * time)).is_empty());
        }
        assert_eq!(*heard.lock().unwrap(), 0);
        for _ in 0..200 {
            messages(&mut link, simple.as_bytes());
        }
        assert_eq!(*heard.lock().unwrap(), 1, "once");
    });
}

#[test]
fn the_fix_and_collisions_come_as_short_datagrams_in_both_modes() {
    for (mut link, _) in [boxed(full()), boxed(simple())] {
        let mut fixed =
            SimpleEstimatePacket::state([0; 3], [0.0; 3], [0.0; 3], [0.0; 3]).as_bytes().to_vec();
        fixed[..4].copy_from_slice(&1_234_567_891i32.to_le_bytes());
        let found = read(&mut *link, &fixed).unwrap();
        let texts: Vec<_> = found.iter().filter_map(text).collect();
        assert_eq!(texts, ["estimator has a 3D fix"]);
    }
}

fn boxed<L: Link + 'static>((link, sent): (L, Sent)) -> (Box<dyn Link>, Sent) {
    (Box::new(link), sent)
}

#[test]
fn after_silence_nothing_is_armed_until_it_is_commanded_again() {
    let (mut link, _) = simple();
    let state = SimpleEstimatePacket::state([0; 3], [0.0; 3], [0.0; 3], [0.0; 3]);
    let (_, setpoint, ..) = calls().into_iter().find(|(n, ..)| n == "00_SendVelNED").unwrap();
    link.send(&setpoint, 1, 191).unwrap();
    let flying = Some((true, 6 << 16));
    assert_eq!(heartbeat(&mut link, state.as_bytes()), flying);
    link.lost();
    assert_eq!(heartbeat(&mut link, state.as_bytes()), Some((false, 0)));
    link.send(&setpoint, 1, 191).unwrap();
    assert_eq!(heartbeat(&mut link, state.as_bytes()), flying);
}

#[test]
fn modes_are_refused_but_the_one_it_is_in() {
    let (mut link, sent) = simple();
    for (custom_mode, taken) in [(6 << 16, true), (4 << 16 | 6 << 24, false), (3 << 16, false)] {
        let message = SetMode { custom_mode, ..SetMode::default() };
        assert_eq!(link.send(&message.into(), 1, 191).is_ok(), taken, "{custom_mode:#x}");
    }
    assert!(sent.lock().unwrap().is_empty());
    let abilities = link.abilities();
    assert!(!abilities.acks && !abilities.services && !abilities.timesync);
}

#[test]
fn states_that_are_late_foreign_or_no_numbers_are_counted_and_move_nothing() {
    let (mut link, _) = full();
    assert!(!messages(&mut link, &full_state(5000)).is_empty());
    assert_eq!(read(&mut link, &full_state(4990)), Err("late"));
    let foreign = FullEstimatePacket::new(5010, 2);
    assert_eq!(read(&mut link, foreign.as_bytes()), Err("other_vehicle"));
    let mut broken = FullEstimatePacket::new(5010, 1);
    broken.position[1] = f32::NAN.into();
    assert_eq!(read(&mut link, broken.as_bytes()), Err("malformed"));
    assert_eq!(read(&mut link, &[0xfd; 30]), Err("mavlink_in_udp_mode"));
    assert_eq!(read(&mut link, b""), Err("malformed"));
    assert!(!read(&mut link, &full_state(5020)).unwrap().is_empty());
}

#[test]
fn altitudes_above_home_need_home() {
    let (mut link, sent) = simple();
    let (_, message, ..) = calls().into_iter().find(|(n, ..)| n == "12_SendPosGlobal").unwrap();
    let Outbound::Raw(raw) = &message else { panic!("raw") };
    let mut payload = raw.payload().to_vec();
    payload.resize(53, 0);
    payload[52] = 6;
    let relative = RawMessage::new(86, &payload).unwrap().into();
    assert!(link.send(&relative, 1, 191).is_err());
    let home = [401_540_302, 1_162_593_683, 50_500];
    let state = SimpleEstimatePacket::state(home, [0.0; 3], [1.0, 2.0, -3.0], [0.0; 3]);
    messages(&mut link, state.as_bytes());
    link.send(&relative, 1, 191).unwrap();
    let last = sent.lock().unwrap().pop().unwrap();
    let SimpleCommand::PositionGlobal { altitude, .. } = command(&hex(&last)) else { panic!() };
    assert_eq!(altitude, 110.5);
    // A take-off without a place goes up where the vehicle is.
    let mut takeoff = CommandLong { command: 22, ..CommandLong::default() };
    takeoff.params[4..].copy_from_slice(&[f32::NAN, f32::NAN, 60.5]);
    link.send(&takeoff.into(), 1, 191).unwrap();
    let last = sent.lock().unwrap().pop().unwrap();
    let position = [1.0, 2.0, -10.0];
    assert_eq!(command(&hex(&last)), SimpleCommand::TakeOff { position });
}

#[test]
fn a_socket_that_takes_nothing_is_no_success() {
    let mut link = UdpSimpleLink::new(1, Box::new(|_| false));
    let (_, message, ..) = calls().into_iter().find(|(n, ..)| n == "arm").unwrap();
    assert_eq!(link.send(&message, 1, 191), Err(SendError::Io));
    let state = SimpleEstimatePacket::state([0; 3], [0.0; 3], [0.0; 3], [0.0; 3]);
    assert_eq!(heartbeat(&mut link, state.as_bytes()), Some((false, 0)));
    assert_eq!(GpsRawInt::ID, 24);
}
