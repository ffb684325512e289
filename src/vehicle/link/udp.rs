//! Common to the UDP modes of CopterSim: converts MAVLink messages to their commands, and their states to MAVLink.
//!
//! In these modes CopterSim arms the vehicle and switches it to OFFBOARD by itself when a setpoint arrives; it
//! acknowledges nothing and reports no mode. So the HEARTBEAT generated from its states reports the commanded mode and
//! arming; all other messages contain received numbers only.
use super::{Abilities, SendError, Sink};
use crate::frames::Geodetic;
use crate::vehicle::Counter;
use crate::vehicle::mode::OFFBOARD;
use crate::wire::mavlink::dialect::{
    ATTITUDE_DATA, HOME_POSITION_DATA, LOCAL_POSITION_NED_DATA, MavSeverity,
    SET_ATTITUDE_TARGET_DATA, SET_POSITION_TARGET_GLOBAL_INT_DATA,
    SET_POSITION_TARGET_LOCAL_NED_DATA, STATUSTEXT_DATA,
};
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::{CommandInt, CommandLong, Heartbeat, ParamSet, SetMode};
use crate::wire::mavlink::{Encoder, MavMessage, Outbound, Taken, take};
use crate::wire::{IntoBytes as _, SimpleCommand, SimpleCommandPacket};

/// Minimum climb of a take-off in m; less is noise of the estimate.
const MIN_CLIMB: f32 = 0.3;
const NOT_ABOVE: &str = "a take-off to a height that is not above the vehicle; cmd/takeoff has altitudes above sea level";
/// Number of consecutive datagrams of another mode that prove that CopterSim is in that mode: a few may still be in flight
/// after a change.
const MAX_OTHER_MODE: u32 = 50;

/// The datagram that a message becomes.
pub(super) enum UdpMessage {
    /// A setpoint in the local frame.
    Local(SET_POSITION_TARGET_LOCAL_NED_DATA),
    /// A setpoint in latitude, longitude and altitude.
    Global(SET_POSITION_TARGET_GLOBAL_INT_DATA),
    /// Attitude, rates and thrust.
    Attitude(SET_ATTITUDE_TARGET_DATA),
    /// A command; the datagram is the same in all modes.
    Command(SimpleCommand),
    /// Nothing to send: CopterSim enters OFFBOARD by itself when a setpoint arrives.
    Done,
}

/// A state; positions are north, east, down from home.
pub(super) struct UdpState {
    pub(super) time_boot_ms: u32,
    /// Roll, pitch, yaw in rad.
    pub(super) euler: [f32; 3],
    /// In m.
    pub(super) position: [f32; 3],
    /// In m/s.
    pub(super) velocity: [f32; 3],
    /// Latitude and longitude in 1e-7 degrees, altitude in mm; zeros if unknown.
    pub(super) home: [i32; 3],
}

/// The common part of the UDP links.
pub(super) struct UdpLink {
    pub(super) name: &'static str,
    sink: Sink,
    /// Encodes frames with the vehicle's ids.
    encoder: Encoder,
    frames: Vec<u8>,
    /// Number of consecutive datagrams of another mode.
    other_mode: u32,
    has_warned: bool,
    home: Option<Geodetic>,
    position: Option<[f32; 3]>,
    /// The last commanded speed in m/s and loiter radius in m; 0 until commanded, which CopterSim takes as unchanged.
    speed: f32,
    radius: f32,
    /// Commanded, also by a setpoint or a take-off.
    is_armed: bool,
    /// Commanded, and not armed since.
    was_disarmed: bool,
    /// Commanded by a setpoint.
    is_offboard: bool,
    /// A HEARTBEAT is due with the next state.
    pub(super) is_heartbeat_due: bool,
    /// The estimator is initialised.
    is_fixed: bool,
    /// The object of the last reported collision.
    hit: Option<i32>,
}

