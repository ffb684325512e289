//! Datagrams that do not follow from their stream, and frames of which nothing came.
use super::{datagrams, deliver, pattern, vendor_datagrams};
use rfly_bridge::session::{Reassembler, ReassemblyResult};
use rfly_bridge::time::RosTime;
use rfly_bridge::wire::HeaderVariant::{self, A, B};

const MAX: usize = 1 << 20;

#[test]
fn frame_ids_that_begin_anew_are_believed_when_they_go_on() {
    let mut reassembler = Reassembler::new(MAX);
    let ids = (500..520).chain(1..20);
    let frames = ids
        .zip(0..)
        .flat_map(|(id, step)| vendor_datagrams(&pattern(1, 100), B, id, f64::from(step) / 30.0));
    assert!(deliver(&mut reassembler, frames).len() >= 35);
    assert_eq!(reassembler.counters().lost, 0);
}

#[test]
fn frame_ids_that_follow_nothing_are_ignored_in_the_end() {
    let mut reassembler = Reassembler::new(MAX);
    let id = |step: i32| {
        if step < 20 { step } else { step.wrapping_mul(0x9e37_79b9_u32 as i32) }
    };
    let frame = |step: i32| vendor_datagrams(&pattern(1, 100), B, id(step), f64::from(step) / 30.0);
    let delivered = deliver(&mut reassembler, (0..300).flat_map(frame));
    assert!(delivered.len() > 200, "{}", delivered.len());
    assert_eq!(delivered.last().unwrap().0, 299.0 / 30.0);
}

/// A camera at 30 Hz, and before each of its frames one datagram of somebody else.
fn beside(variant: HeaderVariant, stranger: impl Fn(i32) -> Vec<u8>) {
    let mut reassembler = Reassembler::new(MAX);
    let mut delivered = 0;
    let image = pattern(1, 61_000);
    for step in 0..200_i32 {
        let at = RosTime(i64::from(step) * 33_333_333);
        if step >= 30 {
            reassembler.push_at(&stranger(step), at);
        }
        for datagram in vendor_datagrams(&image, variant, step, f64::from(step) / 30.0) {
            delivered += usize::from(matches!(
                reassembler.push_at(&datagram, at),
                ReassemblyResult::Complete(_)
            ));
        }
    }
    assert_eq!(delivered, 200, "{:?}", reassembler.counters());
    assert_eq!(reassembler.counters().incomplete, 0);
}

#[test]
fn a_time_far_ahead_does_not_blind_a_camera() {
    // 33 bytes, as they cut a camera from 30 to 0.5 Hz; with other counts they take places instead.
    for variant in [A, B] {
        for count in [1, 2] {
            beside(variant, |step| {
                let time = f64::from(step) / 30.0 + 0.9;
                let mut datagram = datagrams(&[0], 1, B, step + 9000, time).remove(0);
                datagram[12..16].copy_from_slice(&i32::to_le_bytes(count));
                datagram
            });
            beside(variant, |step| {
                let time = f64::from(step) / 30.0 - 0.9;
                let mut datagram = datagrams(&[0], 1, A, 0, time).remove(0);
                datagram[12..16].copy_from_slice(&i32::to_le_bytes(count));
                datagram
            });
        }
    }
}

#[test]
fn a_frame_id_that_jumps_does_not_blind_a_camera() {
    for jump in [1000, -1000, i32::MAX / 2] {
        for count in [1, 2] {
            beside(B, |step| {
                let time = f64::from(step) / 30.0;
                let mut datagram = datagrams(&[0], 1, B, step.wrapping_add(jump), time).remove(0);
                datagram[12..16].copy_from_slice(&i32::to_le_bytes(count));
                datagram
            });
        }
    }
}

#[test]
fn a_frame_whose_content_is_refused_decides_nothing() {
    let mut reassembler = Reassembler::new(MAX);
    let frame = |f: i32, time: f64| vendor_datagrams(&pattern(1, 100), A, f, time);
    deliver(&mut reassembler, (0..30).flat_map(|f| frame(f, f64::from(f) / 30.0)));
    // Just ahead enough to pass, but what it holds is no image.
    assert_eq!(deliver(&mut reassembler, frame(0, 1.06)).len(), 1);
    reassembler.revert_order();
    let next = (30..33).flat_map(|f| frame(f, f64::from(f) / 30.0));
    assert_eq!(deliver(&mut reassembler, next).len(), 3);
}

#[test]
fn frames_of_which_nothing_came_are_counted_by_their_ids() {
    let mut reassembler = Reassembler::new(MAX);
    let lost = [10, 20, 21, 22, 40];
    let frames = (0..60).filter(|f| !lost.contains(f));
    let frame = |f: i32| vendor_datagrams(&pattern(1, 100), B, f, f64::from(f) / 30.0);
    assert_eq!(deliver(&mut reassembler, frames.flat_map(frame)).len(), 55);
    assert_eq!(reassembler.counters().lost, 5);
    // One of which a piece came is incomplete, and one that comes late is not lost.
    let cut = |f: i32| vendor_datagrams(&pattern(1, 70_000), B, f, f64::from(f) / 30.0);
    let stream = [cut(60)[..1].to_vec(), frame(62), frame(61), frame(63)].concat();
    assert_eq!(deliver(&mut reassembler, stream).len(), 2);
    let counters = reassembler.counters();
    assert_eq!((counters.lost, counters.incomplete, counters.stale), (5, 1, 1));
}

#[test]
fn a_reassembler_that_takes_over_continues_the_count_of_lost_frames() {
    let frame = |f: i32| vendor_datagrams(&pattern(1, 100), B, f, f64::from(f) / 30.0);
    let mut first = Reassembler::new(MAX);
    deliver(&mut first, (0..20).filter(|f| *f != 10).flat_map(frame));
    let mut second = Reassembler::new(MAX);
    second.continue_counters(&first);
    deliver(&mut second, (20..40).filter(|f| *f != 30).flat_map(frame));
    assert_eq!(second.counters().lost, 2);
}

#[test]
fn the_memory_of_an_unusually_large_frame_is_given_back() {
    let mut reassembler = Reassembler::new(64 << 20);
    let frame = |f: i32, len: usize| vendor_datagrams(&pattern(1, len), B, f, f64::from(f) / 30.0);
    deliver(&mut reassembler, (0..10).flat_map(|f| frame(f, 1000)));
    let usual = reassembler.memory();
    assert_eq!(deliver(&mut reassembler, frame(10, 40 << 20)).len(), 1);
    assert!(reassembler.memory() > 40 << 20);
    assert_eq!(deliver(&mut reassembler, (11..200).flat_map(|f| frame(f, 1000))).len(), 189);
    assert!(reassembler.memory() <= 2 * usual, "{} bytes", reassembler.memory());
    // Many of them are usual.
    let large = |f: i32| frame(f, if f % 30 == 0 { 1 << 20 } else { 1000 });
    deliver(&mut reassembler, (200..300).flat_map(large));
    let held = reassembler.memory();
    deliver(&mut reassembler, (300..500).flat_map(large));
    assert_eq!(reassembler.memory(), held);
}
