use super::world::*;
use proptest::prelude::*;
use rfly_bridge::time::{RosTime, SimTime, SourceKind, TimeAligner};
use std::collections::BTreeMap;

fn source() -> impl Strategy<Value = Source> {
    (5.0..250.0, 0.0..5.0, 0.01..10.0, 0.0..0.5, any::<bool>()).prop_map(
        |(rate_hz, shortest_ms, jitter_ms, loss, imu)| {
            let kind = if imu { SourceKind::Imu } else { SourceKind::Image };
            Source { rate_hz, shortest_ms, jitter_ms, loss, kind, ..IMU }
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0.0..5.0).prop_map(Event::Pause),
        (2.0..5.0).prop_map(Event::Restart),
        (-3.0..3.0).prop_map(Event::HostStep),
        (0.3..3.0).prop_map(Event::Speed),
        // Its end reorders datagrams by as much; the aligner stands 1 s of simulator time.
        (0.0..300.0, 0.0..5.0).prop_map(|(ms, s)| Event::Congestion(ms, s)),
    ]
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let sources = prop::collection::vec(source(), 1..4);
    let events = prop::collection::vec((0.2..10.0, event()), 0..3);
    (sources, events, -500.0..500.0, 0.3..3.0).prop_map(|(sources, gaps, host_ppm, speed)| {
        let mut at = 0.0;
        let mut events = Vec::new();
        for (gap, event) in gaps {
            at += gap;
            if let Event::Restart(_) = event {
                // A run must be longer than 2 s of simulator time for its end to be recognisable.
                at += 8.0;
            }
            events.push((at, event));
            if let Event::Pause(s) | Event::Restart(s) = event {
                at += s;
            }
        }
        Scenario { events, host_ppm, speed, seconds: 45.0, ..Scenario::new("", &sources) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Whatever happens to the clocks and the network: within a run a later tick has a later stamp, a tick has one
    /// stamp, and a run begins after the run before.
    #[test]
    fn stamps_are_monotonic_and_identical_for_identical_ticks(scenario in scenario()) {
        let mut aligner = TimeAligner::new(scenario.settings);
        let mut runs: Vec<BTreeMap<i64, i64>> = vec![BTreeMap::new(); 4];
        for arrival in play(&scenario) {
            let stamp = aligner.receive(SimTime(arrival.sim), RosTime(arrival.host), arrival.kind);
            // Far ahead of time or behind it, a tick waits until others confirm it.
            let Some(RosTime(stamp)) = stamp else { continue };
            let run = &mut runs[arrival.run as usize];
            let known = *run.entry(arrival.sim).or_insert(stamp);
            prop_assert_eq!(known, stamp, "tick {} of run {}", arrival.sim, arrival.run);
            let earlier = run.range(..arrival.sim).next_back();
            let later = run.range(arrival.sim + 1..).next();
            // Ticks closer than 1 µs, from streams whose periods nearly coincide, may share a stamp.
            if let Some((&sim, &other)) = earlier {
                prop_assert!(other < stamp || (other == stamp && arrival.sim - sim < 1_000), "{sim}: {other}, {}: {stamp}", arrival.sim);
            }
            if let Some((&sim, &other)) = later {
                prop_assert!(stamp < other || (other == stamp && sim - arrival.sim < 1_000), "{}: {stamp}, {sim}: {other}", arrival.sim);
            }
        }
        for pair in runs.windows(2) {
            if let (Some(last), Some(first)) = (pair[0].values().max(), pair[1].values().min()) {
                prop_assert!(first > last, "a run begins at {first}, the one before ends at {last}");
            }
        }
    }

    /// The same script as the fuzzer's.
    #[test]
    fn a_clock_that_was_told_anything_is_right_again(script in prop::collection::vec(any::<u8>(), 0..600)) {
        crate::support::clock::play(&script);
    }

    /// Nothing that can arrive makes it panic, or stand still for what is good afterwards.
    #[test]
    fn any_numbers_are_survived(ticks in prop::collection::vec((any::<i64>(), any::<i64>()), 0..60)) {
        let mut aligner = TimeAligner::new(Default::default());
        for (sim, host) in ticks {
            aligner.receive(SimTime(sim), RosTime(host), SourceKind::Image);
            aligner.stamp(SimTime(host));
            aligner.status();
        }
    }
}

/// A camera of a simulation at 2.6 times the speed of the clock that loses 4 of 10 images: no two of the first ones agree on
/// where the clock is.
#[test]
fn doubtful_ticks_after_other_doubtful_ticks_are_stamped_later() {
    let source = super::world::Source {
        rate_hz: 6.906_725_303_138_318,
        shortest_ms: 0.0,
        jitter_ms: 0.01,
        loss: 0.409_587_423_476_390_77,
        kind: SourceKind::Image,
        ..IMU
    };
    let scenario = Scenario { speed: 2.579_262_193_348_748, ..Scenario::new("", &[source]) };
    let mut aligner = TimeAligner::new(scenario.settings);
    let mut last = i64::MIN;
    for arrival in play(&scenario) {
        let stamp = aligner.receive(SimTime(arrival.sim), RosTime(arrival.host), arrival.kind);
        if let Some(RosTime(stamp)) = stamp {
            assert!(last < stamp, "{} ns back at {}", last - stamp, arrival.sim);
            last = stamp;
        }
    }
}
