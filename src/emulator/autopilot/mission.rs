//! Missions: upload, download, and the goal of the current item. The protocol is MAVLink's, with PX4's answers.
use super::geo::Geo;
use super::mission_items::{Leg, is_motion, refusal, to_float, to_int, to_stored};
use super::queues::{CRITICAL, Texts};
use crate::emulator::world::Vec3;
use crate::wire::mavlink::dialect::MavMissionResult;
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::{
    MissionAck, MissionClearAll, MissionCount, MissionCurrent, MissionItem, MissionItemInt,
    MissionItemReached, MissionRequest, MissionRequestInt, MissionRequestList, MissionSetCurrent,
};
use crate::wire::mavlink::{Frame, Outbound};
use std::collections::BTreeMap;

/// Time in s without an answer until it is requested again, and without progress until the transfer is aborted.
const RETRY: f64 = 0.25;
const PATIENCE: f64 = 5.0;
/// Limit of consecutive items without motion, to end a loop of jumps.
const MAX_STEPS: usize = 1000;

#[derive(Clone, Debug)]
struct Transfer {
    list: u8,
    peer: (u8, u8),
    active_at: f64,
    upload: Option<Upload>,
}

#[derive(Clone, Debug)]
struct Upload {
    items: Vec<MissionItemInt>,
    count: u16,
    requested_at: f64,
}

/// The three lists of a vehicle, and the progress of its mission.
#[derive(Clone, Debug, Default)]
pub(super) struct Mission {
    lists: [Vec<MissionItemInt>; 3],
    transfer: Option<Transfer>,
    /// Whether the ground station has sent MISSION_ITEM_INT; until then PX4 sends MISSION_REQUEST, the old form.
    uses_int: bool,
    current: usize,
    arrived_at: Option<f64>,
    is_finished: bool,
    speed: Option<f64>,
    /// How often each DO_JUMP was executed, by its index.
    jumps: BTreeMap<usize, u32>,
    reached: Option<(u16, f64)>,
    is_current_changed: bool,
    /// Home in m, NED from the map centre.
    pub(super) home: Vec3,
    pub(super) geo: Geo,
    /// Whether the mission has ended at an item that returns to launch, and the return has not begun.
    pub(super) is_return_due: bool,
    /// Whether the mission was cleared since its start.
    pub(super) was_cleared: bool,
}

/// The sender of a message, and the queues of the answers.
struct Exchange<'a> {
    peer: (u8, u8),
    now: f64,
    replies: &'a mut Vec<Outbound>,
    texts: &'a mut Texts,
}

impl Exchange<'_> {
    fn acknowledge(&mut self, result: MavMissionResult, list: u8, opaque_id: u32) {
        let (target_system, target_component) = self.peer;
        let is_known = matches!(list, 0..=MAV_MISSION_TYPE_RALLY | MAV_MISSION_TYPE_ALL);
        let (result, mission_type) = (result as u8, if is_known { list } else { 0 });
        self.replies.push(
            MissionAck { target_system, target_component, result, mission_type, opaque_id }.into(),
        );
    }

    fn reject(&mut self, text: &str, result: MavMissionResult, list: u8) {
        self.texts.push(CRITICAL, text);
        self.acknowledge(result, list, 0);
    }
}

/// A hash of a list: equal items have the same hash, an empty list has 0.
fn fingerprint(items: &[MissionItemInt]) -> u32 {
    if items.is_empty() {
        return 0;
    }
    let mut hash = crc32fast::Hasher::new();
    for item in items {
        hash.update(&item.command.to_le_bytes());
        hash.update(&[item.frame]);
        for number in [item.x, item.y] {
            hash.update(&number.to_le_bytes());
        }
        for number in item.params.iter().chain([&item.z]) {
            hash.update(&number.to_le_bytes());
        }
    }
    hash.finalize()
}

impl Mission {
    pub(super) fn new(home: Vec3, geo: Geo) -> Self {
        Self { home, geo, ..Self::default() }
    }

    pub(super) fn is_ready(&self) -> bool {
        !self.lists[0].is_empty()
    }

    pub(super) fn fence(&self) -> &[MissionItemInt] {
        &self.lists[1]
    }

