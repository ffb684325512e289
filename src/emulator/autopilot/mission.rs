//! Missions: upload, download, and the goal of the current item. The protocol is MAVLink's, with PX4's answers.
#![expect(deprecated, reason = "PX4 still asks with MISSION_REQUEST first")]
use super::geo::Geo;
use super::mission_items::{
    CHANGE_SPEED, DELAY, JUMP, LAND, LOITER, LOITER_TIME, Leg, RETURN, WAYPOINT, exact, kept,
    moves, refusal, rounded,
};
use super::outbox::CRITICAL;
use super::{Texts, fields};
use crate::emulator::world::Vec3;
use crate::wire::mavlink::dialect::{
    MISSION_ACK_DATA, MISSION_COUNT_DATA, MISSION_CURRENT_DATA, MISSION_ITEM_REACHED_DATA,
    MISSION_REQUEST_DATA, MISSION_REQUEST_INT_DATA, MavMissionResult, MavMissionType,
};
use crate::wire::mavlink::raw::{MissionItem, MissionItemInt};
use crate::wire::mavlink::{Frame, MavMessage, Outbound};

/// Time in s until a lost answer is requested again, and until a transfer is aborted.
const RETRY: f64 = 0.25;
const PATIENCE: f64 = 5.0;
/// Limit of consecutive items without motion, to end a loop of jumps.
const MOST_STEPS: usize = 1000;
/// MAV_MISSION_TYPE_ALL.
const ALL: u8 = 255;

/// A transfer in progress.
#[derive(Clone, Debug)]
struct Transfer {
    list: u8,
    peer: (u8, u8),
    /// Time of the last activity.
    touched: f64,
    upload: Option<Upload>,
}

#[derive(Clone, Debug)]
struct Upload {
    items: Vec<MissionItemInt>,
    count: u16,
    asked: f64,
}

/// The three lists of a vehicle, and the progress of its mission.
#[derive(Clone, Debug, Default)]
pub struct Mission {
    lists: [Vec<MissionItemInt>; 3],
    transfer: Option<Transfer>,
    /// The ground station uses MISSION_ITEM_INT; until then PX4 requests the old form.
    exact: bool,
    current: usize,
    arrived_at: Option<f64>,
    finished: bool,
    speed: Option<f64>,
    jumps: Vec<(usize, u32)>,
    told: Option<(u16, f64)>,
    changed: bool,
    /// Home in m, NED from the map centre.
    pub home: Vec3,
    /// Geodetic reference of the map.
    pub geo: Geo,
    /// The mission ends with a return to launch.
    pub wants_return: bool,
    /// The mission was cleared during flight.
    pub lost: bool,
}

fn kind(number: u8) -> MavMissionType {
    match number {
        1 => MavMissionType::MAV_MISSION_TYPE_FENCE,
        2 => MavMissionType::MAV_MISSION_TYPE_RALLY,
        ALL => MavMissionType::MAV_MISSION_TYPE_ALL,
        _ => MavMissionType::MAV_MISSION_TYPE_MISSION,
    }
}

fn acknowledge(to: (u8, u8), result: MavMissionResult, list: u8, opaque_id: u32) -> Outbound {
    MavMessage::MISSION_ACK(MISSION_ACK_DATA {
        target_system: to.0,
        target_component: to.1,
        mavtype: result,
        mission_type: kind(list),
        opaque_id,
    })
    .into()
}

