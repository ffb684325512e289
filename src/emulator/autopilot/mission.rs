//! Missions: upload, download, and where the current item leads. The protocol is MAVLink's, with PX4's answers.
use super::geo::Geo;
use super::{Texts, fields, modes};
use crate::emulator::world::Vec3;
use crate::wire::mavlink::dialect::{
    MISSION_ACK_DATA, MISSION_COUNT_DATA, MISSION_CURRENT_DATA, MISSION_ITEM_REACHED_DATA,
    MISSION_REQUEST_INT_DATA, MavMissionResult, MavMissionType, MissionState,
};
use crate::wire::mavlink::raw::{MissionItem, MissionItemInt};
use crate::wire::mavlink::{Frame, MavMessage, Outbound};

/// Items that are kept per list.
const MOST: usize = 2000;
/// Time in s after which a lost answer is asked for again, and after which an upload is given up.
const RETRY: f64 = 0.25;
const PATIENCE: f64 = 5.0;
/// MAV_CMD.
const WAYPOINT: u16 = 16;
const LOITER: u16 = 17;
const LOITER_TIME: u16 = 19;
const RETURN: u16 = 20;
const LAND: u16 = 21;
const TAKEOFF: u16 = 22;
const DELAY: u16 = 93;
const JUMP: u16 = 177;
const CHANGE_SPEED: u16 = 178;
/// Items that PX4 takes and that mean nothing to this vehicle: camera, gimbal, gripper, conditions, home.
const IGNORED: [u16; 17] = [
    112, 115, 179, 187, 189, 195, 197, 201, 203, 205, 206, 211, 530, 1000, 2000, 2001, 2500,
];
/// Geofence and rally items.
const OTHER_LISTS: std::ops::RangeInclusive<u16> = 5000..=5100;

/// Where the current item leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// Place in m, NED from the map centre.
    pub position: Vec3,
    /// Yaw in rad; NaN: along the way.
    pub yaw: f64,
    /// How near counts as arrived, in m.
    pub radius: f64,
    /// Speed in m/s, if an item changed it.
    pub speed: Option<f64>,
    /// Ends on the ground.
    pub land: bool,
    /// Begins on the ground.
    pub takeoff: bool,
}

/// An upload that is under way.
#[derive(Clone, Debug)]
struct Upload {
    kind: u8,
    items: Vec<MissionItemInt>,
    count: u16,
    from: (u8, u8),
    asked: f64,
    began: f64,
}

/// The three lists of a vehicle, and the progress of its mission.
#[derive(Clone, Debug, Default)]
pub struct Mission {
    lists: [Vec<MissionItemInt>; 3],
    upload: Option<Upload>,
    current: usize,
    arrived_at: Option<f64>,
    finished: bool,
    speed: Option<f64>,
    jumps: Vec<(usize, u32)>,
    /// Where home is, in m, NED from the map centre.
    pub home: Vec3,
    /// Where the map is.
    pub geo: Geo,
    /// What has been reached and not been told yet.
    pub reached: Vec<u16>,
    /// The mission ends with a flight home.
    pub wants_return: bool,
}

fn kind(number: u8) -> MavMissionType {
    match number {
        1 => MavMissionType::MAV_MISSION_TYPE_FENCE,
        2 => MavMissionType::MAV_MISSION_TYPE_RALLY,
        _ => MavMissionType::MAV_MISSION_TYPE_MISSION,
    }
}

fn acknowledge(to: (u8, u8), result: MavMissionResult, list: u8) -> Outbound {
    MavMessage::MISSION_ACK(MISSION_ACK_DATA {
        target_system: to.0,
        target_component: to.1,
        mavtype: result,
        mission_type: kind(list),
        ..Default::default()
    })
    .into()
}

impl Mission {
    /// No mission.
    pub fn new(home: Vec3, geo: Geo) -> Self {
        Self {
            home,
            geo,
            ..Self::default()
        }
    }

    /// Whether there is something to fly.
    pub fn is_ready(&self) -> bool {
        !self.lists[0].is_empty()
    }

