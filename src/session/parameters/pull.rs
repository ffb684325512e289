//! Download of the whole list: requested once, then each gap by its index.
use super::{ParameterError, ParameterSettings};
use crate::wire::mavlink::Outbound;
use crate::wire::mavlink::raw::{ParamRequestList, ParamRequestRead};
use std::collections::BTreeSet;
use std::time::Duration;

/// Values between two progress reports.
const REPORT_EVERY: usize = 100;

#[derive(Debug)]
pub(super) struct Pull {
    /// Received indices; empty until the first value reports the count.
    have: Vec<bool>,
    /// The autopilot's count, which may exceed the limit of kept parameters.
    announced: usize,
    /// The list was requested a second time, because indices had shifted.
    again: bool,
    received: usize,
    reported: usize,
    /// When to react to silence.
    next: Duration,
    lists_sent: u32,
    repeated: u32,
    /// The autopilot paused once: gaps are requested until none is left.
    filling: bool,
    gaps: Vec<Gap>,
    /// Indices without an answer after all tries; they have others when a round brought something.
    given_up: BTreeSet<u16>,
    /// Received before this round.
    before: usize,
    /// Given up since the last value.
    silent: usize,
}

#[derive(Debug)]
struct Gap {
    index: u16,
    sent: u32,
    next: Duration,
}

/// A message to send; the caller knows the ids.
pub(super) enum Message {
    List,
    Index(i16),
}

impl Message {
    pub(super) fn to(&self, target_system: u8, target_component: u8) -> Outbound {
        match *self {
            Self::List => ParamRequestList {
                target_system,
                target_component,
            }
            .into(),
            Self::Index(index) => ParamRequestRead {
                index,
                target_system,
                target_component,
                id: [0; 16],
            }
            .into(),
        }
    }
}

impl Pull {
    pub(super) fn new(now: Duration) -> Self {
        Self {
            have: Vec::new(),
            announced: 0,
            again: false,
            received: 0,
            reported: 0,
            next: now,
            lists_sent: 0,
            repeated: 0,
            filling: false,
            gaps: Vec::new(),
            given_up: BTreeSet::new(),
            before: 0,
            silent: 0,
        }
    }

    pub(super) fn received(
        &mut self,
        now: Duration,
        index: Option<u16>,
        count: u16,
        settings: &ParameterSettings,
    ) {
        let Some(index) = index else {
            return;
        };
        self.announced = self.announced.max(count.into());
        let count = usize::from(count).min(settings.most);
        if count > self.have.len() {
            // PX4 counts the active parameters, and more can become active meanwhile.
            self.have.resize(count, false);
        }
        self.gaps.retain(|gap| gap.index != index);
        self.given_up.remove(&index);
        self.silent = 0;
        if let Some(have) = self.have.get_mut(usize::from(index))
            && !std::mem::replace(have, true)
        {
            self.received += 1;
        }
        self.next = now.saturating_add(settings.gap);
    }

    /// Sends due messages; `Some` with the result at the end.
    pub(super) fn tick(
        &mut self,
        now: Duration,
        settings: &ParameterSettings,
        mut send: impl FnMut(Message),
    ) -> Option<Result<usize, ParameterError>> {
        let total = self.have.len();
        let (received, announced) = (self.received, self.announced);
        let incomplete = || {
            let total = announced;
            Some(Err(ParameterError::Incomplete { received, total }))
        };
        if total > 0 && self.received >= total {
            return if announced > total {
                incomplete()
            } else {
                Some(Ok(total))
            };
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
            send(Message::List);
            return None;
        }
        let over = |gap: &Gap| gap.next <= now && gap.sent >= settings.tries;
        let given_up = self.gaps.iter().filter(|gap| over(gap));
        self.given_up.extend(given_up.map(|gap| gap.index));
        let before = self.gaps.len();
        self.gaps.retain(|gap| !over(gap));
        self.silent += before - self.gaps.len();
        if self.silent >= settings.in_flight {
            // Nothing comes at all.
            return incomplete();
        }
        for gap in self.gaps.iter_mut().filter(|gap| gap.next <= now) {
            gap.sent += 1;
            gap.next = now.saturating_add(settings.wait);
            self.repeated += 1;
            send(Message::Index(gap.index.cast_signed()));
        }
        if !self.filling && now < self.next {
            return None; // still streaming
        }
        self.filling = true;
        if self.gaps.is_empty() && received + self.given_up.len() >= total {
            if received <= self.before {
                return incomplete();
            }
            self.before = received;
            self.given_up.clear();
        }
        let missing = (0u16..).zip(&self.have).filter(|(_, have)| !**have);
        for (index, _) in missing {
            if self.gaps.len() >= settings.in_flight {
                break;
            }
            if self.gaps.iter().any(|gap| gap.index == index) || self.given_up.contains(&index) {
                continue;
            }
            self.gaps.push(Gap {
                index,
                sent: 1,
                next: now.saturating_add(settings.wait),
            });
            send(Message::Index(index.cast_signed()));
        }
        None
    }

    /// Indices that did not arrive.
    pub(super) fn missing(&self) -> Vec<u16> {
        let missing = (0u16..).zip(&self.have).filter(|(_, have)| !**have);
        missing.map(|(index, _)| index).collect()
    }

    /// Requests the list again from its beginning; false if that was done before.
    pub(super) fn start_over(&mut self, now: Duration) -> bool {
        if self.again {
            return false;
        }
        *self = Self {
            again: true,
            ..Self::new(now)
        };
        true
    }

    pub(super) fn deadline(&self) -> Duration {
        self.gaps
            .iter()
            .map(|gap| gap.next)
            .min()
            .unwrap_or(self.next)
    }

    /// Repeated requests since the last call.
    pub(super) fn take_repeated(&mut self) -> u32 {
        std::mem::take(&mut self.repeated)
    }

    /// Progress, at each report interval.
    pub(super) fn take_progress(&mut self) -> Option<(usize, usize)> {
        let due = self.received >= self.reported + REPORT_EVERY;
        due.then(|| {
            self.reported = self.received;
            (self.received, self.have.len())
        })
    }
}
