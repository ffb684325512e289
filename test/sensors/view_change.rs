use rfly_bridge::sensors::{ShownView, ViewChange};
use rfly_bridge::time::{RosTime, SimTime};

const MS: i64 = 1_000_000;

fn judge(change: &ViewChange, sim_ms: i64, arrival_ms: i64) -> ShownView {
    change.judge(SimTime(sim_ms * MS), RosTime(arrival_ms * MS))
}

#[test]
fn the_description_of_the_camera_says_from_when_on_frames_show_the_new_view() {
    let mut change = ViewChange::new(RosTime(1000 * MS));
    assert_eq!(judge(&change, 100, 999), ShownView::Old);
    assert_eq!(judge(&change, 133, 1010), ShownView::Unknown);
    assert!(!change.is_known(RosTime(1010 * MS)));
    change.described(true, SimTime(150 * MS), RosTime(1012 * MS));
    assert!(change.is_known(RosTime(1013 * MS)));
    assert_eq!(judge(&change, 133, 1020), ShownView::Unknown, "of an earlier instant");
    assert_eq!(judge(&change, 150, 1030), ShownView::New);
    assert_eq!(judge(&change, 100, 999), ShownView::Old, "it was held back");
    // A later description changes nothing.
    change.described(true, SimTime(250 * MS), RosTime(1100 * MS));
    assert_eq!(judge(&change, 200, 1100), ShownView::New);
}

#[test]
fn without_a_description_a_frame_shows_it_after_half_a_second() {
    let change = ViewChange::new(RosTime(1000 * MS));
    assert_eq!(judge(&change, 500, 1499), ShownView::Unknown);
    assert_eq!(judge(&change, 500, 1500), ShownView::New);
    assert!(change.is_known(RosTime(1500 * MS)));
}

#[test]
fn as_long_as_the_old_view_is_described_frames_are_not_taken_for_the_new_one() {
    let mut change = ViewChange::new(RosTime(1000 * MS));
    for arrival in [1400, 1800, 2200] {
        change.described(false, SimTime(arrival * MS), RosTime(arrival * MS));
        assert_eq!(judge(&change, arrival, arrival + 400), ShownView::Unknown);
    }
    change.described(true, SimTime(2500 * MS), RosTime(2500 * MS));
    assert_eq!(judge(&change, 2500, 2510), ShownView::New);
    // A renderer that refuses the request does not end the stream.
    let mut change = ViewChange::new(RosTime(1000 * MS));
    for arrival in (1000..4000).step_by(100) {
        change.described(false, SimTime(arrival * MS), RosTime(arrival * MS));
        assert_eq!(judge(&change, arrival, arrival), ShownView::Unknown);
    }
    assert_eq!(judge(&change, 4000, 4000), ShownView::New);
}

#[test]
fn a_second_request_waits_for_its_own_description() {
    let mut change = ViewChange::new(RosTime(1000 * MS));
    change.described(true, SimTime(150 * MS), RosTime(1010 * MS));
    change.renew(RosTime(1100 * MS));
    assert_eq!(judge(&change, 200, 1110), ShownView::Unknown);
    assert_eq!(judge(&change, 90, 999), ShownView::Old);
    assert_eq!(judge(&change, 190, 1050), ShownView::Unknown, "the view between, which nobody saw");
    change.described(true, SimTime(260 * MS), RosTime(1112 * MS));
    assert_eq!(judge(&change, 260, 1120), ShownView::New);
}
