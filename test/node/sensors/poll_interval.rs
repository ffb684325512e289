//! When a shared-memory block is looked at.
use rfly_bridge::node::PollInterval;
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_micros(500);

/// Plays a reader against a writer that writes a frame at each of `frames` (s) over the one before. Returns by how much each that
/// was taken was late, and how many looks there were.
fn play(frames: impl IntoIterator<Item = f64>) -> (Vec<Duration>, usize) {
    let start = Instant::now();
    let (mut interval, mut now, mut looks) = (PollInterval::default(), start, 0);
    let mut late = Vec::new();
    let mut frames =
        frames.into_iter().map(|frame| start + Duration::from_secs_f64(frame)).peekable();
    while let Some(mut frame) = frames.next() {
        while now < frame {
            now += interval.pause(now, false);
            looks += 1;
        }
        while let Some(newer) = frames.next_if(|newer| *newer <= now) {
            frame = newer;
        }
        late.push(now - frame);
        now += interval.pause(now, true);
        looks += 1;
    }
    (late, looks)
}

fn steady(rate: f64, from: f64, count: u32) -> impl Iterator<Item = f64> {
    (1..=count).map(move |n| from + f64::from(n) / rate)
}

#[test]
fn a_steady_stream_is_taken_at_once_with_few_looks() {
    for rate in [5.0, 30.0, 60.0, 200.0] {
        let (late, looks) = play(steady(rate, 0.0, 300));
        assert!(late[3..].iter().all(|late| *late <= LOOK), "{late:?}");
        let always = 300.0 / rate / LOOK.as_secs_f64();
        assert!((looks as f64) < 0.75 * always + 600.0, "{looks} of {always}");
    }
    let (_, looks) = play(steady(30.0, 0.0, 300));
    assert!(looks < 300 * 20, "{looks}");
}

#[test]
fn a_stream_that_becomes_faster_is_followed() {
    let frames = steady(10.0, 0.0, 50).chain(steady(60.0, 5.0, 100));
    let (late, _) = play(frames);
    assert!(late.len() >= 140, "{} of 150 frames", late.len());
    assert!(late[60..].iter().all(|late| *late <= LOOK), "{late:?}");
}

#[test]
fn two_frames_at_once_spoil_the_rhythm_only_for_a_while() {
    let frames = steady(30.0, 0.0, 50).chain([1.668]).chain(steady(30.0, 1.6667, 200));
    let (late, looks) = play(frames);
    assert!(late.len() >= 249, "{} of 251 frames", late.len());
    assert!(late[55..].iter().all(|late| *late <= LOOK), "{late:?}");
    assert!(looks < 250 * 25, "{looks}");
}

#[test]
fn while_nothing_comes_it_looks_seldom() {
    let (_, looks) = play([0.1, 0.2, 60.0]);
    assert!(looks < 60 * 200 + 2500, "{looks}");
}
