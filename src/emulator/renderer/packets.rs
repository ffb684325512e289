//! Packets to the renderer: states of objects, labels, attachments, inputs of blueprints. Their length is their type.
use super::{Link, Motions, RendererState};
use crate::wire::{
    AttachPacket, ExtActuatorsPacket, FullStatePacket, Height, LabelPacket, MotorStatePacket,
    Moving10Packet, Moving20Packet, Moving100Packet, MovingState, ObjectStatePacket, Packet as _,
    PointMassStatePacket, ScaledStatePacket, ShortStatePacket, Swarm20Packet, Swarm100Packet,
    SwarmState, TimedStatePacket, TrueState, WireError,
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

impl RendererState {
    /// Executes a datagram that arrives at simulation time `now` in s; `false` if it is none of section "vehicle state" or
    /// "display" of the protocol, its check word is wrong, or it makes no sense.
    pub(in crate::emulator) fn accept(
        &mut self,
        bytes: &[u8],
        now: f64,
        motions: Motions<'_>,
    ) -> bool {
        self.try_accept(bytes, now, motions).unwrap_or(false)
    }

    fn try_accept(
        &mut self,
        bytes: &[u8],
        now: f64,
        motions: Motions<'_>,
    ) -> Result<bool, WireError> {
        macro_rules! states {
            ($packet:ident, $($moving:tt)*) => {{
                let packet = $packet::parse(bytes)?;
                self.set_states(packet.states()$($moving)*, packet.height(), now)
            }};
        }
        Ok(match bytes.len() {
            ObjectStatePacket::LEN => self.set_state(object(ObjectStatePacket::parse(bytes)?), now),
            ScaledStatePacket::LEN => {
                let p = ScaledStatePacket::parse(bytes)?;
                let state = object(&ObjectStatePacket {
                    checksum: p.checksum,
                    copter_id: p.copter_id,
                    vehicle_type: p.vehicle_type,
                    motor_rpm: p.motor_rpm,
                    position: p.position,
                    euler: p.euler,
                });
                self.set_state(ObjectState { scale: wide(p.scale), ..state }, now)
            }
            MotorStatePacket::LEN => {
                let p = MotorStatePacket::parse(bytes)?;
                let state = ObjectState {
                    position: wide(p.position),
                    euler: wide(p.euler),
                    velocity: wide(p.velocity),
                    motor_rpm: wide(p.motor_rpm),
                    height: p.height(),
                    ..ObjectState::new(p.copter_id, p.vehicle_type)
                };
                self.set_state(state, now)
            }
            PointMassStatePacket::LEN => {
                let p = PointMassStatePacket::parse(bytes)?;
                let state = ObjectState {
                    position: p.position.map(F64::get),
                    euler: wide(p.euler),
                    velocity: wide(p.velocity),
                    motor_rpm: wide(p.motor_rpm),
                    ..ObjectState::new(p.copter_id, p.vehicle_type)
                };
                self.set_state(state, now)
            }
            TimedStatePacket::LEN => {
                self.set_state((&TrueState::from(TimedStatePacket::parse(bytes)?)).into(), now)
            }
            FullStatePacket::LEN => {
                self.set_state((&TrueState::from(FullStatePacket::parse(bytes)?)).into(), now)
            }
            ShortStatePacket::LEN => {
                let state = TrueState::try_from(ShortStatePacket::parse(bytes)?);
                state.is_ok_and(|state| self.set_state((&state).into(), now))
            }
            Swarm20Packet::LEN => states!(Swarm20Packet, .map(at_rest)),
            Swarm100Packet::LEN => states!(Swarm100Packet, .map(at_rest)),
            Moving10Packet::LEN => states!(Moving10Packet,),
            Moving20Packet::LEN => states!(Moving20Packet,),
            Moving100Packet::LEN => states!(Moving100Packet,),
            LabelPacket::LEN => self.display.set_packet_label(LabelPacket::parse(bytes)?, now),
            AttachPacket::LEN => self.attach_all(AttachPacket::parse(bytes)?, now, motions),
            ExtActuatorsPacket::LEN => {
                let p = ExtActuatorsPacket::parse(bytes)?;
                self.display.set_blueprint(p.copter_id.get(), 8, &p.values.map(F64::get))
            }
            _ => false,
        })
    }

    fn set_states(
        &mut self,
        states: impl Iterator<Item = MovingState>,
        height: Height,
        now: f64,
    ) -> bool {
        let mut right = true;
        for MovingState { state, velocity, .. } in states {
            let state = ObjectState {
                id: state.id.into(),
                vehicle_type: state.vehicle_type.into(),
                position: state.position.map(f64::from),
                euler: state.euler.map(f64::from),
                velocity: velocity.map(f64::from),
                motor_rpm: state.motor_rpm.map(f64::from),
                scale: state.scale_percent.map(|percent| f64::from(percent) / 100.0),
                height,
            };
            right &= self.set_state(state, now);
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
