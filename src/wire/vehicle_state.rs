//! True (simulated) state of a vehicle, `CopterSim` to user port 30101+2(id-1).
use zerocopy::little_endian::{F32, F64, I32};

packets! {
    /// State inside [`ShortStatePacket`], 152 bytes, NED world and FRD body.
    StateInner() {
        /// Vehicle id.
        copter_id: I32,
        /// Number of the 3D model, see [`class_and_style`](super::class_and_style).
        vehicle_type: I32,
        /// Simulation time in s.
        sim_time: F64,
        /// Velocity in m/s, NED.
        velocity: [F32; 3],
        /// Position in m, NED, origin at the map centre.
        position: [F32; 3],
        /// Roll, pitch, yaw in rad.
        euler: [F32; 3],
        /// Attitude w, x, y, z.
        quaternion: [F32; 4],
        /// Motor speeds in rpm.
        motor_rpm: [F32; 8],
        /// Specific force in m/s², FRD.
        acc: [F32; 3],
        /// Angular rate in rad/s, FRD.
        rate: [F32; 3],
        /// Alignment padding.
        pad: [u8; 4],
        /// Latitude deg, longitude deg, altitude m (up).
        gps: [F64; 3],
    }
    /// `netDataShort`, 200 bytes: the state and the vehicle that was hit.
    ShortStatePacket("true state (200 bytes)") {
        /// Id of the vehicle that this one hit; negative: none.
        collided_with: I32,
        /// 152; with another value only `collided_with` is valid.
        len: I32,
        /// The state.
        state: StateInner,
        /// Reserved.
        reserved: [u8; 40],
    }
    /// `SOut2Simulator`, 168 bytes: the fields of [`StateInner`], with `position` as `f64`.
    FullStatePacket("true state (168 bytes)", 123_456_789) {
        /// Vehicle id.
        copter_id: I32,
        /// Number of the 3D model, see [`class_and_style`](super::class_and_style).
        vehicle_type: I32,
        /// Reserved.
        reserved: I32,
        /// Velocity in m/s, NED.
        velocity: [F32; 3],
        /// Roll, pitch, yaw in rad.
        euler: [F32; 3],
        /// Attitude w, x, y, z.
        quaternion: [F32; 4],
        /// Motor speeds in rpm.
        motor_rpm: [F32; 8],
        /// Specific force in m/s², FRD.
        acc: [F32; 3],
        /// Angular rate in rad/s, FRD.
        rate: [F32; 3],
        /// Simulation time in s.
        sim_time: F64,
        /// Position in m, NED.
        position: [F64; 3],
        /// Latitude deg, longitude deg, altitude m (up).
        gps: [F64; 3],
    }
    /// `SOut2SimulatorSimpleTime`, 112 bytes: without `quaternion`, `acc` and `rate`.
    TimedStatePacket("true state (112 bytes)", 1_234_567_891) {
        /// Vehicle id.
        copter_id: I32,
        /// Number of the 3D model, see [`class_and_style`](super::class_and_style).
        vehicle_type: I32,
        /// Latitude and longitude in 1e-7 deg, altitude in mm (up).
        gps: [I32; 3],
        /// Motor speeds in rpm.
        motor_rpm: [F32; 8],
        /// Velocity in m/s, NED.
        velocity: [F32; 3],
        /// Roll, pitch, yaw in rad.
        euler: [F32; 3],
        /// Position in m, NED.
        position: [F64; 3],
        /// Simulation time in s.
        sim_time: F64,
    }
    /// `outCopterStruct`, 264 bytes: outputs defined by a vehicle model.
    ModelOutputPacket("model output", 1_234_567_890, new) {
        /// Vehicle id.
        copter_id: I32,
        /// Model-defined values.
        data: [F64; 32],
    }
    /// `Ue4CMDGPS`, 32 bytes: geodetic position of the map centre.
    MapCentrePacket("map centre", 1_234_567_890, new) {
        /// Vehicle id.
        copter_id: I32,
        /// Latitude deg, longitude deg, altitude m.
        gps: [F64; 3],
    }
    /// `CopterSimCrash`, 12 bytes. For the check word see docs/wire/traps.md, crash-tag.
    CrashPacket("collision", 1_234_567_890, new) {
        /// Vehicle id.
        copter_id: I32,
        /// Id of the object that it hit; negative: none.
        target_id: I32,
    }
}

impl ShortStatePacket {
    /// Value of `len` for which `state` is valid (docs/wire/traps.md, short-len: a document says 200).
    pub const STATE_LEN: i32 = 152;
}
