//! Results of a benchmark as JSON, in addition to its tables: `--json FILE`, for `scripts/performance.py`.
use serde_json::{Value, json};
use std::process::Command;

/// Returns the file name after `--json`, if that is given.
pub(crate) fn file() -> Result<Option<String>, &'static str> {
    let mut arguments = std::env::args().filter(|argument| argument != "--bench"); // cargo's
    match arguments.find(|argument| argument == "--json") {
        Some(_) => arguments.next().map(Some).ok_or("--json needs a file"),
        None => Ok(None),
    }
}

/// The machine, the compiler and the source, as they are now.
pub(crate) fn machine() -> Value {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let processor = read("/proc/cpuinfo");
    let line = |key| processor.lines().find(|line| line.starts_with(key));
    let model = line("model name").and_then(|line| line.split_once(": "));
    let load = read("/proc/loadavg");
    json!({
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "cpu": model.map(|(_, name)| name),
        "virtual": line("flags").is_some_and(|flags| flags.contains(" hypervisor")),
        // Major and minor number only: the rest depends on the distribution.
        "kernel": read("/proc/sys/kernel/osrelease").split('.').take(2).collect::<Vec<_>>().join("."),
        "load": load.split(' ').next().and_then(|load| load.parse::<f64>().ok()),
        "rustc": output_of("rustc", &["--version"]),
        "date": output_of("date", &["-u", "+%Y-%m-%d %H:%M"]),
        "commit": output_of("git", &["describe", "--always", "--dirty", "--exclude=*"]),
    })
}

/// Writes the results.
pub(crate) fn write(file: &str, report: &Value) -> std::io::Result<()> {
    std::fs::write(file, format!("{report:#}\n"))
}

/// Returns what a program prints; `None` if it is missing or fails.
fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
