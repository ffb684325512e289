//! MAVLink frames, against every frame that the vendor's client, mavros and PX4 sent.
use crate::support::golden;
use proptest::prelude::*;
use rfly_bridge::vehicle::Counter;
use rfly_bridge::wire::mavlink::dialect::{ATTITUDE_DATA, HEARTBEAT_DATA, STATUSTEXT_DATA};
use rfly_bridge::wire::mavlink::raw::{CommandAck, CommandLong, Heartbeat, RawMessage, SetMode};
use rfly_bridge::wire::mavlink::{
    ByteStream, Encoder, Frame, FrameError, MAX_FRAME, MavMessage, Outbound, frames,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Every recorded frame with the place it comes from; the same bytes stand once.
static RECORDED: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for file in ["control_mavlink", "control_direct"] {
        for vector in golden::load(file) {
            let hex = std::iter::once(&vector["hex"]);
            let more = vector["more"].as_array().into_iter().flatten();
            let hex = hex.chain(more.map(|next| &next["hex"]));
            let hex = hex.filter_map(Value::as_str);
            all.extend(hex.map(|hex| (format!("{file} {}", vector.name()), hex.to_owned())));
        }
    }
    for vector in golden::load("recv_mavlink") {
        let packets = vector.input_packets();
        let name = format!("recv_mavlink {}", vector.name());
        all.extend(packets.iter().map(|p| (name.clone(), golden::hex(p))));
    }
    let to_fcu = golden::json("golden/mavros/to_fcu.json");
    for case in to_fcu["cases"].as_array().unwrap() {
        for frame in case["frames"].as_array().into_iter().flatten() {
            let name = format!("to_fcu {}", case["id"]);
            all.push((name, frame["hex"].as_str().unwrap().to_owned()));
        }
    }
    for frame in to_fcu["startup"].as_array().unwrap() {
        let name = format!("to_fcu startup {}", frame["name"]);
        all.push((name, frame["hex"].as_str().unwrap().to_owned()));
    }
    let from_fcu = golden::json("golden/mavros/from_fcu.json");
    for case in from_fcu["cases"].as_array().unwrap() {
        for frame in case["frames"].as_array().unwrap() {
            let name = format!("from_fcu {}", case["id"]);
            all.push((name, frame.as_str().unwrap().to_owned()));
        }
    }
    for (line, text) in flight().lines().enumerate().skip(1) {
        let frame: Value = serde_json::from_str(text).unwrap();
        let hex = frame["h"].as_str().unwrap().to_owned();
        all.push((format!("px4_flight line {}", line + 1), hex));
    }
    let mut seen = BTreeSet::new();
    all.retain(|(_, hex)| seen.insert(hex.clone()));
    all.into_iter().map(|(name, hex)| (name, golden::unhex(&hex))).collect()
});

fn flight() -> String {
    std::fs::read_to_string(golden::fixture("golden/mavros/px4_flight.jsonl")).unwrap()
}

fn only(bytes: &[u8]) -> Result<Frame<'_>, String> {
    let mut found = frames(bytes);
    let first = found.next().ok_or("no frame")?.map_err(|e| e.to_string())?;
    match found.next() {
        None => Ok(first),
        Some(more) => Err(format!("more: {more:?}")),
    }
}

/// Frames a message as the sender of `frame` would.
fn encode_like(frame: &Frame<'_>, message: impl Into<Outbound>) -> Vec<u8> {
    let mut encoder = Encoder::new(frame.system, frame.component);
    let message = message.into();
    for _ in 0..frame.sequence {
        encoder.encode(&message);
    }
    encoder.encode(&message).as_bytes().to_vec()
}

fn is_v1(bytes: &[u8]) -> bool {
    bytes[0] == 0xfe
}

