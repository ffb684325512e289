//! Instructions in user mode per image, counted by callgrind: unlike time, they do not depend on the load of the machine, and
//! callgrind needs no hardware counters. `RFLY_BRIDGE` is the path of another bridge, to compare two builds.
use super::subject::{Config, Subject};
use super::watch::Watch;
use super::{Result, report, simulator};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Low and high rate of images: the difference gives the instructions per image, the rest are instructions per second. A
/// program runs about fifty times slower under callgrind, so both rates are far below those of a camera.
const HZ: [u64; 2] = [2, 10];
/// Time for discovery and for the growth of buffers.
const WARM_UP: Duration = Duration::from_secs(2);
/// Time in which instructions are counted, after the warm-up.
const COUNTED: Duration = Duration::from_secs(6);

/// Counts floor and bridge at each size.
pub(crate) fn compare() -> Result<Value> {
    println!(
        "(g) one raw sensor: thousands of instructions in user mode per image, and per second without images \
         (from runs of {} s at {} and {} Hz)\n",
        COUNTED.as_secs(),
        HZ[0],
        HZ[1]
    );
    println!("| transport | size | image: floor | bridge | second: floor | bridge |");
    println!("|---|---|---|---|---|---|");
    let mut rows = Vec::new();
    for (transport, mode) in [("udp", 2), ("shm", 0)] {
        for (width, height) in [(640, 480), (1280, 720), (1920, 1080)] {
            let floor = Cost::measure(width, height, mode, |config, profiler| {
                Subject::floor(transport, config, profiler)
            })?;
            let bridge = Cost::measure(width, height, mode, |config, profiler| {
                Subject::bridge(config, &["imu.enabled:=false"], profiler)
            })?;
            println!(
                "| {transport} | {width}x{height} | {:.0} | {:.0} | {:.0} | {:.0} |",
                floor.image / 1e3,
                bridge.image / 1e3,
                floor.second / 1e3,
                bridge.second / 1e3
            );
            rows.push(json!({
                "transport": transport,
                "size": format!("{width}x{height}"),
                "image": {"floor": floor.image, "bridge": bridge.image},
                "second": {"floor": floor.second, "bridge": bridge.second},
            }));
        }
    }
    Ok(json!({
        "bench": "instructions",
        "machine": report::machine(),
        "hz": HZ,
        "seconds": COUNTED.as_secs(),
        "rows": rows,
    }))
}

/// Instructions per image, and per second without images.
struct Cost {
    image: f64,
    second: f64,
}

impl Cost {
    fn measure(
        width: u16,
        height: u16,
        mode: u16,
        start: impl Fn(&Config, &[String]) -> Result<Subject>,
    ) -> Result<Self> {
        let run = |hz| {
            let config = Config::write(1, width, height, mode, hz)?;
            Rates::count(&config, |profiler| start(&config, profiler))
        };
        let (slow, fast) = (run(HZ[0])?, run(HZ[1])?);
        let image = (fast.instructions - slow.instructions) / (fast.images - slow.images);
        Ok(Self { image, second: slow.instructions - image * slow.images })
    }
}

/// Rates of one run, per second.
struct Rates {
    instructions: f64,
    images: f64,
}

impl Rates {
    fn count(config: &Config, start: impl Fn(&[String]) -> Result<Subject>) -> Result<Self> {
        let counts = Counts::new();
        let emulator = simulator()?;
        let subject = start(&counts.profiler())?;
        let watch = Watch::start(1, &emulator)?;
        while watch.images() == 0 {
            config.request()?;
            thread::sleep(Duration::from_millis(500));
        }
        thread::sleep(WARM_UP);
        let (first, begin) = (watch.images(), Instant::now());
        control("--zero", &subject)?;
        thread::sleep(COUNTED);
        control("--dump", &subject)?;
        let (images, seconds) = (watch.images() - first, begin.elapsed().as_secs_f64());
        Ok(Self { instructions: counts.read()? as f64 / seconds, images: images as f64 / seconds })
    }
}

/// Sends an order to the callgrind that runs a process.
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
        Self { path: std::env::temp_dir().join(name) }
    }

    /// Returns the command line that a program is appended to.
    fn profiler(&self) -> [String; 3] {
        [
            "valgrind".to_owned(),
            "--tool=callgrind".to_owned(),
            format!("--callgrind-out-file={}", self.path.display()),
        ]
    }

    /// Returns the path of the first dump.
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
