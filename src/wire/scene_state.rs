//! States that the renderer draws: of one object, and of many at once. UDP 20010+w, where w is the number of the window.
//!
//! Positions are in m, NED from the map centre, angles in rad. Source: vendor SDK, golden `ue4_send`, `ue4_send_other`.
use super::{Packet, WireError, expect_tag};
use zerocopy::little_endian::{F32, F64, I32, U16};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Returns class and style of a `vehicle_type`.
///
/// The documents have class + 1000 x style. Scenes of 2026 have numbers that read as class + 1000000 x style (116000030: a
/// person, class 30), which no public document confirms. A number without a class in it (1000) is a class itself.
pub fn class_and_style(vehicle_type: i32) -> (i32, i32) {
    const FACTOR: i32 = 1000;
    const NEWER: i32 = 1_000_000;
    let factor = if vehicle_type < NEWER { FACTOR } else { NEWER };
    match vehicle_type.rem_euclid(factor) {
        0 => (vehicle_type, 0),
        class => (class, vehicle_type.div_euclid(factor)),
    }
}

/// What decides the height of an object.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Height {
    /// Its position.
    #[default]
    Given,
    /// The terrain below it, always.
    Ground,
}

impl Height {
    const GIVEN_TAG: i32 = 1_234_567_890;
    const GROUND_TAG: i32 = 1_234_567_891;

    pub(super) fn tag(self) -> I32 {
        match self {
            Self::Given => Self::GIVEN_TAG.into(),
            Self::Ground => Self::GROUND_TAG.into(),
        }
    }

    pub(super) fn of(tag: I32) -> Self {
        if tag.get() == Self::GROUND_TAG { Self::Ground } else { Self::Given }
    }

    pub(super) fn check(what: &'static str, tag: I32) -> Result<(), WireError> {
        if tag.get() == Self::GROUND_TAG {
            return Ok(());
        }
        expect_tag(what, Self::GIVEN_TAG.into(), tag.get().into())
    }
}

macro_rules! with_height {
    ($name:ident, $text:literal) => {
        impl Packet for $name {
            const NAME: &'static str = $text;

            fn check(&self) -> Result<(), WireError> {
                Height::check(Self::NAME, self.checksum)
            }
        }

        impl $name {
            /// Returns what decides the height.
            pub fn height(&self) -> Height {
                Height::of(self.checksum)
            }

            /// Says what decides the height.
            #[must_use]
            pub fn with_height(self, height: Height) -> Self {
                Self { checksum: height.tag(), ..self }
            }
        }
    };
}
pub(super) use with_height;

/// `SOut2SimulatorSimple`, 40 bytes: an object with one motor speed.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct ObjectStatePacket {
    /// Check word 1234567890, or 1234567891 to stand on the ground.
    pub checksum: I32,
    /// Id of the object.
    pub copter_id: I32,
    /// Class and style: class + 1000 x style.
    pub vehicle_type: I32,
    /// Speed of all motors in rpm.
    pub motor_rpm: F32,
    /// Position in m, NED.
    pub position: [F32; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [F32; 3],
}
with_height!(ObjectStatePacket, "state of an object (40 bytes)");

impl ObjectStatePacket {
    /// Creates the packet, with motors at rest.
    pub fn new(id: i32, vehicle_type: i32, position: [f32; 3], euler: [f32; 3]) -> Self {
        Self {
            checksum: Height::Given.tag(),
            copter_id: id.into(),
            vehicle_type: vehicle_type.into(),
            motor_rpm: F32::ZERO,
            position: position.map(F32::new),
            euler: euler.map(F32::new),
        }
    }

    /// Sets the speed of all motors in rpm.
    #[must_use]
    pub fn with_motor_rpm(self, rpm: f32) -> Self {
        Self { motor_rpm: rpm.into(), ..self }
    }
}

