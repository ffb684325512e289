//! Cases that break the vendor's receiver or a naive one.
use super::{datagrams, deliver, pattern, vendor_datagrams};
use rfly_bridge::session::{DropCause, Reassembler, ReassemblyCounters, ReassemblyResult};
use rfly_bridge::time::RosTime;
use rfly_bridge::wire::HeaderVariant::{A, B};

const MAX: usize = 1 << 20;

fn times(delivered: &[(f64, Vec<u8>)]) -> Vec<f64> {
    delivered.iter().map(|(time, _)| *time).collect()
}

#[test]
fn a_payload_whose_length_is_a_multiple_of_60000_ends_with_an_empty_fragment() {
    for len in [0, 1, 59_999, 60_000, 60_001, 119_999, 120_000, 120_001] {
        let image = pattern(1, len);
        for variant in [A, B] {
            let cut = vendor_datagrams(&image, variant, 1, 0.5);
            assert_eq!(cut.len(), len / 60_000 + 1);
            let mut reassembler = Reassembler::new(MAX);
            assert_eq!(
                deliver(&mut reassembler, &cut),
                [(0.5, image.clone())],
                "{len} bytes in order"
            );
            let mut reassembler = Reassembler::new(MAX);
            let reversed: Vec<_> = cut.iter().rev().collect();
            assert_eq!(
                deliver(&mut reassembler, reversed),
                [(0.5, image.clone())],
                "{len} bytes reversed"
            );
        }
    }
}

#[test]
fn other_fragment_sizes_than_the_vendors_work() {
    for unit in [1, 13, 1400, 8192, 60_000, 65_400] {
        let image = pattern(2, (unit * 5 + unit / 2).min(300_000));
        let mut reassembler = Reassembler::new(MAX);
        for (frame, reverse) in [(1, false), (2, true), (3, false)] {
            let mut cut = datagrams(&image, unit, B, frame, f64::from(frame));
            if reverse {
                cut.reverse();
            }
            assert_eq!(
                deliver(&mut reassembler, cut),
                [(f64::from(frame), image.clone())],
                "unit {unit}"
            );
        }
    }
}

#[test]
fn a_foreign_first_datagram_does_not_lock_the_sensor_out() {
    let mut reassembler = Reassembler::new(MAX);
    for foreign in
        [&b"hello"[..], &[], &[0; 24], &[0xff; 2000], b"\xd2\x02\x96\x49 and no header of an image"]
    {
        assert_eq!(reassembler.push(foreign), ReassemblyResult::Dropped(DropCause::Malformed));
    }
    let image = pattern(1, 100_000);
    assert_eq!(deliver(&mut reassembler, vendor_datagrams(&image, A, 0, 1.0)), [(1.0, image)]);
    assert_eq!(reassembler.counters().malformed, 5);
}

#[test]
fn the_header_form_may_change_between_and_within_frames_in_flight() {
    let image = pattern(1, 130_000);
    let (a, b) = (vendor_datagrams(&image, A, 0, 1.0), vendor_datagrams(&image, B, 9, 1.0));
    let mut reassembler = Reassembler::new(MAX);
    let interleaved: Vec<_> = a.iter().zip(&b).flat_map(|(x, y)| [x, y]).collect();
    assert_eq!(
        deliver(&mut reassembler, interleaved),
        [(1.0, image.clone()), (1.0, image.clone())]
    );
    for frame in 2..20_i32 {
        let variant = if frame % 3 == 0 { A } else { B };
        let time = f64::from(frame);
        assert_eq!(
            deliver(&mut reassembler, vendor_datagrams(&image, variant, frame, time)),
            [(time, image.clone())]
        );
    }
}

#[test]
fn a_frame_id_that_never_changes_loses_nothing() {
    let mut reassembler = Reassembler::new(MAX);
    for (start, len) in [(0, 100), (40, 150_000)] {
        for frame in start..start + 40 {
            let image = pattern(frame, len);
            let time = 100.0 + frame as f64 / 30.0;
            assert_eq!(
                deliver(&mut reassembler, vendor_datagrams(&image, B, 0, time)),
                [(time, image)]
            );
        }
    }
    assert_eq!(reassembler.counters().duplicate, 0);
}