    /// Takes a message of the mission protocol; `false` if it is none.
    pub fn receive(
        &mut self,
        frame: &Frame<'_>,
        now: f64,
        replies: &mut Vec<Outbound>,
        texts: &mut Texts,
    ) -> bool {
        let from = (frame.system, frame.component);
        match frame.id {
            44 => self.begin(
                from,
                fields::u16(frame, 0),
                fields::u8(frame, 4),
                now,
                replies,
            ),
            73 => {
                let item = MissionItemInt::parse(frame);
                item.into_iter()
                    .for_each(|item| self.add(from, item, now, replies));
            }
            39 => {
                let item = MissionItem::parse(frame).map(|item| whole(&item));
                item.into_iter()
                    .for_each(|item| self.add(from, item, now, replies));
            }
            43 => self.tell_count(from, fields::u8(frame, 2), replies),
            51 => self.tell_item(
                from,
                fields::u16(frame, 0),
                fields::u8(frame, 4),
                true,
                replies,
            ),
            40 => self.tell_item(
                from,
                fields::u16(frame, 0),
                fields::u8(frame, 4),
                false,
                replies,
            ),
            45 => {
                let list = fields::u8(frame, 2);
                for (i, items) in self.lists.iter_mut().enumerate() {
                    if list == 255 || usize::from(list) == i {
                        items.clear();
                    }
                }
                self.rewind();
                let done = MavMissionResult::MAV_MISSION_ACCEPTED;
                replies.push(acknowledge(from, done, list));
            }
            41 => {
                if !self.set_current(fields::u16(frame, 0)) {
                    texts.say(modes::CRITICAL, "WPM: WP CURR CMD: Not in list\t");
                }
                replies.push(self.current_message());
            }
            47 => {}
            _ => return false,
        }
        true
    }

    fn begin(
        &mut self,
        from: (u8, u8),
        count: u16,
        list: u8,
        now: f64,
        replies: &mut Vec<Outbound>,
    ) {
        let Some(items) = self.lists.get_mut(usize::from(list)) else {
            let answer = MavMissionResult::MAV_MISSION_UNSUPPORTED;
            replies.push(acknowledge(from, answer, 0));
            return;
        };
        if usize::from(count) > MOST {
            let answer = MavMissionResult::MAV_MISSION_NO_SPACE;
            replies.push(acknowledge(from, answer, list));
        } else if count == 0 {
            items.clear();
            self.rewind();
            let answer = MavMissionResult::MAV_MISSION_ACCEPTED;
            replies.push(acknowledge(from, answer, list));
        } else {
            let upload = Upload {
                kind: list,
                items: Vec::new(),
                count,
                from,
                asked: now,
                began: now,
            };
            replies.push(upload.request());
            self.upload = Some(upload);
        }
    }

    fn add(&mut self, from: (u8, u8), item: MissionItemInt, now: f64, replies: &mut Vec<Outbound>) {
        let Some(upload) = self.upload.as_mut().filter(|u| u.from == from) else {
            return;
        };
        if usize::from(item.seq) != upload.items.len() {
            replies.push(upload.request()); // PX4 asks for the one that it misses
            return;
        }
        let refusal = refuse(&item);
        if let Some(result) = refusal {
            replies.push(acknowledge(from, result, upload.kind));
            self.upload = None;
            return;
        }
        upload.items.push(item);
        upload.asked = now;
        upload.began = now;
        if upload.items.len() < usize::from(upload.count) {
            replies.push(upload.request());
            return;
        }
        let list = upload.kind;
        let items = std::mem::take(&mut upload.items);
        self.upload = None;
        if let Some(place) = self.lists.get_mut(usize::from(list)) {
            *place = items;
        }
        if list == 0 {
            self.rewind();
        }
        let answer = MavMissionResult::MAV_MISSION_ACCEPTED;
        replies.push(acknowledge(from, answer, list));
    }

    fn tell_count(&self, to: (u8, u8), list: u8, replies: &mut Vec<Outbound>) {
        let Some(items) = self.lists.get(usize::from(list)) else {
            let answer = MavMissionResult::MAV_MISSION_UNSUPPORTED;
            replies.push(acknowledge(to, answer, 0));
            return;
        };
        let count = MISSION_COUNT_DATA {
            count: items.len() as u16,
            target_system: to.0,
            target_component: to.1,
            mission_type: kind(list),
            ..Default::default()
        };
        replies.push(MavMessage::MISSION_COUNT(count).into());
    }