/// `SOut2SimulatorSimple1`, 52 bytes: an object of another size.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct ScaledStatePacket {
    /// Check word 1234567890, or 1234567891 to stand on the ground.
    pub checksum: I32,
    /// Id of the object.
    pub copter_id: I32,
    /// Class and style: class + 1000 x style.
    pub vehicle_type: I32,
    /// Speed of all motors in rpm.
    pub motor_rpm: F32,
    /// Position in m, NED.
    pub position: [F32; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [F32; 3],
    /// Factors of the size along the three axes; 1 is the original.
    pub scale: [F32; 3],
}
with_height!(ScaledStatePacket, "state of an object (52 bytes)");

impl ScaledStatePacket {
    /// Creates the packet of an object of another size.
    pub fn new(state: ObjectStatePacket, scale: [f32; 3]) -> Self {
        Self {
            checksum: state.checksum,
            copter_id: state.copter_id,
            vehicle_type: state.vehicle_type,
            motor_rpm: state.motor_rpm,
            position: state.position,
            euler: state.euler,
            scale: scale.map(F32::new),
        }
    }
}

/// `SOut2SimulatorSimpleTimeF`, 88 bytes: a vehicle with eight motors, its velocity and time.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct MotorStatePacket {
    /// Check word 1234567890, or 1234567891 to stand on the ground.
    pub checksum: I32,
    /// Vehicle id.
    pub copter_id: I32,
    /// Class and style: class + 1000 x style.
    pub vehicle_type: I32,
    /// Motor speeds in rpm, or inputs of the model's actuators.
    pub motor_rpm: [F32; 8],
    /// Position in m, NED.
    pub position: [F32; 3],
    /// Velocity in m/s, NED.
    pub velocity: [F32; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [F32; 3],
    /// Simulation time in s; -1: not given.
    pub sim_time: F64,
}
with_height!(MotorStatePacket, "state of a vehicle (88 bytes)");

impl MotorStatePacket {
    /// Creates the packet of a vehicle.
    pub fn new(
        state: ObjectStatePacket,
        motor_rpm: [f32; 8],
        velocity: [f32; 3],
        sim_time: f64,
    ) -> Self {
        Self {
            checksum: state.checksum,
            copter_id: state.copter_id,
            vehicle_type: state.vehicle_type,
            motor_rpm: motor_rpm.map(F32::new),
            position: state.position,
            velocity: velocity.map(F32::new),
            euler: state.euler,
            sim_time: sim_time.into(),
        }
    }
}

/// `SOut2SimulatorSimpleTime`, 104 bytes: what point-mass vehicles send.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct PointMassStatePacket {
    /// Check word 1234567890.
    pub checksum: I32,
    /// Vehicle id.
    pub copter_id: I32,
    /// Class and style: class + 1000 x style.
    pub vehicle_type: I32,
    /// Motor speeds in rpm.
    pub motor_rpm: [F32; 8],
    /// Velocity in m/s, NED.
    pub velocity: [F32; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [F32; 3],
    /// Alignment padding.
    pub pad: [u8; 4],
    /// Position in m, NED.
    pub position: [F64; 3],
    /// Simulation time in s.
    pub sim_time: F64,
}

impl PointMassStatePacket {
    /// Creates the packet, with motors at rest and the time not given.
    pub fn new(
        id: i32,
        vehicle_type: i32,
        position: [f64; 3],
        euler: [f32; 3],
        velocity: [f32; 3],
    ) -> Self {
        Self {
            checksum: Height::Given.tag(),
            copter_id: id.into(),
            vehicle_type: vehicle_type.into(),
            motor_rpm: [F32::ZERO; 8],
            velocity: velocity.map(F32::new),
            euler: euler.map(F32::new),
            pad: [0; 4],
            position: position.map(F64::new),
            sim_time: F64::new(-1.0),
        }
    }
}

impl Packet for PointMassStatePacket {
    const NAME: &'static str = "state of a vehicle (104 bytes)";

    fn check(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, Height::GIVEN_TAG.into(), self.checksum.get().into())
    }
}

