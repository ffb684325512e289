//! Determines which view a frame shows after a request for another one; the wire does not say so.
use crate::time::{RosTime, SimTime};

/// Frames count as the new view this long after the last request or description of the old view.
const DESCRIPTION_TIMEOUT_NS: i64 = 500_000_000;
/// And this long after the first request, whatever the descriptions say: the renderer has refused the request.
const CHANGE_TIMEOUT_NS: i64 = 3_000_000_000;

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
/// A frame that arrived before the request was sent shows the old view. The renderer's description of the camera gives a
/// tick at which the new view applies: frames of this tick and later show it. Frames between may show either.
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

    /// Another request is sent after `now`, while frames do not show the requested view yet.
    pub fn again(&mut self, now: RosTime) {
        (self.last, self.from) = (now, None);
    }

    /// Takes the description of the camera at the tick `at`; `new`: it has the last requested view.
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
        since(self.last) >= DESCRIPTION_TIMEOUT_NS || since(self.first) >= CHANGE_TIMEOUT_NS
    }
}
