//! Received messages, dispatched to the vehicle's parts.
#![expect(deprecated, reason = "PX4 still answers PING")]
use super::dynamics::ControlTarget;
use super::{Autopilot, flight, queues::DatagramQueue};
use crate::wire::mavlink::dialect::{
    ATT_POS_MOCAP_DATA, GPS_GLOBAL_ORIGIN_DATA, HIL_GPS_DATA, MANUAL_CONTROL_DATA, MavType,
    ODOMETRY_DATA, PING_DATA, VISION_POSITION_ESTIMATE_DATA,
};
use crate::wire::mavlink::raw::{
    Heartbeat, HilActuatorControls, MissionAck, MissionClearAll, MissionCount, MissionItem,
    MissionItemInt, MissionRequest, MissionRequestInt, MissionRequestList, MissionSetCurrent,
    ParamRequestList, ParamRequestRead, ParamSet, SetAttitudeTarget, SetGpsGlobalOrigin,
    SetPositionTargetGlobalInt, SetPositionTargetLocalNed, Timesync,
};
use crate::wire::mavlink::{Frame, MavMessage, MessageData as _, frames};

/// Messages for one vehicle: the offset of target system and component, and whether system 0 means all systems.
#[rustfmt::skip] // a table
const TARGETS: [(u32, usize, bool); 15] = [
    (ParamRequestRead::ID, 2, false), (ParamRequestList::ID, 0, false), (ParamSet::ID, 4, true),
    (MissionCount::ID, 2, false), (MissionItemInt::ID, 32, false), (MissionItem::ID, 32, false),
    (MissionRequestList::ID, 0, false), (MissionClearAll::ID, 0, false), (MissionAck::ID, 0, false),
    (MissionRequest::ID, 2, false), (MissionRequestInt::ID, 2, false), (MissionSetCurrent::ID, 2, false),
    (SetAttitudeTarget::ID, 36, true), (SetPositionTargetLocalNed::ID, 50, true),
    (SetPositionTargetGlobalInt::ID, 50, true),
];

impl Autopilot {
    /// Handles a datagram from the controlling host.
    pub fn receive(&mut self, datagram: &[u8], out: &mut DatagramQueue) {
        if self.setup.control.uses_udp_structs() {
            self.receive_struct(datagram);
        } else {
            for frame in frames(datagram).flatten() {
                self.received = self.received.wrapping_add(1);
                // A message with this autopilot's own id is an echo.
                if (frame.system, frame.component) != (self.setup.id, 1) {
                    self.handle(&frame);
                }
            }
        }
        self.send_replies(out);
    }

    fn is_addressed(&self, frame: &Frame<'_>) -> bool {
        let target = TARGETS.iter().find(|(id, ..)| *id == frame.id);
        target.is_none_or(|(_, at, broadcast)| {
            let [system, component] = frame.bytes_at(*at);
            (system == self.setup.id || (*broadcast && system == 0)) && matches!(component, 0 | 1)
        })
    }

    fn handle(&mut self, frame: &Frame<'_>) {
        if !self.is_addressed(frame)
            || self.handle_command(frame)
            || self.parameters.receive(frame, self.now, &mut self.replies)
        {
            return;
        }
        if self.mission.receive(frame, self.now, &mut self.replies, &mut self.texts) {
            self.modes.note_mission(self.mission.is_ready());
        } else if let Some(beat) = Heartbeat::parse(frame) {
            if u32::from(beat.kind) == MavType::MAV_TYPE_GCS as u32 {
                self.station_at = Some(self.now);
            }
        } else if let Some(target) = SetAttitudeTarget::parse(frame) {
            self.set_setpoint(self.attitude_setpoint(&target, frame));
        } else if let Some(target) = SetPositionTargetLocalNed::parse(frame) {
            let setpoint = self.local_setpoint(&target);
            self.set_setpoint(setpoint);
        } else if let Some(target) = SetPositionTargetGlobalInt::parse(frame) {
            let setpoint = self.global_setpoint(&target);
            self.set_setpoint(setpoint);
        } else if let Some(origin) = SetGpsGlobalOrigin::parse(frame) {
            if origin.target_system == self.setup.id {
                self.move_origin(&origin);
            }
        } else if let Some(model) = HilActuatorControls::parse(frame) {
            // These modes of the vendor set inputs of a model in the autopilot; the emulated model outputs them unchanged.
            if matches!(model.mode, 1 | 101 | 201) {
                self.outputs = model.controls.first_chunk().copied();
            }
        } else if let Some(request) = Timesync::parse(frame) {
            if request.tc1 == 0 {
                let answer =
                    Timesync { tc1: self.boot_ns(), ts1: request.ts1, ..Timesync::default() };
                self.replies.push(answer.into());
            }
        } else {
            self.handle_other(frame);
        }
    }

    fn handle_other(&mut self, frame: &Frame<'_>) {
        match frame.id {
            MANUAL_CONTROL_DATA::ID => self.handle_manual_control(frame),
            VISION_POSITION_ESTIMATE_DATA::ID
            | ATT_POS_MOCAP_DATA::ID
            | ODOMETRY_DATA::ID
            | HIL_GPS_DATA::ID => self.vision_at = Some(self.now),
            PING_DATA::ID => {
                let (target_system, target_component) = (frame.system, frame.component);
                if let Ok(ping) = frame.data::<PING_DATA>()
                    && (ping.target_system, ping.target_component) == (0, 0)
                {
                    let answer = PING_DATA { target_system, target_component, ..ping };
                    self.replies.push(MavMessage::PING(answer).into());
                }
            }
            _ => {}
        }
    }

    fn handle_manual_control(&mut self, frame: &Frame<'_>) {
        if self.parameters.integer("COM_RC_IN_MODE") == 4 {
            return;
        }
        let axis = |at| f64::from(i16::from_le_bytes(frame.bytes_at(at))) / 1000.0;
        let sticks = flight::Sticks {
            pitch: axis(0).clamp(-1.0, 1.0),
            roll: axis(2).clamp(-1.0, 1.0),
            thrust: axis(4).clamp(0.0, 1.0),
            yaw: axis(6).clamp(-1.0, 1.0),
        };
        self.sticks = Some((sticks, self.now));
    }

    fn set_setpoint(&mut self, setpoint: Option<ControlTarget>) {
        if setpoint.is_some() {
            self.setpoint = setpoint;
            self.setpoint_at = Some(self.now);
        }
    }

    /// Sends the old origin, moves it, sends the new one.
    fn move_origin(&mut self, origin: &SetGpsGlobalOrigin) {
        let [latitude, longitude] =
            [origin.latitude, origin.longitude].map(|v| f64::from(v) * 1e-7);
        let altitude = f64::from(origin.altitude) * 1e-3;
        let old = self.message(GPS_GLOBAL_ORIGIN_DATA::ID);
        self.origin = self.geo.to_ned([latitude, longitude, altitude]);
        let new = self.message(GPS_GLOBAL_ORIGIN_DATA::ID);
        self.replies.extend(old.into_iter().chain(new));
    }
}