/// One of the objects of a packet for many.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SwarmState {
    /// Id; 0 hides the slot.
    pub id: u16,
    /// Class and style: class + 1000 x style.
    pub vehicle_type: u16,
    /// Position in m, NED.
    pub position: [f32; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [f32; 3],
    /// Size along the three axes in percent; 100 is the original.
    pub scale_percent: [u16; 3],
    /// Motor speeds in rpm.
    pub motor_rpm: [f32; 8],
}

/// `Multi3DData2New`, 1324 bytes: 20 objects with eight motors each.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct Swarm20Packet {
    /// Check word 1234567890, or 1234567891 to stand on the ground.
    pub checksum: I32,
    /// Ids; 0 hides the slot.
    pub ids: [U16; 20],
    /// Classes and styles.
    pub vehicle_types: [U16; 20],
    /// Positions in m, NED.
    pub positions: [[F32; 3]; 20],
    /// Roll, pitch, yaw in rad.
    pub eulers: [[F32; 3]; 20],
    /// Sizes in percent.
    pub scales: [[U16; 3]; 20],
    /// Motor speeds in rpm.
    pub motor_rpm: [[F32; 8]; 20],
}
with_height!(Swarm20Packet, "states of 20 objects");

/// `Multi3DData100New`, 3804 bytes: 100 objects with one motor speed each.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct Swarm100Packet {
    /// Check word 1234567890, or 1234567891 to stand on the ground.
    pub checksum: I32,
    /// Ids; 0 hides the slot.
    pub ids: [U16; 100],
    /// Classes and styles.
    pub vehicle_types: [U16; 100],
    /// Positions in m, NED.
    pub positions: [[F32; 3]; 100],
    /// Roll, pitch, yaw in rad.
    pub eulers: [[F32; 3]; 100],
    /// Sizes in percent.
    pub scales: [[U16; 3]; 100],
    /// Speeds of all motors of each in rpm.
    pub motor_rpm: [F32; 100],
}
with_height!(Swarm100Packet, "states of 100 objects");

macro_rules! swarm {
    ($name:ident, $size:literal, $motors:expr, $motors_of:expr) => {
        impl $name {
            /// Number of slots.
            pub const SIZE: usize = $size;

            /// Creates the packet of the first [`SIZE`](Self::SIZE) states; slots without one are hidden.
            pub fn new(states: &[SwarmState], height: Height) -> Self {
                let mut packet = Self::new_zeroed().with_height(height);
                for (i, state) in states.iter().take(Self::SIZE).enumerate() {
                    packet.ids[i] = state.id.into();
                    packet.vehicle_types[i] = state.vehicle_type.into();
                    packet.positions[i] = state.position.map(F32::new);
                    packet.eulers[i] = state.euler.map(F32::new);
                    packet.scales[i] = state.scale_percent.map(U16::new);
                    packet.motor_rpm[i] = $motors(state);
                }
                packet
            }

            /// Returns the state of each slot that is not hidden.
            pub fn states(&self) -> impl Iterator<Item = SwarmState> {
                let slots = (0..Self::SIZE).filter(|i| self.ids[*i].get() != 0);
                slots.map(|i| SwarmState {
                    id: self.ids[i].get(),
                    vehicle_type: self.vehicle_types[i].get(),
                    position: self.positions[i].map(F32::get),
                    euler: self.eulers[i].map(F32::get),
                    scale_percent: self.scales[i].map(U16::get),
                    motor_rpm: $motors_of(&self.motor_rpm[i]),
                })
            }
        }
    };
}

swarm!(Swarm20Packet, 20, |state: &SwarmState| state.motor_rpm.map(F32::new), |rpm: &[F32; 8]| rpm
    .map(F32::get));
swarm!(
    Swarm100Packet,
    100,
    |state: &SwarmState| F32::new(state.motor_rpm.iter().sum::<f32>() / 8.0),
    |rpm: &F32| [rpm.get(); 8]
);
