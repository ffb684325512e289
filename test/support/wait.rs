//! Waiting for what is meant.

/// Returns once `condition` holds. The limit only turns a hang into a failure.
pub fn wait_until(condition: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed().as_secs() < 120, "waited two minutes");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
