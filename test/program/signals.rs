//! Work that a signal interrupts.
use rfly_bridge::program::{Ended, Signals, within};
use std::sync::mpsc::channel;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(600);

#[test]
fn work_that_ends_gives_its_result_and_a_panic_is_told() {
    let mut signals = Signals::listen().unwrap();
    let done = signals.during(LONG, |_| 7).unwrap();
    assert_eq!(done, Ended::Done(7));
    let panicked = signals.during(LONG, |_| -> u8 { panic!("in a test") });
    assert_eq!(panicked.unwrap(), Ended::Panicked);
}

#[test]
fn waiting_for_the_end_is_bounded() {
    assert!(within(LONG, || ()));
    let (keep, blocked) = channel::<()>();
    let end = within(Duration::from_millis(10), move || {
        let _ended = blocked.recv();
    });
    assert!(!end);
    drop(keep);
}