#[test]
fn short_headers_of_one_time_but_other_counts_are_two_frames() {
    let mut reassembler = Reassembler::new(MAX);
    let (one, two) = (pattern(1, 70_000), pattern(2, 150_000));
    let (a, b) = (vendor_datagrams(&one, A, 0, 1.0), vendor_datagrams(&two, A, 0, 1.0));
    let stream = [&a[0], &b[0], &a[1], &b[1], &b[2]];
    assert_eq!(deliver(&mut reassembler, stream), [(1.0, one), (1.0, two)]);
}

#[test]
fn negative_frame_ids_and_those_that_wrap_are_just_frames() {
    for first in [-3, i32::MAX - 4] {
        let mut reassembler = Reassembler::new(MAX);
        for step in 0..10 {
            let frame_id = first.wrapping_add(step);
            let (image, time) = (pattern(step as usize, 70_000), f64::from(step) / 30.0);
            assert_eq!(
                deliver(&mut reassembler, vendor_datagrams(&image, B, frame_id, time)),
                [(time, image)]
            );
        }
    }
}

#[test]
fn a_restarted_simulation_is_believed_when_it_goes_on() {
    for variant in [A, B] {
        let mut reassembler = Reassembler::new(MAX);
        let run = |start: i32| {
            (start..start + 10).flat_map(move |f| {
                vendor_datagrams(&pattern(1, 100), variant, f, f64::from(f) / 30.0)
            })
        };
        assert_eq!(deliver(&mut reassembler, run(3000)).len(), 10);
        let after = deliver(&mut reassembler, run(0));
        assert_eq!(times(&after)[..2], [4.0 / 30.0, 5.0 / 30.0]);
        assert_eq!(after[0].1, pattern(1, 100));
        assert_eq!(reassembler.counters().unconfirmed, 4);
    }
}

#[test]
fn a_restart_within_the_first_second_costs_a_tenth_of_one() {
    let mut reassembler = Reassembler::new(MAX);
    let frame = |f: i32| vendor_datagrams(&pattern(1, 100), B, f, f64::from(f) / 30.0);
    assert_eq!(deliver(&mut reassembler, (1000..1020).flat_map(frame)).len(), 20);
    let after = deliver(&mut reassembler, (995..1010).flat_map(frame));
    assert_eq!(times(&after)[..2], [999.0 / 30.0, 1000.0 / 30.0]);
    assert_eq!(reassembler.counters().stale, 4);
}

#[test]
fn an_old_frame_that_overtook_nobody_is_not_delivered_after_a_newer_one() {
    let mut reassembler = Reassembler::new(MAX);
    let frame = |f: i32| vendor_datagrams(&pattern(1, 100), B, f, f64::from(f) / 30.0);
    let order = [10, 12, 11, 13, 15, 14, 16];
    let delivered = deliver(&mut reassembler, order.into_iter().flat_map(frame));
    assert_eq!(times(&delivered), [10, 12, 13, 15, 16].map(|f| f64::from(f) / 30.0));
    assert_eq!(reassembler.counters().stale, 2);
}

#[test]
fn a_late_duplicate_of_a_delivered_frame_is_a_duplicate() {
    let mut reassembler = Reassembler::new(MAX);
    let frame = |f: i32| vendor_datagrams(&pattern(1, 130_000), B, f, f64::from(f) / 30.0);
    let mut stream: Vec<_> = (0..8).flat_map(frame).collect();
    let repeated: Vec<_> = frame(3).into_iter().chain(frame(7)).chain(frame(7)).collect();
    stream.extend(repeated.clone());
    assert_eq!(deliver(&mut reassembler, stream).len(), 8);
    assert_eq!(reassembler.counters().duplicate, repeated.len() as u64);
}

#[test]
fn fragments_of_a_frame_that_was_given_up_are_late_and_do_not_open_it_again() {
    let mut reassembler = Reassembler::new(MAX);
    let old = vendor_datagrams(&pattern(1, 130_000), B, 1, 1.0);
    let new = vendor_datagrams(&pattern(2, 130_000), B, 2, 2.0);
    let stream = old[..2].iter().chain(&new).chain(&old[2..]);
    assert_eq!(times(&deliver(&mut reassembler, stream)), [2.0]);
    let counters = reassembler.counters();
    assert_eq!((counters.incomplete, counters.late, reassembler.in_flight()), (1, 1, 0));
}

