//! Waits for conditions instead of fixed times. The limit only turns a hang into a failure.
use std::time::{Duration, Instant};

/// Longest wait; a loaded machine may stall for seconds.
const LIMIT: Duration = Duration::from_secs(120);

/// Calls `take`, which may block for a while, until it returns something. `what` describes that in the failure.
pub fn wait_for<T>(what: &str, mut take: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = take() {
            return found;
        }
        assert!(start.elapsed() < LIMIT, "waited two minutes for {what}");
    }
}

/// Returns once `condition` holds.
pub fn wait_until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LIMIT, "waited two minutes");
        std::thread::sleep(Duration::from_millis(5));
    }
}
