use super::world::*;
use crate::support::random::Random;
use rfly_bridge::time::{
    AlignerSettings, Estimator, Observation, RosTime, SimTime, SourceKind, StampMode, TimeAligner,
};

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;

fn aligner() -> TimeAligner {
    TimeAligner::new(AlignerSettings::default())
}

fn receive(aligner: &mut TimeAligner, sim: i64, host: i64) -> i64 {
    let host = RosTime(EPOCH_NS + host);
    let stamp = aligner.receive(SimTime(sim), host, SourceKind::Image);
    stamp.expect("a tick of this run").0 - EPOCH_NS
}

/// An aligner that has seen `seconds` of a 200 Hz stream with a constant delay of 1 ms; simulator time is host time.
fn settled(seconds: i64) -> TimeAligner {
    let mut aligner = aligner();
    for tick in 0..seconds * 200 {
        receive(&mut aligner, tick * 5 * MS, tick * 5 * MS + MS);
    }
    aligner
}

#[test]
fn sensors_of_one_tick_get_the_identical_stamp_whenever_they_arrive() {
    let mut aligner = aligner();
    let mut random = Random(1);
    let mut first: Vec<(i64, i64)> = Vec::new();
    for tick in 0..2_000i64 {
        let sim = tick * 33 * MS;
        let early = receive(&mut aligner, sim, sim + (random.exponential(3.0) * 1e6) as i64);
        first.push((sim, early));
        // Another sensor of the same tick, and one of a tick up to 3 s ago.
        assert_eq!(receive(&mut aligner, sim, sim + 40 * MS), early);
        let (old, stamp) = first[first.len() - 1 - (tick as usize % 90).min(first.len() - 1)];
        assert_eq!(aligner.stamp(SimTime(old)).unwrap().0 - EPOCH_NS, stamp, "tick {old} at {sim}");
    }
}

#[test]
fn ticks_of_the_last_20_s_keep_their_stamps_at_100_and_200_hz() {
    for rate in [100i64, 200] {
        let mut aligner = aligner();
        let mut stamps: Vec<(i64, i64)> = Vec::new();
        for tick in 0..60 * rate {
            let sim = tick * SECOND / rate;
            // The estimate follows the shortest delay: it falls by 4 ms at 30 s, and by 20 ms at 38 s.
            let delay = match sim / SECOND {
                0..30 => 25 * MS,
                30..38 => 21 * MS,
                _ => MS,
            };
            stamps.push((sim, receive(&mut aligner, sim, sim + delay)));
            if tick % rate == 0 {
                for (old, stamp) in stamps.iter().filter(|(old, _)| *old >= sim - 20 * SECOND) {
                    let now = aligner.stamp(SimTime(*old)).unwrap().0 - EPOCH_NS;
                    assert_eq!(now, *stamp, "{rate} Hz: tick {old} at {sim}");
                }
            }
        }
    }
}

#[test]
fn a_tick_that_was_skipped_gets_a_stamp_between_its_neighbours() {
    let mut aligner = settled(10);
    let before = receive(&mut aligner, 10 * SECOND, 10 * SECOND + MS);
    let after = receive(&mut aligner, 10 * SECOND + 10 * MS, 10 * SECOND + 11 * MS);
    let late = receive(&mut aligner, 10 * SECOND + 5 * MS, 10 * SECOND + 30 * MS);
    assert!(before < late && late < after);
    assert!((late - (before + after) / 2).abs() < 1_000);
}

#[test]
fn late_datagrams_do_not_move_the_stamps() {
    let mut aligner = settled(10);
    let before = aligner.status();
    for tick in 2_000..2_400 {
        let sim = tick * 5 * MS;
        let stamp = receive(&mut aligner, sim, sim + 45 * MS);
        assert!((stamp - sim - MS).abs() < 100_000, "{}", stamp - sim);
    }
    assert!((aligner.status().offset_ns - before.offset_ns).abs() < 100_000);
}

