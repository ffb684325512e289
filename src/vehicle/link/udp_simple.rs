//! UDP_Simple: sends a mode and four numbers, receives pose and velocity.
use super::udp::{UdpLink, UdpMessage, UdpState};
use super::udp_full::{degrees, global_altitude};
use super::{Abilities, Link, SendError, Sink};
use crate::frames::{Attitude, Frd, Ned};
use crate::vehicle::Counter;
use crate::wire::mavlink::dialect::{
    PositionTargetTypemask, SET_ATTITUDE_TARGET_DATA, SET_POSITION_TARGET_GLOBAL_INT_DATA,
    SET_POSITION_TARGET_LOCAL_NED_DATA,
};
use crate::wire::mavlink::numbers::*;
use crate::wire::{
    IntoBytes as _, Packet as _, SimpleCommand, SimpleCommandPacket, SimpleEstimatePacket,
    SimpleReport,
};
use crate::{wire::mavlink::Outbound, wire::mavlink::raw::SetAttitudeTarget};
use zerocopy::little_endian::F32;

/// States per HEARTBEAT; the states carry no time.
const HEARTBEAT_STATES: u32 = 10;

const POSITION: u16 = 7;
const VELOCITY: u16 = 7 << 3;
const ACCELERATION: u16 = 7 << 6;
const FORCE: u16 = 1 << 9;
const YAW: u16 = 1 << 10;
const YAW_RATE: u16 = 1 << 11;
/// Obsolete setpoint types of PX4, above the ignore bits.
const KIND: u16 = 7 << 12;
const TAKE_OFF: u16 = 1 << 12;
/// Bits of [`SET_ATTITUDE_TARGET_DATA`].
const IGNORE_THRUST: u8 = 64;
const IGNORE_ATTITUDE: u8 = 128;

/// A link to CopterSim in UDP_Simple.
pub struct UdpSimpleLink {
    pub(super) udp: UdpLink,
    /// Number of states since the last HEARTBEAT was due.
    states: u32,
}

impl UdpSimpleLink {
    /// Creates a link that sends datagrams for vehicle `id` to `sink`.
    pub fn new(id: u16, sink: Sink) -> Self {
        Self::named("UDP_Simple", id, sink)
    }

    /// Creates a link of another mode with the same commands.
    pub(super) fn named(name: &'static str, id: u16, sink: Sink) -> Self {
        let udp = UdpLink::new(name, id, sink);
        Self { udp, states: 0 }
    }

    fn local(&self, t: &SET_POSITION_TARGET_LOCAL_NED_DATA) -> Result<SimpleCommand, SendError> {
        let is_body = match t.coordinate_frame as u8 {
            MAV_FRAME_LOCAL_NED => false,
            MAV_FRAME_BODY_NED => true,
            _ => {
                return self
                    .udp
                    .unsupported("a local frame other than LOCAL_NED (1) and BODY_NED (8)");
            }
        };
        let mask = t.type_mask.bits();
        let position = axes([t.x, t.y, t.z], mask);
        let velocity = axes([t.vx, t.vy, t.vz], mask >> 3);
        let acceleration = axes([t.afx, t.afy, t.afz], mask >> 6);
        match mask & KIND {
            0 => {}
            TAKE_OFF if !is_body => {
                return Ok(SimpleCommand::TakeOff { position: [t.x, t.y, t.z] });
            }
            _ => return self.udp.unsupported("setpoints that land, loiter or idle"),
        }
        if let Some(command) = speed_altitude_heading(t) {
            return Ok(command);
        }
        let uses = |bits: u16| mask & bits != bits;
        match (uses(POSITION), uses(VELOCITY), uses(ACCELERATION)) {
            (true, false, false) => {
                let yaw = self.yaw(mask, t.yaw)?;
                Ok(if is_body {
                    SimpleCommand::PositionFrd { position, yaw }
                } else {
                    SimpleCommand::PositionNed { position, yaw }
                })
            }
            (false, true, false) => {
                let yaw_rate = self.yaw_rate(mask, t.yaw_rate)?;
                Ok(if is_body {
                    SimpleCommand::VelocityFrd { velocity, yaw_rate }
                } else {
                    SimpleCommand::VelocityNed { velocity, yaw_rate }
                })
            }
            (false, false, true) => {
                if is_body {
                    return self.udp.unsupported("accelerations in the body frame");
                }
                if mask & FORCE != 0 {
                    return self.udp.unsupported("forces");
                }
                // Mode 8 has a yaw rate for CopterSim and PX4; mode 6 may ignore the yaw ("Doubts" in
                // docs/wire/control.md).
                Ok(if mask & YAW == 0 {
                    SimpleCommand::AccelerationYaw {
                        acceleration,
                        yaw: t.yaw,
                    }
                } else {
                    SimpleCommand::AccelerationYawRate {
                        acceleration,
                        yaw_rate: self.yaw_rate(mask, t.yaw_rate)?,
                    }
                })
            }
            (false, false, false) => self.udp.unsupported("a setpoint with yaw only"),
            _ => self.udp.unsupported("position, velocity and acceleration in one setpoint: ignore all but one in type_mask"),
        }
    }

    fn global(&self, t: &SET_POSITION_TARGET_GLOBAL_INT_DATA) -> Result<SimpleCommand, SendError> {
        let mask = t.type_mask.bits();
        let all = POSITION | VELOCITY | ACCELERATION | KIND;
        if mask & all != VELOCITY | ACCELERATION {
            return self.udp.unsupported("a global setpoint other than a whole position");
        }
        Ok(SimpleCommand::PositionGlobal {
            latitude: degrees(t.lat_int),
            longitude: degrees(t.lon_int),
            altitude: global_altitude(&self.udp, t.coordinate_frame, t.alt)?,
            yaw: self.yaw(mask, t.yaw)?,
        })
    }

