//! The true state as native numbers, independent of its packet.
use super::{
    CrashPacket, FullStatePacket, MapCentrePacket, ModelOutputPacket, Packet, ShortStatePacket,
    StateInner, TimedStatePacket, WireError,
};
use crate::wire::mavlink::raw::HilActuatorControls;
use zerocopy::little_endian::{F32, F64, I32};

/// The common fields of the three state packets, as native numbers; NED world, FRD body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrueState {
    /// Vehicle id.
    pub copter_id: i32,
    /// Number of the 3D model (class and style).
    pub vehicle_type: i32,
    /// Simulation time in s.
    pub sim_time: f64,
    /// Position in m, NED, origin at the map centre.
    pub position: [f64; 3],
    /// Velocity in m/s, NED.
    pub velocity: [f64; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [f64; 3],
    /// Attitude w, x, y, z where the packet has one.
    pub quaternion: Option<[f64; 4]>,
    /// Angular rate in rad/s, FRD, where the packet has one.
    pub rate: Option<[f64; 3]>,
    /// Specific force in m/s², FRD, where the packet has one.
    pub acc: Option<[f64; 3]>,
    /// Motor speeds in rpm.
    pub motor_rpm: [f64; 8],
    /// Latitude deg, longitude deg, altitude m (up).
    pub gps: [f64; 3],
    /// Id of the object that this vehicle collided with; `None` without a collision, or if the packet has no such field.
    pub collided_with: Option<i32>,
}

/// Any datagram that `CopterSim` sends to user port 30101+2(id-1).
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "short-lived on the stack; a box would allocate per packet"
)]
pub enum TruthDatagram<'a> {
    /// 200, 168 or 112 bytes.
    State(TrueState),
    /// 264 bytes.
    ModelOutput(&'a ModelOutputPacket),
    /// 32 bytes.
    MapCentre(&'a MapCentrePacket),
    /// 12 bytes, or 200 bytes with only the collision valid.
    Collision {
        /// Id of the vehicle, where the packet has one.
        copter_id: Option<i32>,
        /// Id of the other object; `None`: no collision.
        with: Option<i32>,
    },
}

impl<'a> TruthDatagram<'a> {
    /// Reads a datagram; the length determines its kind.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        let hit = |id: I32| Some(id.get()).filter(|id| *id >= 0);
        match bytes.len() {
            12 => {
                let crash = CrashPacket::parse(bytes)?;
                let copter_id = Some(crash.copter_id.get());
                let with = hit(crash.target_id);
                Ok(Self::Collision { copter_id, with })
            }
            32 => MapCentrePacket::parse(bytes).map(Self::MapCentre),
            264 => ModelOutputPacket::parse(bytes).map(Self::ModelOutput),
            200 => {
                let packet = ShortStatePacket::parse(bytes)?;
                let with = hit(packet.collided_with);
                match TrueState::try_from(packet) {
                    Ok(state) => Ok(Self::State(state)),
                    Err(_) if with.is_some() => Ok(Self::Collision { copter_id: None, with }),
                    Err(error) => Err(error),
                }
            }
            _ => TrueState::parse(bytes).map(Self::State),
        }
    }
}

impl TrueState {
    /// Reads any of the three state packets; the length determines which.
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        match bytes.len() {
            200 => Self::try_from(ShortStatePacket::parse(bytes)?),
            168 => FullStatePacket::parse(bytes).map(Self::from),
            112 => TimedStatePacket::parse(bytes).map(Self::from),
            found => Err(WireError::Length { what: "true state", expected: 168, found }),
        }
    }

    /// Reads the true state that `CopterSim` sends as HIL_ACTUATOR_CONTROLS; the flags mark it, and its time is in ms. `None`
    /// for a real actuator message.
    pub fn of_actuator_controls(copter_id: i32, m: &HilActuatorControls) -> Option<Self> {
        const TRUTH: u64 = 1_234_567_890;
        /// `mode` if the last of `controls` is the id of the object collided with.
        const COLLISION: u8 = 2;
        if m.flags != TRUTH {
            return None;
        }
        let three = |at: usize| -> [f64; 3] {
            std::array::from_fn(|i| m.controls.get(at + i).copied().map_or(0.0, f64::from))
        };
        let [.., last] = m.controls;
        Some(Self {
            copter_id,
            sim_time: m.time_usec as f64 / 1e3,
            euler: three(0),
            position: three(3),
            velocity: three(6),
            rate: Some(three(9)),
            collided_with: (m.mode == COLLISION && last >= 0.0).then_some(last as i32),
            ..Self::default()
        })
    }
}

impl TryFrom<&ShortStatePacket> for TrueState {
    type Error = WireError;

