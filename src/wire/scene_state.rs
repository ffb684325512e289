//! States of objects for the renderer: one object, or many in a packet. UDP 20010+w, where w is the number of the window.
//!
//! Positions are in m, NED from the map centre, angles in rad. Source: vendor SDK, golden `ue4_send`, `ue4_send_other`.
use zerocopy::FromZeros;
use zerocopy::little_endian::{F32, F64, I32, U16};

/// Returns class and style of a `vehicle_type`.
///
/// The documents have class + 1000 x style. Scenes of 2026 have numbers that read as class + 1000000 x style (116000030: a
/// person, class 30), which no public document confirms. A multiple of the factor, such as 1000, is itself a class.
pub fn class_and_style(vehicle_type: i32) -> (i32, i32) {
    const FACTOR: i32 = 1000;
    const NEWER: i32 = 1_000_000;
    let factor = if vehicle_type < NEWER { FACTOR } else { NEWER };
    match vehicle_type.rem_euclid(factor) {
        0 => (vehicle_type, 0),
        class => (class, vehicle_type.div_euclid(factor)),
    }
}

/// Source of the height of an object.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(i32)]
pub enum Height {
    /// Its position.
    #[default]
    Given = 1_234_567_890,
    /// The terrain below it, always.
    Ground = 1_234_567_891,
}

impl Height {
    pub(super) fn of(tag: I32) -> Self {
        if tag.get() == Self::Ground as i32 { Self::Ground } else { Self::Given }
    }
}

macro_rules! with_height {
    ($($name:ident)+) => {
        $(impl $name {
            /// Returns the source of the height.
            pub fn height(&self) -> Height {
                Height::of(self.checksum)
            }

            /// Sets the source of the height.
            #[must_use]
            pub fn with_height(self, height: Height) -> Self {
                Self { checksum: (height as i32).into(), ..self }
            }
        })+
    };
}
pub(super) use with_height;

with_height!(ObjectStatePacket ScaledStatePacket MotorStatePacket Swarm20Packet Swarm100Packet);

packets! {
    /// `SOut2SimulatorSimple`, 40 bytes: an object with one motor speed.
    ObjectStatePacket("state of an object (40 bytes)", 1_234_567_890 | 1_234_567_891) {
        copter_id: I32 = "Id of the object.",
        vehicle_type: I32 = "Class and style: class + 1000 x style.",
        motor_rpm: F32 = "Speed of all motors in rpm.",
        position: [F32; 3] = "Position in m, NED.",
        euler: [F32; 3] = "Roll, pitch, yaw in rad.",
    }
    /// `SOut2SimulatorSimple1`, 52 bytes: an object of another size.
    ScaledStatePacket("state of an object (52 bytes)", 1_234_567_890 | 1_234_567_891) {
        copter_id: I32 = "Id of the object.",
        vehicle_type: I32 = "Class and style: class + 1000 x style.",
        motor_rpm: F32 = "Speed of all motors in rpm.",
        position: [F32; 3] = "Position in m, NED.",
        euler: [F32; 3] = "Roll, pitch, yaw in rad.",
        scale: [F32; 3] = "Factors of the size along the three axes; 1 is the original.",
    }
    /// `SOut2SimulatorSimpleTimeF`, 88 bytes: a vehicle with eight motors, its velocity and time.
    MotorStatePacket("state of a vehicle (88 bytes)", 1_234_567_890 | 1_234_567_891) {
        copter_id: I32 = "Vehicle id.",
        vehicle_type: I32 = "Class and style: class + 1000 x style.",
        motor_rpm: [F32; 8] = "Motor speeds in rpm, or inputs of the model's actuators.",
        position: [F32; 3] = "Position in m, NED.",
        velocity: [F32; 3] = "Velocity in m/s, NED.",
        euler: [F32; 3] = "Roll, pitch, yaw in rad.",
        sim_time: F64 = "Simulation time in s; -1: not given.",
    }
    /// `SOut2SimulatorSimpleTime`, 104 bytes: state of a point-mass vehicle.
    PointMassStatePacket("state of a vehicle (104 bytes)", 1_234_567_890) {
        copter_id: I32 = "Vehicle id.",
        vehicle_type: I32 = "Class and style: class + 1000 x style.",
        motor_rpm: [F32; 8] = "Motor speeds in rpm.",
        velocity: [F32; 3] = "Velocity in m/s, NED.",
        euler: [F32; 3] = "Roll, pitch, yaw in rad.",
        pad: [u8; 4] = "Alignment padding.",
        position: [F64; 3] = "Position in m, NED.",
        sim_time: F64 = "Simulation time in s.",
    }
}

impl ObjectStatePacket {
    /// Creates the packet, with motors at rest.
    pub fn new(id: i32, vehicle_type: i32, position: [f32; 3], euler: [f32; 3]) -> Self {
        Self {
            checksum: Self::TAG.into(),
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

impl MotorStatePacket {
    /// Creates the packet of a vehicle.
    pub fn new(state: ObjectStatePacket, rpm: [f32; 8], velocity: [f32; 3], sim_time: f64) -> Self {
        Self {
            checksum: state.checksum,
            copter_id: state.copter_id,
            vehicle_type: state.vehicle_type,
            motor_rpm: rpm.map(F32::new),
            position: state.position,
            velocity: velocity.map(F32::new),
            euler: state.euler,
            sim_time: sim_time.into(),
        }
    }
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
            checksum: Self::TAG.into(),
            copter_id: id.into(),
            vehicle_type: vehicle_type.into(),
            velocity: velocity.map(F32::new),
            euler: euler.map(F32::new),
            position: position.map(F64::new),
            sim_time: F64::new(-1.0),
            ..Self::new_zeroed()
        }
    }
}

/// One object in a packet of many.
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

macro_rules! swarm {
    ($name:ident, $size:literal, $doc:literal, $text:literal, $motor:ty, $to_motor:expr, $from_motor:expr) => {
        packets! {
            #[doc = $doc]
            $name($text, 1_234_567_890 | 1_234_567_891) {
                ids: [U16; $size] = "Ids; 0 hides the slot.",
                vehicle_types: [U16; $size] = "Classes and styles.",
                positions: [[F32; 3]; $size] = "Positions in m, NED.",
                eulers: [[F32; 3]; $size] = "Roll, pitch, yaw in rad.",
                scales: [[U16; 3]; $size] = "Sizes in percent.",
                motor_rpm: [$motor; $size] = "Motor speeds in rpm.",
            }
        }

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
                    packet.motor_rpm[i] = $to_motor(state);
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
                    motor_rpm: $from_motor(&self.motor_rpm[i]),
                })
            }
        }
    };
}

swarm! { Swarm20Packet, 20, "`Multi3DData2New`, 1324 bytes: 20 objects with eight motors each.", "states of 20 objects", [F32; 8],
|state: &SwarmState| state.motor_rpm.map(F32::new), |rpm: &[F32; 8]| rpm.map(F32::get) }
swarm! { Swarm100Packet, 100, "`Multi3DData100New`, 3804 bytes: 100 objects with one motor speed each.", "states of 100 objects", F32,
|state: &SwarmState| F32::new(state.motor_rpm.iter().sum::<f32>() / 8.0), |rpm: &F32| [rpm.get(); 8] }
