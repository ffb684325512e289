//! Panics, in whatever thread.
use rfly_bridge::program::{note_panics, panics};

/// The hook is the process's, and other tests panic as well: this is repeated until the last panic was its own.
#[test]
fn a_panic_is_counted_with_its_thread_place_and_text() {
    let before = std::panic::take_hook();
    note_panics();
    let mut found = panics();
    let mut place = String::new();
    for _ in 0..100 {
        let thread = std::thread::Builder::new().name("rfly-test".to_owned());
        place = format!("{}:{}", file!(), line!() + 1);
        let thread = thread.spawn(|| panic!("number {}", 7)).unwrap();
        assert!(thread.join().is_err());
        let count = found.count;
        found = panics();
        assert!(found.count > count);
        if found.last.contains("rfly-test") {
            break;
        }
    }
    std::panic::set_hook(before);
    let said = format!("thread rfly-test panicked at {place}");
    assert!(found.last.starts_with(&said), "{found:?}");
    assert!(found.last.ends_with(": number 7"), "{found:?}");
}