#[test]
fn every_recorded_frame_is_read_and_written_byte_for_byte() {
    let mut undecoded = BTreeSet::new();
    let mut versions = [0, 0];
    for (name, bytes) in RECORDED.iter() {
        let frame = only(bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(frame.bytes, bytes, "{name}");
        versions[usize::from(!is_v1(bytes))] += 1;
        let raw = RawMessage::new(frame.id, frame.payload).unwrap();
        let raw_bytes = encode_like(&frame, raw);
        let message = match frame.message() {
            Ok(message) => message,
            Err(error) => {
                assert_eq!(error.id, frame.id, "{name}");
                undecoded.insert(frame.id);
                assert_eq!(golden::hex(&raw_bytes), golden::hex(bytes), "{name}");
                continue;
            }
        };
        let encoded = encode_like(&frame, message);
        assert_eq!(golden::hex(&encoded), golden::hex(&raw_bytes), "{name}");
        if is_v1(bytes) {
            // Only MAVLink 2 is written; the content is the same.
            let again = only(&encoded).unwrap();
            assert_eq!(again.message(), frame.message(), "{name}");
        } else {
            assert_eq!(golden::hex(&encoded), golden::hex(bytes), "{name}");
        }
    }
    assert!(versions[0] >= 1 && versions[1] > 5000, "{versions:?}");
    // Commands and answers with numbers that the dialect does not have; whoever reads these messages uses `raw`.
    assert_eq!(undecoded, BTreeSet::from([CommandLong::ID, CommandAck::ID]));
}

#[test]
fn messages_with_free_numbers_read_the_same_fields_as_the_recorder() {
    let from_fcu = golden::json("golden/mavros/from_fcu.json");
    let mut seen = [0; 2];
    for case in from_fcu["cases"].as_array().unwrap() {
        let frames = case["frames"].as_array().unwrap().iter();
        let decoded = case["decoded"].as_array().unwrap().iter();
        for (frame, decoded) in frames.zip(decoded) {
            let bytes = golden::unhex(frame.as_str().unwrap());
            let frame = only(&bytes).unwrap();
            if let Some(heartbeat) = Heartbeat::parse(&frame) {
                assert_eq!(heartbeat.custom_mode, decoded["custom_mode"]);
                assert_eq!(heartbeat.kind, decoded["type"]);
                assert_eq!(heartbeat.autopilot, decoded["autopilot"]);
                assert_eq!(heartbeat.base_mode, decoded["base_mode"]);
                assert_eq!(heartbeat.system_status, decoded["system_status"]);
                assert_eq!(heartbeat.mavlink_version, decoded["mavlink_version"]);
                assert_eq!(encode_like(&frame, heartbeat), bytes);
                seen[0] += 1;
            }
            if let Some(ack) = CommandAck::parse(&frame) {
                assert_eq!(ack.command, decoded["command"]);
                assert_eq!(ack.result, decoded["result"]);
                assert_eq!(encode_like(&frame, ack), bytes);
                seen[1] += 1;
            }
        }
    }
    assert!(seen[0] > 20, "{seen:?}");
    let to_fcu = golden::json("golden/mavros/to_fcu.json");
    let mut seen = [0; 2];
    for case in to_fcu["cases"].as_array().unwrap() {
        for recorded in case["frames"].as_array().into_iter().flatten() {
            let bytes = golden::unhex(recorded["hex"].as_str().unwrap());
            let frame = only(&bytes).unwrap();
            let fields = &recorded["fields"];
            if let Some(command) = CommandLong::parse(&frame) {
                assert_eq!(command.command, fields["command"]);
                assert_eq!(command.confirmation, fields["confirmation"]);
                assert_eq!(command.target_system, fields["target_system"]);
                assert_eq!(command.target_component, fields["target_component"]);
                for (i, value) in command.params.iter().enumerate() {
                    let wanted = golden::number(&fields[&format!("param{}", i + 1)]);
                    assert_eq!(f64::from(*value).to_bits(), wanted.to_bits(), "{fields}");
                }
                assert_eq!(encode_like(&frame, command), bytes);
                seen[0] += 1;
            }
            if let Some(mode) = SetMode::parse(&frame) {
                assert_eq!(mode.custom_mode, fields["custom_mode"]);
                assert_eq!(mode.base_mode, fields["base_mode"]);
                assert_eq!(encode_like(&frame, mode), bytes);
                seen[1] += 1;
            }
        }
    }
    assert!(seen[0] > 20 && seen[1] > 5, "{seen:?}");
}

#[test]
fn a_command_that_the_dialect_does_not_know_passes() {
    let command = CommandLong { command: 65000, params: [f32::NAN; 7], ..CommandLong::default() };
    let sent = encode_like(&only(&heartbeat(0)).unwrap(), command);
    let frame = only(&sent).unwrap();
    assert_eq!(frame.message().unwrap_err().id, CommandLong::ID);
    assert_eq!(CommandLong::parse(&frame).unwrap().command, 65000);
}

fn heartbeat(custom_mode: u32) -> Vec<u8> {
    let message =
        MavMessage::HEARTBEAT(HEARTBEAT_DATA { custom_mode, ..HEARTBEAT_DATA::default() });
    Encoder::new(1, 1).encode(&message.into()).as_bytes().to_vec()
}

fn crc(frame: &[u8], extra: u8) -> [u8; 2] {
    // CRC-16/MCRF4XX, written from its definition.
    let mut crc = 0xffff_u16;
    for byte in frame.iter().chain([&extra]) {
        crc ^= u16::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0x8408 } else { crc >> 1 };
        }
    }
    crc.to_le_bytes()
}

