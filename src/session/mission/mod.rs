//! Client of the MAVLink mission protocol for flight plans, fences and rally points: download, upload, clear, and the current
//! item of the plan.
//!
//! It runs one transfer at a time, because the protocol has no transfer ids. Further requests wait.
//!
//! Source: <https://mavlink.io/en/services/mission.html>.
mod error;
mod transfer;

pub use error::MissionError;

use crate::wire::mavlink::Outbound;
use crate::wire::mavlink::dialect::{MavFrame, MavMissionResult};
use crate::wire::mavlink::raw::{
    MissionAck, MissionCount, MissionCurrent, MissionItem, MissionItemInt,
};
use std::collections::VecDeque;
use std::time::Duration;
use transfer::{Transfer, TransferStep};

/// Kind of a list, with the numbers of MAV_MISSION_TYPE.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum MissionList {
    /// The mission that is flown.
    Plan = 0,
    /// The geofence.
    Fence = 1,
    /// Landing points other than home.
    Rally = 2,
}

impl MissionList {
    /// All lists.
    pub const ALL: [Self; 3] = [Self::Plan, Self::Fence, Self::Rally];
}

impl std::fmt::Display for MissionList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Plan => "mission",
            Self::Fence => "geofence",
            Self::Rally => "rally points",
        })
    }
}

#[rustfmt::skip] // a table
#[expect(deprecated, reason = "vehicles still send them")]
const GLOBAL_FRAMES: [MavFrame; 6] = [
    MavFrame::MAV_FRAME_GLOBAL, MavFrame::MAV_FRAME_GLOBAL_RELATIVE_ALT, MavFrame::MAV_FRAME_GLOBAL_TERRAIN_ALT,
    MavFrame::MAV_FRAME_GLOBAL_INT, MavFrame::MAV_FRAME_GLOBAL_RELATIVE_ALT_INT, MavFrame::MAV_FRAME_GLOBAL_TERRAIN_ALT_INT,
];
const ACCEPTED: u8 = MavMissionResult::MAV_MISSION_ACCEPTED as u8;

/// Timeouts and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MissionSettings {
    /// Timeout of a message.
    pub wait: Duration,
    /// Number of transmissions of each message, including the first.
    pub tries: u32,
    /// Maximum number of waiting requests.
    pub max_waiting: usize,
    /// Maximum length of a list.
    pub max_items: usize,
}

impl Default for MissionSettings {
    /// 1 s and 3 repetitions, like mavros.
    fn default() -> Self {
        Self { wait: Duration::from_secs(1), tries: 4, max_waiting: 16, max_items: 10_000 }
    }
}

/// Result of a mission request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MissionDone {
    /// The list was downloaded and has this many items.
    Pulled(usize),
    /// This many items were accepted.
    Pushed(usize),
    /// The list is empty.
    Cleared,
    /// This is the current item.
    Current(u16),
}

/// Work for the caller, in the order in which `next_event` returns it.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "lives on the stack between two calls")]
pub enum MissionEvent<T> {
    /// Send this.
    Send(Outbound),
    /// A known list changed: [`MissionClient::items`].
    Items(MissionList),
    /// The current item changed.
    Current(u16),
    /// An item was reached.
    Reached(u16),
    /// Another station changed a list; the known list is outdated until the next download.
    ChangedElsewhere(MissionList),
    /// A request has ended.
    Done {
        /// The token of the request.
        token: T,
        /// Its result.
        result: Result<MissionDone, MissionError>,
    },
}

/// Counters so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MissionCounters {
    /// Messages to other stations, of other lists, or that no pending request expects.
    pub ignored: u64,
    /// Second and further transmissions.
    pub retransmitted: u64,
    /// Transfers that failed, other than by the loss of the link.
    pub failed: u64,
}

enum MissionRequest {
    Pull,
    Push(Vec<MissionItemInt>),
    Clear,
    SetCurrent(u16),
}

/// Client for plan, fence and rally points of one autopilot. `T` is the token returned with each result.
pub struct MissionClient<T> {
    settings: MissionSettings,
    /// Own system and component id.
    own: (u8, u8),
    /// The autopilot's system and component id.
    target: (u8, u8),
    /// By [`MissionList`].
    items: [Option<Vec<MissionItemInt>>; 3],
    /// The autopilot's id of the known list, if it reports one.
    known_id: [Option<u32>; 3],
    current: Option<u16>,
    active: Option<(Transfer, T)>,
    waiting: VecDeque<(MissionList, MissionRequest, T)>,
    events: VecDeque<MissionEvent<T>>,
    counters: MissionCounters,
}

impl<T> MissionClient<T> {
    /// Creates a client. `own` is the system and component id of the sender, `target` that of the autopilot.
    pub fn new(settings: MissionSettings, own: (u8, u8), target: (u8, u8)) -> Self {
        Self {
            settings,
            own,
            target,
            items: Default::default(),
            known_id: [None; 3],
            current: None,
            active: None,
            waiting: VecDeque::new(),
            events: VecDeque::new(),
            counters: MissionCounters::default(),
        }
    }