#[test]
fn interleaved_frames_are_both_delivered() {
    let mut reassembler = Reassembler::new(MAX);
    let (one, two) = (pattern(1, 250_000), pattern(2, 200_000));
    let (a, b) = (vendor_datagrams(&one, B, 1, 1.0), vendor_datagrams(&two, B, 2, 1.1));
    // The tail of the first frame comes after the head of the second, as when two sockets' queues are merged.
    let stream = [&a[0], &b[0], &a[1], &b[1], &a[2], &b[2], &a[3], &a[4], &b[3]];
    assert_eq!(deliver(&mut reassembler, stream), [(1.0, one), (1.1, two)]);
    assert_eq!(reassembler.counters().frames_dropped(), 0);
}

#[test]
fn a_third_frame_in_flight_gives_up_the_oldest() {
    let mut reassembler = Reassembler::new(MAX);
    let frame = |f: i32| vendor_datagrams(&pattern(1, 70_000), B, f, f64::from(f));
    assert_eq!(deliver(&mut reassembler, [&frame(1)[0], &frame(2)[0], &frame(3)[0]]), []);
    assert_eq!((reassembler.counters().incomplete, reassembler.in_flight()), (1, 2));
    assert_eq!(
        times(&deliver(&mut reassembler, [&frame(1)[1], &frame(2)[1], &frame(3)[1]])),
        [2.0, 3.0]
    );
    assert_eq!(reassembler.counters().late, 1);
}

#[test]
fn an_incomplete_frame_of_a_run_before_a_restart_is_given_up() {
    let mut reassembler = Reassembler::new(MAX);
    let frame = |f: i32, time: f64| vendor_datagrams(&pattern(1, 70_000), B, f, time);
    deliver(&mut reassembler, &frame(1, 1000.0)[..1]);
    assert_eq!(deliver(&mut reassembler, frame(2, 0.0)).len(), 1);
    assert_eq!(deliver(&mut reassembler, frame(3, 0.1)).len(), 1);
    assert_eq!((reassembler.counters().incomplete, reassembler.in_flight()), (1, 0));
}

#[test]
fn a_simulator_whose_clock_stands_is_heard_again_after_a_second_of_frames() {
    let mut reassembler = Reassembler::new(MAX);
    let frame = |f: usize| vendor_datagrams(&pattern(f, 130_000), A, 0, 5.0);
    let delivered = deliver(&mut reassembler, (0..60).flat_map(frame));
    assert!(delivered.len() > 25, "{} of 60 frames", delivered.len());
    assert_eq!(delivered.last().unwrap().1, pattern(59, 130_000));
    let moving = vendor_datagrams(&pattern(60, 130_000), A, 0, 5.1);
    assert_eq!(
        deliver(&mut reassembler, moving.iter().chain(&moving)).len(),
        1,
        "the clock runs, copies are copies"
    );
}

#[test]
fn fragments_that_disagree_about_their_size_drop_the_frame() {
    let image = pattern(1, 5000);
    let good = datagrams(&image, 1000, B, 1, 1.0);
    let mut other = datagrams(&image[..4500], 900, B, 1, 1.0);
    let stream = vec![good[0].clone(), other.remove(1), good[2].clone()];
    let mut reassembler = Reassembler::new(MAX);
    assert_eq!(deliver(&mut reassembler, stream), []);
    let wanted = ReassemblyCounters { inconsistent: 1, late: 1, ..*reassembler.counters() };
    assert_eq!(reassembler.counters(), &wanted);
    let long_tail = datagrams(&pattern(1, 3000), 2000, B, 2, 2.0).remove(1);
    let short_unit = datagrams(&pattern(1, 1000), 500, B, 2, 2.0).remove(0);
    assert_eq!(deliver(&mut reassembler, [&long_tail, &short_unit]), []);
    assert_eq!(reassembler.counters().inconsistent, 2);
    let known_unit = datagrams(&pattern(1, 1500), 500, B, 4, 4.0).remove(0);
    let long_tail = datagrams(&pattern(1, 3000), 1200, B, 4, 4.0).remove(2);
    assert_eq!(deliver(&mut reassembler, [&known_unit, &long_tail]), []);
    assert_eq!(reassembler.counters().inconsistent, 3);
    let empty_middle = datagrams(&[0; 2], 1, B, 3, 3.0).remove(0);
    let mut empty_middle = empty_middle[..32].to_vec();
    empty_middle[4..8].copy_from_slice(&32_i32.to_le_bytes());
    assert_eq!(reassembler.push(&empty_middle), ReassemblyResult::Dropped(DropCause::Inconsistent));
}

