use super::RosTime;

/// Time in the header stamps.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum StampMode {
    /// Estimated time of the host at which the simulator took the measurement.
    #[default]
    Aligned,
    /// Time of the simulator; the node publishes `/clock`.
    Sim,
    /// Time of the host at which the datagram arrived.
    Arrival,
}

/// How [`StampMode::Aligned`] is estimated.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Estimator {
    /// Line below all recent points of host time over simulator time.
    #[default]
    Envelope,
    /// Rule of the vendor's SDK: a constant offset, taken from the first heartbeat, else from the first datagram.
    Vendor,
}

/// Kind of source; the vendor's rule assumes a different delay for each.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SourceKind {
    /// Images, clouds and everything else from the renderer.
    #[default]
    Image,
    /// IMU and true state.
    Imu,
}

/// Settings of a [`TimeAligner`](super::TimeAligner).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlignerSettings {
    /// Time in the header stamps.
    pub mode: StampMode,
    /// How the aligned time is estimated.
    pub estimator: Estimator,
    /// Length of the envelope in s of simulator time: longer is steadier, shorter follows changes sooner.
    pub window_s: f64,
}

impl Default for AlignerSettings {
    fn default() -> Self {
        Self { mode: StampMode::default(), estimator: Estimator::default(), window_s: 30.0 }
    }
}

/// A clock heartbeat of one vehicle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heartbeat {
    /// Wall clock of the simulator's host in ms at simulator time 0.
    pub start_ms: i64,
    /// Wall clock of the simulator's host in ms when sent.
    pub now_ms: i64,
    /// Arrival time.
    pub host: RosTime,
    /// The sender's address is on this machine, so its wall clock is that of this machine.
    pub local: bool,
}

/// Result of an observation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Observation {
    /// Fits the clock.
    Accepted,
    /// Contradicts the clock; ignored unless others confirm it.
    Rejected,
    /// The clock was estimated again within a run, after a pause, a change of speed, or a change of the host's clock.
    Step,
    /// The simulator was restarted.
    Restart,
}
