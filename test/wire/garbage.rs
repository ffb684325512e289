//! No parser panics on any input, and what one accepts it also writes.
use proptest::prelude::*;
use rfly_bridge::wire::*;
use zerocopy::IntoBytes;

/// Runs every parser over the bytes.
fn parse_all(bytes: &[u8]) {
    let _ = FragmentHeader::parse(bytes, bytes.len());
    let _ = HeartbeatPacket::parse(bytes);
    let _ = HandshakePacket::parse(bytes);
    let _ = ImuPacket::parse(bytes);
    let _ = ImuRequestPacket::parse(bytes);
    let _ = TruthDatagram::parse(bytes);
    let _ = ShmHeader::parse_prefix(bytes);
    let _ = ShmDirectory::parse(bytes).map(|d| (d.accepted(u16::MAX, 1, 1), d.accepted(0, 1, 1)));
    let _ = CloudView::<3>::parse(bytes).map(|c| c.points().len());
    let _ = CloudView::<4>::parse(bytes).map(|c| c.points().len());
    let _ = RangeRecord::parse_prefix(bytes);
    let _ = ListView::<BoxEntry>::parse(bytes).map(|l| l.entries().len());
    let _ = ListView::<TargetEntry>::parse(bytes).map(|l| l.entries().len());
    if let Ok(text) = parse_console_command(bytes) {
        let (_, args) = split_console_command(text);
        assert!(args.count() <= text.len());
    }
    if let Ok(request) = SensorRequest::parse(bytes) {
        assert_eq!(
            request.emit(&mut [0; 148]),
            bytes,
            "an accepted request is written as it was read"
        );
    }
    if let Ok(state) = TrueState::parse(bytes) {
        // Padding and reserve are not kept, the state is.
        let again = match bytes.len() {
            200 => TrueState::parse(ShortStatePacket::from(&state).as_bytes()),
            168 => TrueState::parse(FullStatePacket::from(&state).as_bytes()),
            _ => TrueState::parse(TimedStatePacket::from(&state).as_bytes()),
        };
        let again = again.unwrap();
        assert_eq!(
            (again.copter_id, again.vehicle_type),
            (state.copter_id, state.vehicle_type)
        );
    }
}

/// Check words and lengths that open the way behind the first test of each parser.
fn plausible_start() -> impl Strategy<Value = Vec<u8>> {
    let tags = [
        1_234_567_890_i32,
        1_234_567_891,
        1_234_567_893,
        1_234_567_897,
        1_234_567_898,
        123_456_789,
        12345,
        -1,
        0,
        i32::MAX,
        i32::MIN,
    ];
    prop::sample::select(tags.to_vec()).prop_map(|tag| tag.to_le_bytes().to_vec())
}

#[test]
fn zeros_and_ones_of_every_length_up_to_2048_do_not_panic_any_parser() {
    for len in 0..=2048 {
        parse_all(&vec![0; len]);
        parse_all(&vec![0xff; len]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn garbage_does_not_panic_any_parser(bytes in prop::collection::vec(any::<u8>(), 0..2048)) {
        parse_all(&bytes);
    }

    #[test]
    fn garbage_behind_a_check_word_does_not_panic_any_parser(
        start in plausible_start(),
        len in prop::sample::select(vec![8_usize, 9, 12, 24, 28, 32, 36, 40, 56, 92, 96, 112, 144, 148, 168, 200, 256, 264, 700]),
        rest in prop::collection::vec(any::<u8>(), 700),
    ) {
        let mut bytes = [start, rest].concat();
        bytes.truncate(len);
        parse_all(&bytes);
        // A length field that agrees lets more of the header through.
        if bytes.len() >= 8 {
            let len = i32::try_from(bytes.len()).unwrap().to_le_bytes();
            bytes[4..8].copy_from_slice(&len);
            parse_all(&bytes);
        }
    }
}
