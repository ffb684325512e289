//! Inputs of a model that flies without an autopilot: 8 integers and 20 floats, valid until the next ones.
use super::{Autopilot, Mode, dynamics::TrajectorySetpoint, setpoints::follow};
use crate::emulator::world::{Quat, Vec3};

/// Bits of the first integer.
const ENABLE: i64 = 1;
const SIL: i64 = 2;
const ARMED: i64 = 4;
const TAKE_OFF: i64 = 256;
const LAND: i64 = 1024;
const RETURN: i64 = 2048;
/// Bits of the second integer.
const POSITION: i64 = 1;
const VELOCITY: i64 = 2;
const YAW: i64 = 8;
const YAW_RATE: i64 = 16;
const BODY: i64 = 4096;
const LOCAL: i64 = 8192;
/// Indices in the inputs; index 8 is the first float.
const POSITION_AT: usize = 8;
const VELOCITY_AT: usize = 11;
const YAW_AT: usize = 19;
const YAW_RATE_AT: usize = 22;

impl Autopilot {
    /// Executes the inputs of a model that flies without an autopilot.
    pub fn steer(&mut self, inputs: &[f64; 28]) {
        let (flags, setpoint_flags) = (inputs[0] as i64, inputs[1] as i64);
        let has = |bits: i64, word: i64| word & bits == bits;
        if !has(ENABLE | SIL, flags) {
            return;
        }
        if !has(ARMED, flags) {
            self.is_steered = false;
            self.set_armed(false);
            return;
        }
        let modes = [(TAKE_OFF, Mode::Takeoff), (LAND, Mode::Land), (RETURN, Mode::Return)];
        if let Some((_, mode)) = modes.into_iter().find(|(bit, _)| has(*bit, flags)) {
            self.is_steered = false;
            self.set_armed(true);
            let _ = self.change(mode); // a rejection sends a text
            return;
        }
        let vector = |at: usize| Vec3::new(inputs[at], inputs[at + 1], inputs[at + 2]);
        let free = Vec3::repeat(f64::NAN);
        let value_or_free =
            |bit: i64, at: usize| if has(bit, setpoint_flags) { inputs[at] } else { f64::NAN };
        let heading = Quat::from_euler_angles(0.0, 0.0, self.motion.pose.roll_pitch_yaw()[2]);
        let setpoint = TrajectorySetpoint {
            position: match (has(POSITION, setpoint_flags), has(LOCAL, setpoint_flags)) {
                (true, true) => vector(POSITION_AT) + self.origin,
                (true, false) => vector(POSITION_AT),
                _ => free,
            },
            velocity: match (has(VELOCITY, setpoint_flags), has(BODY, setpoint_flags)) {
                (true, true) => heading * vector(VELOCITY_AT),
                (true, false) => vector(VELOCITY_AT),
                _ => free,
            },
            acceleration: free,
            yaw: value_or_free(YAW, YAW_AT),
            yaw_rate: value_or_free(YAW_RATE, YAW_RATE_AT),
        };
        if has(POSITION, setpoint_flags) || has(VELOCITY, setpoint_flags) {
            self.is_steered = true;
            self.follow_setpoint(Some(follow(setpoint)));
        }
    }
}