    fn tell_item(
        &self,
        to: (u8, u8),
        seq: u16,
        list: u8,
        exact: bool,
        replies: &mut Vec<Outbound>,
    ) {
        let items = self.lists.get(usize::from(list));
        let Some(item) = items.and_then(|items| items.get(usize::from(seq))) else {
            let answer = MavMissionResult::MAV_MISSION_INVALID_SEQUENCE;
            replies.push(acknowledge(to, answer, list));
            return;
        };
        let item = MissionItemInt {
            target_system: to.0,
            target_component: to.1,
            seq,
            mission_type: list,
            current: u8::from(list == 0 && usize::from(seq) == self.current),
            ..*item
        };
        replies.push(if exact {
            item.into()
        } else {
            rounded(&item).into()
        });
    }

    /// Asks again for what did not come, and gives up after a while.
    pub fn step(&mut self, now: f64, replies: &mut Vec<Outbound>) {
        let Some(upload) = self.upload.as_mut() else {
            return;
        };
        if now - upload.began > PATIENCE {
            let answer = MavMissionResult::MAV_MISSION_OPERATION_CANCELLED;
            replies.push(acknowledge(upload.from, answer, upload.kind));
            self.upload = None;
        } else if now - upload.asked > RETRY {
            upload.asked = now;
            replies.push(upload.request());
        }
    }

    /// MISSION_CURRENT.
    pub fn current_message(&self) -> Outbound {
        let total = self.lists[0].len();
        let state = match (total, self.finished) {
            (0, _) => MissionState::MISSION_STATE_NO_MISSION,
            (_, true) => MissionState::MISSION_STATE_COMPLETE,
            (_, false) => MissionState::MISSION_STATE_NOT_STARTED,
        };
        MavMessage::MISSION_CURRENT(MISSION_CURRENT_DATA {
            seq: self.current as u16,
            // 65535 says that there is none.
            total: if total == 0 { u16::MAX } else { total as u16 },
            mission_state: state,
            ..Default::default()
        })
        .into()
    }

    /// MISSION_ITEM_REACHED of what was reached since the last call.
    pub fn tell_reached(&mut self, replies: &mut Vec<Outbound>) {
        for seq in self.reached.drain(..) {
            let reached = MISSION_ITEM_REACHED_DATA { seq };
            replies.push(MavMessage::MISSION_ITEM_REACHED(reached).into());
        }
    }

    fn rewind(&mut self) {
        self.current = 0;
        self.arrived_at = None;
        self.finished = false;
        self.speed = None;
        self.wants_return = false;
        self.jumps.clear();
    }

    /// Goes on with item `seq`; `false` if there is none.
    pub fn set_current(&mut self, seq: u16) -> bool {
        if usize::from(seq) >= self.lists[0].len() {
            return false;
        }
        self.current = seq.into();
        self.arrived_at = None;
        self.finished = false;
        true
    }

    /// Begins anew if the mission was flown to its end.
    pub fn start(&mut self) {
        if self.finished {
            self.rewind();
        }
    }

    /// Returns where the vehicle shall fly; `None` at the end. Items that move nothing are obeyed on the way.
    pub fn leg(&mut self, now: f64) -> Option<Leg> {
        for _ in 0..MOST {
            let item = *self.lists[0].get(self.current)?;
            if self.finished {
                return None;
            }
            match item.command {
                CHANGE_SPEED => {
                    let speed = f64::from(item.params[1]);
                    self.speed = (speed > 0.0).then_some(speed);
                }
                JUMP => {
                    if self.jump(item.params) {
                        continue;
                    }
                }
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
                WAYPOINT | LOITER | LOITER_TIME | LAND | TAKEOFF => {
                    return Some(self.leg_to(&item));
                }
                _ => {}
            }
            self.next();
        }
        None
    }

    fn jump(&mut self, params: [f32; 4]) -> bool {
        let to = params[0].max(0.0) as usize;
        if to >= self.lists[0].len() {
            return false;
        }
        let times = params[1];
        let at = self.current;
        let done = match self.jumps.iter_mut().find(|(item, _)| *item == at) {
            Some((_, count)) => count,
            None => {
                self.jumps.push((at, 0));
                &mut self.jumps.last_mut().expect("was just added").1
            }
        };
        if times >= 0.0 && f64::from(*done) >= f64::from(times) {
            return false;
        }
        *done += 1;
        self.current = to;
        true
    }