/// A HEARTBEAT (checksum seed 50) with other flags, and what follows the checksum.
fn heartbeat_with_flags(flags: u8, behind: &[u8]) -> Vec<u8> {
    let mut bytes = heartbeat(7);
    let end = bytes.len() - 2;
    bytes.truncate(end);
    bytes[2] = flags;
    let sum = crc(&bytes[1..], 50);
    [&bytes[..], &sum, behind].concat()
}

#[test]
fn a_signed_frame_is_one_frame_and_says_so() {
    let mut bytes = heartbeat_with_flags(1, &[0xab; 13]);
    let signed = bytes.len();
    bytes.extend(heartbeat(8));
    let found: Vec<_> = frames(&bytes).map(Result::unwrap).collect();
    assert_eq!(found.len(), 2);
    assert!(found[0].signed && !found[1].signed);
    assert_eq!(found[0].bytes.len(), signed);
    assert_eq!(Heartbeat::parse(&found[0]).unwrap().custom_mode, 7);
    // Cut within the signature.
    let cut: Vec<_> = frames(&bytes[..signed - 1]).collect();
    assert_eq!(cut, [Err(FrameError::Truncated)]);
}

#[test]
fn a_frame_with_flags_that_have_no_rule_is_left_out_and_the_next_one_is_found() {
    let bytes = [heartbeat_with_flags(2, &[]), heartbeat(9)].concat();
    let found: Vec<_> = frames(&bytes).collect();
    assert_eq!(found[0], Err(FrameError::Flags(2)));
    let last = found.last().unwrap().as_ref().unwrap();
    assert_eq!(Heartbeat::parse(last).unwrap().custom_mode, 9);
}

#[test]
fn an_unknown_message_is_left_out_as_a_whole() {
    let mut foreign = heartbeat(1);
    foreign[7..10].copy_from_slice(&[0xff, 0xff, 0x7f]);
    let bytes = [foreign, heartbeat(2)].concat();
    let found: Vec<_> = frames(&bytes).collect();
    let unknown = FrameError::Unknown { id: 0x007f_ffff };
    assert_eq!(found[0], Err(unknown));
    assert_eq!(found.len(), 2);
    assert!(found[1].is_ok());
}

#[test]
fn several_frames_and_noise_in_one_datagram_are_told_apart() {
    let bytes =
        [&b"noise"[..], &heartbeat(1), &heartbeat(2), b"more", &heartbeat(3)[..10]].concat();
    let found: Vec<_> = frames(&bytes)
        .map(|frame| frame.map(|f| Heartbeat::parse(&f).unwrap().custom_mode))
        .collect();
    let expected = [
        Err(FrameError::Noise(5)),
        Ok(1),
        Ok(2),
        Err(FrameError::Noise(4)),
        Err(FrameError::Truncated),
    ];
    assert_eq!(found, expected);
    let keys: BTreeSet<_> = found.iter().filter_map(|f| f.err()).map(Counter::from).collect();
    assert_eq!(keys.len(), 2, "every cause has its own counter");
}

#[test]
fn one_changed_bit_is_never_a_frame_with_the_same_content() {
    let bytes = heartbeat(0x0403_0000);
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        // Sequence and ids are under the checksum too.
        let frame = frames(&changed).flatten().next();
        assert_eq!(frame, None, "bit {bit}");
    }
}

#[test]
fn a_frame_cut_anywhere_is_truncated_in_a_datagram_and_awaited_in_a_stream() {
    let bytes = heartbeat(0x0403_0000);
    for end in 1..bytes.len() {
        let found: Vec<_> = frames(&bytes[..end]).collect();
        assert_eq!(found, [Err(FrameError::Truncated)], "{end}");
        let mut stream = ByteStream::default();
        let mut seen = Vec::new();
        stream.push(&bytes[..end], |frame| seen.push(frame.is_ok()));
        assert!(seen.is_empty(), "{end}");
        stream.push(&bytes[end..], |frame| seen.push(frame.is_ok()));
        assert_eq!(seen, [true], "{end}");
    }
}