impl UdpLink {
    pub(super) fn new(name: &'static str, id: u16, sink: Sink) -> Self {
        Self {
            name,
            sink,
            encoder: Encoder::new(u8::try_from(id).unwrap_or(1), 1),
            frames: Vec::new(),
            other_mode: 0,
            has_warned: false,
            home: None,
            position: None,
            speed: 0.0,
            radius: 0.0,
            is_armed: false,
            was_disarmed: false,
            is_offboard: false,
            is_heartbeat_due: true,
            is_fixed: false,
            hit: None,
        }
    }

    pub(super) fn abilities(&self) -> Abilities {
        Abilities { name: self.name, body_position: true, ..Abilities::default() }
    }

    pub(super) fn unsupported<T>(&self, why: &'static str) -> Result<T, SendError> {
        Err(SendError::Unsupported { link: self.name, why })
    }

    /// Converts a message to the datagram to send.
    pub(super) fn translate(&mut self, message: &Outbound) -> Result<UdpMessage, SendError> {
        let packet = Encoder::new(0, 0).encode(message);
        let Taken::Frame(frame) = take(packet.as_bytes()) else {
            return self.unsupported("it is not a MAVLink message");
        };
        if let Some(command) = CommandLong::parse(&frame) {
            let params = command.params.map(f64::from);
            return self.translate_command(command.command, params);
        }
        if let Some(command) = CommandInt::parse(&frame) {
            let [a, b, c, d] = command.params.map(f64::from);
            let (x, y) = match command.frame {
                MAV_FRAME_GLOBAL
                | MAV_FRAME_GLOBAL_RELATIVE_ALT
                | MAV_FRAME_GLOBAL_INT
                | MAV_FRAME_GLOBAL_RELATIVE_ALT_INT
                | MAV_FRAME_GLOBAL_TERRAIN_ALT
                | MAV_FRAME_GLOBAL_TERRAIN_ALT_INT => {
                    (f64::from(command.x) / 1e7, f64::from(command.y) / 1e7)
                }
                _ => (f64::from(command.x) / 1e4, f64::from(command.y) / 1e4),
            };
            let params = [a, b, c, d, x, y, command.z.into()];
            return self.translate_command(command.command, params);
        }
        if let Some(mode) = SetMode::parse(&frame) {
            return self.check_mode(mode.custom_mode);
        }
        if let Some(param) = ParamSet::parse(&frame) {
            return self.translate_parameter(&param);
        }
        let setpoint = match frame.message() {
            Ok(MavMessage::SET_POSITION_TARGET_LOCAL_NED(target)) => UdpMessage::Local(target),
            Ok(MavMessage::SET_POSITION_TARGET_GLOBAL_INT(target)) => UdpMessage::Global(target),
            Ok(MavMessage::SET_ATTITUDE_TARGET(target)) => UdpMessage::Attitude(target),
            _ => {
                return self.unsupported(
                    "only setpoints, arming, take-off, speed and VTOL transitions are supported",
                );
            }
        };
        self.check_not_disarmed()?;
        Ok(setpoint)
    }

    /// Refuses a setpoint to a vehicle that was disarmed.
    pub(super) fn check_not_disarmed(&self) -> Result<(), SendError> {
        if self.was_disarmed {
            return self
                .unsupported("a setpoint would arm the vehicle, which was disarmed: arm it first");
        }
        Ok(())
    }

