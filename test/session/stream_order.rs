//! The order of a stream on virtual time: what follows, what is late, what is believed only with witnesses.
use crate::support::random::Random;
use rfly_bridge::session::{Continuity, StreamOrder, StreamPosition};
use rfly_bridge::time::RosTime;
use std::collections::BTreeMap;

const MS: i64 = 1_000_000;
/// Steps of a sample at 200 Hz.
const STEP: f64 = 0.005;

/// A stream's reader: what is published, and what everything was counted as.
#[derive(Default)]
struct Reader {
    order: StreamOrder,
    published: Vec<StreamPosition>,
    counts: BTreeMap<&'static str, u64>,
}

impl Reader {
    fn take(&mut self, position: StreamPosition) -> Continuity {
        let continuity = self.order.check(position);
        let name = match continuity {
            Continuity::Next | Continuity::Restart => {
                self.order.advance(position);
                self.published.push(position);
                "published"
            }
            Continuity::Late => "late",
            Continuity::Same | Continuity::Duplicate => "duplicate",
            Continuity::Unconfirmed => "unconfirmed",
        };
        *self.counts.entry(name).or_default() += 1;
        continuity
    }

    fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    fn never_went_back(&self) -> bool {
        self.published.windows(2).all(|p| p[0].time < p[1].time)
    }
}

fn sample(seq: i32, time: f64, at_ms: f64) -> StreamPosition {
    StreamPosition {
        id: Some(seq),
        time,
        arrival: RosTime(1_700_000_000_000 * MS + (at_ms * 1e6) as i64),
    }
}

/// Sample `n` of a run that began with the virtual time.
fn nth(n: i32) -> StreamPosition {
    sample(n, f64::from(n) * STEP, f64::from(n) * STEP * 1e3)
}

/// A reader that has had `n` samples.
fn settled(n: i32) -> Reader {
    let mut reader = Reader::default();
    for n in 0..n {
        assert_eq!(reader.take(nth(n)), Continuity::Next);
    }
    reader
}

#[test]
fn samples_that_jitter_by_20_ms_never_go_back_and_every_one_is_counted() {
    let mut random = Random(5);
    let mut arriving: Vec<StreamPosition> = (0..4000)
        .map(|n| {
            let at = f64::from(n) * 5.0 + 20.0 * random.uniform();
            sample(n, f64::from(n) * STEP, at)
        })
        .collect();
    arriving.sort_by_key(|position| position.arrival);
    let mut reader = Reader::default();
    for position in arriving {
        reader.take(position);
    }
    assert!(reader.never_went_back());
    assert!(reader.count("late") > 1000, "{:?}", reader.counts);
    assert_eq!(reader.count("published") + reader.count("late"), 4000);
    assert_eq!(reader.order.lost(), 0, "late is not lost");
}

#[test]
fn samples_that_come_twice_are_published_once() {
    let mut reader = Reader::default();
    for n in 0..1000 {
        reader.take(nth(n));
        reader.take(nth(n));
        if n >= 10 {
            // A copy that comes much later.
            let old = nth(n - 7);
            let arrival = nth(n).arrival;
            assert_eq!(reader.take(StreamPosition { arrival, ..old }), Continuity::Duplicate);
        }
    }
    assert!(reader.never_went_back());
    assert_eq!(reader.count("published"), 1000);
    assert_eq!(reader.count("duplicate"), 1990);
    assert_eq!(reader.order.lost(), 0);
}

#[test]
fn what_is_left_out_is_lost_also_when_nothing_came_for_long() {
    let mut reader = settled(100);
    for n in 100..2000 {
        if n % 10 != 3 && !(500..1500).contains(&n) {
            assert_eq!(reader.take(nth(n)), Continuity::Next, "{n}");
        }
    }
    assert_eq!(reader.order.lost(), 1000 + 40 + 50);
    assert!(reader.never_went_back());
}

#[test]
fn numbers_wrap() {
    let mut reader = Reader::default();
    for n in 0..100_i32 {
        let position = nth(n);
        let id = Some((i32::MAX - 50).wrapping_add(n));
        assert_eq!(reader.take(StreamPosition { id, ..position }), Continuity::Next);
    }
    assert_eq!(reader.order.lost(), 0);
}

#[test]
fn a_sender_that_does_not_count_is_ordered_by_time() {
    let mut reader = Reader::default();
    for n in 0..100 {
        let id = Some(7);
        assert_eq!(reader.take(StreamPosition { id, ..nth(n) }), Continuity::Next);
        assert_eq!(reader.take(StreamPosition { id, ..nth(n) }), Continuity::Same);
        let old = StreamPosition { id, arrival: nth(n).arrival, ..nth(n - 1) };
        assert_eq!(reader.take(old), Continuity::Late);
    }
    assert_eq!(reader.order.lost(), 0);
}

