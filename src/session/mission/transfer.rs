//! One transfer of the mission protocol.
use super::{ACCEPTED, MissionDone, MissionError, MissionList, MissionSettings};
use crate::wire::mavlink::Outbound;
use crate::wire::mavlink::raw::{
    MissionAck, MissionClearAll, MissionCount, MissionItemInt, MissionRequestInt,
    MissionRequestList, MissionSetCurrent,
};
use std::time::Duration;

/// Limit of the average number of requests per item.
const MOST_REPEATED: usize = 16;

/// Result of a message or a timeout.
pub(super) enum Step {
    Nothing,
    /// Not for this transfer, or for an earlier step of it.
    Ignored,
    Send(Outbound),
    Ended {
        /// A last message to send.
        last: Option<Outbound>,
        result: Result<MissionDone, MissionError>,
    },
}

impl Step {
    pub(super) fn ended(result: Result<MissionDone, MissionError>) -> Self {
        Self::Ended { last: None, result }
    }

    fn refused(result: u8) -> Self {
        Self::ended(Err(MissionError::Refused(result)))
    }
}

enum Kind {
    /// `expected` is known after MISSION_COUNT.
    Download {
        items: Vec<MissionItemInt>,
        expected: Option<u16>,
    },
    Upload {
        items: Vec<MissionItemInt>,
        /// Items that the autopilot requested.
        given: Vec<bool>,
        /// The last requested item; before the first, MISSION_COUNT is repeated.
        last: Option<u16>,
    },
    Clear,
    SetCurrent(u16),
}

pub(super) struct Transfer {
    target: (u8, u8),
    list: MissionList,
    kind: Kind,
    id: u32,
    sent: u32,
    next: Duration,
    retransmitted: u32,
    /// Items sent; bounds endless requests.
    answers: usize,
}

impl Transfer {
    fn new(target: (u8, u8), list: MissionList, kind: Kind) -> Self {
        Self {
            target,
            list,
            kind,
            id: 0,
            sent: 0,
            next: Duration::ZERO,
            retransmitted: 0,
            answers: 0,
        }
    }

    pub(super) fn download(target: (u8, u8), list: MissionList) -> Self {
        let items = Vec::new();
        let expected = None;
        Self::new(target, list, Kind::Download { items, expected })
    }

    pub(super) fn upload(
        target: (u8, u8),
        list: MissionList,
        mut items: Vec<MissionItemInt>,
    ) -> Self {
        for (item, seq) in items.iter_mut().zip(0..) {
            item.seq = seq;
            (item.target_system, item.target_component) = target;
            item.mission_type = list as u8;
        }
        let given = vec![false; items.len()];
        let last = None;
        Self::new(target, list, Kind::Upload { items, given, last })
    }

    pub(super) fn clear(target: (u8, u8), list: MissionList) -> Self {
        Self::new(target, list, Kind::Clear)
    }

    pub(super) fn set_current(target: (u8, u8), seq: u16) -> Self {
        Self::new(target, MissionList::Plan, Kind::SetCurrent(seq))
    }

    pub(super) fn start(&mut self, now: Duration, settings: &MissionSettings) -> Outbound {
        self.heard(now, settings);
        self.question()
    }

    /// Restarts the tries of the present message: the other side answered.
    pub(super) fn heard(&mut self, now: Duration, settings: &MissionSettings) {
        self.sent = 1;
        self.next = now.saturating_add(settings.wait);
    }

    pub(super) fn list(&self) -> MissionList {
        self.list
    }

    pub(super) fn deadline(&self) -> Duration {
        self.next
    }

    pub(super) fn retransmitted(&self) -> u32 {
        self.retransmitted
    }

    /// The requested current item.
    pub(super) fn wanted_current(&self) -> Option<u16> {
        match self.kind {
            Kind::SetCurrent(seq) => Some(seq),
            _ => None,
        }
    }

    pub(super) fn tick(&mut self, now: Duration, settings: &MissionSettings) -> Step {
        if now < self.next {
            return Step::Nothing;
        }
        if self.sent >= settings.tries {
            return Step::ended(Err(MissionError::TimedOut));
        }
        self.sent += 1;
        self.retransmitted += 1;
        self.next = now.saturating_add(settings.wait);
        Step::Send(self.question())
    }