    fn attitude(&self, t: &SET_ATTITUDE_TARGET_DATA) -> Result<SimpleCommand, SendError> {
        let mask = t.type_mask.bits();
        if mask & IGNORE_ATTITUDE != 0 {
            return self.udp.unsupported("body rates; send an attitude");
        }
        if mask & IGNORE_THRUST != 0 {
            return self.udp.unsupported("an attitude without thrust");
        }
        Ok(SimpleCommand::Attitude { euler: self.euler(t.q)?, throttle: t.thrust })
    }

    /// Returns roll, pitch and yaw in rad.
    fn euler(&self, wxyz: [f32; 4]) -> Result<[f32; 3], SendError> {
        let Some(attitude) = Attitude::<Frd, Ned>::from_wxyz(wxyz.map(f64::from)) else {
            return self.udp.unsupported("an invalid quaternion");
        };
        let euler = attitude.euler();
        Ok([euler.roll, euler.pitch, euler.yaw].map(|angle| angle as f32))
    }

    /// The yaw of a position setpoint; NaN keeps the present yaw.
    fn yaw(&self, mask: u16, yaw: f32) -> Result<f32, SendError> {
        match (mask & YAW == 0, mask & YAW_RATE == 0) {
            (true, _) => Ok(yaw),
            (false, false) => Ok(f32::NAN),
            (false, true) => self.udp.unsupported("a position with a yaw rate; send a yaw"),
        }
    }

    /// The yaw rate of a velocity setpoint; 0 keeps the present yaw.
    fn yaw_rate(&self, mask: u16, yaw_rate: f32) -> Result<f32, SendError> {
        match (mask & YAW == 0, mask & YAW_RATE == 0) {
            (false, true) => Ok(yaw_rate),
            (false, false) => Ok(0.0),
            (true, _) => self.udp.unsupported("a velocity with a yaw; send a yaw rate"),
        }
    }
}

/// Largest rounding error in rad of an angle that was converted from NED to ENU and back.
const SAME_ANGLE: f32 = 1e-5;

/// Sets the axes that the mask ignores to NaN.
fn axes(values: [f32; 3], mask: u16) -> [f32; 3] {
    let [x, y, z] = values;
    let axis = |value, bit| if mask & bit == 0 { value } else { f32::NAN };
    [axis(x, 1), axis(y, 2), axis(z, 4)]
}

/// Detects the vendor's fixed-wing encoding: speed, altitude and heading in position and velocity, a combination that is
/// refused otherwise.
fn speed_altitude_heading(t: &SET_POSITION_TARGET_LOCAL_NED_DATA) -> Option<SimpleCommand> {
    let accelerations_ignored = PositionTargetTypemask::from_bits_retain(ACCELERATION);
    let is_fixed_wing = t.type_mask == accelerations_ignored
        && t.coordinate_frame as u8 == MAV_FRAME_LOCAL_NED
        && [t.x, t.y, t.vz] == [0.0; 3]
        && (t.vx - t.yaw).sin().abs() < SAME_ANGLE
        && (t.vx - t.yaw).cos() > 0.0;
    is_fixed_wing.then_some(SimpleCommand::SpeedAltitudeHeading {
        speed: t.vy,
        down: t.z,
        heading: t.yaw,
    })
}

impl Link for UdpSimpleLink {
    fn abilities(&self) -> Abilities {
        self.udp.abilities()
    }

    fn send(&mut self, message: &Outbound, _system: u8, _component: u8) -> Result<(), SendError> {
        let command = match self.udp.translate(message)? {
            UdpMessage::Done => return Ok(()),
            UdpMessage::Command(command) => return self.udp.send_command(command),
            UdpMessage::Local(target) => self.local(&target)?,
            UdpMessage::Global(target) => self.global(&target)?,
            UdpMessage::Attitude(target) => self.attitude(&target)?,
        };
        let packet = SimpleCommandPacket::from(command);
        self.udp.send_setpoint(packet.as_bytes())
    }

    fn send_throttle_step(&mut self, target: &SetAttitudeTarget) -> Result<(), SendError> {
        self.udp.check_not_disarmed()?;
        let packet = SimpleCommandPacket::from(SimpleCommand::AttitudeStep {
            euler: self.euler(target.q)?,
            throttle_step: target.thrust,
        });
        self.udp.send_setpoint(packet.as_bytes())
    }

    fn incoming<'a>(&mut self, bytes: &'a [u8], out: &'a mut Vec<u8>) -> Result<&'a [u8], Counter> {
        self.udp.begin();
        match SimpleEstimatePacket::parse(bytes).map(SimpleEstimatePacket::report) {
            Ok(SimpleReport::State(packet)) => {
                self.states = (self.states + 1) % HEARTBEAT_STATES;
                self.udp.is_heartbeat_due |= self.states == 0;
                self.udp.push_pose(&UdpState {
                    time_boot_ms: 0,
                    euler: packet.euler.map(F32::get),
                    position: packet.position.map(F32::get),
                    velocity: packet.velocity.map(F32::get),
                    home: packet.home.map(|x| x.get()),
                })?;
            }
            Ok(SimpleReport::PositionFix) => self.udp.set_fixed(true),
            Ok(SimpleReport::Collision { with }) => self.udp.report_collision(with),
            Err(_) => return Err(self.udp.classify(bytes)),
        }
        Ok(self.udp.frames(out))
    }

    fn lost(&mut self) {
        self.udp.lost();
    }
}
