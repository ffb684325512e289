//! Control of vehicles: how long a setpoint takes from its topic to the datagram, and what the telemetry of a fleet costs.
//!
//! This process contains the autopilots and the ROS node that uses the topics; the bridge is a process of its own.
//! `cargo bench --bench control -- --quick` is a smoke test; `--json FILE` writes the figures, too.
mod fleet;
mod flight;
#[path = "../shared/processor.rs"]
mod processor;
#[path = "../shared/report.rs"]
mod report;

use fleet::Fleet;
use hdrhistogram::Histogram;
use processor::processor_time;
use rfly_bridge::msgs::builtin_interfaces::msg::Time;
use rfly_bridge::msgs::mavros_msgs::msg::{PositionTarget, State};
use rfly_bridge::ros::{Discovery, Middleware, Options, Qos};
use rfly_bridge::vehicle::TOPICS;
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// DDS domain of the benchmark; the bridge inherits it.
const DOMAIN: u32 = 92;
/// Topics that nearly every controller reads: state, pose, velocity, IMU, global position, battery, home.
const A_TOPICS: [&str; 12] = [
    "state",
    "extended_state",
    "local_position/pose",
    "local_position/odom",
    "local_position/velocity_local",
    "local_position/velocity_body",
    "imu/data",
    "global_position/global",
    "global_position/rel_alt",
    "global_position/compass_hdg",
    "battery",
    "home_position/home",
];

fn main() -> Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let seconds = if quick { 3 } else { 10 };
    let (file, machine) = (report::file()?, report::machine());
    println!("{} cores; {seconds} s each\n", machine["cores"]);
    let setpoints = setpoints(seconds)?;
    println!(
        "\n| vehicles | messages/s in | read topics | CPU, one core = 100 % | first state | lost |"
    );
    println!("|---:|---:|---|---:|---:|---:|");
    let mut fleets = Vec::new();
    for (vehicles, subscribed) in [(1, false), (1, true), (50, false), (50, true)] {
        fleets.push(telemetry(vehicles, subscribed, seconds)?);
    }
    if let Some(file) = file {
        let report = json!({
            "bench": "control",
            "machine": machine,
            "rounds": 1,
            "seconds": seconds,
            "setpoints": setpoints,
            "telemetry": fleets,
        });
        report::write(&file, &report)?;
    }
    Ok(())
}

/// The bridge, ended when dropped.
struct Bridge(Child);

impl Bridge {
    fn start(vehicles: u16) -> Result<Self> {
        let ids: Vec<_> = (1..=vehicles).map(|id| id.to_string()).collect();
        let child = Command::new(env!("CARGO_BIN_EXE_rfly_bridge"))
            .args(["--ros-args", "--log-level", "error", "-p"])
            .arg(format!("vehicles:=[{}]", ids.join(", ")))
            .args(["-p", "imu.enabled:=false"])
            .env("ROS_LOCALHOST_ONLY", "1")
            .env("ROS_DOMAIN_ID", DOMAIN.to_string())
            .stdin(Stdio::null())
            .spawn()?;
        Ok(Self(child))
    }

    /// Processor time used so far.
    fn cpu(&self) -> Result<Duration> {
        processor_time(self.0.id())
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ended_already = self.0.kill();
        let _ended_already = self.0.wait();
    }
}

fn middleware() -> Result<Middleware> {
    let mut options = Options::new("bench");
    options.domain_id = DOMAIN;
    options.discovery = Discovery::Localhost;
    Ok(Middleware::join(&options)?)
}

fn prefix(id: u16) -> String {
    match id {
        1 => "/mavros".to_owned(),
        id => format!("/mavros{id}"),
    }
}