#[test]
fn a_restarted_simulator_is_heard_after_a_tenth_of_a_second() {
    for (pause_ms, first) in [(0.0, 0), (3000.0, 0), (3000.0, 40)] {
        for length in [60, 2000] {
            let mut reader = settled(length);
            let start = f64::from(length) * 5.0 + pause_ms;
            let mut unheard = 0;
            for n in first..first + 400 {
                let time = f64::from(n) * STEP;
                let at = start + f64::from(n - first) * 5.0;
                match reader.take(sample(n, time, at)) {
                    Continuity::Next | Continuity::Restart => {}
                    _ => unheard += 1,
                }
            }
            let published = reader.published.len() as i32 - length;
            assert_eq!(published, 400 - unheard);
            assert!(unheard <= 21, "{unheard} samples of {length} + {first}");
        }
    }
}

#[test]
fn a_count_that_begins_anew_while_time_goes_on_is_followed() {
    // The rate was changed: the simulator opens another stream.
    let mut reader = settled(1000);
    let unheard = (0..400).filter(|n| {
        let time = 5.0 + f64::from(*n) * 0.01;
        let continuity = reader.take(sample(*n, time, time * 1e3));
        !matches!(continuity, Continuity::Next | Continuity::Restart)
    });
    assert!(unheard.count() <= 11);
    assert!(reader.never_went_back());
    assert_eq!(reader.order.lost(), 0);
}

#[test]
fn one_wild_sample_changes_nothing_whatever_it_says_and_however_often_it_comes() {
    let mut reader = settled(1000);
    let mut random = Random(9);
    let mut refused = 0;
    for n in 1000..5000 {
        assert_eq!(reader.take(nth(n)), Continuity::Next, "{n}");
        let real = nth(n);
        let wild = match n % 8 {
            0 => StreamPosition { time: real.time + 0.9, ..real },
            1 => StreamPosition { time: real.time - 0.9, ..real },
            2 => StreamPosition { time: 3e9, ..real },
            3 => StreamPosition { id: Some((random.uniform() * 2e9) as i32), ..real },
            4 => StreamPosition { id: Some(n + 500), time: real.time + STEP, ..real },
            5 => StreamPosition { id: Some(n + 1), time: real.time + 0.4, ..real },
            6 => StreamPosition { id: Some(n + 1), time: f64::NAN, ..real },
            _ => StreamPosition { id: None, time: real.time + 0.9, ..real },
        };
        let continuity = reader.take(wild);
        refused += u64::from(!matches!(continuity, Continuity::Next | Continuity::Restart));
    }
    assert_eq!(refused, 4000);
    assert!(reader.never_went_back());
    assert_eq!(reader.order.lost(), 0);
}

#[test]
fn another_stream_is_not_believed_while_the_first_one_goes_on() {
    let mut reader = settled(1000);
    for n in 1000..5000 {
        assert_eq!(reader.take(nth(n)), Continuity::Next, "{n}");
        // As fast, in good order, but of another run.
        let other = StreamPosition {
            arrival: nth(n).arrival,
            ..sample(n - 1000, 100.0 + f64::from(n) * STEP, 0.0)
        };
        assert_eq!(reader.take(other), Continuity::Unconfirmed);
    }
}

#[test]
fn a_first_sample_that_lies_does_not_keep_the_others_out() {
    let mut reader = Reader::default();
    reader.take(sample(77_777, 1e6, 0.0));
    let heard = (0..400).filter(|n| {
        let continuity = reader.take(nth(*n));
        matches!(continuity, Continuity::Next | Continuity::Restart)
    });
    assert!(heard.count() >= 379);
}

#[test]
fn a_renderer_that_stands_still_now_and_then_loses_nothing() {
    // It looks at the time, works, and sends; it may be stopped at each of them, for longer than its period.
    for (seed, period_ms, most_ms) in [(1, 50.0, 400.0), (2, 33.3, 2000.0), (3, 100.0, 1000.0)] {
        for numbered in [true, false] {
            for often in [0.02, 0.3, 1.0] {
                let mut random = Random(seed);
                let mut reader = Reader::default();
                let (mut now, mut shown) = (0.0, -1.0);
                for frame in 0..3000 {
                    let mut stop = || match random.uniform() < often {
                        true => most_ms * random.uniform() * random.uniform(),
                        false => 0.2,
                    };
                    now += stop();
                    let tick = f64::max((now / period_ms).floor(), shown + 1.0);
                    shown = tick;
                    now = f64::max(now, tick * period_ms) + stop();
                    let position = sample(frame, tick * period_ms * 1e-3, now);
                    let id = position.id.filter(|_| numbered);
                    reader.take(StreamPosition { id, ..position });
                }
                let lost = 3000 - reader.count("published");
                assert!(lost <= 30, "{period_ms} ms, {most_ms} ms, {often}: {:?}", reader.counts);
            }
        }
    }
}

#[test]
fn a_slower_or_faster_stream_is_followed_at_once() {
    for (speed, rate) in [(0.1, 200.0), (10.0, 200.0), (1.0, 10.0), (1.0, 1000.0)] {
        let mut reader = settled(1000);
        let (mut time, mut at) = (5.0, 5000.0);
        for n in 1000..1400 {
            time += 1.0 / rate;
            at += 1000.0 / rate / speed;
            assert_eq!(
                reader.take(sample(n, time, at)),
                Continuity::Next,
                "speed {speed}, {rate} Hz"
            );
        }
    }
}
