//! States of many objects with velocity and time, from the vendor's documents. No program of the vendor sends them; whether the
//! renderer accepts them is unknown. UDP 20010+w, where w is the number of the window.
use super::scene_state::{Height, SwarmState, with_height};
use zerocopy::FromZeros;
use zerocopy::little_endian::{F32, F64, U16};

/// One moving object in a packet of many.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MovingState {
    /// The state without velocity; these packets contain no size.
    pub state: SwarmState,
    /// Velocity in m/s, NED.
    pub velocity: [f32; 3],
    /// Simulation time in s; -1: not given.
    pub sim_time: f64,
}

macro_rules! moving_swarm {
    ($name:ident, $size:literal, $doc:literal, $text:literal) => {
        packets! {
            #[doc = $doc]
            $name($text, 1_234_567_890 | 1_234_567_891) {
                ids: [U16; $size] = "Ids; 0 hides the slot.",
                vehicle_types: [U16; $size] = "Classes and styles.",
                positions: [[F32; 3]; $size] = "Positions in m, NED.",
                velocities: [[F32; 3]; $size] = "Velocities in m/s, NED.",
                eulers: [[F32; 3]; $size] = "Roll, pitch, yaw in rad.",
                motor_rpm: [[F32; 8]; $size] = "Motor speeds in rpm.",
                pad: [u8; 4] = "Alignment padding.",
                sim_times: [F64; $size] = "Simulation times in s; -1: not given.",
            }
        }
        with_height!($name);

        impl $name {
            /// Number of slots.
            pub const SIZE: usize = $size;

            /// Creates the packet of the first [`SIZE`](Self::SIZE) states; slots without one are hidden.
            pub fn new(states: &[MovingState], height: Height) -> Self {
                let mut packet = Self::new_zeroed().with_height(height);
                for (i, moving) in states.iter().take(Self::SIZE).enumerate() {
                    let state = &moving.state;
                    packet.ids[i] = state.id.into();
                    packet.vehicle_types[i] = state.vehicle_type.into();
                    packet.positions[i] = state.position.map(F32::new);
                    packet.velocities[i] = moving.velocity.map(F32::new);
                    packet.eulers[i] = state.euler.map(F32::new);
                    packet.motor_rpm[i] = state.motor_rpm.map(F32::new);
                    packet.sim_times[i] = moving.sim_time.into();
                }
                packet
            }

            /// Returns the state of each slot that is not hidden.
            pub fn states(&self) -> impl Iterator<Item = MovingState> {
                let slots = (0..Self::SIZE).filter(|i| self.ids[*i].get() != 0);
                slots.map(|i| MovingState {
                    state: SwarmState {
                        id: self.ids[i].get(),
                        vehicle_type: self.vehicle_types[i].get(),
                        position: self.positions[i].map(F32::get),
                        euler: self.eulers[i].map(F32::get),
                        scale_percent: [100; 3],
                        motor_rpm: self.motor_rpm[i].map(F32::get),
                    },
                    velocity: self.velocities[i].map(F32::get),
                    sim_time: self.sim_times[i].get(),
                })
            }
        }
    };
}

moving_swarm! { Moving10Packet, 10, "`Multi3DData10Time`, 808 bytes: 10 objects in motion.", "states of 10 objects in motion" }
moving_swarm! { Moving20Packet, 20, "`Multi3DData20Time`, 1608 bytes: 20 objects in motion.", "states of 20 objects in motion" }
moving_swarm! { Moving100Packet, 100, "`Multi3DData100Time`, 8008 bytes: 100 objects in motion.", "states of 100 objects in motion" }
