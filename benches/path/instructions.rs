//! Instructions that a process executes in user mode: unlike its time, they hardly depend on what else the machine does.
use super::Result;
use std::process::Command;
use std::time::Duration;

/// Says why instructions cannot be counted here, if so.
pub(crate) fn missing() -> Option<String> {
    match stat(&["true"]) {
        Ok(_) => None,
        Err(reason) => Some(reason.to_string()),
    }
}

/// Waits for `time` and returns how many instructions the process has executed meanwhile.
pub(crate) fn count(process: u32, time: Duration) -> Result<u64> {
    stat(&[
        "-p",
        &process.to_string(),
        "sleep",
        &time.as_secs_f64().to_string(),
    ])
}

fn stat(of: &[&str]) -> Result<u64> {
    let output = Command::new("perf")
        .args(["stat", "-x,", "-e", "instructions:u"])
        .args(of)
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| format!("perf: {error}"))?;
    // value,unit,event,...; for each kind of core, if there are several. A reason stands in the place of the value.
    let text = String::from_utf8_lossy(&output.stderr);
    let rows = text.lines().filter(|line| line.contains("instructions:u"));
    let values: Vec<&str> = rows.filter_map(|row| row.split(',').next()).collect();
    let counts: Vec<u64> = values.iter().filter_map(|v| v.parse().ok()).collect();
    if counts.is_empty() {
        let mut said = text.lines().filter(|line| !["", "Error:"].contains(line));
        let reason = values.first().copied().or(said.next());
        return Err(format!("perf: {}", reason.unwrap_or("says nothing")).into());
    }
    Ok(counts.iter().sum())
}
