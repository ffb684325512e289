//! What a service manager is told.
use rfly_bridge::program::Watchdog;
use std::time::{Duration, Instant};

#[test]
fn a_notification_is_due_twice_within_the_limit() {
    let mut watchdog = Watchdog::with_limit(Some(Duration::from_secs(10)));
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let due: Vec<_> = (0..=12).filter(|s| watchdog.due(at(*s))).collect();
    assert_eq!(due, [0, 5, 10]);
    assert!(!Watchdog::with_limit(None).due(start));
}