#[test]
fn a_frame_beyond_the_maximum_is_dropped_and_the_next_one_is_not() {
    let mut reassembler = Reassembler::new(100_000);
    let frame = |len: usize, id: i32, reverse: bool| {
        let mut cut = vendor_datagrams(&pattern(1, len), B, id, f64::from(id));
        if reverse {
            cut.reverse();
        }
        cut
    };
    for (id, reverse) in [(1, false), (4, true)] {
        assert_eq!(deliver(&mut reassembler, frame(100_001, id, reverse)), []);
        assert_eq!(deliver(&mut reassembler, frame(200_000, id + 1, reverse)), []);
        assert_eq!(reassembler.counters().oversize, if reverse { 4 } else { 2 });
        let time = f64::from(id + 2);
        assert_eq!(times(&deliver(&mut reassembler, frame(100_000, id + 2, reverse))), [time]);
    }
    // Two billion fragments are promised; no memory is spent on the promise.
    let mut lie = frame(100, 99, false).remove(0);
    lie[12..16].copy_from_slice(&i32::MAX.to_le_bytes());
    let before = reassembler.memory();
    assert_eq!(reassembler.push(&lie), ReassemblyResult::Dropped(DropCause::Oversize));
    assert_eq!(reassembler.memory(), before);
}

#[test]
fn a_datagram_longer_than_any_udp_payload_is_malformed() {
    let mut reassembler = Reassembler::new(MAX);
    reassembler.next_buffers();
    assert_eq!(
        reassembler.commit(70_000, RosTime(0)),
        ReassemblyResult::Dropped(DropCause::Malformed)
    );
}

#[test]
fn frames_are_counted_from_their_headers_while_nobody_wants_the_payload() {
    let mut reassembler = Reassembler::new(MAX);
    let mut counted = Vec::new();
    let mut feed = |reassembler: &mut Reassembler, datagram: &[u8]| {
        let head = reassembler.next_header_buffer();
        let len = head.len().min(datagram.len());
        head[..len].copy_from_slice(&datagram[..len]);
        match reassembler.commit(datagram.len(), RosTime(7)) {
            ReassemblyResult::Counted(info) => {
                counted.push((info.sim_time, info.len, info.arrival))
            }
            outcome => assert!(
                matches!(outcome, ReassemblyResult::Stored | ReassemblyResult::Dropped(_)),
                "{outcome:?}"
            ),
        }
    };
    for variant in [A, B] {
        for frame in 0..3_i32 {
            let time = f64::from(frame) + if variant == B { 3.0 } else { 0.0 };
            for datagram in vendor_datagrams(&pattern(1, 130_000), variant, frame, time) {
                feed(&mut reassembler, &datagram);
            }
        }
    }
    // One that comes alone, and is incomplete.
    feed(&mut reassembler, &vendor_datagrams(&pattern(1, 130_000), B, 3, 6.0)[1]);
    let wanted: Vec<_> = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(|t| (t, 130_000, RosTime(7))).to_vec();
    assert_eq!(counted, wanted);
    assert_eq!(
        (reassembler.counters().frames, reassembler.in_flight(), reassembler.memory()),
        (6, 1, 0)
    );
}

