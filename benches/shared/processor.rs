//! The processor time of a process under measurement.
use std::time::Duration;

/// Returns the time that the running threads of the process have used, in user and kernel mode; ended threads do not count.
pub(crate) fn processor_time(process: u32) -> Result<Duration, Box<dyn std::error::Error>> {
    let mut nanoseconds = 0;
    for task in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        nanoseconds += text.split(' ').next().unwrap_or("0").parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}
