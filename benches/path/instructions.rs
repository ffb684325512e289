//! Instructions in user mode per image, counted by callgrind: unlike time they do not depend on what else the machine
//! does, and a kernel without hardware counters is enough. `RFLY_BRIDGE` names another bridge, to compare two builds.
use super::subject::{Config, Subject};
use super::watch::Watch;
use super::{Result, report, simulator};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Frames per second: a program runs some fifty times slower under callgrind.
const HZ: u64 = 5;
/// Images until discovery has ended and buffers have their size.
const WARM_UP: u64 = 10;
/// Images over which is counted.
const COUNTED: u64 = 40;

/// Counts floor and bridge at each size.
pub(crate) fn compare() -> Result<Value> {
    println!(
        "(e) one raw sensor at {HZ} Hz: instructions in user mode per image, over {COUNTED} images\n"
    );
    println!("| transport | size | floor | bridge | ratio |");
    println!("|---|---|---|---|---|");
    let mut rows = Vec::new();
    for (transport, mode) in [("udp", 2), ("shm", 0)] {
        for (width, height) in [(640, 480), (1280, 720), (1920, 1080)] {
            let config = Config::write(1, width, height, mode, HZ)?;
            let floor = count(&config, |profiler| {
                Subject::floor(transport, &config, profiler)
            })?;
            let parameters = ["imu.enabled:=false"];
            let bridge = count(&config, |profiler| {
                Subject::bridge(&config, &parameters, profiler)
            })?;
            println!(
                "| {transport} | {width}x{height} | {floor:.0} | {bridge:.0} | {:.2} |",
                bridge / floor
            );
            let size = format!("{width}x{height}");
            rows.push(
                json!({"transport": transport, "size": size, "floor": floor, "bridge": bridge}),
            );
        }
    }
    Ok(json!({
        "bench": "instructions",
        "machine": report::machine(),
        "hz": HZ,
        "images": COUNTED,
        "rows": rows,
    }))
}

fn count(config: &Config, start: impl Fn(&[String]) -> Result<Subject>) -> Result<f64> {
    let counts = Counts::new();
    let emulator = simulator()?;
    let subject = start(&counts.profiler())?;
    let watch = Watch::start(1, &emulator)?;
    let until = |images| {
        while watch.images() < images {
            std::thread::sleep(Duration::from_millis(20));
        }
        watch.images()
    };
    while watch.images() == 0 {
        config.request()?;
        std::thread::sleep(Duration::from_secs(1));
    }
    let first = until(watch.images() + WARM_UP);
    control("--zero", &subject)?;
    let last = until(first + COUNTED);
    control("--dump", &subject)?;
    Ok(counts.read()? as f64 / (last - first) as f64)
}

/// Tells callgrind of a process that runs.
fn control(order: &str, subject: &Subject) -> Result<()> {
    let mut command = Command::new("callgrind_control");
    let output = command.arg(order).arg(subject.id().to_string()).output();
    let output =
        output.map_err(|error| format!("callgrind_control (package valgrind): {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}

/// The file that callgrind writes; removed when dropped.
struct Counts {
    path: PathBuf,
}

impl Counts {
    fn new() -> Self {
        let name = format!("rfly_bench_callgrind_{}", std::process::id());
        Self {
            path: std::env::temp_dir().join(name),
        }
    }

    /// What a command is started by.
    fn profiler(&self) -> [String; 3] {
        [
            "valgrind".to_owned(),
            "--tool=callgrind".to_owned(),
            format!("--callgrind-out-file={}", self.path.display()),
        ]
    }

    /// The first part that was dumped.
    fn dumped(&self) -> PathBuf {
        self.path.with_extension("1")
    }

    fn read(&self) -> Result<u64> {
        let text = fs::read_to_string(self.dumped())?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        Ok(total.ok_or("callgrind wrote no totals")?.trim().parse()?)
    }
}

impl Drop for Counts {
    fn drop(&mut self) {
        for path in [&self.path, &self.dumped()] {
            let _not_written = fs::remove_file(path);
        }
    }
}
