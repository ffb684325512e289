//! Repeats the request for a message until the autopilot sends it, a limited number of times.
use crate::vehicle::Fcu;
use std::time::Duration;

/// Maximum number of requests.
const TRIES: u32 = 6;

/// Requests one message through the command queue, at most [`TRIES`] times.
pub(super) struct RepeatedRequest {
    message: u32,
    period: Duration,
    /// Time of the next request.
    pub(super) next: Option<Duration>,
    sent: u32,
}

impl RepeatedRequest {
    pub(super) const fn new(message: u32, period: Duration) -> Self {
        Self { message, period, next: None, sent: 0 }
    }

    /// Starts after `delay`, on a link that acknowledges commands.
    pub(super) fn start(&mut self, fcu: &Fcu, delay: Duration) {
        self.sent = 0;
        self.next = fcu.abilities().acks.then_some(fcu.now.mono + delay);
    }

    pub(super) fn stop(&mut self) {
        self.next = None;
    }

    /// Queues the request if it is due.
    pub(super) fn poll(&mut self, fcu: &mut Fcu) {
        if self.next.is_none_or(|at| fcu.now.mono < at) {
            return;
        }
        self.sent += 1;
        self.next = (self.sent < TRIES).then_some(fcu.now.mono + self.period);
        fcu.requests.push(self.message);
    }
}
