//! A single transfer of the mission protocol.
use super::{ACCEPTED, MissionDone, MissionError, MissionList, MissionSettings};
use crate::wire::mavlink::raw::{
    MissionAck, MissionClearAll, MissionCount, MissionItemInt, MissionRequestInt,
    MissionRequestList, MissionSetCurrent,
};
use crate::{wire::mavlink::Outbound, wire::mavlink::dialect::MavMissionResult};
use std::time::Duration;

const NO_SPACE: u8 = MavMissionResult::MAV_MISSION_NO_SPACE as u8;
/// Maximum average number of requests per item.
const MAX_REQUESTS_PER_ITEM: usize = 16;

/// The next step after a message or a timeout.
pub(super) enum TransferStep {
    Nothing,
    /// The message does not belong to the present step of this transfer.
    Ignored,
    Send(Outbound),
    Ended {
        /// A last message to send.
        last: Option<Outbound>,
        result: Result<MissionDone, MissionError>,
    },
}

impl TransferStep {
    pub(super) fn ended(result: Result<MissionDone, MissionError>) -> Self {
        Self::Ended { last: None, result }
    }
}

enum TransferKind {
    /// `expected` is known after MISSION_COUNT.
    Download {
        items: Vec<MissionItemInt>,
        expected: Option<u16>,
    },
    Upload {
        items: Vec<MissionItemInt>,
        /// Whether each item was sent.
        sent: Vec<bool>,
        /// The last requested item; before the first, MISSION_COUNT is repeated.
        last_requested: Option<u16>,
    },
    Clear,
    SetCurrent(u16),
}

pub(super) struct Transfer {
    target: (u8, u8),
    pub(super) list: MissionList,
    kind: TransferKind,
    /// The autopilot's id of the list (`opaque_id`); 0 if it has none.
    id: u32,
    transmissions: u32,
    /// Time of the next transmission, or of the timeout.
    pub(super) next: Duration,
    pub(super) retransmitted: u32,
    /// Number of items sent, to detect endless requests.
    items_sent: usize,
}

impl Transfer {
    fn new(target: (u8, u8), list: MissionList, kind: TransferKind) -> Self {
        let next = Duration::ZERO;
        Self { target, list, kind, id: 0, transmissions: 0, next, retransmitted: 0, items_sent: 0 }
    }

    pub(super) fn download(target: (u8, u8), list: MissionList) -> Self {
        Self::new(target, list, TransferKind::Download { items: Vec::new(), expected: None })
    }

    pub(super) fn upload(to: (u8, u8), list: MissionList, mut items: Vec<MissionItemInt>) -> Self {
        for (item, seq) in items.iter_mut().zip(0..) {
            item.seq = seq;
            (item.target_system, item.target_component) = to;
            item.mission_type = list as u8;
        }
        let sent = vec![false; items.len()];
        Self::new(to, list, TransferKind::Upload { items, sent, last_requested: None })
    }

    pub(super) fn clear(target: (u8, u8), list: MissionList) -> Self {
        Self::new(target, list, TransferKind::Clear)
    }

    pub(super) fn set_current(target: (u8, u8), seq: u16) -> Self {
        Self::new(target, MissionList::Plan, TransferKind::SetCurrent(seq))
    }

    pub(super) fn start(&mut self, now: Duration, settings: &MissionSettings) -> Outbound {
        self.restart_tries(now, settings);
        self.present_message()
    }

    /// Restarts the tries of the present message, because the autopilot answered.
    pub(super) fn restart_tries(&mut self, now: Duration, settings: &MissionSettings) {
        self.transmissions = 1;
        self.next = now.saturating_add(settings.wait);
    }

    /// Returns the requested current item, if the transfer sets it.
    pub(super) fn requested_current(&self) -> Option<u16> {
        if let TransferKind::SetCurrent(seq) = self.kind { Some(seq) } else { None }
    }

    pub(super) fn tick(&mut self, now: Duration, settings: &MissionSettings) -> TransferStep {
        if now < self.next {
            return TransferStep::Nothing;
        }
        if self.transmissions >= settings.tries {
            return TransferStep::ended(Err(MissionError::TimedOut));
        }
        self.transmissions += 1;
        self.retransmitted += 1;
        self.next = now.saturating_add(settings.wait);
        TransferStep::Send(self.present_message())
    }

