//! Time synchronisation with autopilots whose clocks drift, jump and restart, over links of every quality.
use super::protocol::secs;
use proptest::prelude::*;
use rfly_bridge::session::*;
use rfly_bridge::wire::mavlink::raw::Timesync;
use std::time::Duration;

const EPOCH: i64 = 1_800_000_000_000_000_000;

/// A clock that shows `start` ns at time 0 and runs `speed` times as fast as ours.
#[derive(Clone, Copy)]
struct Clock {
    start: f64,
    speed: f64,
}

impl Clock {
    fn at(&self, seconds: f64) -> i64 {
        (self.start + self.speed * seconds * 1e9) as i64
    }
}

struct Exchanges {
    estimator: TimesyncEstimator,
    clock: Clock,
    now: f64,
    restarted: Vec<(f64, bool)>,
    first_offset: Option<f64>,
    noise: u64,
}

impl Exchanges {
    fn new(clock: Clock) -> Self {
        Self {
            estimator: TimesyncEstimator::new(TimesyncSettings::default(), EPOCH),
            clock,
            now: 10.0,
            restarted: Vec::new(),
            first_offset: None,
            noise: 1,
        }
    }

    /// Between 0 and 1, the same in every run.
    fn random(&mut self) -> f64 {
        self.noise = self
            .noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.noise >> 40) as f64 / f64::from(1 << 24)
    }

    /// Exchanges for so long; every way takes `least` and up to `jitter` ms, and so many of 1 get lost.
    fn run(&mut self, seconds: f64, least: f64, jitter: f64, loss: f64) {
        let end = self.now + seconds;
        while let Some(at) = self.estimator.deadline() {
            let at = at.as_secs_f64().max(self.now);
            if at >= end {
                break;
            }
            self.now = at;
            let Some(question) = self.estimator.tick(secs(at)) else {
                panic!("nothing to do at the deadline");
            };
            let ways = [0, 1].map(|_| {
                let r = self.random();
                // Mostly short, now and then long.
                (least + jitter * r * r * r) * 1e-3
            });
            if self.random() < loss {
                continue;
            }
            let answer = Timesync { tc1: self.clock.at(at + ways[0]), ..question };
            let back = at + ways[0] + ways[1];
            match self.estimator.receive(secs(back), &answer) {
                TimesyncOutcome::Restarted { went_back, .. } => {
                    self.restarted.push((back, went_back))
                }
                TimesyncOutcome::Sample(_) => {}
                other => panic!("{other:?}"),
            }
            if self.estimator.line().is_some() {
                self.first_offset.get_or_insert(back);
            }
        }
        self.now = end;
    }

    /// The host's time when the autopilot's clock shows this.
    fn host_ns(&self, remote_ns: i64) -> i64 {
        self.estimator.line().expect("a line").host_ns(remote_ns)
    }

    /// How much faster the host's clock runs than the autopilot's, by the estimate.
    fn drift(&self) -> f64 {
        let now = self.clock.at(self.now);
        (self.host_ns(now + 1_000_000_000) - self.host_ns(now)) as f64 * 1e-9 - 1.0
    }

    /// How far, in ms, the time of something that happens now is off.
    fn error_ms(&self) -> f64 {
        let host = self.host_ns(self.clock.at(self.now));
        let truth = EPOCH + (self.now * 1e9) as i64;
        (host - truth) as f64 * 1e-6
    }
}

#[test]
fn our_clock_may_run_at_another_speed_than_the_monotonic_one() {
    // The clock of a simulation at 0.97 of real time, and an autopilot in step with it.
    let mut link = Exchanges::new(Clock { start: 1e9, speed: 0.97 });
    let epoch = |now: f64| EPOCH - (0.03 * now * 1e9) as i64;
    for _ in 0..200 {
        link.estimator.set_epoch(epoch(link.now));
        link.run(0.1, 0.1, 0.5, 0.0);
    }
    assert_eq!(link.restarted, []);
    assert!(link.drift().abs() < 1000e-6, "{}", link.drift());
    let truth = epoch(link.now) + (link.now * 1e9) as i64;
    let off = link.host_ns(link.clock.at(link.now)) - truth;
    // The clock was set anew every 0.1 s.
    assert!(off.abs() < 4_000_000, "{off} ns");
}

const BOOT: Clock = Clock { start: 3e9, speed: 1.0 };