#[test]
fn between_ticks_stamps_differ_as_simulator_time_does() {
    for host_ppm in [-200.0, 0.0, 200.0] {
        let scenario = Scenario { host_ppm, ..Scenario::new("", &[IMU, CAMERA]) };
        let (stamped, _) = run(&scenario);
        let mut ticks: Vec<_> = stamped.iter().map(|s| (s.arrival.sim, s.stamp)).collect();
        ticks.sort();
        ticks.dedup();
        for pair in ticks.windows(2).filter(|p| p[0].0 > 5 * SECOND) {
            let (sim, stamp) = ((pair[1].0 - pair[0].0) as f64, (pair[1].1 - pair[0].1) as f64);
            let distortion_ppm = (stamp / sim - 1.0) * 1e6 - host_ppm;
            // Rounding to whole ns shows where two ticks nearly coincide.
            assert!(
                distortion_ppm.abs() < 30.0 + 2e6 / sim,
                "{host_ppm} ppm: {distortion_ppm} ppm at {}",
                pair[0].0
            );
        }
    }
}

#[test]
fn no_correction_exceeds_its_limit() {
    let scenario = Scenario {
        events: vec![(20.0, Event::Congestion(15.0, 10.0)), (40.0, Event::HostStep(-0.02))],
        ..Scenario::new("", &[IMU, CAMERA])
    };
    let (stamped, _) = run(&scenario);
    let mut ticks: Vec<_> = stamped.iter().map(|s| (s.arrival.sim, s.stamp)).collect();
    ticks.sort();
    ticks.dedup();
    let mut largest = 0.0f64;
    for pair in ticks.windows(2).filter(|p| p[0].0 > 5 * SECOND) {
        let (sim, stamp) = ((pair[1].0 - pair[0].0) as f64, (pair[1].1 - pair[0].1) as f64);
        largest = largest.max(((stamp - sim).abs() - 2.0) / sim);
    }
    assert!((0.002..0.0062).contains(&largest), "{largest}");
}

#[test]
fn a_restart_is_learnt_anew_and_stamps_never_go_back() {
    let scenario =
        Scenario { events: vec![(30.0, Event::Restart(2.0))], ..Scenario::new("", &[IMU, CAMERA]) };
    let (stamped, status) = run(&scenario);
    assert_eq!((status.restarts, status.steps), (1, 0));
    let last_of_old = stamped.iter().filter(|s| s.arrival.run == 0).map(|s| s.stamp).max().unwrap();
    let new: Vec<_> = stamped.iter().filter(|s| s.arrival.run == 1).collect();
    assert!(new.iter().all(|s| s.stamp > last_of_old));
    assert!(
        new.iter().all(|s| s.error_us().abs() < 60_000.0),
        "even before the restart is certain"
    );
    let confirmed = new.iter().position(|s| s.observation == Observation::Restart).unwrap();
    assert!(confirmed < 20, "after {confirmed} datagrams");
}

#[test]
fn a_restart_of_a_run_shorter_than_two_seconds_is_seen_too() {
    let scenario =
        Scenario { events: vec![(1.5, Event::Restart(1.0))], ..Scenario::new("", &[IMU, CAMERA]) };
    let mut scenario = scenario;
    // The bridge joins late, so that the new run begins before the first tick it ever saw.
    scenario.sources.iter_mut().for_each(|s| s.from_s = 0.5);
    let (stamped, status) = run(&scenario);
    assert_eq!(status.restarts, 1);
    assert!(errors(&stamped, 10.0, 60.0).worst < 200.0);
}

#[test]
fn a_heartbeat_that_tells_of_a_restart_makes_the_first_tick_certain() {
    use rfly_bridge::time::Heartbeat;
    let mut aligner = settled(30);
    let beat = |start_s: i64, host_s: i64| Heartbeat {
        start_ms: EPOCH_NS / MS + start_s * 1_000,
        now_ms: EPOCH_NS / MS + host_s * 1_000,
        host: RosTime(EPOCH_NS + host_s * SECOND),
        local: true,
    };
    aligner.heartbeat(beat(0, 30));
    aligner.heartbeat(beat(33, 34));
    let seen =
        aligner.observe(SimTime(SECOND), RosTime(EPOCH_NS + 34 * SECOND + MS), SourceKind::Image);
    assert_eq!(seen, Observation::Restart);
    let stamp = aligner.stamp(SimTime(SECOND)).unwrap().0 - EPOCH_NS;
    assert_eq!(stamp, 34 * SECOND + MS);
}