    /// The message that is repeated until an answer arrives.
    fn present_message(&self) -> Outbound {
        let (target_system, target_component) = self.target;
        let mission_type = self.list as u8;
        match &self.kind {
            TransferKind::Download { expected: Some(_), items } => MissionRequestInt {
                seq: u16::try_from(items.len()).unwrap_or(u16::MAX),
                target_system,
                target_component,
                mission_type,
            }
            .into(),
            TransferKind::Download { expected: None, .. } => {
                MissionRequestList { target_system, target_component, mission_type }.into()
            }
            TransferKind::Upload { items, last_requested, .. } => {
                let item = last_requested.and_then(|seq| items.get(usize::from(seq)));
                let count = MissionCount {
                    count: u16::try_from(items.len()).unwrap_or(u16::MAX),
                    target_system,
                    target_component,
                    mission_type,
                    opaque_id: 0,
                };
                item.map_or_else(|| count.into(), |item| (*item).into())
            }
            TransferKind::Clear => {
                MissionClearAll { target_system, target_component, mission_type }.into()
            }
            TransferKind::SetCurrent(seq) => {
                MissionSetCurrent { seq: *seq, target_system, target_component }.into()
            }
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

    pub(super) fn count(&mut self, count: u16, id: u32, max_items: usize) -> TransferStep {
        let TransferKind::Download { items, expected } = &mut self.kind else {
            return TransferStep::Ignored;
        };
        if *expected == Some(count) && id == self.id {
            return TransferStep::Ignored; // the list was requested twice
        }
        items.clear();
        *expected = Some(count);
        self.id = id;
        if usize::from(count) > max_items {
            let items = usize::from(count);
            return TransferStep::Ended {
                last: Some(self.acknowledgement(NO_SPACE)),
                result: Err(MissionError::TooLong { items, most: max_items }),
            };
        }
        self.next_item()
    }

    pub(super) fn item(&mut self, item: MissionItemInt) -> TransferStep {
        let TransferKind::Download { items, expected: Some(_) } = &mut self.kind else {
            return TransferStep::Ignored;
        };
        if usize::from(item.seq) != items.len() {
            return TransferStep::Ignored;
        }
        items.push(item);
        self.next_item()
    }

    fn next_item(&self) -> TransferStep {
        match &self.kind {
            TransferKind::Download { items, expected: Some(expected) }
                if items.len() >= usize::from(*expected) =>
            {
                TransferStep::Ended {
                    last: Some(self.acknowledgement(ACCEPTED)),
                    result: Ok(MissionDone::Pulled(items.len())),
                }
            }
            _ => TransferStep::Send(self.present_message()),
        }
    }

    pub(super) fn requested(&mut self, seq: u16) -> TransferStep {
        let TransferKind::Upload { items, sent, last_requested } = &mut self.kind else {
            return TransferStep::Ignored;
        };
        let index = usize::from(seq);
        // Ignores an item outside the list: the autopilot then refuses the list, or requests an existing item.
        let (Some(item), Some(sent)) = (items.get(index), sent.get_mut(index)) else {
            return TransferStep::Ignored;
        };
        self.items_sent += 1;
        if self.items_sent > MAX_REQUESTS_PER_ITEM * items.len() {
            return TransferStep::ended(Err(MissionError::TimedOut));
        }
        (*last_requested, *sent) = (Some(seq), true);
        TransferStep::Send((*item).into())
    }

    pub(super) fn acknowledge(&mut self, result: u8, id: u32) -> TransferStep {
        match &self.kind {
            TransferKind::Download { .. } | TransferKind::Clear | TransferKind::Upload { .. }
                if result != ACCEPTED =>
            {
                TransferStep::ended(Err(MissionError::Refused(result)))
            }
            TransferKind::Clear => TransferStep::ended(Ok(MissionDone::Cleared)),
            TransferKind::Upload { items, sent, .. } if sent.iter().all(|sent| *sent) => {
                self.id = id;
                TransferStep::ended(Ok(MissionDone::Pushed(items.len())))
            }
            // A late acknowledgement of an earlier transfer.
            _ => TransferStep::Ignored,
        }
    }

    pub(super) fn current(&mut self, seq: u16) -> TransferStep {
        match self.kind {
            TransferKind::SetCurrent(wanted) if wanted == seq => {
                TransferStep::ended(Ok(MissionDone::Current(seq)))
            }
            // A periodic broadcast with another item is not an answer.
            _ => TransferStep::Nothing,
        }
    }

    /// Returns the vehicle's list after this transfer, and the vehicle's id of the list.
    pub(super) fn into_mission(self) -> Option<(Vec<MissionItemInt>, u32)> {
        match self.kind {
            TransferKind::Download { items, .. } | TransferKind::Upload { items, .. } => {
                Some((items, self.id))
            }
            TransferKind::Clear => Some((Vec::new(), 0)),
            TransferKind::SetCurrent(_) => None,
        }
    }
}
