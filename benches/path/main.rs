//! The whole path against its floor: simulator -> bridge -> subscriber, as ratios in one run.
//!
//! The floor is a bare loop that only receives (or maps) a frame and publishes it with the same middleware settings. Floor and
//! bridge run in turns as processes of their own; this process is simulator and subscriber for both, so one clock measures
//! the latency. `cargo bench --bench path -- WORD` measures other things: `view`, clients of the view; `instructions`; `pieces`,
//! (e) only; `zenoh` (with `--features zenoh`), middlewares. `--quick` is a smoke test; `--json FILE` writes the figures, too.
mod floor;
mod instructions;
#[cfg(feature = "zenoh")]
mod middlewares;
#[path = "../shared/processor.rs"]
mod processor;
#[path = "../shared/report.rs"]
mod report;
mod subject;
mod view;
mod watch;

use rfly_bridge::emulator::{Emulator, EmulatorOptions, Faults};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use subject::{Config, Subject};
use watch::Watch;

/// Frames per second of every sensor.
const HZ: u64 = 30;
/// Time for emulator, subject and subscriber to find each other.
const WARM_UP: Duration = Duration::from_secs(3);

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["floor", transport, width, height] => {
            floor::run(transport, width.parse()?, height.parse()?)
        }
        words => {
            let (seconds, rounds) = match words.contains(&"--quick") {
                true => (2, 1),
                false => (6, 3),
            };
            match words {
                ["view", ..] => write(&view::compare(seconds, rounds)?),
                #[cfg(feature = "zenoh")]
                ["zenoh", ..] => write(&middlewares::compare(seconds, rounds)?),
                ["instructions", ..] => write(&instructions::compare()?),
                ["pieces", ..] => write(&pieces(seconds, rounds)?),
                _ => compare(seconds, rounds),
            }
        }
    }
}

/// Writes the figures to the file of `--json`, if given.
fn write(report: &Value) -> Result<()> {
    match report::file()? {
        Some(file) => Ok(report::write(&file, report)?),
        None => Ok(()),
    }
}

/// Runs (a), (b), (d) and (e), and prints the tables.
fn compare(seconds: u64, rounds: usize) -> Result<()> {
    let machine = report::machine();
    println!("{} cores; {rounds} rounds of {seconds} s in turns, medians\n", machine["cores"]);
    let report = json!({
        "bench": "path",
        "machine": machine,
        "rounds": rounds,
        "seconds": seconds,
        "hz": HZ,
        "floor": against_floor(seconds, rounds)?,
        "load": load(seconds)?,
        "idle": idle(seconds)?,
        "pieces": pieces(seconds, rounds)?,
    });
    write(&report)
}

/// (a) One sensor, floor and bridge in turns.
fn against_floor(seconds: u64, rounds: usize) -> Result<Value> {
    println!("(a) one raw sensor at {HZ} Hz, against the floor\n");
    println!(
        "| transport | size | CPU/frame: floor | bridge | ratio | latency: floor | bridge | ratio | lost: floor | bridge |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut rows = Vec::new();
    for (transport, mode) in [("udp", 2), ("shm", 0)] {
        for (width, height) in [(640, 480), (1280, 720), (1920, 1080)] {
            let config = Config::write(1, width, height, mode, HZ)?;
            let (mut floors, mut bridges) = (Vec::new(), Vec::new());
            for _ in 0..rounds {
                let floor = || Subject::floor(transport, &config, &[]);
                floors.push(measure(&config, floor, seconds)?);
                let bridge = || Subject::bridge(&config, &["imu.enabled:=false"], &[]);
                bridges.push(measure(&config, bridge, seconds)?);
            }
            let (floor, bridge) = (Run::median(&floors), Run::median(&bridges));
            println!(
                "| {transport} | {width}x{height} | {:.2} ms | {:.2} ms | {:.2} | {:.2} ms | {:.2} ms | {:.2} | {} | {} |",
                floor.cpu_ms,
                bridge.cpu_ms,
                bridge.cpu_ms / floor.cpu_ms,
                floor.latency_ms,
                bridge.latency_ms,
                bridge.latency_ms / floor.latency_ms,
                floor.lost,
                bridge.lost,
            );
            rows.push(json!({
                "transport": transport,
                "size": format!("{width}x{height}"),
                "floor": floor,
                "bridge": bridge,
                "floor_rounds": floors,
                "bridge_rounds": bridges,
            }));
        }
    }
    Ok(rows.into())
}

/// One measurement of one subject.
#[derive(Serialize)]
struct Run {
    cpu_ms: f64,
    latency_ms: f64,
    p99_ms: f64,
    lost: i64,
}

impl Run {
    /// Returns the medians; `lost` is the sum.
    fn median(runs: &[Self]) -> Self {
        let median = |value: fn(&Self) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
        };
        Self {
            cpu_ms: median(|r| r.cpu_ms),
            latency_ms: median(|r| r.latency_ms),
            p99_ms: median(|r| r.p99_ms),
            lost: runs.iter().map(|r| r.lost).sum(),
        }
    }
}

fn simulator() -> Result<Arc<Emulator>> {
    simulator_with(|_| ())
}

fn simulator_with(change: impl Fn(&mut EmulatorOptions)) -> Result<Arc<Emulator>> {
    let mut options = EmulatorOptions {
        pattern: true,
        // Without pacing, which would add to both latencies and bring their ratio closer to 1.
        link_gbit_per_s: 0.0,
        ..EmulatorOptions::default()
    };
    change(&mut options);
    Ok(Arc::new(Emulator::start(options, Faults::default())?))
}

fn measure(config: &Config, start: impl Fn() -> Result<Subject>, seconds: u64) -> Result<Run> {
    measure_with(&simulator()?, config, start, seconds)
}

