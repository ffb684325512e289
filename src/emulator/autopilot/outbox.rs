//! Output of the vehicle: datagrams, and texts that become STATUSTEXT.

/// MAV_SEVERITY.
pub(super) const EMERGENCY: u8 = 0;
/// MAV_SEVERITY.
pub(super) const CRITICAL: u8 = 2;
/// MAV_SEVERITY.
pub(super) const WARNING: u8 = 4;
/// MAV_SEVERITY.
pub(super) const INFO: u8 = 6;

/// Limit of queued texts.
const MOST_TEXTS: usize = 32;
/// Minimum time in s between two texts.
const TEXT_PERIOD: f64 = 0.05;

/// Queue of STATUSTEXT texts.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    waiting: std::collections::VecDeque<(u8, String)>,
    due: f64,
}

impl Texts {
    /// Queues a text with a severity (MAV_SEVERITY).
    pub fn say(&mut self, severity: u8, text: &str) {
        if self.waiting.len() < MOST_TEXTS {
            self.waiting.push_back((severity, text.to_owned()));
        }
    }

    /// Takes the next text due at `now` in s; PX4 spaces texts in time.
    pub fn next(&mut self, now: f64) -> Option<(u8, String)> {
        if now < self.due {
            return None;
        }
        let text = self.waiting.pop_front()?;
        self.due = now + TEXT_PERIOD;
        Some(text)
    }
}

/// Datagrams to send, in order.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Outbox {
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