#[test]
fn a_slow_camera_is_no_restart_while_the_imu_goes_on() {
    let mut aligner = settled(10);
    for tick in 2_000..3_000i64 {
        let sim = tick * 5 * MS;
        receive(&mut aligner, sim, sim + MS);
        if tick % 6 == 0 {
            // Three seconds behind.
            let old = sim - 3 * SECOND;
            let stamp = receive(&mut aligner, old, sim + 2 * MS);
            assert!(stamp <= sim + 2 * MS);
        }
    }
    let status = aligner.status();
    assert_eq!((status.restarts, status.steps), (0, 0));
}

#[test]
fn a_burst_of_held_up_datagrams_is_no_step() {
    let mut aligner = settled(10);
    // The process stood still for 2 s; what waited in the socket is read at once, then all goes on.
    for tick in 2_000..2_400i64 {
        let stamp = receive(&mut aligner, tick * 5 * MS, 12 * SECOND + tick * 10_000);
        assert!((stamp - tick * 5 * MS - MS).abs() < 1_000, "tick {tick}");
    }
    for tick in 2_410..3_000i64 {
        receive(&mut aligner, tick * 5 * MS, tick * 5 * MS + MS);
    }
    assert_eq!(aligner.status().steps, 0);
}

#[test]
fn damaged_time_stamps_change_nothing() {
    let mut random = Random(3);
    let mut aligner = settled(10);
    let mut latest = 0;
    for tick in 2_000..4_000i64 {
        let sim = tick * 5 * MS;
        let wild = match tick % 5 {
            0 => SimTime::from_secs((random.uniform() - 0.5) * 1e4),
            1 => {
                SimTime::from_secs(f64::from_bits(random.uniform().to_bits() ^ (tick as u64) << 50))
            }
            2 => SimTime(i64::MAX),
            3 => SimTime(i64::MIN),
            _ => SimTime::from_secs(f64::NAN),
        };
        let garbage = aligner.receive(wild, RosTime(EPOCH_NS + sim), SourceKind::Image);
        if let Some(garbage) = garbage {
            assert!(garbage.0 - EPOCH_NS <= sim + 1_001 * MS, "{garbage:?}");
        }
        let stamp = receive(&mut aligner, sim, sim + MS);
        assert!((stamp - sim - MS).abs() < 100_000, "{}", stamp - sim - MS);
        assert!(stamp > latest);
        latest = stamp;
    }
    let status = aligner.status();
    assert_eq!((status.restarts, status.steps), (0, 0));
    assert!(status.rejected > 1_900);
}

#[test]
fn a_single_datagram_too_early_is_not_believed() {
    let mut aligner = settled(10);
    let offset = aligner.status().offset_ns;
    let sim = 10 * SECOND;
    receive(&mut aligner, sim + 100 * MS, sim);
    for tick in 2_001..2_400i64 {
        receive(&mut aligner, tick * 5 * MS, tick * 5 * MS + MS);
    }
    assert!((aligner.status().offset_ns - offset).abs() < 10_000);
}

#[test]
fn the_same_simulation_speed_is_not_learnt_from_jitter() {
    let scenario = Scenario::new("", &[Source { jitter_ms: 20.0, ..CAMERA }]);
    let (_, status) = run(&scenario);
    assert!(status.drift_ppm.abs() < 50.0, "{}", status.drift_ppm);
    assert_eq!(status.steps, 0);
}

