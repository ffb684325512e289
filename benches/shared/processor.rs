//! The processor time of a process under measurement.
use std::time::Duration;

/// Time that all threads which the process has now have used, in user and kernel mode, to the nanosecond.
pub(crate) fn processor_time(process: u32) -> Result<Duration, Box<dyn std::error::Error>> {
    let mut nanoseconds = 0;
    for task in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        nanoseconds += text.split(' ').next().unwrap_or("0").parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}
