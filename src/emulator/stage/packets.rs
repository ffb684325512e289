//! Packets to the renderer: states of objects, labels, attachments, inputs of blueprints. The length tells their kind.
use super::{Link, Motions, Stage};
use crate::wire::{
    AttachPacket, ExtActuatorsPacket, FullStatePacket, Height, LabelPacket, MotorStatePacket,
    Moving10Packet, Moving20Packet, Moving100Packet, MovingState, ObjectStatePacket, Packet as _,
    PointMassStatePacket, ScaledStatePacket, ShortStatePacket, Swarm20Packet, Swarm100Packet,
    SwarmState, TimedStatePacket, TrueState,
};
use zerocopy::little_endian::{F32, F64, I32};

/// State of an object, from any packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObjectState {
    pub(super) id: i32,
    pub(super) vehicle_type: i32,
    pub(super) position: [f64; 3],
    pub(super) euler: [f64; 3],
    pub(super) velocity: [f64; 3],
    pub(super) motor_rpm: [f64; 8],
    pub(super) scale: [f64; 3],
    pub(super) height: Height,
}

/// A datagram of section "vehicle state" or "display" of the protocol.
#[derive(Clone, Copy, Debug)]
pub(in crate::emulator) enum Scene3d<'a> {
    Object(&'a ObjectStatePacket),
    Scaled(&'a ScaledStatePacket),
    Motor(&'a MotorStatePacket),
    PointMass(&'a PointMassStatePacket),
    Timed(&'a TimedStatePacket),
    Full(&'a FullStatePacket),
    Short(&'a ShortStatePacket),
    Swarm20(&'a Swarm20Packet),
    Swarm100(&'a Swarm100Packet),
    Moving10(&'a Moving10Packet),
    Moving20(&'a Moving20Packet),
    Moving100(&'a Moving100Packet),
    Label(&'a LabelPacket),
    Attach(&'a AttachPacket),
    Blueprint(&'a ExtActuatorsPacket),
}

impl<'a> Scene3d<'a> {
    /// Reads a datagram; `None` if it is none of these, or its check word is wrong.
    pub(in crate::emulator) fn parse(bytes: &'a [u8]) -> Option<Self> {
        match bytes.len() {
            40 => ObjectStatePacket::parse(bytes).ok().map(Self::Object),
            52 => ScaledStatePacket::parse(bytes).ok().map(Self::Scaled),
            88 => MotorStatePacket::parse(bytes).ok().map(Self::Motor),
            104 => PointMassStatePacket::parse(bytes).ok().map(Self::PointMass),
            112 => TimedStatePacket::parse(bytes).ok().map(Self::Timed),
            168 => FullStatePacket::parse(bytes).ok().map(Self::Full),
            200 => ShortStatePacket::parse(bytes).ok().map(Self::Short),
            1324 => Swarm20Packet::parse(bytes).ok().map(Self::Swarm20),
            3804 => Swarm100Packet::parse(bytes).ok().map(Self::Swarm100),
            808 => Moving10Packet::parse(bytes).ok().map(Self::Moving10),
            1608 => Moving20Packet::parse(bytes).ok().map(Self::Moving20),
            8008 => Moving100Packet::parse(bytes).ok().map(Self::Moving100),
            152 => LabelPacket::parse(bytes).ok().map(Self::Label),
            304 => AttachPacket::parse(bytes).ok().map(Self::Attach),
            144 => ExtActuatorsPacket::parse(bytes).ok().map(Self::Blueprint),
            _ => None,
        }
    }
}

impl Stage {
    /// Obeys a datagram that arrives at simulation time `now` in s; `false` if it makes no sense.
    pub(in crate::emulator) fn accept(
        &mut self,
        packet: Scene3d<'_>,
        now: f64,
        motions: Motions<'_>,
    ) -> bool {
        match packet {
            Scene3d::Object(p) => self.tell(object(p), now),
            Scene3d::Scaled(p) => {
                let told = object(&ObjectStatePacket {
                    checksum: p.checksum,
                    copter_id: p.copter_id,
                    vehicle_type: p.vehicle_type,
                    motor_rpm: p.motor_rpm,
                    position: p.position,
                    euler: p.euler,
                });
                let scale = wide(p.scale);
                self.tell(ObjectState { scale, ..told }, now)
            }
            Scene3d::Motor(p) => {
                let told = ObjectState {
                    position: wide(p.position),
                    euler: wide(p.euler),
                    velocity: wide(p.velocity),
                    motor_rpm: wide(p.motor_rpm),
                    height: p.height(),
                    ..ObjectState::new(p.copter_id, p.vehicle_type)
                };
                self.tell(told, now)
            }
            Scene3d::PointMass(p) => {
                let told = ObjectState {
                    position: p.position.map(F64::get),
                    euler: wide(p.euler),
                    velocity: wide(p.velocity),
                    motor_rpm: wide(p.motor_rpm),
                    ..ObjectState::new(p.copter_id, p.vehicle_type)
                };
                self.tell(told, now)
            }
            Scene3d::Timed(p) => self.tell((&TrueState::from(p)).into(), now),
            Scene3d::Full(p) => self.tell((&TrueState::from(p)).into(), now),
            Scene3d::Short(p) => match TrueState::try_from(p) {
                Ok(state) => self.tell((&state).into(), now),
                Err(_) => false,
            },
            Scene3d::Swarm20(p) => self.tell_all(p.states().map(at_rest), p.height(), now),
            Scene3d::Swarm100(p) => self.tell_all(p.states().map(at_rest), p.height(), now),
            Scene3d::Moving10(p) => self.tell_all(p.states(), p.height(), now),
            Scene3d::Moving20(p) => self.tell_all(p.states(), p.height(), now),
            Scene3d::Moving100(p) => self.tell_all(p.states(), p.height(), now),
            Scene3d::Label(p) => self.display.label(p, now),
            Scene3d::Attach(p) => self.attach_all(p, now, motions),
            Scene3d::Blueprint(p) => {
                let inputs = p.values.map(F64::get);
                self.display.blueprint(p.copter_id.get(), 8, &inputs)
            }
        }
    }

    fn tell_all(
        &mut self,
        states: impl Iterator<Item = MovingState>,
        height: Height,
        now: f64,
    ) -> bool {
        let mut right = true;
        for MovingState { state, velocity, .. } in states {
            let told = ObjectState {
                id: state.id.into(),
                vehicle_type: state.vehicle_type.into(),
                position: state.position.map(f64::from),
                euler: state.euler.map(f64::from),
                velocity: velocity.map(f64::from),
                motor_rpm: state.motor_rpm.map(f64::from),
                scale: state.scale_percent.map(|percent| f64::from(percent) / 100.0),
                height,
            };
            right &= self.tell(told, now);
        }
        right
    }

    fn attach_all(&mut self, packet: &AttachPacket, now: f64, motions: Motions<'_>) -> bool {
        let mut right = true;
        let pairs = packet.copter_ids.iter().zip(&packet.carrier_ids);
        for ((id, carrier), kind) in pairs.zip(&packet.kinds) {
            let id = u16::try_from(id.get()).unwrap_or(0);
            if id == 0 {
                continue; // an empty slot
            }
            let link = match (u16::try_from(carrier.get()), kind.get()) {
                (_, 0) => None,
                (Ok(carrier), kind @ 1..=3) if carrier != id => Some(Link { carrier, kind }),
                _ => {
                    right = false;
                    continue;
                }
            };
            self.attach(id, link, now, motions);
        }
        right
    }
}

fn at_rest(state: SwarmState) -> MovingState {
    MovingState { state, ..MovingState::default() }
}

impl ObjectState {
    fn new(id: I32, vehicle_type: I32) -> Self {
        Self {
            id: id.get(),
            vehicle_type: vehicle_type.get(),
            position: [0.0; 3],
            euler: [0.0; 3],
            velocity: [0.0; 3],
            motor_rpm: [0.0; 8],
            scale: [1.0; 3],
            height: Height::Given,
        }
    }
}

impl From<&TrueState> for ObjectState {
    fn from(state: &TrueState) -> Self {
        Self {
            position: state.position,
            euler: state.euler,
            velocity: state.velocity,
            motor_rpm: state.motor_rpm,
            ..Self::new(state.copter_id.into(), state.vehicle_type.into())
        }
    }
}

fn object(p: &ObjectStatePacket) -> ObjectState {
    ObjectState {
        position: wide(p.position),
        euler: wide(p.euler),
        motor_rpm: [p.motor_rpm.get().into(); 8],
        height: p.height(),
        ..ObjectState::new(p.copter_id, p.vehicle_type)
    }
}

fn wide<const N: usize>(values: [F32; N]) -> [f64; N] {
    values.map(|x| f64::from(x.get()))
}