    /// Handles a message of the mission protocol for this vehicle; `false` for other messages.
    pub(super) fn receive(
        &mut self,
        frame: &Frame<'_>,
        now: f64,
        replies: &mut Vec<Outbound>,
        texts: &mut Texts,
    ) -> bool {
        let mut exchange = Exchange { peer: (frame.system, frame.component), now, replies, texts };
        if let Some(m) = MissionCount::parse(frame) {
            self.start_upload(&mut exchange, m.count, m.mission_type);
        } else if let Some(item) = MissionItemInt::parse(frame) {
            self.uses_int = true;
            self.add(&mut exchange, item);
        } else if let Some(item) = MissionItem::parse(frame) {
            self.add(&mut exchange, to_int(&item));
        } else if let Some(m) = MissionRequestList::parse(frame) {
            self.send_count(&mut exchange, m.mission_type);
        } else if let Some(m) = MissionRequest::parse(frame) {
            self.send_item(&mut exchange, m.seq, false);
        } else if let Some(m) = MissionRequestInt::parse(frame) {
            self.send_item(&mut exchange, m.seq, true);
        } else if let Some(m) = MissionClearAll::parse(frame) {
            self.clear(&mut exchange, m.mission_type);
        } else if let Some(m) = MissionSetCurrent::parse(frame) {
            if self.set_current(m.seq) {
                exchange.replies.push(self.current_message());
            } else {
                exchange.texts.push(CRITICAL, "WPM: WP CURR CMD: Not in list\t");
            }
        } else if frame.id == MissionAck::ID {
            self.transfer = self.transfer.take().filter(|t| t.upload.is_some());
        } else {
            return false;
        }
        true
    }

    fn start_upload(&mut self, exchange: &mut Exchange<'_>, count: u16, list: u8) {
        // An open transfer continues; the new count is ignored.
        if let Some(transfer) = self.transfer.as_ref().filter(|t| t.upload.is_some()) {
            exchange.replies.extend(transfer.request(self.uses_int));
            return;
        }
        let Some(items) = self.lists.get_mut(usize::from(list)) else {
            return exchange.acknowledge(MavMissionResult::MAV_MISSION_UNSUPPORTED, 0, 0);
        };
        if count == 0 {
            items.clear();
            if list == 0 {
                self.rewind();
            }
            return exchange.acknowledge(MavMissionResult::MAV_MISSION_ACCEPTED, list, 0);
        }
        let upload = Some(Upload { items: Vec::new(), count, requested_at: exchange.now });
        let transfer = Transfer { list, peer: exchange.peer, active_at: exchange.now, upload };
        exchange.replies.extend(transfer.request(self.uses_int));
        self.transfer = Some(transfer);
    }

    fn add(&mut self, exchange: &mut Exchange<'_>, item: MissionItemInt) {
        let uploading = self.transfer.as_mut();
        let Some(((list, peer), upload)) =
            uploading.and_then(|t| Some(((t.list, t.peer), t.upload.as_mut()?)))
        else {
            let error = MavMissionResult::MAV_MISSION_ERROR;
            return exchange.reject("IGN MISSION_ITEM: No transfer\t", error, item.mission_type);
        };
        if peer != exchange.peer || usize::from(item.seq) != upload.items.len() {
            return; // PX4 keeps requesting the missing item
        }
        if let Some(result) = refusal(&item) {
            self.transfer = None;
            return exchange.reject("IGN MISSION_ITEM: Invalid item\t", result, list);
        }
        upload.items.push(to_stored(item, list));
        upload.requested_at = exchange.now;
        if upload.items.len() < usize::from(upload.count) {
            if let Some(transfer) = &mut self.transfer {
                transfer.active_at = exchange.now;
                exchange.replies.extend(transfer.request(self.uses_int));
            }
            return;
        }
        let items = std::mem::take(&mut upload.items);
        let number = fingerprint(&items);
        self.transfer = None;
        if let Some(stored) = self.lists.get_mut(usize::from(list)) {
            *stored = items;
        }
        if list == 0 {
            self.rewind();
        }
        exchange.acknowledge(MavMissionResult::MAV_MISSION_ACCEPTED, list, number);
    }