    fn translate_command(&self, command: u16, params: [f64; 7]) -> Result<UdpMessage, SendError> {
        let [p1, p2, p3, _, p5, p6, p7] = params;
        let single = params.map(|x| x as f32);
        Ok(UdpMessage::Command(match command {
            // PX4 also rounds param1.
            MAV_CMD_COMPONENT_ARM_DISARM if p1.round() == 1.0 => SimpleCommand::Arm(true),
            MAV_CMD_COMPONENT_ARM_DISARM if p1.round() == 0.0 => SimpleCommand::Arm(false),
            MAV_CMD_COMPONENT_ARM_DISARM => {
                return self.unsupported("param1 must be 1 (arm) or 0 (disarm)");
            }
            MAV_CMD_NAV_TAKEOFF => self.take_off(Geodetic::new(p5, p6, p7))?,
            // The order is east, north, down.
            MAV_CMD_NAV_TAKEOFF_LOCAL => {
                let [.., east, north, down] = single;
                self.take_off_local([north, east, down])?
            }
            // CopterSim sets speed and radius together, so the datagram repeats the unchanged radius.
            MAV_CMD_DO_CHANGE_SPEED if p2 > 0.0 => {
                SimpleCommand::Cruise { speed: p2 as f32, radius: self.radius }
            }
            MAV_CMD_DO_CHANGE_SPEED => {
                return self.unsupported(
                    "the speed (param2) must be above 0; CopterSim takes 0 as unchanged",
                );
            }
            MAV_CMD_DO_SET_MODE => return self.check_mode((p2 as u32) << 16 | (p3 as u32) << 24),
            MAV_CMD_DO_VTOL_TRANSITION => {
                SimpleCommand::VtolTransition { state: single[0], immediate: single[1] }
            }
            MAV_CMD_NAV_LAND | MAV_CMD_NAV_LAND_LOCAL => {
                return self.unsupported("there is no landing in the UDP modes of CopterSim: send setpoints to the ground, then disarm");
            }
            _ => return self.unsupported("CopterSim has no datagram for this command"),
        }))
    }

    /// Returns the command to take off to a position or, without latitude and longitude, straight up.
    fn take_off(&self, target: Geodetic) -> Result<SimpleCommand, SendError> {
        if target.is_known() {
            if let (Some(home), Some([.., down])) = (self.home, self.position)
                && target.altitude_m - home.altitude_m < f64::from(MIN_CLIMB - down)
            {
                return self.unsupported(NOT_ABOVE);
            }
            return Ok(SimpleCommand::TakeOffGlobal {
                latitude: target.latitude_deg as f32,
                longitude: target.longitude_deg as f32,
                altitude: target.altitude_m as f32,
            });
        }
        match (self.home, self.position) {
            (Some(home), Some([north, east, _])) if target.altitude_m.is_finite() => {
                self.take_off_local([north, east, (home.altitude_m - target.altitude_m) as f32])
            }
            _ => self.unsupported(
                "a take-off without latitude and longitude needs an altitude and a known home",
            ),
        }
    }

    /// Refuses a take-off to the vehicle's height or below: it would not climb.
    fn take_off_local(&self, position: [f32; 3]) -> Result<SimpleCommand, SendError> {
        let [.., down] = position;
        if self.position.is_some_and(|[.., present]| present - down < MIN_CLIMB) {
            return self.unsupported(NOT_ABOVE);
        }
        Ok(SimpleCommand::TakeOff { position })
    }

    fn check_mode(&self, custom_mode: u32) -> Result<UdpMessage, SendError> {
        if custom_mode == OFFBOARD {
            return Ok(UdpMessage::Done);
        }
        self.unsupported("the UDP modes of CopterSim have no flight modes: the vehicle is in OFFBOARD while it gets setpoints")
    }

    /// Converts one of the two fixed-wing parameters that CopterSim has a datagram for.
    fn translate_parameter(&self, param: &ParamSet) -> Result<UdpMessage, SendError> {
        let end = param.id.iter().position(|byte| *byte == 0);
        let value = f32::from_le_bytes(param.value);
        let (speed, radius) = match param.id.get(..end.unwrap_or(param.id.len())) {
            Some(b"FW_AIRSPD_TRIM") => (value, self.radius),
            Some(b"NAV_LOITER_RAD") => (self.speed, value),
            _ => {
                return self.unsupported("of all parameters, the UDP modes of CopterSim can set FW_AIRSPD_TRIM and NAV_LOITER_RAD only");
            }
        };
        if value <= 0.0 {
            return self.unsupported("the value must be above 0; CopterSim takes 0 as unchanged");
        }
        Ok(UdpMessage::Command(SimpleCommand::Cruise { speed, radius }))
    }