#[test]
fn status_tells_offset_spread_and_drift() {
    let scenario = Scenario { host_ppm: 80.0, seconds: 300.0, ..Scenario::new("", &[IMU]) };
    let (stamped, status) = run(&scenario);
    let last = stamped.last().unwrap();
    assert!((status.offset_ns - (last.arrival.truth - last.arrival.sim)).abs() < 200_000);
    assert!((status.drift_ppm - 80.0).abs() < 1.0, "{}", status.drift_ppm);
    // Exponential with a mean of 0.3 ms: the median is 0.208 ms; bins are 19 % wide.
    assert!((200_000..260_000).contains(&status.spread.p50_ns), "{:?}", status.spread);
    assert!(
        status.spread.p99_ns > 1_300_000 && status.spread.p99_ns < 40_000_000,
        "{:?}",
        status.spread
    );
    assert_eq!(status.observations, stamped.len() as u64);
    assert_eq!(status.rejected, 0);
}

#[test]
fn mode_sim_stamps_with_simulator_time() {
    let mut aligner =
        TimeAligner::new(AlignerSettings { mode: StampMode::Sim, ..Default::default() });
    assert_eq!(aligner.receive(SimTime(42), RosTime(EPOCH_NS), SourceKind::Imu), Some(RosTime(42)));
    assert_eq!(aligner.stamp(SimTime(7)), Some(RosTime(7)));
}

/// A clock in each mode that has seen 10 s; what is far from that has no stamp, in whichever mode.
#[test]
fn a_time_far_from_the_streams_has_no_stamp() {
    let modes = [
        (StampMode::Sim, Estimator::Envelope),
        (StampMode::Aligned, Estimator::Vendor),
        (StampMode::Aligned, Estimator::Envelope),
    ];
    for (mode, estimator) in modes {
        let settings = AlignerSettings { mode, estimator, ..Default::default() };
        let mut aligner = TimeAligner::new(settings);
        let tick = |aligner: &mut TimeAligner, sim: i64, host: i64| {
            aligner.receive(SimTime(sim), RosTime(EPOCH_NS + host), SourceKind::Imu)
        };
        for n in 0..2_000 {
            assert!(tick(&mut aligner, n * 5 * MS, n * 5 * MS + MS).is_some());
        }
        let now = 10 * SECOND;
        for seconds in [1e300, -1e300, f64::NAN, f64::INFINITY, 3e9, -3e9] {
            assert_eq!(SimTime::checked_from_secs(seconds), None);
            let sim = SimTime::from_secs(seconds);
            // Unless as a run that begins, which nobody gets to see of them.
            let envelope = (mode, estimator) == (StampMode::Aligned, Estimator::Envelope);
            if sim.0 != 0 && !envelope {
                aligner.observe(sim, RosTime(EPOCH_NS + now), SourceKind::Imu);
                assert_eq!(aligner.stamp(sim), None, "{mode:?} {estimator:?} {seconds}");
            }
        }
        for (n, far) in (0..).zip([2e9, 1000.0, 12.0, -5.0, 2_147_483_000.0, 15.0]) {
            let far = SimTime::from_secs(far).0;
            let host = now + n * 5 * MS;
            let foreign = tick(&mut aligner, far, host);
            // Behind time, it is stamped as what begins another run; the stamp is of now then, not of then.
            let as_new_run =
                foreign.is_some_and(|stamp| (stamp.0 - EPOCH_NS - host).abs() < SECOND);
            let envelope = (mode, estimator) == (StampMode::Aligned, Estimator::Envelope);
            assert!(foreign.is_none() || (envelope && as_new_run), "{mode:?} {far}: {foreign:?}");
            let own = tick(&mut aligner, host, host + MS);
            assert!(own.is_some(), "{mode:?} {estimator:?}");
        }
    }
}

#[test]
fn times_step_by_step_ahead_lead_nowhere() {
    let mut aligner =
        TimeAligner::new(AlignerSettings { mode: StampMode::Sim, ..Default::default() });
    let mut ahead = 0;
    for n in 0..2_000 {
        let now = RosTime(EPOCH_NS + n * 5 * MS);
        assert!(aligner.receive(SimTime(n * 5 * MS), now, SourceKind::Imu).is_some());
        if n > 200 {
            ahead += 900 * MS;
            let stamp = aligner.receive(SimTime(n * 5 * MS + ahead), now, SourceKind::Imu);
            assert!(stamp.is_none_or(|stamp| stamp.0 <= n * 5 * MS + 2_100 * MS), "{stamp:?}");
        }
    }
    assert_eq!((aligner.status().steps, aligner.status().restarts), (0, 0));
}