    fn send_count(&mut self, exchange: &mut Exchange<'_>, list: u8) {
        let Some(items) = self.lists.get(usize::from(list)) else {
            return exchange.acknowledge(MavMissionResult::MAV_MISSION_UNSUPPORTED, 0, 0);
        };
        let count = MissionCount {
            count: items.len() as u16,
            target_system: exchange.peer.0,
            target_component: exchange.peer.1,
            mission_type: list,
            opaque_id: fingerprint(items),
        };
        exchange.replies.push(count.into());
        if !items.is_empty() {
            self.transfer =
                Some(Transfer { list, peer: exchange.peer, active_at: exchange.now, upload: None });
        }
    }

    fn send_item(&mut self, exchange: &mut Exchange<'_>, seq: u16, as_int: bool) {
        let Some(transfer) = self.transfer.as_mut().filter(|t| t.upload.is_none()) else {
            return; // the list was not requested
        };
        transfer.active_at = exchange.now;
        let list = transfer.list;
        let items = self.lists.get(usize::from(list));
        let Some(item) = items.and_then(|items| items.get(usize::from(seq))) else {
            let error = MavMissionResult::MAV_MISSION_ERROR;
            return exchange.reject("WPM: REJ. CMD: Req. WP was unexpected\t", error, list);
        };
        let item = MissionItemInt {
            target_system: exchange.peer.0,
            target_component: exchange.peer.1,
            seq,
            mission_type: list,
            // PX4 marks the first item of the fence and rally lists.
            current: u8::from(usize::from(seq) == if list == 0 { self.current } else { 0 }),
            ..*item
        };
        exchange.replies.push(if as_int { item.into() } else { to_float(&item).into() });
    }

    fn clear(&mut self, exchange: &mut Exchange<'_>, list: u8) {
        for (i, items) in self.lists.iter_mut().enumerate() {
            if list == MAV_MISSION_TYPE_ALL || usize::from(list) == i {
                items.clear();
            }
        }
        if matches!(list, 0 | MAV_MISSION_TYPE_ALL) {
            self.rewind();
            self.was_cleared = true;
        }
        exchange.acknowledge(MavMissionResult::MAV_MISSION_ACCEPTED, list, 0);
    }

    /// Requests missing items again, aborts after a timeout, and repeats MISSION_ITEM_REACHED.
    pub(super) fn step(&mut self, now: f64, replies: &mut Vec<Outbound>, texts: &mut Texts) {
        if std::mem::take(&mut self.is_current_changed) {
            replies.push(self.current_message());
        }
        if let Some((seq, due)) = self.reached.as_mut().filter(|(_, due)| *due <= now) {
            *due = now + 1.0;
            replies.push(MissionItemReached { seq: *seq }.into());
        }
        let Some(transfer) = self.transfer.as_mut() else { return };
        if now - transfer.active_at > PATIENCE {
            texts.push(CRITICAL, "Operation timeout\t");
            self.transfer = None;
        } else if let Some(upload) = transfer.upload.as_mut()
            && now - upload.requested_at >= RETRY
        {
            upload.requested_at = now;
            replies.extend(transfer.request(self.uses_int));
        }
    }

    pub(super) fn current_message(&self) -> Outbound {
        let total = self.lists[0].len();
        MissionCurrent {
            seq: self.current as u16,
            // 65535: no mission; the state stays 0 in this version of PX4.
            total: if total == 0 { u16::MAX } else { total as u16 },
            mission_id: fingerprint(&self.lists[0]),
            fence_id: fingerprint(&self.lists[1]),
            rally_points_id: fingerprint(&self.lists[2]),
            ..Default::default()
        }
        .into()
    }

    fn rewind(&mut self) {
        self.go_to(0);
        self.is_finished = false;
        self.speed = None;
        self.is_return_due = false;
        self.reached = None;
        self.jumps.clear();
    }

    fn go_to(&mut self, index: usize) {
        self.is_current_changed |= self.current != index;
        self.current = index;
        self.arrived_at = None;
    }