    /// The message to repeat until an answer arrives.
    fn question(&self) -> Outbound {
        let (target_system, target_component) = self.target;
        let mission_type = self.list as u8;
        match &self.kind {
            Kind::Download {
                expected: Some(_),
                items,
            } => MissionRequestInt {
                seq: u16::try_from(items.len()).unwrap_or(u16::MAX),
                target_system,
                target_component,
                mission_type,
            }
            .into(),
            Kind::Download { expected: None, .. } => MissionRequestList {
                target_system,
                target_component,
                mission_type,
            }
            .into(),
            Kind::Upload { items, last, .. } => {
                let item = last.and_then(|seq| items.get(usize::from(seq)));
                let count = MissionCount {
                    count: u16::try_from(items.len()).unwrap_or(u16::MAX),
                    target_system,
                    target_component,
                    mission_type,
                    opaque_id: 0,
                };
                item.map_or_else(|| count.into(), |item| (*item).into())
            }
            Kind::Clear => MissionClearAll {
                target_system,
                target_component,
                mission_type,
            }
            .into(),
            Kind::SetCurrent(seq) => MissionSetCurrent {
                seq: *seq,
                target_system,
                target_component,
            }
            .into(),
        }
    }

    fn acknowledgement(&self, result: u8) -> Outbound {
        MissionAck {
            target_system: self.target.0,
            target_component: self.target.1,
            result,
            mission_type: self.list as u8,
            opaque_id: 0,
        }
        .into()
    }

    pub(super) fn count(&mut self, count: u16, id: u32, most: usize) -> Step {
        /// MAV_MISSION_NO_SPACE.
        const NO_SPACE: u8 = 4;
        let Kind::Download { items, expected } = &mut self.kind else {
            return Step::Ignored;
        };
        if *expected == Some(count) && id == self.id {
            return Step::Ignored; // the list was requested twice
        }
        items.clear();
        *expected = Some(count);
        self.id = id;
        if usize::from(count) > most {
            let items = usize::from(count);
            return Step::Ended {
                last: Some(self.acknowledgement(NO_SPACE)),
                result: Err(MissionError::TooLong { items, most }),
            };
        }
        self.next_item()
    }

    pub(super) fn item(&mut self, item: MissionItemInt) -> Step {
        let Kind::Download {
            items,
            expected: Some(_),
        } = &mut self.kind
        else {
            return Step::Ignored;
        };
        if usize::from(item.seq) != items.len() {
            return Step::Ignored;
        }
        items.push(item);
        self.next_item()
    }

    fn next_item(&self) -> Step {
        match &self.kind {
            Kind::Download {
                items,
                expected: Some(expected),
            } if items.len() >= usize::from(*expected) => Step::Ended {
                last: Some(self.acknowledgement(ACCEPTED)),
                result: Ok(MissionDone::Pulled(items.len())),
            },
            _ => Step::Send(self.question()),
        }
    }

    pub(super) fn requested(&mut self, seq: u16) -> Step {
        let Kind::Upload { items, given, last } = &mut self.kind else {
            return Step::Ignored;
        };
        let Some(item) = items.get(usize::from(seq)) else {
            // The autopilot will refuse the list itself, or request an existing item.
            return Step::Ignored;
        };
        self.answers += 1;
        if self.answers > MOST_REPEATED * items.len() {
            return Step::ended(Err(MissionError::TimedOut));
        }
        *last = Some(seq);
        if let Some(given) = given.get_mut(usize::from(seq)) {
            *given = true;
        }
        Step::Send((*item).into())
    }

    pub(super) fn acknowledge(&mut self, result: u8, id: u32) -> Step {
        match &self.kind {
            Kind::Download { .. } | Kind::Clear | Kind::Upload { .. } if result != ACCEPTED => {
                Step::refused(result)
            }
            Kind::Clear => Step::ended(Ok(MissionDone::Cleared)),
            Kind::Upload { items, given, .. } if given.iter().all(|given| *given) => {
                let count = items.len();
                self.id = id;
                Step::ended(Ok(MissionDone::Pushed(count)))
            }
            // A late answer of an earlier transfer.
            _ => Step::Ignored,
        }
    }

    pub(super) fn current(&mut self, seq: u16) -> Step {
        match self.kind {
            Kind::SetCurrent(wanted) if wanted == seq => Step::ended(Ok(MissionDone::Current(seq))),
            // A periodic broadcast, not an answer.
            _ => Step::Nothing,
        }
    }

    /// The vehicle's mission after this transfer, and the vehicle's id of it.
    pub(super) fn into_mission(self) -> Option<(Vec<MissionItemInt>, u32)> {
        match self.kind {
            Kind::Download { items, .. } | Kind::Upload { items, .. } => Some((items, self.id)),
            Kind::Clear => Some((Vec::new(), 0)),
            Kind::SetCurrent(_) => None,
        }
    }
}
