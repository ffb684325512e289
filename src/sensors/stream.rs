//! The stream of one sensor without its socket: datagrams become frames, frames become messages.
use super::{FrameHead, FramePayload, SensorError, SensorPipeline};
use crate::session::{DatagramBuffers, FrameInfo, Reassembler, ReassemblyResult};
use crate::time::{RosTime, SimTime};
use crate::{msgs::sensor_msgs::msg::Image, ros::Loan};

/// Reassembles the datagrams of one sensor and passes whole frames to it; reads no clock.
pub struct SensorStream {
    /// Reassembles frames, if possible in memory of the sensor's publisher.
    pub reassembler: Reassembler<Loan<Image>>,
    /// Converts and publishes.
    pub sensor: SensorPipeline,
    /// The transport is mode 1 or 3, so images are PNG or JPEG files.
    pub compressed: bool,
}

/// Result of a datagram.
#[derive(Debug)]
pub enum Progress {
    /// It was stored; its frame is not complete.
    Stored,
    /// It was dropped; the reassembler counted it.
    Dropped,
    /// It completed a frame whose payload was skipped on purpose.
    Counted(FrameInfo),
    /// It completed a frame, which the sensor accepted or refused.
    Frame(FrameInfo, Result<(), SensorError>),
}

impl SensorStream {
    /// Returns the buffers for the next datagram.
    pub fn next_buffers(&mut self) -> DatagramBuffers<'_> {
        self.reassembler.next_buffers_in(|| self.sensor.lend())
    }

    /// Processes the datagram of `len` bytes in the last buffers. `stamp` observes a simulator time and its host time of
    /// arrival, and returns its ROS stamp; `None`: the time is not of this simulation.
    pub fn take(
        &mut self,
        len: usize,
        arrival: RosTime,
        stamp: impl FnOnce(SimTime, RosTime) -> Option<RosTime>,
    ) -> Progress {
        let times_of = |info: &FrameInfo| {
            let sim_time = SimTime::checked_from_secs(info.sim_time)?;
            Some((sim_time, stamp(sim_time, info.arrival)?))
        };
        let whole = match self.reassembler.commit(len, arrival) {
            ReassemblyResult::Stored => return Progress::Stored,
            ReassemblyResult::Dropped(_) => return Progress::Dropped,
            ReassemblyResult::Counted(info) => {
                times_of(&info); // `stamp` observes the time of every frame
                return Progress::Counted(info);
            }
            ReassemblyResult::Complete(whole) => whole,
        };
        let info = whole.info;
        let Some((sim_time, stamp)) = times_of(&info) else {
            return Progress::Frame(info, Err(SensorError::Time));
        };
        let payload = if whole.lent {
            match self.reassembler.take_loan() {
                Some(loan) => FramePayload::Loaned { loan, len: info.len },
                None => return Progress::Frame(info, Ok(())), // unreachable: the frame is in the loan
            }
        } else {
            FramePayload::Borrowed(whole.payload)
        };
        let head = FrameHead { stamp, sim_time, arrival, compressed: self.compressed };
        Progress::Frame(info, self.sensor.accept(payload, &head))
    }
}