    /// Continues with item `seq`; `false` if there is none.
    pub(super) fn set_current(&mut self, seq: u16) -> bool {
        if usize::from(seq) >= self.lists[0].len() {
            return false;
        }
        self.go_to(seq.into());
        self.is_finished = false;
        true
    }

    /// Stops repeating MISSION_ITEM_REACHED, on disarming.
    pub(super) fn stop_reporting(&mut self) {
        self.reached = None;
    }

    pub(super) fn start(&mut self) {
        if self.is_finished {
            self.rewind();
        }
    }

    /// Height in m over home of the mission's first goal.
    pub(super) fn first_height(&self) -> Option<f64> {
        let item = self.lists[0].iter().find(|i| is_motion(i.command))?;
        let leg = Leg::of(item, self.geo, &self.home, None);
        Some(self.home.z - leg.position.z)
    }

    /// Returns the current goal; `None` at the end. Items without motion are executed on the way.
    pub(super) fn leg(&mut self, now: f64) -> Option<Leg> {
        for _ in 0..MAX_STEPS {
            let item = *self.lists[0].get(self.current).filter(|_| !self.is_finished)?;
            match item.command {
                MAV_CMD_DO_CHANGE_SPEED => self.change_speed(item.params[1].into()),
                MAV_CMD_DO_JUMP if self.jump(item.params) => continue,
                MAV_CMD_NAV_DELAY => {
                    let since = *self.arrived_at.get_or_insert(now);
                    if now - since < f64::from(item.params[0]) {
                        return self.leg_before(self.current);
                    }
                }
                MAV_CMD_NAV_RETURN_TO_LAUNCH => {
                    self.is_return_due = true;
                    self.is_finished = true;
                    return None;
                }
                command if is_motion(command) => {
                    return Some(Leg::of(&item, self.geo, &self.home, self.speed));
                }
                _ => {}
            }
            self.next();
        }
        None
    }

    /// Changes the speed in m/s; 0 or less restores that of MPC_XY_CRUISE.
    pub(super) fn change_speed(&mut self, speed: f64) {
        self.speed = (speed > 0.0).then_some(speed);
    }

    fn jump(&mut self, [to, times, ..]: [f32; 4]) -> bool {
        let to = to.max(0.0) as usize;
        if to >= self.lists[0].len() {
            return false;
        }
        let count = self.jumps.entry(self.current).or_default();
        if times >= 0.0 && f64::from(*count) >= f64::from(times) {
            return false;
        }
        *count += 1;
        self.go_to(to);
        true
    }

    fn leg_before(&self, index: usize) -> Option<Leg> {
        let earlier = self.lists[0].get(..index)?;
        let item =
            earlier.iter().rfind(|i| is_motion(i.command) && i.command != MAV_CMD_NAV_LAND)?;
        Some(Leg::of(item, self.geo, &self.home, self.speed))
    }

    pub(super) fn note_arrival(&mut self, now: f64) {
        let Some(item) = self.lists[0].get(self.current).copied() else { return };
        if self.arrived_at.is_none() {
            self.reached = Some((self.current as u16, now));
        }
        let since = *self.arrived_at.get_or_insert(now);
        let stay = match item.command {
            MAV_CMD_NAV_LOITER_UNLIM | MAV_CMD_NAV_LAND => f64::INFINITY,
            MAV_CMD_NAV_LOITER_TIME | MAV_CMD_NAV_WAYPOINT => f64::from(item.params[0]).max(0.0),
            _ => 0.0,
        };
        if now - since >= stay {
            self.next();
        }
    }

    fn next(&mut self) {
        if self.current + 1 < self.lists[0].len() {
            self.go_to(self.current + 1);
        } else {
            self.is_finished = true;
        }
    }
}

impl Transfer {
    fn request(&self, as_int: bool) -> Option<Outbound> {
        let seq = self.upload.as_ref()?.items.len() as u16;
        let (target_system, target_component) = self.peer;
        let mission_type = self.list;
        Some(if as_int {
            MissionRequestInt { seq, target_system, target_component, mission_type }.into()
        } else {
            MissionRequest { seq, target_system, target_component, mission_type }.into()
        })
    }
}
