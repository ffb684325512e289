use super::rig::{Rig, overflows, pose, socket, still, wait};
use rfly_bridge::emulator::{FaultCounts, FaultInjector, Faults};
use rfly_bridge::wire::FragmentHeader;
use serde_json::Value;

const ALL: Faults = Faults {
    loss: 0.1,
    reorder: 0.05,
    duplicate: 0.03,
    corrupt: 0.02,
    delay_ms: 2.0,
    delay_jitter_ms: 3.0,
    seed: 42,
    scope: rfly_bridge::emulator::FaultScope::Data,
};

/// What becomes of 5000 numbered datagrams.
fn run(faults: &Faults, stream: u64) -> (Vec<(u128, Vec<u8>)>, FaultCounts) {
    let mut injector = FaultInjector::new(stream);
    let mut out = Vec::new();
    for i in 0..5000u32 {
        let mut datagram = vec![7; 100];
        datagram[..4].copy_from_slice(&i.to_le_bytes());
        injector.pass(faults, [&datagram, &[]], |delay, parts| {
            out.push((delay.as_nanos(), parts.concat()));
        });
    }
    (out, injector.counts())
}

#[test]
fn one_seed_does_the_same_harm_again_and_another_does_other_harm() {
    assert_eq!(run(&ALL, 1), run(&ALL, 1));
    assert_ne!(run(&ALL, 1), run(&ALL, 2));
    assert_ne!(run(&ALL, 1), run(&Faults { seed: 43, ..ALL }, 1));
}

#[test]
fn faults_happen_as_often_as_asked() {
    let (out, counts) = run(&ALL, 1);
    let about = |found: u64, share: f64, what| {
        let expected = share * 5000.0;
        let tolerance = 4.0 * expected.sqrt() + 1.0;
        super::rig::near(found as f64, expected, tolerance, what);
    };
    about(counts.lost, 0.1, "lost");
    about(counts.reordered, 0.9 * 0.05, "reordered");
    about(counts.duplicated, 0.9 * 0.95 * 0.03, "duplicated");
    about(counts.corrupted, 0.9 * 0.02, "corrupted");
    let held = out.len() as u64 + counts.lost - counts.duplicated;
    assert!((4999..=5000).contains(&held), "the last one may still be held back");
    assert!(out.iter().all(|(delay, _)| (2_000_000..=5_000_000).contains(delay)));
}

#[test]
fn one_fault_does_not_move_the_others() {
    let quiet = Faults { loss: 0.1, seed: 42, ..Faults::default() };
    let numbers = |faults: &Faults| {
        let (out, _) = run(faults, 1);
        let mut n: Vec<_> =
            out.iter().map(|(_, d)| u32::from_le_bytes([d[0], d[1], d[2], d[3]])).collect();
        n.sort_unstable();
        n.dedup();
        n
    };
    assert_eq!(numbers(&quiet), numbers(&Faults { duplicate: 0.5, delay_ms: 9.0, ..quiet }));
}

#[test]
fn a_delay_ends_within_an_hour() {
    for delay_ms in [1e9, 1e300, f64::INFINITY] {
        let faults = Faults { delay_ms, ..Faults::default() };
        let mut delays = Vec::new();
        FaultInjector::new(1).pass(&faults, [&[1], &[]], |delay, _| delays.push(delay.as_secs()));
        assert_eq!(delays, [3600], "{delay_ms} ms");
    }
}

#[test]
fn a_link_without_bandwidth_is_slow_and_does_not_end_the_emulator() {
    let world = still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[]);
    let rig = Rig::with(world, |o| o.link_gbit_per_s = 1e-300, Faults::default());
    rig.send(&rig.request(1, 1));
    rig.frame();
    // The thread of the frames counts them after it has sent them.
    wait(|| rig.emulator.stats().sensors.get(&1).is_some_and(|sensor| sensor.frames > 0));
}

#[test]
fn reordered_datagrams_follow_their_successor() {
    let (out, counts) = run(&Faults { reorder: 0.2, seed: 3, ..Faults::default() }, 1);
    let numbers: Vec<_> =
        out.iter().map(|(_, d)| u32::from_le_bytes([d[0], d[1], d[2], d[3]])).collect();
    let backwards = numbers.windows(2).filter(|w| w[1] < w[0]).count() as u64;
    assert!(backwards > 500 && backwards <= counts.reordered);
    assert!(
        numbers.iter().enumerate().all(|(i, n)| n.abs_diff(i as u32) <= 1),
        "neighbours change places"
    );
}