#[test]
fn in_mode_sim_another_run_is_stamped_once_it_is_believed() {
    let mut aligner =
        TimeAligner::new(AlignerSettings { mode: StampMode::Sim, ..Default::default() });
    for n in 0..2_000 {
        let now = RosTime(EPOCH_NS + n * 5 * MS);
        aligner.receive(SimTime(n * 5 * MS + 100 * SECOND), now, SourceKind::Imu);
    }
    let stamped = (0..100).filter(|n| {
        let now = RosTime(EPOCH_NS + 13 * SECOND + n * 5 * MS);
        aligner.receive(SimTime(n * 5 * MS), now, SourceKind::Imu) == Some(RosTime(n * 5 * MS))
    });
    assert_eq!(stamped.count(), 90, "all but those of the first 50 ms");
}

#[test]
fn mode_arrival_stamps_with_the_arrival() {
    let mut aligner =
        TimeAligner::new(AlignerSettings { mode: StampMode::Arrival, ..Default::default() });
    let first = aligner.receive(SimTime(42), RosTime(EPOCH_NS), SourceKind::Imu);
    let second = aligner.receive(SimTime(42), RosTime(EPOCH_NS + 5), SourceKind::Imu);
    let stamps = [first, second].map(|stamp| stamp.unwrap().0);
    assert_eq!(stamps, [EPOCH_NS, EPOCH_NS + 5]);
    assert_eq!(aligner.stamp(SimTime(42)), None);
    assert_eq!(aligner.status().observations, 2, "the clock is watched all the same");
}

#[test]
fn nothing_is_stamped_before_the_first_observation() {
    assert_eq!(aligner().stamp(SimTime(0)), None);
}

#[test]
fn a_longer_window_knows_the_drift_better() {
    let scatter = |window_s| {
        let settings = AlignerSettings { window_s, ..Default::default() };
        let drifts = [100.0, 130.0, 160.0, 190.0, 220.0, 250.0].map(|seconds| {
            let scenario =
                Scenario { host_ppm: 80.0, seconds, settings, ..Scenario::new("", &[CAMERA]) };
            (run(&scenario).1.drift_ppm - 80.0).abs()
        });
        drifts.iter().sum::<f64>() / 6.0
    };
    let (short, long) = (scatter(5.0), scatter(60.0));
    assert!(long < 0.5 * short, "{long} ppm with 60 s, {short} ppm with 5 s");
}

#[test]
fn simulated_time_of_an_instant_follows_the_simulation_at_any_speed() {
    for speed in [0.5, 1.0, 2.0] {
        let mut aligner = aligner();
        assert_eq!(aligner.sim_time_at(RosTime(EPOCH_NS)), None);
        for tick in 0..30 * 100i64 {
            let sim = tick * 10 * MS;
            let host = (sim as f64 / speed) as i64 + MS;
            receive(&mut aligner, sim, host);
            if sim < 2 * SECOND {
                continue;
            }
            // Between two ticks.
            for ahead in [0, 2 * MS, 4 * MS] {
                let found = aligner.sim_time_at(RosTime(EPOCH_NS + host + ahead)).unwrap();
                let wanted = sim + (ahead as f64 * speed) as i64;
                assert!((found.0 - wanted).abs() < MS, "{speed}: {} {wanted}", found.0);
            }
        }
    }
}

#[test]
fn simulated_time_stands_still_when_no_tick_comes() {
    let aligner = settled(10);
    let newest = 10 * SECOND - 5 * MS;
    for pause in [1, 10, 100] {
        let found = aligner.sim_time_at(RosTime(EPOCH_NS + newest + pause * SECOND)).unwrap();
        assert_eq!(found.0, newest + 100 * MS);
    }
    // Nor does it go back when the host's clock does.
    let found = aligner.sim_time_at(RosTime(EPOCH_NS + newest - SECOND));
    assert_eq!(found, Some(SimTime(newest)));
}
