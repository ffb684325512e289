//! Clock domains as types; nothing here reads a clock.
use ros2_interfaces_jazzy_serde::builtin_interfaces::msg::Time;

/// Time of the simulator in ns since its start.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SimTime(pub i64);

/// Time that goes into ROS headers, in ns since 1970 (or since the start of the simulation in mode `sim`).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RosTime(pub i64);

impl SimTime {
    /// Converts the simulator's f64 seconds; rounds to the nearest ns.
    pub fn from_secs(seconds: f64) -> Self {
        Self((seconds * 1e9).round() as i64)
    }
}

impl RosTime {
    /// Converts to the message type.
    pub fn to_msg(self) -> Time {
        Time {
            sec: self.0.div_euclid(1_000_000_000) as i32,
            nanosec: self.0.rem_euclid(1_000_000_000) as u32,
        }
    }
}
