/// What the aligner knows about a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClockStatus {
    /// Stamp minus simulator time in ns, at the newest tick; 0 before the first observation.
    pub offset_ns: i64,
    /// How much later than the fastest datagrams the others arrive.
    pub spread: Spread,
    /// How much faster the host's clock runs than the simulator's, in parts per million: 0 at real time, -500000 when
    /// the simulation runs at double speed.
    pub drift_ppm: f64,
    /// Correction in ns that the stamps have still to make: estimate minus stamp, worked off gradually.
    pub pending_ns: i64,
    /// Restarts of the simulator seen.
    pub restarts: u64,
    /// Steps of either clock seen that were no restart: a pause, a change of speed, the host's clock set.
    pub steps: u64,
    /// Observations taken into account.
    pub observations: u64,
    /// Observations that contradict the clock: a damaged time stamp, or the first ones of a new run.
    pub rejected: u64,
}

impl ClockStatus {
    /// How fast the simulation runs: 1 at real time, 0.5 at half speed.
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
