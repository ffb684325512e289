//! Output of the vehicle: datagrams, and texts that become STATUSTEXT.
use crate::wire::mavlink::dialect::MavSeverity;
use std::collections::VecDeque;

pub(super) const EMERGENCY: MavSeverity = MavSeverity::MAV_SEVERITY_EMERGENCY;
pub(super) const CRITICAL: MavSeverity = MavSeverity::MAV_SEVERITY_CRITICAL;
pub(super) const INFO: MavSeverity = MavSeverity::MAV_SEVERITY_INFO;

const MAX_TEXTS: usize = 32;
/// Minimum time in s between two texts.
const TEXT_PERIOD: f64 = 0.05;

#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    queue: VecDeque<(MavSeverity, String)>,
    due: f64,
}

impl Texts {
    pub(super) fn push(&mut self, severity: MavSeverity, text: impl Into<String>) {
        if self.queue.len() < MAX_TEXTS {
            self.queue.push_back((severity, text.into()));
        }
    }

    /// Takes the next text due at `now` in s. As those of PX4, texts are at least [`TEXT_PERIOD`] apart.
    pub(super) fn next(&mut self, now: f64) -> Option<(MavSeverity, String)> {
        if now < self.due {
            return None;
        }
        let text = self.queue.pop_front()?;
        self.due = now + TEXT_PERIOD;
        Some(text)
    }
}

/// Datagrams to send, in order.
#[derive(Clone, Debug, Default)]
pub struct DatagramQueue {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl DatagramQueue {
    /// Adds a datagram.
    pub fn push(&mut self, datagram: &[u8]) {
        self.bytes.extend_from_slice(datagram);
        self.ends.push(self.bytes.len());
    }

    /// Returns the datagrams.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).filter_map(|(begin, end)| self.bytes.get(begin..*end))
    }

    /// Clears the datagrams, keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}
