//! The whole path against its floor: simulator -> bridge -> subscriber, as ratios in one run.
//!
//! The floor is a bare loop that only receives (or maps) a frame and writes it with the same middleware settings. Both
//! run as processes of their own between the same emulator (`--pattern`) and the same subscriber, in turns, several
//! times; medians are compared. `cargo bench --bench path -- --quick` is a smoke test.
use rfly_bridge::msgs::sensor_msgs::msg::Image;
use rfly_bridge::msgs::std_msgs::msg::Header;
use rfly_bridge::ros::{ImageView, Middleware, Options, Qos};
use rfly_bridge::time::{RosTime, SimTime};
use rfly_bridge::transport::SharedBlock;
use rfly_bridge::wire::{FragmentHeader, ShmFlag, shm_name};
use socket2::{Domain, MaybeUninitSlice, Socket, Type};
use std::io::{BufRead, BufReader, Write};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const TOPIC: &str = "/rflysim/sensor0/img_rgb";
const PORT: u16 = 9999;
/// Frames per second of every sensor.
const HZ: f64 = 30.0;
/// Time until emulator, subject and subscriber have found each other.
const WARM_UP: Duration = Duration::from_secs(3);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["floor", width, height, transport] => floor(number(width), number(height), transport),
        ["subscriber"] => subscriber(),
        _ => compare(words.contains(&"--quick")),
    }
}

/// Runs every comparison and prints the tables.
fn compare(quick: bool) {
    let (seconds, rounds) = if quick { (2, 1) } else { (8, 3) };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("machine: {cores} cores; {rounds} rounds of {seconds} s in turns, medians\n");
    println!("(a) one raw sensor at 30 Hz against the floor");
    println!("| transport | size | CPU per frame, floor | bridge | ratio | latency, floor | bridge | ratio | frames lost, floor / bridge |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (transport, mode) in [("udp", 2), ("shm", 0)] {
        for (width, height) in [(640, 480), (1280, 720), (1920, 1080)] {
            let mut runs = [Vec::new(), Vec::new()];
            for _ in 0..rounds {
                for (subject, results) in ["floor", "bridge"].iter().zip(&mut runs) {
                    results.push(measure(subject, transport, mode, width, height, seconds));
                }
            }
            let [floor, bridge] = runs.map(|r| Run::median(&r));
            println!(
                "| {transport} | {width}x{height} | {:.2} ms | {:.2} ms | {:.2} | {:.2} ms | {:.2} ms | {:.2} | {} / {} |",
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
    load(seconds);
    idle(seconds);
}

/// (b) Eight sensors and the IMU.
fn load(seconds: u64) {
    let config = Config::write(8, 640, 480, 2);
    let _emulator = Guard(emulator());
    let bridge = Guard(bridge(&config.path, &[]));
    let watch = Watch::start(8);
    std::thread::sleep(WARM_UP);
    let before = (watch.figures(), cpu_seconds(&bridge.0));
    std::thread::sleep(Duration::from_secs(seconds));
    let after = (watch.figures(), cpu_seconds(&bridge.0));
    let received = after.0.images - before.0.images;
    println!("\n(b) 8 raw sensors of 640x480 at 30 Hz and the IMU at 200 Hz, all subscribed");
    println!("images received: {received} in {seconds} s, expected about {}", (8.0 * HZ) as u64 * seconds);
    println!("frames dropped by the bridge, by cause: {}", watch.drops());
    println!("IMU: {} samples, datagram to publish p99 {} ms", after.0.imu - before.0.imu, watch.imu_p99());
    println!("bridge: {:.0} % of a core", (after.1 - before.1) / seconds as f64 * 100.0);
}

/// (d) Thirty-two sensors that nobody subscribes to.
fn idle(seconds: u64) {
    let config = Config::write(32, 640, 480, 2);
    let _emulator = Guard(emulator());
    let bridge = Guard(bridge(&config.path, &[]));
    std::thread::sleep(WARM_UP);
    let before = cpu_seconds(&bridge.0);
    std::thread::sleep(Duration::from_secs(seconds));
    let share = (cpu_seconds(&bridge.0) - before) / seconds as f64 * 100.0;
    println!("\n(d) 32 raw sensors of 640x480 at 30 Hz without subscribers: bridge at {share:.1} % of a core");
}

#[derive(Clone, Copy)]
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
            values[values.len() / 2]
        };
        Self {
            cpu_ms: median(|r| r.cpu_ms),
            latency_ms: median(|r| r.latency_ms),
            lost: runs.iter().map(|r| r.lost).sum(),
        }
    }
}

fn measure(subject: &str, transport: &str, mode: u16, width: u16, height: u16, seconds: u64) -> Run {
    let config = Config::write(1, width, height, mode);
    let _emulator = Guard(emulator());
    // The bridge stamps with simulation time, as the floor does, so that one subtraction gives the latency of both.
    let process = match subject {
        "floor" => spawn_self(&["floor", &width.to_string(), &height.to_string(), transport]),
        _ => bridge(&config.path, &["-p", "time.mode:=sim", "-p", "imu.enabled:=false"]),
    };
    let subject = Guard(process);
    if subject.0.id() != 0 {
        request(&config, subject.0.id());
    }
    let mut subscriber = Subscriber::start();
    std::thread::sleep(WARM_UP);
    subscriber.restart();
    let before = cpu_seconds(&subject.0);
    std::thread::sleep(Duration::from_secs(seconds));
    let cpu = cpu_seconds(&subject.0) - before;
    let (frames, expected, latency_ms) = subscriber.result();
    Run { cpu_ms: cpu * 1e3 / frames.max(1) as f64, latency_ms, lost: expected - frames }
}

fn number(text: &str) -> u16 {
    text.parse().unwrap_or_else(|_| panic!("{text} is not a size"))
}
