//! Waiting for what is meant. A limit only turns a hang into a failure.
use std::time::{Duration, Instant};

/// Longest wait. Machines stand still for seconds.
const LIMIT: Duration = Duration::from_secs(120);

/// What `take` finds at last; it may block for a while each time. `what` is said when it never does.
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
