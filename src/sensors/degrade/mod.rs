//! Sensors that are worse than the simulator's, on purpose; what is off is not there.
mod held;
mod ranges;

pub use held::{HOLD_BYTES, Unreliable};
pub use ranges::{CloudNoise, DepthNoise};
