//! The rule of the vendor's SDK against what the vendor's own code computed.
use crate::support::golden;
use rfly_bridge::time::{
    AlignerSettings, Estimator, Heartbeat, RosTime, SimTime, SourceKind, TimeAligner,
};
use rfly_bridge::wire::{HeartbeatPacket, ImuPacket, Packet};
use std::collections::BTreeMap;

fn aligner() -> TimeAligner {
    TimeAligner::new(AlignerSettings { estimator: Estimator::Vendor, ..Default::default() })
}

fn time(seconds: f64) -> RosTime {
    RosTime((seconds * 1e9).round() as i64)
}

/// The recorded f64 seconds have a resolution of 0.24 µs.
fn assert_same(stamp: RosTime, seconds: f64, name: &str) {
    assert!((stamp.0 - time(seconds).0).abs() < 500, "{name}: {} instead of {seconds}", stamp.0);
}

#[test]
fn heartbeats_give_the_recorded_start() {
    let mut checked = 0;
    for vector in golden::load("recv_time") {
        let args = &vector["args"];
        let texts = |key: &str| -> Vec<String> {
            let all = args[key].as_array().unwrap().iter();
            all.map(|v| v.as_str().unwrap().to_owned()).collect()
        };
        let (local, sources, now) =
            (texts("local_ips"), texts("sources"), golden::numbers(&args["now"]));
        let mut clocks: BTreeMap<i32, TimeAligner> = BTreeMap::new();
        for ((bytes, source), now) in vector.input_packets().iter().zip(&sources).zip(&now) {
            let Ok(beat) = HeartbeatPacket::parse(bytes) else {
                continue;
            };
            let clock = clocks.entry(beat.copter_id.get()).or_insert_with(aligner);
            clock.heartbeat(Heartbeat {
                start_ms: beat.start_ms.get(),
                now_ms: beat.now_ms.get(),
                host: time(*now),
                local: local.contains(source),
            });
        }
        let decoded = vector["decoded"].as_array().unwrap();
        assert_eq!(clocks.len(), decoded.len(), "{}", vector.name());
        for record in decoded {
            let id = record["copterID"].as_i64().unwrap() as i32;
            let clock = clocks.get_mut(&id).unwrap();
            let start = clock.receive(SimTime(0), time(1.8e9), SourceKind::Image).unwrap();
            assert_same(start, golden::number(&record["pyStartTimeStmp"]), vector.name());
            checked += 1;
        }
    }
    assert_eq!(checked, 8);
}

#[test]
fn without_a_heartbeat_the_first_imu_sample_gives_the_start_and_keeps_it() {
    let vector = golden::load_one("recv_imu", "imu_no_heartbeat");
    let now = time(golden::number(&vector["args"]["now"]));
    let mut clock = aligner();
    let mut stamp = RosTime(0);
    for bytes in vector.input_packets() {
        let sample = ImuPacket::parse(&bytes).unwrap();
        let sim = SimTime::from_secs(sample.sim_time.get());
        stamp = clock.receive(sim, now, SourceKind::Imu).unwrap();
    }
    assert_same(stamp, golden::number(&vector["decoded"]["imuStmp"]), vector.name());
}

#[test]
fn without_a_heartbeat_an_image_is_assumed_to_take_10_ms() {
    let mut clock = aligner();
    let stamp = clock.receive(SimTime::from_secs(5.0), time(1.7e9), SourceKind::Image);
    let stamp = stamp.unwrap();
    assert_eq!(stamp, RosTime(1_700_000_000_000_000_000 - 10_000_000));
    clock.heartbeat(Heartbeat {
        start_ms: 1_600_000_000_000,
        now_ms: 1_600_000_000_000,
        host: time(1.7e9),
        local: true,
    });
    let later = clock.receive(SimTime::from_secs(6.0), time(1.7e9 + 1.5), SourceKind::Image);
    assert_eq!(
        later.unwrap().0 - stamp.0,
        1_000_000_000,
        "kept from then on, even when a heartbeat comes"
    );
}

#[test]
fn a_restart_that_no_heartbeat_has_told_of_is_stamped_by_its_own_ticks() {
    let beat = |start_ms: i64, now_ms: i64| Heartbeat {
        start_ms,
        now_ms,
        host: RosTime(now_ms * 1_000_000),
        local: true,
    };
    let start = 1_700_000_000_000_i64;
    let mut clock = aligner();
    clock.heartbeat(beat(start, start));
    let tick = |clock: &mut TimeAligner, sim_ms: i64, host_ms: i64| {
        let host = RosTime((host_ms + 1) * 1_000_000);
        clock.receive(SimTime(sim_ms * 1_000_000), host, SourceKind::Image)
    };
    for n in 0..10_000 {
        tick(&mut clock, n * 10, start + n * 10);
    }
    let again = start + 103_000;
    assert_eq!(tick(&mut clock, 0, again), None, "not confirmed yet");
    let stamp = tick(&mut clock, 60, again + 60).expect("confirmed");
    assert_eq!(stamp, RosTime((again + 60 + 1 - 10) * 1_000_000));
    // The heartbeat of the new run changes nothing, and announces no further restart.
    clock.heartbeat(beat(again, again + 500));
    let later = tick(&mut clock, 560, again + 560).expect("a tick of the run");
    assert_eq!(later.0 - stamp.0, 500_000_000);
    assert_eq!(clock.status().restarts, 1);
}