#[test]
fn a_frame_of_which_some_payload_was_skipped_is_counted_but_not_delivered() {
    let mut reassembler = Reassembler::new(MAX);
    let cut = vendor_datagrams(&pattern(1, 130_000), B, 1, 1.0);
    reassembler.next_header_buffer().copy_from_slice(&cut[0][..32]);
    assert_eq!(reassembler.commit(cut[0].len(), RosTime(0)), ReassemblyResult::Stored);
    assert_eq!(reassembler.push(&cut[1]), ReassemblyResult::Stored);
    assert!(
        matches!(reassembler.push(&cut[2]), ReassemblyResult::Counted(info) if info.len == 130_000)
    );
    let image = pattern(2, 130_000);
    assert_eq!(deliver(&mut reassembler, vendor_datagrams(&image, B, 2, 2.0)), [(2.0, image)]);
}

#[test]
fn a_frame_carries_the_arrival_of_its_first_datagram() {
    let mut reassembler = Reassembler::new(MAX);
    for (cut, arrival) in vendor_datagrams(&pattern(1, 130_000), B, 1, 1.0).iter().zip(100..) {
        let buffers = reassembler.next_buffers();
        buffers.header.copy_from_slice(&cut[..32]);
        buffers.payload[..cut.len() - 32].copy_from_slice(&cut[32..]);
        if let ReassemblyResult::Complete(frame) = reassembler.commit(cut.len(), RosTime(arrival)) {
            assert_eq!(
                (frame.info.arrival, frame.info.fragments, frame.info.frame_id),
                (RosTime(100), 3, Some(1))
            );
        }
    }
    assert_eq!(reassembler.counters().frames, 1);
}

#[test]
fn when_datagrams_come_in_order_each_lands_where_it_stays() {
    let mut reassembler = Reassembler::new(MAX);
    let image = pattern(1, 130_000);
    for frame in 0..3 {
        let mut places = Vec::new();
        for cut in vendor_datagrams(&image, B, frame, f64::from(frame)) {
            let buffers = reassembler.next_buffers();
            assert_eq!(buffers.header.len(), 32);
            buffers.header.copy_from_slice(&cut[..32]);
            buffers.payload[..cut.len() - 32].copy_from_slice(&cut[32..]);
            places.push(buffers.payload.as_ptr() as usize);
            if let ReassemblyResult::Complete(whole) = reassembler.commit(cut.len(), RosTime(0)) {
                let start = whole.payload.as_ptr() as usize;
                if frame > 0 {
                    // In the first frame the buffer still grows.
                    assert_eq!(places, [start, start + 60_000, start + 120_000]);
                }
            }
        }
    }
    assert_eq!(reassembler.counters().frames, 3);
}

#[test]
fn abandoning_counts_what_was_in_flight() {
    let mut reassembler = Reassembler::new(MAX);
    let cut = vendor_datagrams(&pattern(1, 130_000), B, 1, 1.0);
    deliver(&mut reassembler, &cut[..2]);
    reassembler.drop_incomplete();
    assert_eq!((reassembler.in_flight(), reassembler.counters().incomplete), (0, 1));
    reassembler.drop_incomplete();
    assert_eq!(reassembler.counters().incomplete, 1);
}

#[test]
fn steady_state_allocates_nothing() {
    let mut reassembler = Reassembler::new(MAX);
    let frames: Vec<_> = (0..100_i32)
        .map(|f| vendor_datagrams(&pattern(1, 130_000), B, f, f64::from(f) / 30.0))
        .collect();
    let mut feed = |frames: &[Vec<Vec<u8>>]| {
        let mut delivered = 0;
        for (number, frame) in frames.iter().enumerate() {
            // Every third frame is reordered, every fifth one loses a datagram, every seventh one is doubled.
            let reordered = number % 3 == 0;
            let order: [usize; 3] = if reordered { [2, 0, 1] } else { [0, 1, 2] };
            let kept = if number % 5 == 0 { 2 } else { 3 };
            for _ in 0..=usize::from(number % 7 == 0) {
                for index in &order[..kept] {
                    delivered += usize::from(matches!(
                        reassembler.push(&frame[*index]),
                        ReassemblyResult::Complete(_)
                    ));
                }
            }
        }
        delivered
    };
    feed(&frames[..30]);
    let mut delivered = 0;
    let allocated = allocation_counter::measure(|| delivered = feed(&frames[30..]));
    assert!(delivered >= 56, "{delivered} of 70 frames");
    assert_eq!(allocated.count_total, 0);
}