#[test]
fn the_reader_misses_exactly_what_the_emulator_says_it_lost() {
    // While the reader does not run, the system may have to drop something itself. It says so; such a run proves nothing.
    let proven = (0..50).any(|_| reads_all_but_what_is_lost());
    assert!(proven, "the system dropped datagrams in every run");
}

/// `false` if the system dropped datagrams, too.
fn reads_all_but_what_is_lost() -> bool {
    let world = still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[]);
    let faults = Faults { loss: 0.2, duplicate: 0.1, seed: 5, ..Faults::default() };
    let rig = Rig::with(world, |_| {}, faults);
    let request = rfly_bridge::wire::SensorRequest { width: 300, height: 200, ..rig.request(1, 1) };
    rig.send(&request);
    let (mut seen, mut distinct) = (0, std::collections::BTreeSet::new());
    let mut buffer = vec![0; 70_000];
    let mut read = || {
        let Ok(len) = rig.client.recv(&mut buffer) else {
            return false;
        };
        let header = FragmentHeader::parse(&buffer[..len], len).unwrap();
        distinct.insert((header.frame_id, header.seq));
        seen += 1;
        true
    };
    let frames = || rig.emulator.stats().sensors.get(&1).map_or(0, |s| s.frames);
    while frames() < 20 {
        assert!(read(), "the emulator sends nothing");
    }
    rig.emulator.set_paused(true);
    rig.settle(); // a tick may have been under way
    rig.client.set_nonblocking(true).unwrap();
    while read() {}
    if overflows(&rig.client) > 0 {
        return false;
    }
    let stats = rig.emulator.stats().sensors[&1];
    assert_eq!(seen, stats.datagrams);
    assert_eq!(
        distinct.len() as u64,
        stats.frames * 4 - stats.faults.lost,
        "180000 bytes are 4 datagrams"
    );
    assert_eq!(seen - distinct.len() as u64, stats.faults.duplicated);
    assert!(stats.harmed > 0 && stats.harmed <= stats.faults.lost);
    true
}

/// Executes a command of the emulator; its answer.
fn command(rig: &Rig, text: &str) -> Value {
    let client = socket();
    client.send_to(text.as_bytes(), rig.emulator.control().unwrap()).unwrap();
    let mut buffer = vec![0; 60_000];
    let len = client.recv(&mut buffer).unwrap();
    serde_json::from_slice(&buffer[..len]).unwrap()
}

#[test]
fn a_run_begins_with_its_speed_in_the_truth() {
    let log = std::env::temp_dir().join(format!("rfly_speed_{}.jsonl", std::process::id()));
    let world = still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[]);
    let truth = log.clone();
    let rig =
        Rig::with(world, |o| (o.control, o.truth) = (Some(0), Some(truth)), Faults::default());
    for text in ["speed 0.5", "restart"] {
        assert_eq!(command(&rig, text)["ok"], true, "{text}");
    }
    // A round may have begun before the restart.
    let rounds = rig.emulator.stats().rounds;
    wait(|| rig.emulator.stats().rounds > rounds + 1);
    drop(rig);
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let starts: Vec<Value> = lines.filter(|line| line["kind"] == "start").collect();
    let speeds: Vec<_> = starts.iter().map(|start| &start["speed"]).collect();
    assert_eq!(speeds, [1.0, 0.5]);
}

#[test]
fn commands_change_faults_and_report_counters() {
    let world = still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[]);
    let rig = Rig::with(world, |o| o.control = Some(0), Faults::default());
    let ask = |text: &str| command(&rig, text);
    assert_eq!(ask("faults loss=1 seed=9")["ok"], true);
    rig.send(&rig.request(3, 1));
    wait(|| rig.emulator.stats().sensors.get(&3).is_some_and(|s| s.frames > 3));
    let stats = ask("stats");
    assert_eq!(stats["sensors"]["3"]["datagrams"], 0);
    assert!(stats["sensors"]["3"]["faults"]["lost"].as_u64().unwrap() > 2);
    assert_eq!(ask("faults none")["ok"], true);
    rig.frame();
    assert_eq!(ask("restart")["ok"], true);
    assert_eq!(ask("stats")["live"], 0);
    for nonsense in [
        "",
        "explode",
        "faults loss",
        "faults loss=x",
        "faults loss=5",
        "faults gravity=1",
        "speed -1",
    ] {
        assert_eq!(ask(nonsense)["ok"], false, "{nonsense:?}");
    }
}
