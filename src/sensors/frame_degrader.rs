//! Drops and delays frames on purpose.
use super::{FrameHead, SensorError};
use crate::noise::{Draws, Purpose};
use crate::{config::params::DegradeParams, time::RosTime};
use std::collections::VecDeque;

/// Limit of the bytes of one sensor's delayed frames, not counting the newest frame.
pub const HOLD_BYTES: usize = 128 << 20;

/// Drops and delays the frames of one sensor.
pub struct FrameDegrader {
    draws: Draws,
    drop_probability: f64,
    latency_ns: i64,
    jitter_ns: i64,
    delayed: VecDeque<DelayedFrame>,
    delayed_bytes: usize,
    /// Memory of published frames, for reuse.
    spare: Vec<Vec<u8>>,
}

struct DelayedFrame {
    due: RosTime,
    head: FrameHead,
    payload: Vec<u8>,
}

impl FrameDegrader {
    /// Creates a degrader; `None` if the parameters demand neither drops nor delays.
    pub fn new(params: &DegradeParams, source: u16) -> Option<Self> {
        let ns = |duration: std::time::Duration| i64::try_from(duration.as_nanos()).unwrap_or(0);
        let (latency_ns, jitter_ns) = (ns(params.latency), ns(params.jitter));
        (params.drop != 0.0 || latency_ns + jitter_ns != 0).then(|| Self {
            draws: Draws::new(params.seed, source),
            drop_probability: params.drop,
            latency_ns,
            jitter_ns,
            delayed: VecDeque::new(),
            delayed_bytes: 0,
            spare: Vec::new(),
        })
    }

    /// Whether frames are delayed.
    pub fn has_delay(&self) -> bool {
        self.latency_ns + self.jitter_ns > 0
    }

    /// Whether this frame is dropped.
    pub fn is_dropped(&self, head: &FrameHead) -> bool {
        self.draws.at(Purpose::Drop, head.sim_time.0).unit() < self.drop_probability
    }

    /// Keeps a copy of a frame until it is due.
    pub fn hold(&mut self, payload: &[u8], head: &FrameHead) -> Result<(), SensorError> {
        if self.delayed_bytes > HOLD_BYTES {
            return Err(SensorError::HeldTooMany);
        }
        let mut numbers = self.draws.at(Purpose::Jitter, head.sim_time.0);
        let delay = self.latency_ns + (self.jitter_ns as f64 * numbers.unit()) as i64;
        let last_due = self.delayed.back().map_or(i64::MIN, |last| last.due.0);
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(payload);
        self.delayed_bytes += copy.len();
        // Frames stay in order.
        let due = RosTime(head.arrival.0.saturating_add(delay).max(last_due));
        self.delayed.push_back(DelayedFrame { due, head: *head, payload: copy });
        Ok(())
    }

    /// Returns the host time at which the next delayed frame is to be published.
    pub fn due(&self) -> Option<RosTime> {
        self.delayed.front().map(|first| first.due)
    }

    /// Takes a frame that is due at `now`; [`Self::reuse`] takes its memory back.
    pub fn release(&mut self, now: RosTime) -> Option<(FrameHead, Vec<u8>)> {
        let due = self.due()?;
        // If the wait exceeds the longest delay, the host's clock was set back.
        let possible_waits = 0..=self.latency_ns + self.jitter_ns;
        if due > now && possible_waits.contains(&due.0.saturating_sub(now.0)) {
            return None;
        }
        let first = self.delayed.pop_front()?;
        self.delayed_bytes -= first.payload.len();
        Some((first.head, first.payload))
    }

    /// Keeps the memory of a published frame for the next ones.
    pub fn reuse(&mut self, payload: Vec<u8>) {
        if self.spare.len() <= self.delayed.len() {
            self.spare.push(payload);
        }
    }
}
