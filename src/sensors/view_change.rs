//! Determines which view a frame shows after a request for another one; frames do not contain it.
use crate::time::{RosTime, SimTime};

/// Frames count as the new view if for this time nothing was requested, and no description showed the old view.
const DESCRIPTION_TIMEOUT_NS: i64 = 500_000_000;
/// Frames count as the new view this long after the first request, even if descriptions show the old view: the renderer refused.
const CHANGE_TIMEOUT_NS: i64 = 3_000_000_000;

/// What a frame shows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ShownView {
    /// The view from before the request.
    Old,
    /// The old or the requested view.
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
    requested: RosTime,
    /// Latest request, or arrival of the latest description of the old view.
    last_old: RosTime,
    new_from: Option<SimTime>,
}

impl ViewChange {
    /// Creates the change for a request that is sent after `now`.
    pub fn new(now: RosTime) -> Self {
        Self { requested: now, last_old: now, new_from: None }
    }

    /// Takes another request, sent after `now`, while frames do not show the requested view yet.
    pub fn renew(&mut self, now: RosTime) {
        (self.last_old, self.new_from) = (now, None);
    }

    /// Takes the description of the camera at the tick `at`; `is_new`: it shows the last requested view.
    pub fn described(&mut self, is_new: bool, at: SimTime, arrival: RosTime) {
        if self.new_from.is_some() {
            return;
        }
        if is_new {
            self.new_from = Some(at);
        } else {
            self.last_old = self.last_old.max(arrival);
        }
    }

    /// Returns which view a frame of this simulator time and arrival shows.
    pub fn judge(&self, time: SimTime, arrival: RosTime) -> ShownView {
        match self.new_from {
            _ if arrival < self.requested => ShownView::Old,
            Some(from) if time >= from => ShownView::New,
            _ if self.has_timed_out(arrival) => ShownView::New,
            _ => ShownView::Unknown,
        }
    }

    /// Whether frames that are rendered now show the new view.
    pub fn is_known(&self, now: RosTime) -> bool {
        self.new_from.is_some() || self.has_timed_out(now)
    }

    fn has_timed_out(&self, now: RosTime) -> bool {
        let since = |then: RosTime| now.0.saturating_sub(then.0);
        since(self.last_old) >= DESCRIPTION_TIMEOUT_NS || since(self.requested) >= CHANGE_TIMEOUT_NS
    }
}