/// A hash of a list: equal items give the same number, an empty list gives 0.
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
    /// An empty mission.
    pub fn new(home: Vec3, geo: Geo) -> Self {
        Self { home, geo, ..Self::default() }
    }

    /// Whether there is an item to fly.
    pub fn is_ready(&self) -> bool {
        !self.lists[0].is_empty()
    }

    /// The items of the fence.
    pub fn fence(&self) -> &[MissionItemInt] {
        &self.lists[1]
    }

    /// Handles a message of the mission protocol for this vehicle; `false` for other messages.
    pub fn receive(
        &mut self,
        frame: &Frame<'_>,
        now: f64,
        replies: &mut Vec<Outbound>,
        texts: &mut Texts,
    ) -> bool {
        let peer = (frame.system, frame.component);
        match frame.id {
            44 => {
                let (count, list) = (fields::u16(frame, 0), fields::u8(frame, 4));
                self.begin(peer, count, list, now, replies);
            }
            73 => {
                if let Some(item) = MissionItemInt::parse(frame) {
                    self.exact = true;
                    self.add(peer, item, now, replies, texts);
                }
            }
            39 => {
                if let Some(item) = MissionItem::parse(frame) {
                    self.add(peer, exact(&item), now, replies, texts);
                }
            }
            43 => self.tell_count(peer, fields::u8(frame, 2), now, replies),
            40 | 51 => {
                let seq = fields::u16(frame, 0);
                self.tell_item(peer, seq, frame.id == 51, now, replies, texts);
            }
            45 => self.clear(peer, fields::u8(frame, 2), replies),
            41 => {
                if self.set_current(fields::u16(frame, 0)) {
                    replies.push(self.current_message());
                } else {
                    texts.say(CRITICAL, "WPM: WP CURR CMD: Not in list\t");
                }
            }
            47 => self.transfer = self.transfer.take().filter(|t| t.upload.is_some()),
            _ => return false,
        }
        true
    }

    fn begin(
        &mut self,
        peer: (u8, u8),
        count: u16,
        list: u8,
        now: f64,
        replies: &mut Vec<Outbound>,
    ) {
        // An open transfer continues; the new count is ignored.
        if let Some(transfer) = self.transfer.as_ref().filter(|t| t.upload.is_some()) {
            replies.extend(transfer.request(self.exact));
            return;
        }
        let Some(items) = self.lists.get_mut(usize::from(list)) else {
            let answer = MavMissionResult::MAV_MISSION_UNSUPPORTED;
            replies.push(acknowledge(peer, answer, 0, 0));
            return;
        };
        if count == 0 {
            items.clear();
            let answer = MavMissionResult::MAV_MISSION_ACCEPTED;
            replies.push(acknowledge(peer, answer, list, 0));
            if list == 0 {
                self.rewind();
            }
            return;
        }
        let transfer = Transfer {
            list,
            peer,
            touched: now,
            upload: Some(Upload { items: Vec::new(), count, asked: now }),
        };
        replies.extend(transfer.request(self.exact));
        self.transfer = Some(transfer);
    }

    fn add(
        &mut self,
        peer: (u8, u8),
        item: MissionItemInt,
        now: f64,
        replies: &mut Vec<Outbound>,
        texts: &mut Texts,
    ) {
        let Some(transfer) = self.transfer.as_mut().filter(|t| t.upload.is_some()) else {
            texts.say(CRITICAL, "IGN MISSION_ITEM: No transfer\t");
            let answer = MavMissionResult::MAV_MISSION_ERROR;
            replies.push(acknowledge(peer, answer, item.mission_type, 0));
            return;
        };
        let list = transfer.list;
        let Some(upload) = transfer.upload.as_mut() else {
            return;
        };
        if transfer.peer != peer || usize::from(item.seq) != upload.items.len() {
            return; // PX4 keeps requesting the missing item
        }
        if let Some(result) = refusal(&item) {
            texts.say(CRITICAL, "IGN MISSION_ITEM: Invalid item\t");
            replies.push(acknowledge(peer, result, list, 0));
            self.transfer = None;
            return;
        }
        upload.items.push(kept(item, list));
        upload.asked = now;
        transfer.touched = now;
        if upload.items.len() < usize::from(upload.count) {
            replies.extend(transfer.request(self.exact));
            return;
        }
        let items = std::mem::take(&mut upload.items);
        let number = fingerprint(&items);
        self.transfer = None;
        if let Some(place) = self.lists.get_mut(usize::from(list)) {
            *place = items;
        }
        if list == 0 {
            self.rewind();
        }
        let answer = MavMissionResult::MAV_MISSION_ACCEPTED;
        replies.push(acknowledge(peer, answer, list, number));
    }

    fn tell_count(&mut self, peer: (u8, u8), list: u8, now: f64, replies: &mut Vec<Outbound>) {
        let Some(items) = self.lists.get(usize::from(list)) else {
            let answer = MavMissionResult::MAV_MISSION_UNSUPPORTED;
            replies.push(acknowledge(peer, answer, 0, 0));
            return;
        };
        let count = MISSION_COUNT_DATA {
            count: items.len() as u16,
            target_system: peer.0,
            target_component: peer.1,
            mission_type: kind(list),
            opaque_id: fingerprint(items),
        };
        replies.push(MavMessage::MISSION_COUNT(count).into());
        if !items.is_empty() {
            self.transfer = Some(Transfer { list, peer, touched: now, upload: None });
        }
    }

    fn tell_item(
        &mut self,
        peer: (u8, u8),
        seq: u16,
        exact: bool,
        now: f64,
        replies: &mut Vec<Outbound>,
        texts: &mut Texts,
    ) {
        let running = self.transfer.as_mut().filter(|t| t.upload.is_none());
        let Some(transfer) = running else {
            return; // the list was not requested
        };
        transfer.touched = now;
        let list = transfer.list;
        let items = self.lists.get(usize::from(list));
        let Some(item) = items.and_then(|items| items.get(usize::from(seq))) else {
            texts.say(CRITICAL, "WPM: REJ. CMD: Req. WP was unexpected\t");
            let answer = MavMissionResult::MAV_MISSION_ERROR;
            replies.push(acknowledge(peer, answer, list, 0));
            return;
        };
        let item = MissionItemInt {
            target_system: peer.0,
            target_component: peer.1,
            seq,
            mission_type: list,
            // In the other lists PX4 marks the first item.
            current: u8::from(usize::from(seq) == if list == 0 { self.current } else { 0 }),
            ..*item
        };
        replies.push(if exact { item.into() } else { rounded(&item).into() });
    }

    fn clear(&mut self, peer: (u8, u8), list: u8, replies: &mut Vec<Outbound>) {
        for (i, items) in self.lists.iter_mut().enumerate() {
            if list == ALL || usize::from(list) == i {
                items.clear();
            }
        }
        if matches!(list, 0 | ALL) {
            self.rewind();
            self.lost = true;
        }
        let done = MavMissionResult::MAV_MISSION_ACCEPTED;
        replies.push(acknowledge(peer, done, list, 0));
    }

    /// Requests missing items again, aborts after a timeout, and repeats MISSION_ITEM_REACHED.
    pub fn step(&mut self, now: f64, replies: &mut Vec<Outbound>, texts: &mut Texts) {
        if std::mem::take(&mut self.changed) {
            replies.push(self.current_message());
        }
        if let Some((seq, due)) = self.told.as_mut().filter(|(_, due)| *due <= now) {
            *due = now + 1.0;
            let reached = MISSION_ITEM_REACHED_DATA { seq: *seq };
            replies.push(MavMessage::MISSION_ITEM_REACHED(reached).into());
        }
        let Some(transfer) = self.transfer.as_mut() else {
            return;
        };
        if now - transfer.touched > PATIENCE {
            texts.say(CRITICAL, "Operation timeout\t");
            self.transfer = None;
        } else if let Some(upload) = transfer.upload.as_mut()
            && now - upload.asked >= RETRY
        {
            upload.asked = now;
            replies.extend(transfer.request(self.exact));
        }
    }

    /// MISSION_CURRENT.
    pub fn current_message(&self) -> Outbound {
        let total = self.lists[0].len();
        MavMessage::MISSION_CURRENT(MISSION_CURRENT_DATA {
            seq: self.current as u16,
            // 65535: no mission; the state stays 0 in this version of PX4.
            total: if total == 0 { u16::MAX } else { total as u16 },
            mission_id: fingerprint(&self.lists[0]),
            fence_id: fingerprint(&self.lists[1]),
            rally_points_id: fingerprint(&self.lists[2]),
            ..Default::default()
        })
        .into()
    }

    fn rewind(&mut self) {
        self.go_to(0);
        self.finished = false;
        self.speed = None;
        self.wants_return = false;
        self.told = None;
        self.jumps.clear();
    }

    fn go_to(&mut self, index: usize) {
        self.changed |= self.current != index;
        self.current = index;
        self.arrived_at = None;
    }

    /// Continues with item `seq`; `false` if there is none.
    pub fn set_current(&mut self, seq: u16) -> bool {
        if usize::from(seq) >= self.lists[0].len() {
            return false;
        }
        self.go_to(seq.into());
        self.finished = false;
        true
    }

    /// On disarming stops repeating MISSION_ITEM_REACHED.
    pub fn rest(&mut self) {
        self.told = None;
    }

    /// Restarts a completed mission.
    pub fn start(&mut self) {
        if self.finished {
            self.rewind();
        }
    }

    /// Height in m over home of the mission's take-off.
    pub fn first_height(&self) -> Option<f64> {
        let item = self.lists[0].iter().find(|i| moves(i.command))?;
        let leg = Leg::of(item, self.geo, &self.home, None);
        Some(self.home.z - leg.position.z)
    }

    /// Returns the current goal; `None` at the end. Items without motion are executed on the way.
    pub fn leg(&mut self, now: f64) -> Option<Leg> {
        for _ in 0..MOST_STEPS {
            let item = *self.lists[0].get(self.current).filter(|_| !self.finished)?;
            match item.command {
                CHANGE_SPEED => self.change_speed(item.params[1].into()),
                JUMP if self.jump(item.params) => continue,
                DELAY => {
                    let since = *self.arrived_at.get_or_insert(now);
                    if now - since < f64::from(item.params[0]) {
                        return self.place_before(self.current);
                    }
                }
                RETURN => {
                    self.wants_return = true;
                    self.finished = true;
                    return None;
                }
                command if moves(command) => {
                    return Some(Leg::of(&item, self.geo, &self.home, self.speed));
                }
                _ => {}
            }
            self.next();
        }
        None
    }

    /// Flies on with a speed in m/s; 0 or less: with that of the parameter.
    pub fn change_speed(&mut self, speed: f64) {
        self.speed = (speed > 0.0).then_some(speed);
    }

    fn jump(&mut self, [to, times, ..]: [f32; 4]) -> bool {
        let to = to.max(0.0) as usize;
        if to >= self.lists[0].len() {
            return false;
        }
        let at = self.current;
        let done = self.jumps.iter().find(|(item, _)| *item == at);
        let done = done.map_or(0, |(_, count)| *count);
        if times >= 0.0 && f64::from(done) >= f64::from(times) {
            return false;
        }
        self.jumps.retain(|(item, _)| *item != at);
        self.jumps.push((at, done + 1));
        self.go_to(to);
        true
    }

    fn place_before(&self, index: usize) -> Option<Leg> {
        let before = self.lists[0].get(..index)?;
        let item = before.iter().rfind(|i| moves(i.command) && i.command != LAND)?;
        Some(Leg::of(item, self.geo, &self.home, self.speed))
    }

    /// Completes the current item.
    pub fn arrived(&mut self, now: f64) {
        let Some(item) = self.lists[0].get(self.current).copied() else {
            return;
        };
        let since = match self.arrived_at {
            Some(since) => since,
            None => {
                self.arrived_at = Some(now);
                self.told = Some((self.current as u16, now));
                now
            }
        };
        let stay = match item.command {
            LOITER | LAND => f64::INFINITY,
            LOITER_TIME | WAYPOINT => f64::from(item.params[0]).max(0.0),
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
            self.finished = true;
        }
    }
}

impl Transfer {
    /// Requests the next item.
    fn request(&self, exact: bool) -> Option<Outbound> {
        let upload = self.upload.as_ref()?;
        let seq = upload.items.len() as u16;
        let (target_system, target_component) = self.peer;
        let mission_type = kind(self.list);
        Some(if exact {
            let request =
                MISSION_REQUEST_INT_DATA { seq, target_system, target_component, mission_type };
            MavMessage::MISSION_REQUEST_INT(request).into()
        } else {
            let request =
                MISSION_REQUEST_DATA { seq, target_system, target_component, mission_type };
            MavMessage::MISSION_REQUEST(request).into()
        })
    }
}