    /// Changes the ids.
    pub fn set_ids(&mut self, own: (u8, u8), target: (u8, u8)) {
        (self.own, self.target) = (own, target);
    }

    /// Returns a list, if it is known.
    pub fn items(&self, list: MissionList) -> Option<&[MissionItemInt]> {
        self.items[list as usize].as_deref()
    }

    /// Returns the current item, if it is known.
    pub fn current(&self) -> Option<u16> {
        self.current
    }

    /// Whether a request is in progress.
    pub fn is_busy(&self) -> bool {
        self.active.is_some()
    }

    /// Counters so far.
    pub fn counters(&self) -> MissionCounters {
        self.counters
    }

    /// Downloads a list.
    pub fn pull(&mut self, now: Duration, list: MissionList, token: T) {
        self.request(now, list, MissionRequest::Pull, token);
    }

    /// Uploads a list; sets `seq`, target and list of its items.
    pub fn push(&mut self, now: Duration, list: MissionList, items: Vec<MissionItemInt>, token: T) {
        let max_items = self.settings.max_items.min(usize::from(u16::MAX));
        if items.len() > max_items {
            let (items, most) = (items.len(), max_items);
            return self.report(token, Err(MissionError::TooLong { items, most }));
        }
        self.request(now, list, MissionRequest::Push(items), token);
    }

    /// Deletes a list.
    pub fn clear(&mut self, now: Duration, list: MissionList, token: T) {
        self.request(now, list, MissionRequest::Clear, token);
    }

    /// Sets the current item.
    pub fn set_current(&mut self, now: Duration, seq: u16, token: T) {
        self.request(now, MissionList::Plan, MissionRequest::SetCurrent(seq), token);
    }

    /// Handles MISSION_COUNT, the beginning of a download.
    pub fn count(&mut self, now: Duration, message: &MissionCount) {
        let to = (message.target_system, message.target_component);
        if !self.is_for_us(to, message.mission_type) {
            return;
        }
        let max_items = self.settings.max_items;
        self.step(now, |transfer| transfer.count(message.count, message.opaque_id, max_items));
    }

    /// Handles MISSION_ITEM_INT, one item of a download.
    pub fn item(&mut self, now: Duration, item: MissionItemInt) {
        let to = (item.target_system, item.target_component);
        if self.is_for_us(to, item.mission_type) {
            self.step(now, |transfer| transfer.item(item));
        }
    }

    /// Handles MISSION_ITEM, from an autopilot without MISSION_ITEM_INT.
    pub fn item_float(&mut self, now: Duration, item: &MissionItem) {
        let scale = mission_scale(item.frame);
        let int = |value: f32| (f64::from(value) * scale).round() as i32;
        self.item(now, item.to_int(int(item.x), int(item.y)));
    }

    /// Handles MISSION_REQUEST_INT and MISSION_REQUEST: the autopilot requests an item of an upload.
    pub fn requested(&mut self, now: Duration, seq: u16, to: (u8, u8), mission_type: u8) {
        if self.is_for_us(to, mission_type) {
            self.step(now, |transfer| transfer.requested(seq));
        }
    }

    /// Handles MISSION_ACK, which ends an upload, a deletion or a refused download.
    pub fn acknowledge(&mut self, now: Duration, message: &MissionAck) {
        let to = (message.target_system, message.target_component);
        if self.is_for_us(to, message.mission_type) {
            self.step(now, |transfer| transfer.acknowledge(message.result, message.opaque_id));
        }
    }

    /// Handles MISSION_CURRENT, a periodic broadcast.
    pub fn current_item(&mut self, now: Duration, message: &MissionCurrent) {
        if self.current.replace(message.seq) != Some(message.seq) {
            self.events.push_back(MissionEvent::Current(message.seq));
        }
        let active = self.active.as_ref();
        if active.is_some_and(|(transfer, _)| transfer.requested_current().is_some()) {
            self.step(now, |transfer| transfer.current(message.seq));
        }
        if self.active.is_some() {
            return;
        }
        let ids = [message.mission_id, message.fence_id, message.rally_points_id];
        for (list, id) in MissionList::ALL.into_iter().zip(ids) {
            if id == 0 || self.items[list as usize].is_none() {
                continue;
            }
            // The first id after a transfer belongs to the transferred list.
            if self.known_id[list as usize].replace(id).is_some_and(|known| known != id) {
                self.events.push_back(MissionEvent::ChangedElsewhere(list));
            }
        }
    }

    /// Handles a warning text of the autopilot: PX4 sends one if the requested current item does not exist.
    pub fn warned(&mut self, now: Duration) {
        if let Some(error) = self.not_in_list() {
            self.apply(now, TransferStep::ended(Err(error)));
        }
    }

    /// Handles MISSION_ITEM_REACHED.
    pub fn reached(&mut self, seq: u16) {
        self.events.push_back(MissionEvent::Reached(seq));
    }

