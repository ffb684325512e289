//! Whether a sensor delivers, and when to request it again.
use crate::node::stats::LinkState;
use std::time::{Duration, Instant};

/// Tracks whether a source delivers; decides when to request it again.
#[derive(Clone, Copy, Debug)]
pub struct Liveness {
    timeout: Duration,
    state: LinkState,
    /// Data before this time does not count.
    since: Option<Instant>,
}

/// Change since the last check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LinkChange {
    /// No change.
    None,
    /// The first data, or the first after [`Liveness::start_again`].
    Started,
    /// Silence for longer than the timeout.
    Lost,
    /// Data again after [`Self::Lost`].
    Returned,
}

impl Liveness {
    /// Creates a source that has not delivered yet.
    pub fn new(timeout: Duration) -> Self {
        Self { timeout, state: LinkState::Waiting, since: None }
    }

    /// Changes the silence after which a source counts as lost.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Ignores all data until now: the source must be requested again.
    pub fn start_again(&mut self, now: Instant) {
        self.state = LinkState::Waiting;
        self.since = Some(now);
    }

    /// Returns the state as of the last [`Self::update`].
    pub fn state(&self) -> LinkState {
        self.state
    }

    /// Whether to request the source (again).
    pub fn needs_request(&self) -> bool {
        self.state != LinkState::Up
    }

    /// Updates the state from the time of the last data.
    pub fn update(&mut self, now: Instant, last_data: Option<Instant>) -> LinkChange {
        let is_counted = |at: &Instant| self.since.is_none_or(|since| *at > since);
        let last_data = last_data.filter(is_counted);
        let is_alive = last_data.is_some_and(|at| now.saturating_duration_since(at) < self.timeout);
        let (state, change) = match (self.state, is_alive) {
            (LinkState::Waiting, true) => (LinkState::Up, LinkChange::Started),
            (LinkState::Lost, true) => (LinkState::Up, LinkChange::Returned),
            (LinkState::Up, false) => (LinkState::Lost, LinkChange::Lost),
            (state, _) => (state, LinkChange::None),
        };
        self.state = state;
        change
    }
}
