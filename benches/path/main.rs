//! The whole path against its floor: simulator -> bridge -> subscriber, as ratios in one run.
//!
//! The floor is a bare loop that only receives (or maps) a frame and writes it with the same middleware settings. Floor
//! and bridge run in turns as processes of their own; this process is simulator and subscriber for both, so that one
//! clock tells the latency. `cargo bench --bench path -- --quick` is a smoke test.
mod floor;
#[path = "../shared/processor.rs"]
mod processor;
mod subject;
mod watch;

use rfly_bridge::emulator::{Emulator, EmulatorOptions, Faults};
use std::sync::Arc;
use std::time::Duration;
use subject::{Config, Subject};
use watch::Watch;

/// Frames per second of every sensor.
const HZ: u64 = 30;
/// Time until emulator, subject and subscriber have found each other.
const WARM_UP: Duration = Duration::from_secs(3);

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["floor", transport, width, height] => {
            floor::run(transport, width.parse()?, height.parse()?)
        }
        words => compare(words.contains(&"--quick")),
    }
}

/// Runs every comparison and prints the tables.
fn compare(quick: bool) -> Result<()> {
    let (seconds, rounds) = if quick { (2, 1) } else { (6, 3) };
    let cores = std::thread::available_parallelism()?;
    println!("{cores} cores; {rounds} rounds of {seconds} s in turns, medians\n");
    println!("(a) one raw sensor at {HZ} Hz, against the floor\n");
    println!(
        "| transport | size | CPU/frame: floor | bridge | ratio | latency: floor | bridge | ratio | lost: floor | bridge |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (transport, mode) in [("udp", 2), ("shm", 0)] {
        for (width, height) in [(640, 480), (1280, 720), (1920, 1080)] {
            let config = Config::write(1, width, height, mode)?;
            let (mut floors, mut bridges) = (Vec::new(), Vec::new());
            for _ in 0..rounds {
                floors.push(measure(
                    &config,
                    || Subject::floor(transport, &config),
                    seconds,
                )?);
                bridges.push(measure(
                    &config,
                    || Subject::bridge(&config, &["imu.enabled:=false"]),
                    seconds,
                )?);
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
        }
    }
    load(seconds)?;
    idle(seconds)
}

/// One measurement of one subject.
struct Run {
    cpu_ms: f64,
    latency_ms: f64,
    lost: i64,
}

impl Run {
    fn median(runs: &[Self]) -> Self {
        let median = |value: fn(&Self) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
        };
        Self {
            cpu_ms: median(|r| r.cpu_ms),
            latency_ms: median(|r| r.latency_ms),
            lost: runs.iter().map(|r| r.lost).sum(),
        }
    }
}

fn simulator() -> Result<Arc<Emulator>> {
    let options = EmulatorOptions {
        pattern: true,
        // As fast as the machine can: pacing would be in both latencies and flatter their ratio.
        link_gbit_per_s: 0.0,
        ..EmulatorOptions::default()
    };
    Ok(Arc::new(Emulator::start(options, Faults::default())?))
}

fn measure(config: &Config, start: impl Fn() -> Result<Subject>, seconds: u64) -> Result<Run> {
    let emulator = simulator()?;
    let subject = start()?;
    let watch = Watch::start(1, &emulator)?;
    config.request()?;
    std::thread::sleep(WARM_UP);
    let before = (
        subject.cpu_seconds()?,
        watch.images(),
        config.sent(&emulator),
    );
    watch.forget_latencies();
    std::thread::sleep(Duration::from_secs(seconds));
    let after = (
        subject.cpu_seconds()?,
        watch.images(),
        config.sent(&emulator),
    );
    let frames = after.1 - before.1;
    let sent = after.2 - before.2;
    Ok(Run {
        cpu_ms: (after.0 - before.0) * 1e3 / frames.max(1) as f64,
        latency_ms: watch.median_latency_ms(),
        // One frame may be on its way at either end.
        lost: (sent as i64 - frames as i64).max(0)
            - i64::from(sent != frames && sent.abs_diff(frames) <= 1),
    })
}

/// (b) Eight sensors and the IMU.
fn load(seconds: u64) -> Result<()> {
    let config = Config::write(8, 640, 480, 2)?;
    let emulator = simulator()?;
    let bridge = Subject::bridge(&config, &[])?;
    let watch = Watch::start(8, &emulator)?;
    std::thread::sleep(WARM_UP);
    let before = (
        watch.images(),
        config.sent(&emulator),
        watch.samples(),
        bridge.cpu_seconds()?,
    );
    std::thread::sleep(Duration::from_secs(seconds));
    let after = (
        watch.images(),
        config.sent(&emulator),
        watch.samples(),
        bridge.cpu_seconds()?,
    );
    println!("\n(b) 8 raw sensors of 640x480 at {HZ} Hz and the IMU at 200 Hz, all subscribed\n");
    println!(
        "images sent {}, received {}",
        after.1 - before.1,
        after.0 - before.0
    );
    println!("dropped by the bridge: {}", watch.drops());
    println!(
        "IMU samples received {} in {seconds} s; datagram to publish p99 {}",
        after.2 - before.2,
        watch.imu_p99()
    );
    println!(
        "bridge: {:.0} % of a core",
        (after.3 - before.3) / seconds as f64 * 100.0
    );
    Ok(())
}

/// (d) Thirty-two sensors that nobody subscribes to.
fn idle(seconds: u64) -> Result<()> {
    let config = Config::write(32, 640, 480, 2)?;
    let emulator = simulator()?;
    let bridge = Subject::bridge(&config, &[])?;
    std::thread::sleep(WARM_UP);
    let before = (bridge.cpu_seconds()?, config.sent(&emulator));
    std::thread::sleep(Duration::from_secs(seconds));
    let share = (bridge.cpu_seconds()? - before.0) / seconds as f64 * 100.0;
    let rate = (config.sent(&emulator) - before.1) / seconds;
    println!(
        "\n(d) 32 raw sensors of 640x480 without subscribers, {rate} frames/s arriving: bridge at {share:.1} % of a core"
    );
    Ok(())
}
