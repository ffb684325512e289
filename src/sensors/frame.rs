//! One frame of a sensor: its head and its payload.
use crate::time::{RosTime, SimTime};
use crate::{msgs::sensor_msgs::msg::Image, ros::Loan};
use vm_memory::VolatileSlice;

/// A frame without its payload.
#[derive(Clone, Copy, Debug)]
pub struct FrameHead {
    /// Stamp of the ROS headers.
    pub stamp: RosTime,
    /// Time of the simulator.
    pub sim_time: SimTime,
    /// Host time at which the whole frame had arrived.
    pub arrival: RosTime,
    /// The transport is mode 1 or 3, so images are PNG or JPEG files.
    pub compressed: bool,
}

impl FrameHead {
    /// Creates the head of a frame that arrives at the time of its stamp.
    pub fn new(stamp: RosTime, compressed: bool) -> Self {
        Self { stamp, sim_time: SimTime::default(), arrival: stamp, compressed }
    }
}

/// A whole payload without transport headers, in memory of one of several owners.
pub enum FramePayload<'a> {
    /// Memory of the receiver.
    Borrowed(&'a [u8]),
    /// Memory of the publisher, from [`Sensor::lend`](super::Sensor::lend); the payload is its first `len` bytes.
    Loaned {
        /// The memory.
        loan: Loan<Image>,
        /// Bytes of the payload.
        len: usize,
    },
    /// Shared memory that the simulator may overwrite; only for [`Sensor::reads_shared`](super::Sensor::reads_shared).
    Shared {
        /// Raw pixels, to be copied before they are read.
        pixels: VolatileSlice<'a>,
        /// Returns whether the simulator left the pixels unchanged, and releases the memory. Called once, after the copy.
        is_intact: &'a dyn Fn() -> bool,
    },
}

impl FramePayload<'_> {
    /// Returns the bytes; empty for shared memory.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Loaned { loan, len } => loan.as_ref().get(..*len).unwrap_or_default(),
            Self::Shared { .. } => &[],
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Borrowed(bytes) => bytes.len(),
            Self::Loaned { len, .. } => *len,
            Self::Shared { pixels, .. } => pixels.len(),
        }
    }
}
