//! Which packets many states go in.
use crate::scene::datagrams::{Outbox, Recipient};
use crate::wire::{
    FullStatePacket, Height, MotorStatePacket, Moving10Packet, Moving20Packet, Moving100Packet,
    MovingState, ObjectStatePacket, ScaledStatePacket, Swarm20Packet, Swarm100Packet, SwarmState,
};
use zerocopy::FromZeros as _;
use zerocopy::little_endian::{F32, F64};

/// Time of a state that has none.
pub(super) const NO_TIME: f64 = -1.0;

/// Motor speeds of an entity.
#[derive(Clone, Copy)]
pub(super) enum Motors {
    None,
    One,
    Eight,
}

/// What a message says of its entities besides their places.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// No motion.
    Still(Motors),
    /// Velocities and times.
    Moving(Motors),
    /// The same, of many in one packet.
    Grouped(Motors),
    /// Rates, too.
    Turning(Motors),
}

impl Form {
    pub(super) fn motors(self) -> Motors {
        match self {
            Self::Still(motors)
            | Self::Moving(motors)
            | Self::Grouped(motors)
            | Self::Turning(motors) => motors,
        }
    }

    /// Whether the packet of such an entity has a size.
    pub(super) fn has_scale(self, vehicle_type: i32) -> bool {
        match self {
            Self::Still(Motors::Eight) => is_small(vehicle_type),
            Self::Still(_) => true,
            _ => false,
        }
    }
}

/// Whether packets of many have room for a type.
fn is_small(vehicle_type: i32) -> bool {
    u16::try_from(vehicle_type).is_ok()
}

/// An entity to draw.
pub(super) struct Drawn {
    /// The whole of it.
    pub(super) vehicle_type: i32,
    /// In m, NED.
    pub(super) position: [f64; 3],
    pub(super) moving: MovingState,
    /// In rad/s, FRD.
    pub(super) rate: [f32; 3],
}

/// Collects what goes in packets of many.
pub(super) struct Packets {
    form: Form,
    height: Height,
    many: Vec<MovingState>,
}

impl Packets {
    pub(super) fn new(form: Form, fit_to_ground: bool) -> Self {
        let height = match fit_to_ground {
            true => Height::Ground,
            false => Height::Given,
        };
        let many = Vec::new();
        Self { form, height, many }
    }

    /// Adds an entity; one with a packet of its own is sent at once.
    pub(super) fn add(&mut self, entity: Drawn, out: &mut Outbox) {
        let Drawn { vehicle_type, moving, .. } = entity;
        let state = &moving.state;
        let object =
            ObjectStatePacket::new(state.id.into(), vehicle_type, state.position, state.euler)
                .with_height(self.height);
        let with_motors = || {
            let MovingState { velocity, sim_time, .. } = moving;
            MotorStatePacket::new(object, state.motor_rpm, velocity, sim_time)
        };
        match self.form {
            Form::Still(_) | Form::Grouped(_) if is_small(vehicle_type) => self.many.push(moving),
            Form::Still(Motors::None | Motors::One) => {
                let scale = { state.scale_percent }.map(|percent| f32::from(percent) / 100.0);
                let object = object.with_motor_rpm(state.motor_rpm[0]);
                out.packet(Recipient::Windows, &ScaledStatePacket::new(object, scale));
            }
            Form::Still(Motors::Eight) | Form::Moving(_) | Form::Grouped(_) => {
                out.packet(Recipient::Windows, &with_motors());
            }
            Form::Turning(_) => out.packet(Recipient::Windows, &full(&entity)),
        }
    }

    /// Sends those that share packets.
    pub(super) fn send(self, out: &mut Outbox) {
        let (many, height) = (&self.many, self.height);
        let to = Recipient::Windows;
        if let Form::Grouped(_) = self.form {
            for chunk in many.chunks(Moving100Packet::SIZE) {
                let few = chunk.len() <= Moving10Packet::SIZE;
                match chunk.len() <= Moving20Packet::SIZE {
                    true if few => out.packet(to, &Moving10Packet::new(chunk, height)),
                    true => out.packet(to, &Moving20Packet::new(chunk, height)),
                    false => out.packet(to, &Moving100Packet::new(chunk, height)),
                }
            }
            return;
        }
        let size = match self.form.motors() {
            Motors::Eight => Swarm20Packet::SIZE,
            Motors::None | Motors::One => Swarm100Packet::SIZE,
        };
        for chunk in many.chunks(size) {
            let states: Vec<SwarmState> = chunk.iter().map(|moving| moving.state).collect();
            match states.len() {
                ..=Swarm20Packet::SIZE => out.packet(to, &Swarm20Packet::new(&states, height)),
                _ => out.packet(to, &Swarm100Packet::new(&states, height)),
            }
        }
    }
}

/// The true state of an entity; as the vendor's client leaves them, quaternion, acceleration and place on the globe are 0.
fn full(entity: &Drawn) -> FullStatePacket {
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
