/// State of a clock's alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClockStatus {
    /// Stamp minus simulator time in ns, at the newest tick that the timeline stamped; 0 before the first observation.
    pub offset_ns: i64,
    /// Delays of datagrams relative to the fastest ones.
    pub spread: Spread,
    /// Excess speed of the host's clock over the simulator's in parts per million: 0 at real time, -500000 when the
    /// simulation runs at double speed.
    pub drift_ppm: f64,
    /// Pending correction of the stamps in ns: estimate minus stamp, applied gradually.
    pub pending_ns: i64,
    /// Detected restarts of the simulator.
    pub restarts: u64,
    /// Detected steps of either clock that were not restarts: a pause, a change of speed, the host's clock set.
    pub steps: u64,
    /// Observations used.
    pub observations: u64,
    /// Observations that contradict the clock: a damaged time stamp, or the first ones of a new run.
    pub rejected: u64,
}

impl ClockStatus {
    /// Speed of the simulation: 1 at real time, 0.5 at half speed.
    pub fn speed(&self) -> f64 {
        1.0 / (1.0 + self.drift_ppm * 1e-6).max(1e-3)
    }
}

/// Delays above the lower envelope in ns.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Spread {
    /// Median.
    pub p50_ns: i64,
    /// 99th percentile.
    pub p99_ns: i64,
}