#[test]
fn a_start_byte_in_noise_does_not_swallow_the_frames_behind_it() {
    // Claims 255 bytes of payload that never come in full.
    let mut bytes = vec![0xfd, 255, 0];
    for mode in 0..40 {
        bytes.extend(heartbeat(mode));
    }
    let mut stream = ByteStream::default();
    let mut modes = Vec::new();
    for piece in bytes.chunks(7) {
        stream.push(piece, |frame| {
            if let Ok(frame) = frame {
                modes.push(Heartbeat::parse(&frame).unwrap().custom_mode);
            }
        });
    }
    assert_eq!(modes, (0..40).collect::<Vec<_>>());
}

#[test]
fn texts_of_full_length_and_zeros_at_the_end_survive() {
    for text in [&b"x"[..], &[b'y'; 50], b""] {
        let message = MavMessage::STATUSTEXT(STATUSTEXT_DATA {
            text: std::str::from_utf8(text).unwrap().into(),
            ..STATUSTEXT_DATA::default()
        });
        let packet = Encoder::new(1, 1).encode(&message.clone().into());
        assert_eq!(only(packet.as_bytes()).unwrap().message(), Ok(message));
    }
    // Nothing but zeros: one byte of payload is left.
    let zero = MavMessage::ATTITUDE(ATTITUDE_DATA::default());
    let packet = Encoder::new(1, 1).encode(&zero.clone().into());
    let frame = only(packet.as_bytes()).unwrap();
    assert_eq!((frame.payload, frame.message()), (&[0][..], Ok(zero)), "one zero stays");
}

#[test]
fn the_sequence_counts_around() {
    let mut encoder = Encoder::new(3, 4);
    let message: Outbound = Heartbeat::default().into();
    for i in 0..600_u32 {
        let packet = encoder.encode(&message);
        let frame = only(packet.as_bytes()).unwrap();
        assert_eq!(u32::from(frame.sequence), i % 256);
        assert_eq!((frame.system, frame.component), (3, 4));
    }
}

/// Some recorded frames, with noise between them that contains no start of a frame.
fn scene() -> impl Strategy<Value = (Vec<u8>, Vec<usize>)> {
    let noise = prop::collection::vec(0_u8..0xfd, 0..20);
    let index = 0..RECORDED.len();
    let parts = prop::collection::vec((index, noise), 1..12);
    parts.prop_map(|parts| {
        let mut bytes = Vec::new();
        for (index, noise) in &parts {
            bytes.extend_from_slice(&RECORDED[*index].1);
            bytes.extend_from_slice(noise);
        }
        (bytes, parts.iter().map(|(index, _)| *index).collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_stream_in_any_pieces_gives_the_frames_in_order(
        (bytes, indices) in scene(),
        cuts in prop::collection::vec(1_usize..90, 1..40),
    ) {
        let mut stream = ByteStream::default();
        let mut seen = Vec::new();
        let mut left = &bytes[..];
        for cut in cuts.iter().cycle() {
            let (piece, rest) = left.split_at((*cut).min(left.len()));
            stream.push(piece, |frame| {
                if let Ok(frame) = frame {
                    seen.push(frame.bytes.to_vec());
                }
            });
            left = rest;
            if left.is_empty() {
                break;
            }
        }
        let expected: Vec<_> = indices.iter().map(|i| RECORDED[*i].1.clone()).collect();
        prop_assert_eq!(seen, expected);
    }

    #[test]
    fn garbage_does_not_panic_and_every_byte_is_accounted_for(
        bytes in prop::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(0xfd), 1 => Just(0xfe)], 0..700),
    ) {
        crate::support::mavlink::check(&bytes);
    }

    #[test]
    fn garbage_in_a_valid_frame_does_not_panic_the_decoder(
        id in prop_oneof![0_u32..400, 9000_u32..9010, 12900_u32..12920],
        payload in prop::collection::vec(any::<u8>(), 0..=255),
    ) {
        let Some(raw) = RawMessage::new(id, &payload) else { return Ok(()) };
        let packet = Encoder::new(1, 1).encode(&raw.into());
        prop_assert!(packet.as_bytes().len() <= MAX_FRAME);
        crate::support::mavlink::check(packet.as_bytes());
        let frame = only(packet.as_bytes()).unwrap();
        prop_assert_eq!(frame.id, id);
    }
}
