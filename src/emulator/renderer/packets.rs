//! Packets to the renderer: states of objects, labels, attachments, inputs of blueprints. Their lengths identify them.
use super::{FOREIGN_S, Link, Moment, ObjectState, RendererState};
use crate::emulator::world::{Pose, Vec3};
use crate::wire::{
    AttachPacket, ExtActuatorsPacket, FullStatePacket, Height, LabelPacket, MotorStatePacket,
    Moving10Packet, Moving20Packet, Moving100Packet, MovingState, ObjectStatePacket, Packet as _,
    PointMassStatePacket, ScaledStatePacket, ShortStatePacket, Swarm20Packet, Swarm100Packet,
    SwarmState, TimedStatePacket, TrueState, WireError,
};
use zerocopy::little_endian::{F32, F64};

impl RendererState {
    /// Executes a datagram; `false` if it is not of section "vehicle state" or "display" of the protocol, its check word is
    /// wrong, or its values are invalid.
    pub(in crate::emulator) fn accept(&mut self, bytes: &[u8], at: Moment<'_>) -> bool {
        self.try_accept(bytes, at).unwrap_or(false)
    }

    fn try_accept(&mut self, bytes: &[u8], at: Moment<'_>) -> Result<bool, WireError> {
        let now = at.time;
        macro_rules! states {
            ($packet:ident, $($moving:tt)*) => {{
                let packet = $packet::parse(bytes)?;
                self.set_states(packet.states()$($moving)*, packet.height(), now)
            }};
        }
        Ok(match bytes.len() {
            ObjectStatePacket::LEN => {
                let p = ObjectStatePacket::parse(bytes)?;
                let state =
                    ObjectState::new(p.vehicle_type.get(), f64s(p.position), f64s(p.euler), now);
                let motor_rpm = [p.motor_rpm.get().into(); 8];
                self.set_state(
                    p.copter_id.get(),
                    ObjectState { motor_rpm, height: p.height(), ..state },
                )
            }
            ScaledStatePacket::LEN => {
                let p = ScaledStatePacket::parse(bytes)?;
                let state = ObjectState {
                    motor_rpm: [p.motor_rpm.get().into(); 8],
                    scale: f64s(p.scale).into(),
                    height: p.height(),
                    ..ObjectState::new(p.vehicle_type.get(), f64s(p.position), f64s(p.euler), now)
                };
                self.set_state(p.copter_id.get(), state)
            }
            MotorStatePacket::LEN => {
                let p = MotorStatePacket::parse(bytes)?;
                let state = ObjectState {
                    velocity: f64s(p.velocity).into(),
                    motor_rpm: f64s(p.motor_rpm),
                    height: p.height(),
                    ..ObjectState::new(p.vehicle_type.get(), f64s(p.position), f64s(p.euler), now)
                };
                self.set_state(p.copter_id.get(), state)
            }
            PointMassStatePacket::LEN => {
                let p = PointMassStatePacket::parse(bytes)?;
                let position = p.position.map(F64::get);
                let state = ObjectState {
                    velocity: f64s(p.velocity).into(),
                    motor_rpm: f64s(p.motor_rpm),
                    ..ObjectState::new(p.vehicle_type.get(), position, f64s(p.euler), now)
                };
                self.set_state(p.copter_id.get(), state)
            }
            TimedStatePacket::LEN => {
                self.set_true_state(&TimedStatePacket::parse(bytes)?.into(), now)
            }
            FullStatePacket::LEN => {
                self.set_true_state(&FullStatePacket::parse(bytes)?.into(), now)
            }
            ShortStatePacket::LEN => {
                let state = TrueState::try_from(ShortStatePacket::parse(bytes)?);
                state.is_ok_and(|state| self.set_true_state(&state, now))
            }
            Swarm20Packet::LEN => states!(Swarm20Packet, .map(at_rest)),
            Swarm100Packet::LEN => states!(Swarm100Packet, .map(at_rest)),
            Moving10Packet::LEN => states!(Moving10Packet,),
            Moving20Packet::LEN => states!(Moving20Packet,),
            Moving100Packet::LEN => states!(Moving100Packet,),
            LabelPacket::LEN => self.display.set_packet_label(LabelPacket::parse(bytes)?, now),
            AttachPacket::LEN => self.attach_all(AttachPacket::parse(bytes)?, at),
            ExtActuatorsPacket::LEN => {
                let p = ExtActuatorsPacket::parse(bytes)?;
                self.display.set_blueprint(p.copter_id.get(), 8, &p.values.map(F64::get))
            }
            _ => false,
        })
    }

    fn set_true_state(&mut self, state: &TrueState, now: f64) -> bool {
        let object = ObjectState {
            velocity: state.velocity.into(),
            motor_rpm: state.motor_rpm,
            ..ObjectState::new(state.vehicle_type, state.position, state.euler, now)
        };
        self.set_state(state.copter_id, object)
    }

    fn set_states(
        &mut self,
        states: impl Iterator<Item = MovingState>,
        height: Height,
        now: f64,
    ) -> bool {
        let mut is_valid = true;
        for MovingState { state, velocity, .. } in states {
            let [position, euler] = [state.position, state.euler].map(|v| v.map(f64::from));
            let object = ObjectState {
                velocity: velocity.map(f64::from).into(),
                motor_rpm: state.motor_rpm.map(f64::from),
                scale: state.scale_percent.map(|percent| f64::from(percent) / 100.0).into(),
                height,
                ..ObjectState::new(state.vehicle_type.into(), position, euler, now)
            };
            is_valid &= self.set_state(state.id.into(), object);
        }
        is_valid
    }

    fn attach_all(&mut self, packet: &AttachPacket, at: Moment<'_>) -> bool {
        let mut is_valid = true;
        let pairs = packet.copter_ids.iter().zip(&packet.carrier_ids);
        for ((id, carrier), kind) in pairs.zip(&packet.kinds) {
            let id = u16::try_from(id.get()).unwrap_or(0);
            if id == 0 {
                continue; // an empty slot
            }
            match (u16::try_from(carrier.get()), kind.get()) {
                (_, 0) => self.attach(id, None, at),
                (Ok(carrier), kind @ 1..=3) if carrier != id => {
                    self.attach(id, Some(Link { carrier, kind }), at)
                }
                _ => is_valid = false,
            }
        }
        is_valid
    }
}

fn at_rest(state: SwarmState) -> MovingState {
    MovingState { state, ..MovingState::default() }
}

impl ObjectState {
    /// An object at rest, of its model's size.
    fn new(vehicle_type: i32, position: [f64; 3], euler: [f64; 3], now: f64) -> Self {
        Self {
            vehicle_type,
            pose: Pose::new(position, euler),
            velocity: Vec3::zeros(),
            scale: Vec3::repeat(1.0),
            motor_rpm: [0.0; 8],
            height: Height::Given,
            until: now + FOREIGN_S,
        }
    }
}

fn f64s<const N: usize>(values: [F32; N]) -> [f64; N] {
    values.map(|x| f64::from(x.get()))
}