    /// Fails if the packet marks its state as invalid.
    fn try_from(packet: &ShortStatePacket) -> Result<Self, WireError> {
        if packet.len.get() != ShortStatePacket::STATE_LEN {
            let (what, found) = (ShortStatePacket::NAME, packet.len.get().into());
            return Err(WireError::Field { what, field: "len", found });
        }
        let s = &packet.state;
        Ok(Self {
            copter_id: s.copter_id.get(),
            vehicle_type: s.vehicle_type.get(),
            sim_time: s.sim_time.get(),
            position: widen(s.position),
            velocity: widen(s.velocity),
            euler: widen(s.euler),
            quaternion: Some(widen(s.quaternion)),
            rate: Some(widen(s.rate)),
            acc: Some(widen(s.acc)),
            motor_rpm: widen(s.motor_rpm),
            gps: s.gps.map(F64::get),
            collided_with: Some(packet.collided_with.get()).filter(|id| *id >= 0),
        })
    }
}

impl From<&FullStatePacket> for TrueState {
    fn from(s: &FullStatePacket) -> Self {
        Self {
            copter_id: s.copter_id.get(),
            vehicle_type: s.vehicle_type.get(),
            sim_time: s.sim_time.get(),
            position: s.position.map(F64::get),
            velocity: widen(s.velocity),
            euler: widen(s.euler),
            quaternion: Some(widen(s.quaternion)),
            rate: Some(widen(s.rate)),
            acc: Some(widen(s.acc)),
            motor_rpm: widen(s.motor_rpm),
            gps: s.gps.map(F64::get),
            collided_with: None,
        }
    }
}

impl From<&TimedStatePacket> for TrueState {
    fn from(s: &TimedStatePacket) -> Self {
        let [latitude, longitude, altitude] = s.gps.map(|x| f64::from(x.get()));
        Self {
            copter_id: s.copter_id.get(),
            vehicle_type: s.vehicle_type.get(),
            sim_time: s.sim_time.get(),
            position: s.position.map(F64::get),
            velocity: widen(s.velocity),
            euler: widen(s.euler),
            motor_rpm: widen(s.motor_rpm),
            gps: [latitude / 1e7, longitude / 1e7, altitude / 1e3],
            ..Self::default()
        }
    }
}

/// Unknown fields are written as 0, no collision as -1.
impl From<&TrueState> for ShortStatePacket {
    fn from(s: &TrueState) -> Self {
        Self {
            collided_with: s.collided_with.unwrap_or(-1).into(),
            len: Self::STATE_LEN.into(),
            state: StateInner {
                copter_id: s.copter_id.into(),
                vehicle_type: s.vehicle_type.into(),
                sim_time: s.sim_time.into(),
                velocity: narrow(s.velocity),
                position: narrow(s.position),
                euler: narrow(s.euler),
                quaternion: narrow(s.quaternion.unwrap_or_default()),
                motor_rpm: narrow(s.motor_rpm),
                acc: narrow(s.acc.unwrap_or_default()),
                rate: narrow(s.rate.unwrap_or_default()),
                pad: [0; 4],
                gps: s.gps.map(F64::new),
            },
            reserved: [0; 40],
        }
    }
}

/// Unknown fields are written as 0.
impl From<&TrueState> for FullStatePacket {
    fn from(s: &TrueState) -> Self {
        Self {
            checksum: Self::TAG.into(),
            copter_id: s.copter_id.into(),
            vehicle_type: s.vehicle_type.into(),
            reserved: I32::ZERO,
            velocity: narrow(s.velocity),
            euler: narrow(s.euler),
            quaternion: narrow(s.quaternion.unwrap_or_default()),
            motor_rpm: narrow(s.motor_rpm),
            acc: narrow(s.acc.unwrap_or_default()),
            rate: narrow(s.rate.unwrap_or_default()),
            sim_time: s.sim_time.into(),
            position: s.position.map(F64::new),
            gps: s.gps.map(F64::new),
        }
    }
}

impl From<&TrueState> for TimedStatePacket {
    fn from(s: &TrueState) -> Self {
        let [latitude, longitude, altitude] = s.gps;
        // `as` saturates, as needed for a position beyond the range of the packet.
        let gps =
            [latitude * 1e7, longitude * 1e7, altitude * 1e3].map(|x| I32::new(x.round() as i32));
        Self {
            checksum: Self::TAG.into(),
            copter_id: s.copter_id.into(),
            vehicle_type: s.vehicle_type.into(),
            gps,
            motor_rpm: narrow(s.motor_rpm),
            velocity: narrow(s.velocity),
            euler: narrow(s.euler),
            position: s.position.map(F64::new),
            sim_time: s.sim_time.into(),
        }
    }
}

fn widen<const N: usize>(values: [F32; N]) -> [f64; N] {
    values.map(|x| f64::from(x.get()))
}

fn narrow<const N: usize>(values: [f64; N]) -> [F32; N] {
    values.map(|x| F32::new(x as f32))
}