#[test]
fn an_offset_is_there_in_a_fraction_of_a_second_and_right_to_a_tenth_of_a_millisecond() {
    let mut link = Exchanges::new(BOOT);
    link.run(0.5, 0.1, 0.4, 0.0);
    assert!(link.first_offset.unwrap() < 10.2, "{:?}", link.first_offset);
    assert!(link.error_ms().abs() < 0.1, "{} ms", link.error_ms());
    link.run(60.0, 0.1, 0.4, 0.0);
    assert!(link.error_ms().abs() < 0.1, "{} ms", link.error_ms());
    assert_eq!(link.restarted, []);
    let counters = link.estimator.counters();
    assert_eq!((counters.outliers, counters.ignored), (0, 0));
    assert!(counters.asked > 600 && counters.used == counters.asked);
}

#[test]
fn a_simulated_autopilot_that_runs_slower_is_followed() {
    for speed in [0.97, 0.5, 2.0, 1.0 + 50e-6] {
        let mut link = Exchanges::new(Clock { start: 1e9, speed });
        link.run(5.0, 0.1, 0.5, 0.1);
        assert!(link.error_ms().abs() < 0.5, "speed {speed}: {} ms", link.error_ms());
        assert_eq!(link.restarted, [], "speed {speed}");
        let drift = link.drift();
        assert!((drift - (1.0 / speed - 1.0)).abs() < 1e-3, "speed {speed}: drift {drift}");
        link.run(20.0, 0.1, 0.5, 0.1);
        assert!(link.error_ms().abs() < 0.5, "speed {speed}: {} ms", link.error_ms());
        assert_eq!(link.restarted, [], "speed {speed}");
    }
}

#[test]
fn a_bad_link_costs_accuracy_but_makes_no_jumps() {
    let mut link = Exchanges::new(BOOT);
    link.run(120.0, 1.0, 80.0, 0.3);
    assert!(link.error_ms().abs() < 10.0, "{} ms", link.error_ms());
    assert_eq!(link.restarted, []);
}

#[test]
fn a_restart_is_learnt_within_half_a_second() {
    let mut link = Exchanges::new(BOOT);
    link.run(30.0, 0.1, 0.5, 0.0);
    link.clock.start = -link.now * 1e9 + 0.1e9; // it boots now
    link.run(0.6, 0.1, 0.5, 0.0);
    assert_eq!(link.restarted.len(), 1, "{:?}", link.restarted);
    assert!(link.restarted[0].1, "it went back");
    assert!(link.error_ms().abs() < 0.3, "{} ms", link.error_ms());
}

#[test]
fn samples_tell_the_clock_before_the_first_answer_and_a_restart_at_once() {
    let mut estimator = TimesyncEstimator::new(TimesyncSettings::default(), 0);
    let ms = Duration::from_millis;
    let rough = |estimator: &TimesyncEstimator, remote_ms: i64| {
        estimator.coarse_line().unwrap().host_ns(remote_ms * 1_000_000) / 1_000_000
    };
    assert!(estimator.coarse_line().is_none());
    // 20 ms under way, then 2, then 30: the shortest way is nearest to the truth.
    assert!(!estimator.sample_time(ms(1020), 5_000_000_000));
    assert_eq!(rough(&estimator, 5000), 1020);
    assert!(!estimator.sample_time(ms(1102), 5_100_000_000));
    assert!(!estimator.sample_time(ms(1230), 5_200_000_000));
    assert_eq!(rough(&estimator, 5200), 1202);
    // A clock that runs slower is followed.
    for step in 0..100 {
        let now = 1300 + 100 * step;
        assert!(!estimator.sample_time(ms(now), 5_270_000_000 + 97_000_000 * step as i64));
    }
    let off = rough(&estimator, 5270 + 97 * 99) - (1300 + 100 * 99);
    assert!((-15..=0).contains(&off), "{off} ms");
    // One sample of another time is none, three are a restart.
    assert!(!estimator.sample_time(ms(11_300), 50_000_000));
    assert!(!estimator.sample_time(ms(11_310), 15_000_000_000));
    assert!(!estimator.sample_time(ms(11_400), 100_000_000));
    assert!(!estimator.sample_time(ms(11_410), 110_000_000));
    assert!(estimator.sample_time(ms(11_420), 120_000_000));
    assert_eq!(rough(&estimator, 130), 11_430);
    // Two autopilots that take turns are no restart for ever.
    let mut both = TimesyncEstimator::new(TimesyncSettings::default(), 0);
    for step in 0..100 {
        let boot = if step % 2 == 0 { 9_000_000_000 } else { 1_000_000_000 };
        assert!(!both.sample_time(ms(10 * step), boot + 10_000_000 * step as i64));
    }
}

