//! Setpoints: `coordinate_frame` and `type_mask` pass unchanged, even if the autopilot will refuse them.
use super::{Frame, Outbound, PayloadField, RawMessage};

raw_messages! {
    SetPositionTargetLocalNed(84) {
        time_boot_ms: u32 = 0 "Sender's clock in ms.",
        position: [f32; 3] = 4 "x, y, z in m.",
        velocity: [f32; 3] = 16 "x, y, z in m/s.",
        acceleration: [f32; 3] = 28 "x, y, z in m/s², or in N with bit 9 of the mask.",
        yaw: f32 = 40 "rad, from north, clockwise.",
        yaw_rate: f32 = 44 "rad/s, clockwise.",
        type_mask: u16 = 48 "POSITION_TARGET_TYPEMASK: fields to ignore.",
        target_system: u8 = 50, target_component: u8 = 51,
        coordinate_frame: u8 = 52 "MAV_FRAME.",
    }
    SetPositionTargetGlobalInt(86) {
        time_boot_ms: u32 = 0 "Sender's clock in ms.",
        latitude: i32 = 4 "1e-7 degrees.",
        longitude: i32 = 8 "1e-7 degrees.",
        altitude: f32 = 12 "Altitude in m; the frame defines its reference.",
        velocity: [f32; 3] = 16 "North, east, down in m/s.",
        acceleration: [f32; 3] = 28 "North, east, down in m/s², or in N with bit 9 of the mask.",
        yaw: f32 = 40 "rad, from north, clockwise.",
        yaw_rate: f32 = 44 "rad/s, clockwise.",
        type_mask: u16 = 48 "POSITION_TARGET_TYPEMASK: fields to ignore.",
        target_system: u8 = 50, target_component: u8 = 51,
        coordinate_frame: u8 = 52 "MAV_FRAME.",
    }
    /// SET_ATTITUDE_TARGET, without its extension `thrust_body`.
    SetAttitudeTarget(82) {
        time_boot_ms: u32 = 0 "Sender's clock in ms.",
        q: [f32; 4] = 4 "Attitude of FRD in NED: w, x, y, z.",
        body_rates: [f32; 3] = 20 "Roll, pitch, yaw rate in rad/s, FRD.",
        thrust: f32 = 32 "0 to 1, or -1 to 1 for vehicles that can reverse.",
        target_system: u8 = 36, target_component: u8 = 37,
        type_mask: u8 = 38 "ATTITUDE_TARGET_TYPEMASK: fields to ignore.",
    }
}
