//! Download of the whole list: requests the list once, then each missing parameter by its index.
use super::event::{ParameterError, ParameterSettings};
use crate::wire::mavlink::Outbound;
use crate::wire::mavlink::raw::{ParamRequestList, ParamRequestRead};
use std::collections::BTreeSet;
use std::time::Duration;

/// Number of values between two progress reports.
const REPORT_INTERVAL: usize = 100;

#[derive(Debug, Default)]
pub(super) struct Pull {
    /// Whether each index was received; empty until the first value announces the count.
    received_indices: Vec<bool>,
    /// The autopilot's count, which may exceed the limit of stored parameters.
    announced: usize,
    /// Whether the list was requested again, because indices had shifted.
    was_restarted: bool,
    received: usize,
    reported: usize,
    /// End of the stream of values unless another arrives; before the first value, the time of the next request for the list.
    next: Duration,
    lists_sent: u32,
    /// Number of repeated requests since the client last took this number.
    pub(super) repeated: u32,
    /// Whether the stream of values ended, so that missing indices are requested.
    is_filling: bool,
    requests: Vec<IndexRequest>,
    /// Indices without an answer after all tries. If only these are missing, they are requested again, as long as values arrive.
    failed: BTreeSet<u16>,
    /// Number of values received when `failed` was last cleared.
    received_before: usize,
    /// Number of indices that failed since the last value.
    failed_in_row: usize,
}

/// The request for a missing index.
#[derive(Debug)]
struct IndexRequest {
    index: u16,
    sent: u32,
    next: Duration,
}

/// A request to send, without the ids of the autopilot.
pub(super) enum PullRequest {
    List,
    Index(i16),
}

impl PullRequest {
    pub(super) fn message(&self, target_system: u8, target_component: u8) -> Outbound {
        match *self {
            Self::List => ParamRequestList { target_system, target_component }.into(),
            Self::Index(index) => {
                ParamRequestRead { index, target_system, target_component, id: [0; 16] }.into()
            }
        }
    }
}

impl Pull {
    pub(super) fn new(now: Duration) -> Self {
        Self { next: now, ..Self::default() }
    }

    pub(super) fn receive(
        &mut self,
        now: Duration,
        index: Option<u16>,
        count: u16,
        settings: &ParameterSettings,
    ) {
        let Some(index) = index else { return };
        self.announced = self.announced.max(count.into());
        let count = usize::from(count).min(settings.max_parameters);
        if count > self.received_indices.len() {
            // PX4 counts the active parameters; more can become active during the download.
            self.received_indices.resize(count, false);
        }
        self.requests.retain(|request| request.index != index);
        self.failed.remove(&index);
        self.failed_in_row = 0;
        if let Some(received) = self.received_indices.get_mut(usize::from(index))
            && !std::mem::replace(received, true)
        {
            self.received += 1;
        }
        self.next = now.saturating_add(settings.gap);
    }

    /// Sends due requests; returns the result at the end.
    pub(super) fn tick(
        &mut self,
        now: Duration,
        settings: &ParameterSettings,
        mut send: impl FnMut(PullRequest),
    ) -> Option<Result<usize, ParameterError>> {
        let total = self.received_indices.len();
        let (received, announced) = (self.received, self.announced);
        let incomplete = || {
            let total = announced;
            Some(Err(ParameterError::Incomplete { received, total }))
        };
        if total > 0 && self.received >= total {
            return if announced > total { incomplete() } else { Some(Ok(total)) };
        }
        if total == 0 {
            if now < self.next {
                return None;
            }
            if self.lists_sent >= settings.tries {
                return Some(Err(ParameterError::TimedOut));
            }
            self.repeated += u32::from(self.lists_sent > 0);
            self.lists_sent += 1;
            self.next = now.saturating_add(settings.wait);
            send(PullRequest::List);
            return None;
        }
        let has_timed_out = |r: &IndexRequest| r.next <= now && r.sent >= settings.tries;
        let failed = self.requests.iter().filter(|r| has_timed_out(r));
        self.failed.extend(failed.map(|r| r.index));
        let before = self.requests.len();
        self.requests.retain(|r| !has_timed_out(r));
        self.failed_in_row += before - self.requests.len();
        if self.failed_in_row >= settings.in_flight {
            // The autopilot answers no request.
            return incomplete();
        }
        for request in self.requests.iter_mut().filter(|r| r.next <= now) {
            request.sent += 1;
            request.next = now.saturating_add(settings.wait);
            self.repeated += 1;
            send(PullRequest::Index(request.index.cast_signed()));
        }
        if !self.is_filling && now < self.next {
            return None; // the stream of values continues
        }
        self.is_filling = true;
        if self.requests.is_empty() && received + self.failed.len() >= total {
            if received <= self.received_before {
                return incomplete();
            }
            self.received_before = received;
            self.failed.clear();
        }
        for index in self.missing() {
            if self.requests.len() >= settings.in_flight {
                break;
            }
            if self.requests.iter().any(|r| r.index == index) || self.failed.contains(&index) {
                continue;
            }
            self.requests.push(IndexRequest {
                index,
                sent: 1,
                next: now.saturating_add(settings.wait),
            });
            send(PullRequest::Index(index.cast_signed()));
        }
        None
    }

    /// Returns the indices that have not arrived.
    pub(super) fn missing(&self) -> Vec<u16> {
        let indices = (0u16..).zip(&self.received_indices);
        let missing = indices.filter(|(_, received)| !**received);
        missing.map(|(index, _)| index).collect()
    }

    /// Requests the list again from its beginning; returns false if that was done before.
    pub(super) fn start_over(&mut self, now: Duration) -> bool {
        if self.was_restarted {
            return false;
        }
        *self = Self { was_restarted: true, ..Self::new(now) };
        true
    }

    pub(super) fn deadline(&self) -> Duration {
        self.requests.iter().map(|request| request.next).min().unwrap_or(self.next)
    }

    /// Returns received and expected number of values after each `REPORT_INTERVAL` values.
    pub(super) fn take_progress(&mut self) -> Option<(usize, usize)> {
        let is_due = self.received >= self.reported + REPORT_INTERVAL;
        is_due.then(|| {
            self.reported = self.received;
            (self.received, self.received_indices.len())
        })
    }
}
