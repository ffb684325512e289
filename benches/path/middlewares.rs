//! (f) The same bridge and images on Cyclone DDS, on Zenoh through sockets, and on Zenoh in shared memory, in turns.
use super::subject::{Config, Subject};
use super::watch::Watch;
use super::{HZ, Result, Run, measure_by, report, simulator};
use rfly_bridge::ros::MiddlewareKind;
use serde_json::{Value, json};

/// Name, middleware, parameter. 48 MB is the default; an unprivileged user may need a higher limit of locked memory for it.
const WAYS: [(&str, MiddlewareKind, &str); 3] = [
    ("Cyclone DDS, UDP", MiddlewareKind::Dds, ""),
    ("Zenoh, TCP", MiddlewareKind::Zenoh, "zenoh.shared_memory_mb:=0"),
    ("Zenoh, shared memory", MiddlewareKind::Zenoh, "zenoh.shared_memory_mb:=48"),
];

pub(crate) fn compare(seconds: u64, rounds: usize) -> Result<Value> {
    println!("(f) one raw sensor at {HZ} Hz over UDP, by the middleware to its subscriber\n");
    println!("| size | middleware | CPU/frame of the bridge | ratio | latency p50 | p99 | lost |");
    println!("|---|---|---|---|---|---|---|");
    let _router = Subject::router()?;
    let mut rows = Vec::new();
    for (width, height) in [(640, 480), (1280, 720), (1920, 1080)] {
        let config = Config::write(1, width, height, 2, HZ)?;
        let mut runs = WAYS.map(|_| Vec::new());
        for _ in 0..rounds {
            for ((_, kind, memory), runs) in WAYS.iter().zip(&mut runs) {
                let parameters = ["imu.enabled:=false", *memory];
                let parameters = &parameters[..if memory.is_empty() { 1 } else { 2 }];
                let bridge = || Subject::bridge_on(*kind, &config, parameters);
                let emulator = simulator()?;
                let watch = |emulator: &_| Watch::start_on(*kind, 1, emulator);
                runs.push(measure_by(&emulator, &config, bridge, watch, seconds)?);
            }
        }
        let medians = runs.each_ref().map(|runs| Run::median(runs));
        let [dds, ..] = &medians;
        for (((name, ..), runs), run) in WAYS.iter().zip(&runs).zip(&medians) {
            println!(
                "| {width}x{height} | {name} | {:.2} ms | {:.2} | {:.2} ms | {:.2} ms | {} |",
                run.cpu_ms,
                run.cpu_ms / dds.cpu_ms,
                run.latency_ms,
                run.p99_ms,
                run.lost
            );
            rows.push(json!({
                "size": format!("{width}x{height}"), "middleware": name, "bridge": run, "rounds": runs,
            }));
        }
    }
    Ok(json!({
        "bench": "middlewares",
        "machine": report::machine(),
        "rounds": rounds,
        "seconds": seconds,
        "hz": HZ,
        "rows": rows,
    }))
}
