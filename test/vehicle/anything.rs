//! Whatever comes, from the vehicle or from users: nothing panics, and nothing is due for ever.
use crate::support::anything::{deliver, play};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_vehicle_that_is_sent_anything_rests_in_the_end(script in prop::collection::vec(any::<u8>(), 0..1200)) {
        play(&script);
    }

    #[test]
    fn messages_and_requests_of_any_bytes_are_taken_or_counted(script in prop::collection::vec(any::<u8>(), 0..1200)) {
        deliver(&script);
    }
}