#[test]
fn a_pause_of_the_simulation_is_learnt_and_is_no_restart() {
    let mut link = Exchanges::new(BOOT);
    link.run(10.0, 0.1, 0.5, 0.0);
    link.now += 3.0; // nobody answers
    link.clock.start -= 3e9;
    link.run(0.6, 0.1, 0.5, 0.0);
    assert_eq!(link.restarted.len(), 1);
    assert!(!link.restarted[0].1);
    assert!(link.error_ms().abs() < 0.3, "{} ms", link.error_ms());
}

#[test]
fn one_wild_answer_changes_nothing() {
    let mut link = Exchanges::new(BOOT);
    link.run(5.0, 0.1, 0.5, 0.0);
    let remote = link.clock.at(link.now);
    let before = link.host_ns(remote);
    for tc1 in [1, 5_000_000_000_000_000, i64::MAX, -5] {
        let now = link.estimator.deadline().unwrap();
        let question = link.estimator.tick(now).unwrap();
        link.estimator.receive(now + secs(0.001), &Timesync { tc1, ..question });
        assert_eq!(link.host_ns(remote), before, "{tc1}");
    }
    assert_eq!(link.estimator.counters().restarted, 0);
}

#[test]
fn answers_to_others_late_ones_and_second_ones_are_ignored() {
    let mut estimator = TimesyncEstimator::new(TimesyncSettings::default(), EPOCH);
    let question = estimator.tick(secs(1.0)).unwrap();
    assert_eq!((question.tc1, question.ts1), (0, EPOCH + 1_000_000_000));
    assert_eq!(estimator.tick(secs(1.01)), None);
    let answer = Timesync { tc1: 77, ..question };
    let foreign = Timesync { ts1: answer.ts1 + 1, ..answer };
    assert_eq!(estimator.receive(secs(1.01), &foreign), TimesyncOutcome::Ignored);
    assert!(matches!(estimator.receive(secs(1.002), &answer), TimesyncOutcome::Sample(s)
        if s.round_trip == secs(0.002) && s.observed_ns == EPOCH + 1_001_000_000 - 77 && s.remote_ns == 77));
    assert_eq!(estimator.receive(secs(1.003), &answer), TimesyncOutcome::Ignored);
    let question = estimator.tick(secs(2.0)).unwrap();
    let late = Timesync { tc1: 78, ..question };
    assert_eq!(estimator.receive(secs(2.6), &late), TimesyncOutcome::Ignored);
    assert_eq!(estimator.counters().ignored, 3);
}

#[test]
fn questions_of_the_autopilot_are_answered_with_our_time() {
    let mut estimator = TimesyncEstimator::new(TimesyncSettings::default(), EPOCH);
    let question = Timesync { ts1: 123, ..Timesync::default() };
    let reply = Timesync { tc1: EPOCH + 4_000_000_000, ..question };
    assert_eq!(estimator.receive(secs(4.0), &question), TimesyncOutcome::Reply(reply));
    let silent = TimesyncSettings { period: Duration::ZERO, ..TimesyncSettings::default() };
    let mut silent = TimesyncEstimator::new(silent, 0);
    assert_eq!((silent.tick(secs(9.0)), silent.deadline()), (None, None));
}

proptest! {
    /// Nothing that can arrive makes it panic, and afterwards it learns the truth.
    #[test]
    fn garbage_is_survived(messages in prop::collection::vec((any::<i64>(), any::<Option<i64>>(), 0u64..5_000_000), 0..60)) {
        let mut link = Exchanges::new(BOOT);
        link.run(1.0, 0.1, 0.5, 0.0);
        for (tc1, ts1, wait_us) in messages {
            link.now += wait_us as f64 * 1e-6;
            let asked = link.estimator.tick(secs(link.now)).map(|q| q.ts1);
            let Some(ts1) = ts1.or(asked) else { continue };
            link.estimator.receive(secs(link.now + 0.001), &Timesync { tc1, ts1, ..Timesync::default() });
        }
        link.run(1.0, 0.1, 0.5, 0.0);
        prop_assert!(link.error_ms().abs() < 0.5, "{} ms", link.error_ms());
    }
}
