//! Setpoints: `coordinate_frame` and `type_mask` pass unchanged, even if the autopilot will refuse them.
use super::{Field, Frame, Outbound, Payload, RawMessage};

raw_messages! {
    /// SET_POSITION_TARGET_LOCAL_NED.
    SetPositionTargetLocalNed(84, 53) {
        /// Sender's clock in ms.
        time_boot_ms: u32 = 0,
        /// x, y, z in m.
        position: [f32; 3] = 4,
        /// x, y, z in m/s.
        velocity: [f32; 3] = 16,
        /// x, y, z in m/s², or in N with bit 9 of the mask.
        acceleration: [f32; 3] = 28,
        /// rad, from north, clockwise.
        yaw: f32 = 40,
        /// rad/s, clockwise.
        yaw_rate: f32 = 44,
        /// POSITION_TARGET_TYPEMASK: fields to ignore.
        type_mask: u16 = 48,
        /// System.
        target_system: u8 = 50,
        /// Component.
        target_component: u8 = 51,
        /// MAV_FRAME.
        coordinate_frame: u8 = 52,
    }
    /// SET_POSITION_TARGET_GLOBAL_INT.
    SetPositionTargetGlobalInt(86, 53) {
        /// Sender's clock in ms.
        time_boot_ms: u32 = 0,
        /// 1e-7 degrees.
        latitude: i32 = 4,
        /// 1e-7 degrees.
        longitude: i32 = 8,
        /// Altitude in m; the frame defines its reference.
        altitude: f32 = 12,
        /// North, east, down in m/s.
        velocity: [f32; 3] = 16,
        /// North, east, down in m/s², or in N with bit 9 of the mask.
        acceleration: [f32; 3] = 28,
        /// rad, from north, clockwise.
        yaw: f32 = 40,
        /// rad/s, clockwise.
        yaw_rate: f32 = 44,
        /// POSITION_TARGET_TYPEMASK: fields to ignore.
        type_mask: u16 = 48,
        /// System.
        target_system: u8 = 50,
        /// Component.
        target_component: u8 = 51,
        /// MAV_FRAME.
        coordinate_frame: u8 = 52,
    }
    /// SET_ATTITUDE_TARGET, without its extension `thrust_body`.
    SetAttitudeTarget(82, 39) {
        /// Sender's clock in ms.
        time_boot_ms: u32 = 0,
        /// Attitude of FRD in NED: w, x, y, z.
        q: [f32; 4] = 4,
        /// Roll, pitch, yaw rate in rad/s, FRD.
        body_rates: [f32; 3] = 20,
        /// 0 to 1, or -1 to 1 for vehicles that can reverse.
        thrust: f32 = 32,
        /// System.
        target_system: u8 = 36,
        /// Component.
        target_component: u8 = 37,
        /// ATTITUDE_TARGET_TYPEMASK: fields to ignore.
        type_mask: u8 = 38,
    }
}