/// Measures the time from `publish` on setpoint_raw/local to the datagram at the autopilot.
fn setpoints(seconds: u64) -> Result<Value> {
    let arrivals = Arc::new(Mutex::new(Vec::new()));
    let fleet = Fleet::start(1, arrivals.clone())?;
    let _bridge = Bridge::start(1)?;
    let ros = middleware()?;
    let publisher = ros.publisher::<PositionTarget>("/mavros/setpoint_raw/local", Qos::DEFAULT)?;
    let deadline = Instant::now() + Duration::from_secs(20);
    while publisher.subscribers() == 0 || arrivals.lock().map_err(|e| e.to_string())?.is_empty() {
        if Instant::now() > deadline {
            return Err("the bridge does not take setpoints".into());
        }
        publisher.publish(&setpoint(0))?;
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut sent = Vec::new();
    for n in 1..=(seconds * 50) as u32 {
        sent.push(Instant::now());
        publisher.publish(&setpoint(n))?;
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    drop(fleet);
    let mut latency = Histogram::<u64>::new_with_bounds(1, 60_000_000, 3)?;
    let mut received = 0;
    for (n, at) in arrivals.lock().map_err(|e| e.to_string())?.iter() {
        if let Some(start) = (*n as usize).checked_sub(1).and_then(|n| sent.get(n)) {
            received += 1;
            latency.saturating_record((*at - *start).as_micros() as u64);
        }
    }
    let us = |quantile| latency.value_at_quantile(quantile);
    let (p50, p99, worst) = (us(0.5), us(0.99), latency.max());
    println!(
        "setpoint_raw/local at 50 Hz, topic to datagram: p50 {p50} us, p99 {p99} us, worst {worst} us; {received} of {} arrived",
        sent.len()
    );
    Ok(json!({
        "p50_us": p50,
        "p99_us": p99,
        "worst_us": worst,
        "sent": sent.len(),
        "arrived": received,
    }))
}

/// Returns setpoint `n`: its stamp is `n` in ms, which becomes time_boot_ms.
fn setpoint(n: u32) -> PositionTarget {
    let mut message =
        PositionTarget { coordinate_frame: 1, type_mask: 0x9f8, ..PositionTarget::default() };
    message.header.stamp = Time { sec: (n / 1000) as i32, nanosec: n % 1000 * 1_000_000 };
    message.position.z = 2.0;
    message
}

/// Measures the processor time of the bridge with a fleet that sends telemetry at PX4's rates.
fn telemetry(vehicles: u16, subscribed: bool, seconds: u64) -> Result<Value> {
    let fleet = Fleet::start(vehicles, Arc::default())?;
    let start = Instant::now();
    let bridge = Bridge::start(vehicles)?;
    let ros = middleware()?;
    let received = Arc::new(AtomicU64::new(0));
    let mut subscriptions = Vec::new();
    let (first, heard) = mpsc::sync_channel(1);
    subscriptions.push(ros.subscribe::<State>("/mavros/state", Qos::DEFAULT, move |state| {
        if state.connected {
            // Only the first counts.
            let _full = first.try_send(Instant::now());
        }
    })?);
    let heard = heard.recv_timeout(Duration::from_secs(20))? - start;
    if subscribed {
        for id in 1..=vehicles {
            for topic in
                TOPICS.iter().filter(|topic| topic.is_published() && A_TOPICS.contains(&topic.name))
            {
                let count = received.clone();
                subscriptions.push(ros.subscribe_raw(
                    &format!("{}/{}", prefix(id), topic.name),
                    topic.interface,
                    Qos::SENSOR_DATA,
                    move |_| {
                        count.fetch_add(1, Ordering::Relaxed);
                    },
                )?);
            }
        }
    }
    std::thread::sleep(Duration::from_secs(3));
    let (cpu, at, sent) = (bridge.cpu()?, Instant::now(), fleet.sent());
    std::thread::sleep(Duration::from_secs(seconds));
    let (used, took) = (bridge.cpu()? - cpu, at.elapsed());
    let messages_per_s = (fleet.sent() - sent) as f64 / took.as_secs_f64();
    let share = used.as_secs_f64() / took.as_secs_f64() * 100.0;
    let (received, lost) = (received.load(Ordering::Relaxed), fleet.refused());
    let (topics, read) = if subscribed {
        let topics = A_TOPICS.len();
        (topics, format!("{topics} each, {received} messages"))
    } else {
        (0, "none but one state".to_owned())
    };
    println!(
        "| {vehicles} | {messages_per_s:.0} | {read} | {share:.0} % | {:.2} s | {lost} |",
        heard.as_secs_f64(),
    );
    Ok(json!({
        "vehicles": vehicles,
        "topics": topics,
        "messages_per_s": messages_per_s,
        "received": received,
        "core_percent": share,
        "first_state_s": heard.as_secs_f64(),
        "lost": lost,
    }))
}