    fn place_before(&self, index: usize) -> Option<Leg> {
        let before = self.lists[0].get(..index)?;
        let item = before
            .iter()
            .rfind(|i| matches!(i.command, WAYPOINT | LOITER | LOITER_TIME | TAKEOFF))?;
        Some(self.leg_to(item))
    }

    fn leg_to(&self, item: &MissionItemInt) -> Leg {
        let altitude = f64::from(item.z);
        let [_, _, home] = self.geo.to_degrees(&self.home);
        let above = if matches!(item.frame, 3 | 6) {
            home
        } else {
            0.0
        };
        let [latitude, longitude] = [item.x, item.y].map(|v| f64::from(v) * 1e-7);
        let position = self.geo.to_ned([latitude, longitude, altitude + above]);
        let radius = f64::from(item.params[1]);
        Leg {
            position,
            yaw: f64::from(item.params[3]).to_radians(),
            radius: if radius > 0.05 { radius } else { 2.0 },
            speed: self.speed,
            land: item.command == LAND,
            takeoff: item.command == TAKEOFF,
        }
    }

    /// The vehicle is where the current item leads.
    pub fn arrived(&mut self, now: f64) {
        let Some(item) = self.lists[0].get(self.current).copied() else {
            return;
        };
        let since = match self.arrived_at {
            Some(since) => since,
            None => {
                self.arrived_at = Some(now);
                self.reached.push(self.current as u16);
                now
            }
        };
        let stay = match item.command {
            LOITER => f64::INFINITY,
            LOITER_TIME | WAYPOINT => f64::from(item.params[0]).max(0.0),
            LAND => f64::INFINITY,
            _ => 0.0,
        };
        if now - since >= stay {
            self.next();
        }
    }

    fn next(&mut self) {
        self.arrived_at = None;
        if self.current + 1 < self.lists[0].len() {
            self.current += 1;
        } else {
            self.finished = true;
        }
    }
}

impl Upload {
    fn request(&self) -> Outbound {
        MavMessage::MISSION_REQUEST_INT(MISSION_REQUEST_INT_DATA {
            seq: self.items.len() as u16,
            target_system: self.from.0,
            target_component: self.from.1,
            mission_type: kind(self.kind),
        })
        .into()
    }
}

/// Why PX4 does not take an item.
fn refuse(item: &MissionItemInt) -> Option<MavMissionResult> {
    let moves = matches!(
        item.command,
        WAYPOINT | LOITER | LOITER_TIME | LAND | TAKEOFF
    );
    let known = moves
        || matches!(item.command, RETURN | DELAY | JUMP | CHANGE_SPEED)
        || IGNORED.contains(&item.command)
        || OTHER_LISTS.contains(&item.command);
    if !known {
        return Some(MavMissionResult::MAV_MISSION_UNSUPPORTED);
    }
    if !matches!(item.frame, 0 | 2 | 3 | 5 | 6) || (moves && item.frame == 2) {
        return Some(MavMissionResult::MAV_MISSION_UNSUPPORTED_FRAME);
    }
    None
}

fn whole(item: &MissionItem) -> MissionItemInt {
    let scale = |v: f32| (f64::from(v) * 1e7).round() as i32;
    MissionItemInt {
        params: item.params,
        x: scale(item.x),
        y: scale(item.y),
        z: item.z,
        seq: item.seq,
        command: item.command,
        frame: item.frame,
        current: item.current,
        autocontinue: item.autocontinue,
        mission_type: item.mission_type,
        ..Default::default()
    }
}

fn rounded(item: &MissionItemInt) -> MissionItem {
    let scale = |v: i32| (f64::from(v) * 1e-7) as f32;
    MissionItem {
        params: item.params,
        x: scale(item.x),
        y: scale(item.y),
        z: item.z,
        seq: item.seq,
        command: item.command,
        target_system: item.target_system,
        target_component: item.target_component,
        frame: item.frame,
        current: item.current,
        autocontinue: item.autocontinue,
        mission_type: item.mission_type,
    }
}
