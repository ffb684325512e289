use rfly_bridge::node::{LinkChange, LinkState, Liveness};
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(2);

#[test]
fn a_source_is_asked_until_it_delivers() {
    let start = Instant::now();
    let mut link = Liveness::new(TIMEOUT);
    assert_eq!(link.update(start, None), LinkChange::None);
    assert_eq!(link.update(start + Duration::from_secs(60), None), LinkChange::None);
    assert!(link.needs_request());
    let now = start + Duration::from_secs(61);
    assert_eq!(link.update(now, Some(now)), LinkChange::Started);
    assert!(!link.needs_request());
}

#[test]
fn a_loss_and_the_return_are_told_once_each() {
    let start = Instant::now();
    let mut link = Liveness::new(TIMEOUT);
    link.update(start, Some(start));
    let just_before = start + TIMEOUT - Duration::from_millis(1);
    assert_eq!(link.update(just_before, Some(start)), LinkChange::None);
    assert_eq!(link.update(start + TIMEOUT, Some(start)), LinkChange::Lost);
    assert_eq!(link.update(start + 2 * TIMEOUT, Some(start)), LinkChange::None);
    assert_eq!(link.state(), LinkState::Lost);
    assert!(link.needs_request());
    let back = start + 3 * TIMEOUT;
    assert_eq!(link.update(back, Some(back)), LinkChange::Returned);
    assert_eq!(link.update(back, Some(back)), LinkChange::None);
}

#[test]
fn after_a_change_of_the_map_only_new_data_counts() {
    let start = Instant::now();
    let mut link = Liveness::new(TIMEOUT);
    link.update(start, Some(start));
    assert!(!link.needs_request());
    link.start_again(start);
    assert!(link.needs_request());
    let soon = start + Duration::from_millis(1);
    assert_eq!(link.update(soon, Some(start)), LinkChange::None);
    assert!(link.needs_request());
    assert_eq!(link.update(soon, Some(soon)), LinkChange::Started);
}
