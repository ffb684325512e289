//! Clock domains as types, and the alignment of the simulator's clock with the host's. Nothing here reads a clock.
//!
//! ```
//! use rfly_bridge::time::{AlignerSettings, RosTime, SimTime, SourceKind, TimeAligner};
//! let mut clock = TimeAligner::new(AlignerSettings::default());
//! let arrival = RosTime(1_700_000_000_000_000_000);
//! let left = clock.receive(SimTime::from_secs(12.0), arrival, SourceKind::Image);
//! assert!(left.is_some()); // `None` if the time is far from that of the simulation
//! let right = clock.receive(SimTime::from_secs(12.0), RosTime(arrival.0 + 7_000_000), SourceKind::Image);
//! assert_eq!(left, right); // one render tick, one stamp, whatever the delays
//! ```
mod aligner;
mod envelope;
mod settings;
mod spread;
mod status;
mod timeline;
mod vendor;

pub use aligner::TimeAligner;
pub(crate) use envelope::shrink;
pub use settings::{AlignerSettings, Estimator, Heartbeat, Observation, SourceKind, StampMode};
pub use status::{ClockStatus, Spread};

use crate::msgs::builtin_interfaces::msg::Time;

/// Time of the simulator in ns since its start.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SimTime(pub i64);

/// Time of ROS headers, in ns since 1970 (or since the start of the simulation in mode `sim`).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RosTime(pub i64);

impl SimTime {
    /// Converts the simulator's f64 seconds; rounds to the nearest ns.
    pub fn from_secs(seconds: f64) -> Self {
        Self((seconds * 1e9).round() as i64)
    }

    /// Like [`Self::from_secs`]; `None` for a time that no stamp can represent: NaN, or 2^31 s and more from 0.
    pub fn checked_from_secs(seconds: f64) -> Option<Self> {
        const LONGEST: f64 = (1_u64 << 31) as f64;
        (seconds.abs() < LONGEST).then(|| Self::from_secs(seconds))
    }

    /// Converts to seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 * 1e-9
    }
}

impl RosTime {
    /// Converts from the message type.
    pub fn from_msg(time: &Time) -> Self {
        Self(i64::from(time.sec) * 1_000_000_000 + i64::from(time.nanosec))
    }

    /// Converts to the message type.
    pub fn to_msg(self) -> Time {
        Time {
            sec: self.0.div_euclid(1_000_000_000) as i32,
            nanosec: self.0.rem_euclid(1_000_000_000) as u32,
        }
    }
}
