//! An autopilot that answers as the one that mavros was recorded with: as much of PX4 as services need.
use super::rig::Rig;
use rfly_bridge::wire::mavlink::raw::*;
use rfly_bridge::wire::mavlink::{Frame, Outbound, frames};
use std::collections::BTreeMap;
use std::time::Duration;

/// Parameters by index: name, bytes of the value, type.
pub(super) type Parameters = Vec<(&'static str, [u8; 4], u8)>;

pub(super) struct Fcu {
    pub(super) heartbeat: Heartbeat,
    /// MAV_RESULT by command, where it is not 0.
    pub(super) results: BTreeMap<u16, u8>,
    /// Commands that are not answered at all.
    pub(super) silent: Vec<u16>,
    /// Mode changes are acknowledged and come to nothing.
    pub(super) stubborn: bool,
    pub(super) parameters: Parameters,
    pub(super) mission: Vec<MissionItemInt>,
    /// Result of an upload.
    pub(super) mission_result: u8,
    /// Asks for items as integers.
    pub(super) integers: bool,
    upload: (u16, Vec<MissionItemInt>),
}

impl Fcu {
    pub(super) fn new() -> Self {
        let int = |v: i32| v.to_le_bytes();
        Self {
            heartbeat: Heartbeat {
                custom_mode: 3 << 16,
                kind: 2,
                autopilot: 12,
                base_mode: 81,
                system_status: 3,
                mavlink_version: 3,
            },
            results: BTreeMap::new(),
            silent: Vec::new(),
            stubborn: false,
            parameters: vec![
                ("SYS_AUTOSTART", int(10040), 6),
                ("MPC_XY_VEL_MAX", 12.5f32.to_le_bytes(), 9),
                ("COM_RC_IN_MODE", int(1), 6),
                ("MIS_TAKEOFF_ALT", 2.5f32.to_le_bytes(), 9),
                ("BAT1_N_CELLS", int(4), 6),
            ],
            mission: Vec::new(),
            mission_result: 0,
            integers: true,
            upload: (0, Vec::new()),
        }
    }

    /// Says the heartbeat, and answers what comes of it.
    pub(super) fn beat(&mut self, rig: &mut Rig) {
        rig.say(self.heartbeat);
    }

    /// Answers what was sent, for so long. Returns the frames, except those that the bridge sends by itself.
    pub(super) fn serve(&mut self, rig: &mut Rig, time: Duration) -> Vec<Vec<u8>> {
        const STEP: Duration = Duration::from_millis(10);
        let mut sent = Vec::new();
        let mut passed = Duration::ZERO;
        loop {
            rig.poll();
            let bytes = rig.sent_bytes();
            for frame in frames(&bytes).map(|frame| frame.expect("a frame")) {
                if !by_itself(&frame) {
                    sent.push(frame.bytes.to_vec());
                }
                for answer in self.answer(&frame) {
                    rig.say(answer);
                }
            }
            if passed >= time && rig.nothing_sent() {
                return sent;
            }
            if passed < time {
                rig.pass(STEP);
                passed += STEP;
            }
        }
    }

    fn answer(&mut self, frame: &Frame<'_>) -> Vec<Outbound> {
        let to = (frame.system, frame.component);
        if let Some(m) = CommandLong::parse(frame) {
            return self.command(m.command, m.params, to);
        }
        if let Some(m) = CommandInt::parse(frame) {
            return self.command(m.command, [0.0; 7], to);
        }
        if let Some(m) = SetMode::parse(frame) {
            let answer = self.command(176, [0.0; 7], to);
            if !self.stubborn && self.results.get(&176).is_none_or(|r| *r == 0) {
                self.heartbeat.custom_mode = m.custom_mode;
                let armed = self.heartbeat.base_mode & 128;
                self.heartbeat.base_mode = m.base_mode & !128 | armed;
            }
            return answer;
        }
        if ParamRequestList::parse(frame).is_some() {
            return (0..self.parameters.len()).map(|i| self.parameter(i)).collect();
        }
        if let Some(m) = ParamRequestRead::parse(frame) {
            let found = self.find(&m.id).or(usize::try_from(m.index).ok());
            return found.map(|i| self.parameter(i)).into_iter().collect();
        }
        if let Some(m) = ParamSet::parse(frame) {
            let Some(found) = self.find(&m.id) else {
                return vec![];
            };
            self.parameters[found].1 = m.value;
            return vec![self.parameter(found)];
        }
        self.mission(frame, to)
    }

    fn command(&mut self, command: u16, params: [f32; 7], to: (u8, u8)) -> Vec<Outbound> {
        if self.silent.contains(&command) {
            return vec![];
        }
        let result = self.results.get(&command).copied().unwrap_or(0);
        let ack = CommandAck {
            command,
            result,
            target_system: to.0,
            target_component: to.1,
            ..CommandAck::default()
        };
        match (command, result) {
            (400, 0) if params[0] == 1.0 => self.heartbeat.base_mode |= 128,
            (400, 0) => self.heartbeat.base_mode &= !128,
            (512, 0) if params[0] == 0.0 => return vec![ack.into(), self.heartbeat.into()],
            (512, 0) if params[0] == 148.0 => {
                let version = AutopilotVersion {
                    capabilities: 58607,
                    uid: 1_234_605_616_436_508_552,
                    flight_sw: 17_760_511,
                    middleware_sw: 17_760_511,
                    os_sw: 184_549_631,
                    board: 1,
                    vendor_id: 9900,
                    product_id: 16,
                    flight_custom: [1, 2, 3, 4, 5, 6, 7, 8],
                };
                return vec![ack.into(), version.into()];
            }
            _ => {}
        }
        vec![ack.into()]
    }

    fn find(&self, id: &[u8; 16]) -> Option<usize> {
        let name = std::str::from_utf8(id).unwrap().trim_end_matches('\0');
        self.parameters.iter().position(|p| p.0 == name)
    }

    pub(super) fn parameter(&self, index: usize) -> Outbound {
        let (name, value, kind) = self.parameters[index];
        let mut id = [0; 16];
        id[..name.len()].copy_from_slice(name.as_bytes());
        ParamValue { value, count: self.parameters.len() as u16, index: index as u16, id, kind }
            .into()
    }

    fn mission(&mut self, frame: &Frame<'_>, to: (u8, u8)) -> Vec<Outbound> {
        let (target_system, target_component) = to;
        let ack = |result| {
            MissionAck { target_system, target_component, result, ..MissionAck::default() }.into()
        };
        if let Some(m) = MissionRequestList::parse(frame) {
            // It has neither fence nor rally points.
            let count = MissionCount {
                mission_type: m.mission_type,
                count: if m.mission_type == 0 { self.mission.len() as u16 } else { 0 },
                target_system,
                target_component,
                ..MissionCount::default()
            };
            return vec![count.into()];
        }
        if let Some(m) = MissionRequestInt::parse(frame) {
            let mut item = self.mission[usize::from(m.seq)];
            (item.target_system, item.target_component) = to;
            item.seq = m.seq;
            return vec![item.into()];
        }
        if MissionClearAll::parse(frame).is_some() {
            self.mission.clear();
            return vec![ack(0)];
        }
        if let Some(m) = MissionSetCurrent::parse(frame) {
            let current = MissionCurrent { seq: m.seq, ..MissionCurrent::default() };
            return vec![current.into()];
        }
        if let Some(m) = MissionCount::parse(frame) {
            self.upload = (m.count, Vec::new());
        } else if let Some(m) = MissionItemInt::parse(frame) {
            self.upload.1.push(m);
        } else {
            return vec![];
        }
        let seq = self.upload.1.len() as u16;
        if seq >= self.upload.0 {
            if self.mission_result == 0 {
                self.mission.clone_from(&self.upload.1);
            }
            return vec![ack(self.mission_result)];
        }
        let mission_type = 0;
        vec![if self.integers {
            MissionRequestInt { seq, target_system, target_component, mission_type }.into()
        } else {
            MissionRequest { seq, target_system, target_component, mission_type }.into()
        }]
    }
}

/// Time, heartbeats, and questions that nobody asked the bridge to ask.
fn by_itself(frame: &Frame<'_>) -> bool {
    matches!(frame.id, 0 | 2 | 111)
        || CommandLong::parse(frame).is_some_and(|m| matches!(m.command, 410 | 512))
}
