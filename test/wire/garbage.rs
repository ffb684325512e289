//! No parser panics on any input, and what one accepts it also writes.
use crate::support::every_parser::parse_all;
use proptest::prelude::*;

/// Check words and lengths that open the way behind the first test of each parser.
fn plausible_start() -> impl Strategy<Value = Vec<u8>> {
    let tags = [
        1_234_567_890_i32,
        1_234_567_891,
        1_234_567_892,
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
        len in prop::sample::select(vec![8_usize, 9, 12, 24, 28, 32, 36, 40, 48, 52, 56, 64, 92, 96, 112, 120, 144, 148, 168, 200, 256, 264, 700]),
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