    /// Converts an altitude above home to one above sea level.
    pub(super) fn altitude_over_home(&self, altitude: f32) -> Result<f32, SendError> {
        match self.home {
            Some(home) => Ok((home.altitude_m + f64::from(altitude)) as f32),
            None => self.unsupported("an altitude above home, before home is known"),
        }
    }

    /// Sends a command and remembers the state that it commands.
    pub(super) fn send_command(&mut self, command: SimpleCommand) -> Result<(), SendError> {
        self.send(SimpleCommandPacket::from(command).as_bytes())?;
        self.is_heartbeat_due = true;
        match command {
            SimpleCommand::Arm(armed) => {
                (self.is_armed, self.was_disarmed) = (armed, !armed);
                self.is_offboard &= armed;
            }
            SimpleCommand::TakeOff { .. } | SimpleCommand::TakeOffGlobal { .. } => {
                (self.is_armed, self.was_disarmed) = (true, false);
            }
            SimpleCommand::Cruise { speed, radius } => {
                (self.speed, self.radius) = (speed, radius);
            }
            _ => {}
        }
        Ok(())
    }

    /// Sends a setpoint, which arms the vehicle.
    pub(super) fn send_setpoint(&mut self, bytes: &[u8]) -> Result<(), SendError> {
        self.send(bytes)?;
        self.is_heartbeat_due |= !(self.is_armed && self.is_offboard);
        (self.is_armed, self.is_offboard) = (true, true);
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), SendError> {
        if (self.sink)(bytes) { Ok(()) } else { Err(SendError::Io) }
    }

    /// Starts the conversion of a datagram to frames.
    pub(super) fn begin(&mut self) {
        self.frames.clear();
    }

