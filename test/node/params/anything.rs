//! Whatever is sent to the parameter services: each request is answered or counted, and nothing panics.
use crate::support::parameters::play;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn parameters_that_are_set_to_anything_are_taken_or_refused(script in prop::collection::vec(any::<u8>(), 0..400)) {
        play(&script);
    }
}
