//! Determines which view a frame shows after a request for another one; the wire does not say so.
use crate::time::{RosTime, SimTime};

/// After this time without a description a frame shows the new view.
const UNSAID_NS: i64 = 500_000_000;
/// After this time it does in spite of the descriptions: the renderer refuses the request.
const LONGEST_NS: i64 = 3_000_000_000;

/// What a frame shows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ShownView {
    /// The view from before the request.
    Old,
    /// One or the other.
    Unknown,
    /// The requested view.
    New,
}

/// A change of the view of one sensor: from the request until a frame shows it.
///
/// A frame that arrived before the request was sent shows the old view. The renderer's description of the camera says that
/// the new one applies at an instant of the simulation: frames of this instant and later show it. Frames between may show
/// either.
#[derive(Clone, Copy, Debug)]
pub struct ViewChange {
    first: RosTime,
    last: RosTime,
    from: Option<SimTime>,
}

impl ViewChange {
    /// The request is sent after `now`.
    pub fn new(now: RosTime) -> Self {
        Self { first: now, last: now, from: None }
    }

    /// Another request is sent after `now`, before any frame showed the view of this one.
    pub fn again(&mut self, now: RosTime) {
        (self.last, self.from) = (now, None);
    }

    /// Takes the description of the camera at an instant of the simulation; `new`: it shows the last requested view.
    pub fn described(&mut self, new: bool, at: SimTime, arrival: RosTime) {
        if new && self.from.is_none() {
            self.from = Some(at);
        } else if !new && self.from.is_none() {
            self.last = self.last.max(arrival);
        }
    }

    /// Judges a frame by its time and arrival.
    pub fn judge(&self, time: SimTime, arrival: RosTime) -> ShownView {
        match self.from {
            _ if arrival < self.first => ShownView::Old,
            Some(from) if time >= from => ShownView::New,
            _ if self.is_over(arrival) => ShownView::New,
            _ => ShownView::Unknown,
        }
    }

    /// Whether frames that are rendered now show the new view.
    pub fn is_known(&self, now: RosTime) -> bool {
        self.from.is_some() || self.is_over(now)
    }

    fn is_over(&self, now: RosTime) -> bool {
        let since = |then: RosTime| now.0.saturating_sub(then.0);
        since(self.last) >= UNSAID_NS || since(self.first) >= LONGEST_NS
    }
}