    /// Retransmits unanswered messages and ends requests that timed out.
    pub fn tick(&mut self, now: Duration) {
        let Some((transfer, _)) = &mut self.active else { return };
        let before = transfer.retransmitted;
        let mut step = transfer.tick(now, &self.settings);
        self.counters.retransmitted += u64::from(transfer.retransmitted - before);
        if let TransferStep::Ended { result, .. } = &mut step
            && let Some(error) = self.not_in_list()
        {
            *result = Err(error);
        }
        self.apply(now, step);
    }

    /// Returns the next event, `None` if there is none.
    pub fn next_event(&mut self) -> Option<MissionEvent<T>> {
        self.events.pop_front()
    }

    /// Returns the time at which [`tick`](Self::tick) next has work.
    pub fn deadline(&self) -> Option<Duration> {
        Some(self.active.as_ref()?.0.next)
    }

    /// Ends all requests because the link is lost.
    pub fn lose_link(&mut self) {
        let active = self.active.take().map(|(_, token)| token);
        let waiting = std::mem::take(&mut self.waiting);
        for token in active.into_iter().chain(waiting.into_iter().map(|w| w.2)) {
            self.report(token, Err(MissionError::LinkLost));
        }
    }

    /// Forgets all lists because the autopilot restarted and may have others.
    pub fn forget(&mut self) {
        self.items = Default::default();
        self.known_id = [None; 3];
        self.current = None;
    }

    /// Returns the error if the requested current item is not in the known list.
    fn not_in_list(&self) -> Option<MissionError> {
        let seq = self.active.as_ref()?.0.requested_current()?;
        let items = self.items(MissionList::Plan)?.len();
        (usize::from(seq) >= items).then_some(MissionError::NotInList { seq, items })
    }

    fn is_for_us(&mut self, (system, component): (u8, u8), mission_type: u8) -> bool {
        let is_ours = (system == 0 || system == self.own.0)
            && (component == 0 || component == self.own.1)
            && (self.active.as_ref())
                .is_some_and(|(transfer, _)| transfer.list as u8 == mission_type);
        self.counters.ignored += u64::from(!is_ours);
        is_ours
    }

    fn request(&mut self, now: Duration, list: MissionList, request: MissionRequest, token: T) {
        if self.waiting.len() >= self.settings.max_waiting {
            return self.report(token, Err(MissionError::TooMany));
        }
        self.waiting.push_back((list, request, token));
        self.start_next(now);
    }

    fn start_next(&mut self, now: Duration) {
        while self.active.is_none() {
            let Some((list, request, token)) = self.waiting.pop_front() else { return };
            let mut transfer = match request {
                MissionRequest::Pull => Transfer::download(self.target, list),
                MissionRequest::Push(items) => Transfer::upload(self.target, list, items),
                MissionRequest::Clear => Transfer::clear(self.target, list),
                MissionRequest::SetCurrent(seq) => Transfer::set_current(self.target, seq),
            };
            let first = transfer.start(now, &self.settings);
            self.active = Some((transfer, token));
            self.events.push_back(MissionEvent::Send(first));
        }
    }

    fn step(&mut self, now: Duration, handle: impl FnOnce(&mut Transfer) -> TransferStep) {
        let Some((transfer, _)) = &mut self.active else {
            self.counters.ignored += 1;
            return;
        };
        let step = handle(transfer);
        if matches!(step, TransferStep::Send(_)) {
            transfer.restart_tries(now, &self.settings);
        }
        self.apply(now, step);
    }

    fn apply(&mut self, now: Duration, step: TransferStep) {
        match step {
            TransferStep::Nothing => {}
            TransferStep::Ignored => self.counters.ignored += 1,
            TransferStep::Send(message) => self.events.push_back(MissionEvent::Send(message)),
            TransferStep::Ended { last, result } => {
                self.events.extend(last.map(MissionEvent::Send));
                let Some((transfer, token)) = self.active.take() else { return };
                self.counters.failed += u64::from(result.is_err());
                let list = transfer.list;
                if result.is_ok()
                    && let Some((items, id)) = transfer.into_mission()
                {
                    self.items[list as usize] = Some(items);
                    self.known_id[list as usize] = (id != 0).then_some(id);
                    self.events.push_back(MissionEvent::Items(list));
                }
                self.report(token, result);
                self.start_next(now);
            }
        }
    }

    fn report(&mut self, token: T, result: Result<MissionDone, MissionError>) {
        self.events.push_back(MissionEvent::Done { token, result });
    }
}

/// Units per degree (global frames) or metre (local frames) of x and y in a MISSION_ITEM_INT; 1 in other frames.
pub fn mission_scale(frame: u8) -> f64 {
    const MISSION: u8 = MavFrame::MAV_FRAME_MISSION as u8;
    const LAST: u8 = MavFrame::MAV_FRAME_LOCAL_FLU as u8;
    if GLOBAL_FRAMES.iter().any(|global| *global as u8 == frame) {
        1e7
    } else if frame == MISSION || frame > LAST {
        1.0
    } else {
        1e4
    }
}
