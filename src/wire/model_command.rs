//! Commands to a vehicle model with a controller of its own: 8 integers and 20 floats, sent as [`SilInputsPacket`], or one after
//! the other as the 28 doubles of [`DoubleInputsPacket`](super::DoubleInputsPacket).
//!
//! Source: vendor SDK, golden `rflysimcp`.
//!
//! [`SilInputsPacket`]: super::SilInputsPacket

/// A command to a model; angles in rad, NED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ModelCommand {
    /// Position in m from the map centre, and yaw.
    Position([f32; 3], f32),
    /// Position in m from the take-off point, and yaw.
    LocalPosition([f32; 3], f32),
    /// Velocity in m/s, and the yaw rate in rad/s if it applies.
    Velocity([f32; 3], Option<f32>),
    /// Velocity in m/s, forward, right, down, and the yaw rate in rad/s.
    BodyVelocity([f32; 3], f32),
}

/// Bits of the first integer.
const ENABLE: i32 = 1;
const SIL: i32 = 2;
const ARMED: i32 = 4;
const HOLD_POSITION: i32 = 512;
/// Bits of the second integer.
const POSITION: i32 = 1;
const VELOCITY: i32 = 2;
const YAW: i32 = 8;
const YAW_RATE: i32 = 16;
const BODY: i32 = 4096;
const LOCAL: i32 = 8192;
/// Indices of the floats.
const POSITION_AT: usize = 0;
const VELOCITY_AT: usize = 3;
const YAW_AT: usize = 11;
const YAW_RATE_AT: usize = 14;

impl ModelCommand {
    /// Returns the integers and the floats.
    pub fn inputs(self) -> ([i32; 8], [f32; 20]) {
        let (mut ints, mut floats) = ([0; 8], [0.0; 20]);
        let (mode, bits, at, value, yaw_input) = match self {
            Self::Position(position, yaw) => {
                (HOLD_POSITION, POSITION | YAW, POSITION_AT, position, (YAW_AT, yaw))
            }
            Self::LocalPosition(position, yaw) => {
                let bits = POSITION | YAW | LOCAL;
                (HOLD_POSITION, bits, POSITION_AT, position, (YAW_AT, yaw))
            }
            Self::Velocity(velocity, None) => {
                (0, VELOCITY, VELOCITY_AT, velocity, (YAW_RATE_AT, 0.0))
            }
            Self::Velocity(velocity, Some(rate)) => {
                (0, VELOCITY | YAW_RATE, VELOCITY_AT, velocity, (YAW_RATE_AT, rate))
            }
            Self::BodyVelocity(velocity, rate) => {
                let bits = VELOCITY | YAW_RATE | BODY;
                (0, bits, VELOCITY_AT, velocity, (YAW_RATE_AT, rate))
            }
        };
        floats[at..at + 3].copy_from_slice(&value);
        floats[yaw_input.0] = yaw_input.1;
        ints[0] = ENABLE | SIL | ARMED | mode;
        ints[1] = bits;
        (ints, floats)
    }
}
