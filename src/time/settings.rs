use super::RosTime;

/// What goes into headers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum StampMode {
    /// Time of the host at which the simulator took the measurement, estimated.
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
    /// Rule of the vendor's SDK: a constant taken from the first heartbeat, else from the first datagram.
    Vendor,
}

/// Kind of source; the vendor's rule assumes another delay for each.
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
    /// What goes into headers.
    pub mode: StampMode,
    /// How the aligned time is estimated.
    pub estimator: Estimator,
    /// Simulator time in s that the envelope looks back: longer is steadier, shorter follows changes sooner.
    pub window_s: f64,
}

impl Default for AlignerSettings {
    fn default() -> Self {
        Self {
            mode: StampMode::default(),
            estimator: Estimator::default(),
            window_s: 30.0,
        }
    }
}

/// A clock heartbeat of one vehicle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heartbeat {
    /// Wall clock of the simulator's host in ms at simulator time 0.
    pub start_ms: i64,
    /// Wall clock of the simulator's host in ms when sent.
    pub now_ms: i64,
    /// Arrival.
    pub host: RosTime,
    /// It came from an address of this machine, so both wall clocks are one.
    pub local: bool,
}

/// What an observation meant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Observation {
    /// Fits the clock.
    Accepted,
    /// Contradicts the clock; ignored unless others confirm it.
    Rejected,
    /// The clock was learnt anew within a run: pause, change of speed, or one of the clocks was set.
    Step,
    /// The simulator was restarted.
    Restart,
}