    /// Returns the frames since [`Self::begin`], swapped for an empty buffer.
    pub(super) fn frames<'a>(&mut self, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        std::mem::swap(&mut self.frames, buffer);
        buffer
    }

    pub(super) fn push(&mut self, message: impl Into<Outbound>) {
        let packet = self.encoder.encode(&message.into());
        self.frames.extend_from_slice(packet.as_bytes());
    }

    /// Classifies a datagram that is no valid state of this mode; warns once if CopterSim is in another mode.
    pub(super) fn classify(&mut self, bytes: &[u8]) -> Counter {
        let (problem, meaning) = match (bytes.len(), bytes.first()) {
            (_, Some(0xfd | 0xfe)) => (Counter::MavlinkInUdpMode, "MAVLink"),
            (52, _) => (Counter::UdpSimpleState, "UDP_Simple"),
            (120, _) => (Counter::UdpFullState, "UDP_Full"),
            _ => return Counter::Malformed,
        };
        let is_same_mode = (self.name == "UDP_Full") == (problem == Counter::UdpFullState);
        if is_same_mode && problem != Counter::MavlinkInUdpMode {
            return Counter::Malformed;
        }
        self.other_mode = self.other_mode.saturating_add(1);
        if self.other_mode >= MAX_OTHER_MODE && !std::mem::replace(&mut self.has_warned, true) {
            tracing::warn!(
                "CopterSim speaks {meaning}, but the link is set to {}: change UDPSIMMODE, the vehicle's link, or set \
                 control.switch_mode",
                self.name
            );
        }
        problem
    }

    /// Resets the state after a restart of CopterSim.
    pub(super) fn restarted(&mut self) {
        (self.is_armed, self.was_disarmed, self.is_offboard) = (false, false, false);
        (self.is_fixed, self.hit, self.is_heartbeat_due) = (false, None, true);
    }

    /// MAV_STATE: standby once the estimator is initialised, which a known home also proves.
    fn status(&self) -> u8 {
        match (self.is_armed, self.is_fixed || self.home.is_some()) {
            (true, _) => MAV_STATE_ACTIVE,
            (false, true) => MAV_STATE_STANDBY,
            (false, false) => MAV_STATE_UNINIT,
        }
    }

    /// Resets the state when the vehicle falls silent: CopterSim may have ended. Setpoints to a disarmed vehicle stay refused.
    pub(super) fn lost(&mut self) {
        (self.is_armed, self.is_offboard) = (false, false);
        (self.is_fixed, self.hit, self.is_heartbeat_due) = (false, None, true);
        (self.home, self.position) = (None, None);
    }

    /// Pushes HEARTBEAT with the commanded state if due, and HOME_POSITION with it if home is known.
    pub(super) fn push_heartbeat(&mut self, home: [i32; 3]) {
        if !std::mem::take(&mut self.is_heartbeat_due) {
            return;
        }
        self.push(Heartbeat {
            custom_mode: if self.is_offboard { OFFBOARD } else { 0 },
            kind: 0,
            autopilot: MAV_AUTOPILOT_PX4,
            base_mode: MAV_MODE_FLAG_CUSTOM_MODE_ENABLED
                | if self.is_armed { MAV_MODE_FLAG_SAFETY_ARMED } else { 0 },
            system_status: self.status(),
            mavlink_version: 3,
        });
        let [latitude, longitude, altitude] = home;
        if self.home.is_some() {
            // Positions are relative to home. Unknown fields are NaN, as the message definition requires.
            self.push(MavMessage::HOME_POSITION(HOME_POSITION_DATA {
                latitude,
                longitude,
                altitude,
                x: 0.0,
                y: 0.0,
                z: 0.0,
                q: [f32::NAN; 4],
                approach_x: f32::NAN,
                approach_y: f32::NAN,
                approach_z: f32::NAN,
                ..HOME_POSITION_DATA::default()
            }));
        }
    }

    /// Converts a state, unless one of its numbers is NaN or infinite.
    pub(super) fn push_pose(&mut self, pose: &UdpState) -> Result<(), Counter> {
        let numbers = [pose.euler, pose.position, pose.velocity];
        if !numbers.iter().flatten().all(|number| number.is_finite()) {
            return Err(Counter::Malformed);
        }
        self.other_mode = 0;
        let home = Some(Geodetic::from_e7(pose.home)).filter(|home| home.is_known());
        self.is_heartbeat_due |= home != self.home;
        self.home = home;
        self.position = Some(pose.position);
        self.push_heartbeat(pose.home);
        let time_boot_ms = pose.time_boot_ms;
        let [roll, pitch, yaw] = pose.euler;
        self.push(MavMessage::ATTITUDE(ATTITUDE_DATA {
            time_boot_ms,
            roll,
            pitch,
            yaw,
            // The states carry no rates.
            rollspeed: f32::NAN,
            pitchspeed: f32::NAN,
            yawspeed: f32::NAN,
        }));
        let ([x, y, z], [vx, vy, vz]) = (pose.position, pose.velocity);
        self.push(MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
            time_boot_ms,
            x,
            y,
            z,
            vx,
            vy,
            vz,
        }));
        Ok(())
    }

    /// Stores whether the estimator is initialised, and reports it once.
    pub(super) fn set_fixed(&mut self, fixed: bool) {
        if fixed && !self.is_fixed {
            self.push_text(MavSeverity::MAV_SEVERITY_INFO, "estimator has a 3D fix");
        }
        self.is_fixed = fixed;
    }

    /// Reports each collision once.
    pub(super) fn report_collision(&mut self, with: Option<i32>) {
        if let Some(id) = with.filter(|_| with != self.hit) {
            let text = format!("collision with object {id}");
            self.push_text(MavSeverity::MAV_SEVERITY_CRITICAL, &text);
        }
        self.hit = with;
    }

    fn push_text(&mut self, severity: MavSeverity, text: &str) {
        self.push(MavMessage::STATUSTEXT(STATUSTEXT_DATA {
            severity,
            text: text.into(),
            ..STATUSTEXT_DATA::default()
        }));
    }
}
