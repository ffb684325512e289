//! What `/diagnostics` says of the program itself.
use rfly_bridge::node::{Level, ProgramHealth};
use rfly_bridge::program::note_panics;

/// Others panic in this process as well, so only what must be is asserted.
#[test]
fn a_panic_is_an_error_once_and_a_warning_from_then_on() {
    let mut health = ProgramHealth::default();
    let before = std::panic::take_hook();
    note_panics();
    let thread = std::thread::Builder::new().name("rfly-test".to_owned());
    let panicked = thread.spawn(|| panic!("for the diagnostics")).unwrap().join();
    std::panic::set_hook(before);
    assert!(panicked.is_err());

    let found = health.check();
    assert_eq!(found.level, Level::Error);
    assert!(found.message.contains(" panicked at test/"), "{found:?}");
    let panics = found.values.iter().find(|(key, _)| *key == "panics");
    assert!(panics.unwrap().1.parse::<u64>().unwrap() >= 1);
    let later = std::iter::repeat_with(|| health.check()).find(|f| f.level != Level::Error);
    let later = later.unwrap();
    assert_eq!(later.level, Level::Warn);
    assert!(later.message.contains("panics, the last: thread "), "{later:?}");
}
