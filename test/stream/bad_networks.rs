//! Streams over networks that lose, double, delay and reorder, from a simulator whose clock drifts, jumps and starts anew.
use super::conditions::Conditions;
use super::path::Path;
use crate::support::seeds::seeds;

/// Length of a stream in virtual s.
const SECONDS: f64 = 60.0;
/// Seeds that have failed once: after a jump of little more than a second one tick got two stamps; after a short jump frames
/// that were refused were counted as lost, too.
const FAILED: [u64; 4] = [740, 1093, 1182, 1375];

#[test]
fn what_a_stream_publishes_is_right_whatever_the_network_does() {
    for seed in seeds("RFLY_STREAMS", 4).chain(FAILED) {
        let conditions = Conditions::bad(seed);
        println!("seed {seed}: {conditions:?}");
        Path::new(conditions, SECONDS).run();
    }
}

#[test]
fn over_a_perfect_network_every_frame_is_published() {
    let path = Path::new(Conditions::default(), 10.0).run();
    assert_eq!(path.published(), [(100, 100), (200, 200)]);
}