fn measure_with(
    emulator: &Arc<Emulator>,
    config: &Config,
    start: impl Fn() -> Result<Subject>,
    seconds: u64,
) -> Result<Run> {
    measure_by(emulator, config, start, |emulator| Watch::start(1, emulator), seconds)
}

fn measure_by(
    emulator: &Arc<Emulator>,
    config: &Config,
    start: impl Fn() -> Result<Subject>,
    watch: impl Fn(&Arc<Emulator>) -> Result<Watch>,
    seconds: u64,
) -> Result<Run> {
    let subject = start()?;
    let watch = watch(emulator)?;
    config.request()?;
    std::thread::sleep(WARM_UP);
    let before = (subject.cpu_seconds()?, watch.images(), config.sent(emulator));
    watch.forget_latencies();
    std::thread::sleep(Duration::from_secs(seconds));
    let after = (subject.cpu_seconds()?, watch.images(), config.sent(emulator));
    let frames = after.1 - before.1;
    let sent = after.2 - before.2;
    let [latency_ms, p99_ms] = [0.5, 0.99].map(|quantile| watch.latency_ms(quantile));
    Ok(Run {
        cpu_ms: (after.0 - before.0) * 1e3 / frames.max(1) as f64,
        latency_ms,
        p99_ms,
        // One frame may be on its way at either end.
        lost: if sent.abs_diff(frames) <= 1 { 0 } else { (sent as i64 - frames as i64).max(0) },
    })
}

/// (b) Eight sensors and the IMU.
fn load(seconds: u64) -> Result<Value> {
    let config = Config::write(8, 640, 480, 2, HZ)?;
    let emulator = simulator()?;
    let bridge = Subject::bridge(&config, &[], &[])?;
    let watch = Watch::start(8, &emulator)?;
    std::thread::sleep(WARM_UP);
    let before = (watch.images(), config.sent(&emulator), watch.samples(), bridge.cpu_seconds()?);
    std::thread::sleep(Duration::from_secs(seconds));
    let after = (watch.images(), config.sent(&emulator), watch.samples(), bridge.cpu_seconds()?);
    let (sent, received) = (after.1 - before.1, after.0 - before.0);
    let (samples, imu_p99_ms) = (after.2 - before.2, watch.imu_p99_ms());
    let share = (after.3 - before.3) / seconds as f64 * 100.0;
    println!("\n(b) 8 raw sensors of 640x480 at {HZ} Hz and the IMU at 200 Hz, all subscribed\n");
    println!("images sent {sent}, received {received}");
    println!("dropped by the bridge: {}", watch.drops());
    println!(
        "IMU samples received {samples} in {seconds} s; datagram to publish p99 {imu_p99_ms} ms"
    );
    println!("bridge: {share:.0} % of a core");
    Ok(json!({
        "sent": sent,
        "received": received,
        "dropped": watch.drops(),
        "imu_samples": samples,
        "imu_p99_ms": imu_p99_ms,
        "core_percent": share,
    }))
}

/// (e) Pieces of 1400 bytes, as simulators in WSL send, beside pieces of 60000; at a rate at which the emulator can send them.
fn pieces(seconds: u64, rounds: usize) -> Result<Value> {
    const SLOW: u64 = 10;
    println!("\n(e) one raw sensor of 1920x1080 at {SLOW} Hz, by the size of the pieces\n");
    println!("| pieces | datagrams/frame | CPU/frame | ratio | latency | lost |");
    println!("|---|---|---|---|---|---|");
    let config = Config::write(1, 1920, 1080, 2, SLOW)?;
    let bridge = || Subject::bridge(&config, &["imu.enabled:=false"], &[]);
    let ways = [
        ("60000 bytes", 60_000, false),
        ("1400 bytes, coalesced by the kernel", 1400, true),
        ("1400 bytes, one by one", 1400, false),
    ];
    let mut runs = ways.map(|_| Vec::new());
    for _ in 0..rounds {
        for ((_, piece_bytes, bursts), runs) in ways.iter().zip(&mut runs) {
            let emulator = simulator_with(|options| {
                (options.piece_bytes, options.bursts) = (*piece_bytes, *bursts);
            })?;
            runs.push(measure_with(&emulator, &config, bridge, seconds)?);
        }
    }
    let medians = runs.each_ref().map(|runs| Run::median(runs));
    let mut rows = Vec::new();
    for ((name, piece_bytes, _), run) in ways.iter().zip(&medians) {
        let datagrams = (1920 * 1080 * 3_usize).div_ceil(*piece_bytes);
        println!(
            "| {name} | {datagrams} | {:.2} ms | {:.2} | {:.2} ms | {} |",
            run.cpu_ms,
            run.cpu_ms / medians[0].cpu_ms,
            run.latency_ms,
            run.lost
        );
        rows.push(json!({ "pieces": name, "datagrams": datagrams, "bridge": run }));
    }
    Ok(rows.into())
}

/// (d) Thirty-two sensors that nobody subscribes to.
fn idle(seconds: u64) -> Result<Value> {
    let config = Config::write(32, 640, 480, 2, HZ)?;
    let emulator = simulator()?;
    let bridge = Subject::bridge(&config, &[], &[])?;
    std::thread::sleep(WARM_UP);
    let before = (bridge.cpu_seconds()?, config.sent(&emulator));
    std::thread::sleep(Duration::from_secs(seconds));
    let share = (bridge.cpu_seconds()? - before.0) / seconds as f64 * 100.0;
    let rate = (config.sent(&emulator) - before.1) / seconds;
    println!(
        "\n(d) 32 raw sensors of 640x480 without subscribers, {rate} frames/s arriving: bridge at {share:.1} % of a core"
    );
    Ok(json!({ "frames_per_s": rate, "core_percent": share }))
}
