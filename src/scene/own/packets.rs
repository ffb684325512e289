//! Packs states of many entities into packets.
use crate::scene::datagrams::{Outbox, Recipient};
use crate::wire::{
    FullStatePacket, Height, MotorStatePacket, Moving10Packet, Moving20Packet, Moving100Packet,
    MovingState, ObjectStatePacket, ScaledStatePacket, Swarm20Packet, Swarm100Packet, SwarmState,
};
use zerocopy::FromZeros as _;
use zerocopy::little_endian::{F32, F64};

/// Time of a state that has none.
pub(super) const NO_TIME: f64 = -1.0;

/// Fields of motion in a message.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum MotionFields {
    /// None.
    Still,
    /// Velocities and times.
    Moving,
    /// Velocities and times, of many entities in one packet.
    Grouped,
    /// Velocities, times and rates.
    Turning,
}

/// Contents of a message besides poses.
#[derive(Clone, Copy)]
pub(super) struct Contents {
    pub(super) motion: MotionFields,
    /// Motor speeds per entity: 0, 1 or 8.
    pub(super) motors: usize,
}

impl Contents {
    /// Whether the packet of an entity of this type has a field for its scale.
    pub(super) fn has_scale(self, vehicle_type: i32) -> bool {
        self.motion == MotionFields::Still && (self.motors < 8 || fits_u16(vehicle_type))
    }
}

/// Whether a vehicle type fits the 16-bit field of the packets that hold many entities.
fn fits_u16(vehicle_type: i32) -> bool {
    u16::try_from(vehicle_type).is_ok()
}

pub(super) struct DrawnEntity {
    /// The type, which may be too large for [`SwarmState`].
    pub(super) vehicle_type: i32,
    /// In m, NED.
    pub(super) position: [f64; 3],
    pub(super) moving: MovingState,
    /// In rad/s, FRD.
    pub(super) rate: [f32; 3],
}

/// Collects the states that share packets.
pub(super) struct Packets {
    contents: Contents,
    height: Height,
    pending: Vec<MovingState>,
}

impl Packets {
    pub(super) fn new(contents: Contents, fit_to_ground: bool) -> Self {
        let height = if fit_to_ground { Height::Ground } else { Height::Given };
        Self { contents, height, pending: Vec::new() }
    }

    /// Adds an entity; one with a packet of its own is sent at once.
    pub(super) fn add(&mut self, entity: DrawnEntity, out: &mut Outbox) {
        let DrawnEntity { vehicle_type, moving, .. } = entity;
        let state = &moving.state;
        let object =
            ObjectStatePacket::new(state.id.into(), vehicle_type, state.position, state.euler)
                .with_height(self.height);
        match self.contents.motion {
            MotionFields::Still | MotionFields::Grouped if fits_u16(vehicle_type) => {
                self.pending.push(moving)
            }
            MotionFields::Still if self.contents.motors < 8 => {
                let scale = { state.scale_percent }.map(|percent| f32::from(percent) / 100.0);
                let object = object.with_motor_rpm(state.motor_rpm[0]);
                out.packet(Recipient::Windows, &ScaledStatePacket::new(object, scale));
            }
            MotionFields::Still | MotionFields::Moving | MotionFields::Grouped => {
                let MovingState { velocity, sim_time, .. } = moving;
                let packet = MotorStatePacket::new(object, state.motor_rpm, velocity, sim_time);
                out.packet(Recipient::Windows, &packet);
            }
            MotionFields::Turning => out.packet(Recipient::Windows, &full_packet(&entity)),
        }
    }

    pub(super) fn send(self, out: &mut Outbox) {
        let (pending, height) = (&self.pending, self.height);
        let to = Recipient::Windows;
        if self.contents.motion == MotionFields::Grouped {
            for chunk in pending.chunks(Moving100Packet::SIZE) {
                if chunk.len() <= Moving10Packet::SIZE {
                    out.packet(to, &Moving10Packet::new(chunk, height));
                } else if chunk.len() <= Moving20Packet::SIZE {
                    out.packet(to, &Moving20Packet::new(chunk, height));
                } else {
                    out.packet(to, &Moving100Packet::new(chunk, height));
                }
            }
            return;
        }
        let size =
            if self.contents.motors == 8 { Swarm20Packet::SIZE } else { Swarm100Packet::SIZE };
        for chunk in pending.chunks(size) {
            let states: Vec<SwarmState> = chunk.iter().map(|moving| moving.state).collect();
            match states.len() {
                ..=Swarm20Packet::SIZE => out.packet(to, &Swarm20Packet::new(&states, height)),
                _ => out.packet(to, &Swarm100Packet::new(&states, height)),
            }
        }
    }
}

/// Makes the packet of one entity; quaternion, acceleration and geodetic position are 0, as in the vendor's client.
fn full_packet(entity: &DrawnEntity) -> FullStatePacket {
    let MovingState { state, velocity, sim_time } = entity.moving;
    FullStatePacket {
        checksum: FullStatePacket::TAG.into(),
        copter_id: i32::from(state.id).into(),
        vehicle_type: entity.vehicle_type.into(),
        velocity: velocity.map(F32::new),
        euler: state.euler.map(F32::new),
        motor_rpm: state.motor_rpm.map(F32::new),
        rate: entity.rate.map(F32::new),
        sim_time: sim_time.into(),
        position: entity.position.map(F64::new),
        ..FullStatePacket::new_zeroed()
    }
}
