//! True (simulated) state of a vehicle, `CopterSim` to user port 30101+2(id-1).
use zerocopy::little_endian::{F32, F64, I32};

packets! {
    /// State inside [`ShortStatePacket`], 152 bytes, NED world and FRD body.
    StateInner() {
        copter_id: I32 = "Vehicle id.",
        vehicle_type: I32 = "Number of the 3D model, see [`class_and_style`](super::class_and_style).",
        sim_time: F64 = "Simulation time in s.",
        velocity: [F32; 3] = "Velocity in m/s, NED.",
        position: [F32; 3] = "Position in m, NED, origin at the map centre.",
        euler: [F32; 3] = "Roll, pitch, yaw in rad.",
        quaternion: [F32; 4] = "Attitude w, x, y, z.",
        motor_rpm: [F32; 8] = "Motor speeds in rpm.",
        acc: [F32; 3] = "Specific force in m/s², FRD.",
        rate: [F32; 3] = "Angular rate in rad/s, FRD.",
        pad: [u8; 4] = "Alignment padding.",
        gps: [F64; 3] = "Latitude deg, longitude deg, altitude m (up).",
    }
    /// `netDataShort`, 200 bytes: the state and the vehicle that was hit.
    ShortStatePacket("true state (200 bytes)") {
        collided_with: I32 = "Id of the vehicle that this one hit; negative: none.",
        len: I32 = "152; with another value only `collided_with` is valid.",
        state: StateInner = "The state.",
        reserved: [u8; 40] = "Reserved.",
    }
    /// `SOut2Simulator`, 168 bytes: the fields of [`StateInner`], with `position` as `f64`.
    FullStatePacket("true state (168 bytes)", 123_456_789) {
        copter_id: I32 = "Vehicle id.",
        vehicle_type: I32 = "Number of the 3D model, see [`class_and_style`](super::class_and_style).",
        reserved: I32 = "Reserved.",
        velocity: [F32; 3] = "Velocity in m/s, NED.",
        euler: [F32; 3] = "Roll, pitch, yaw in rad.",
        quaternion: [F32; 4] = "Attitude w, x, y, z.",
        motor_rpm: [F32; 8] = "Motor speeds in rpm.",
        acc: [F32; 3] = "Specific force in m/s², FRD.",
        rate: [F32; 3] = "Angular rate in rad/s, FRD.",
        sim_time: F64 = "Simulation time in s.",
        position: [F64; 3] = "Position in m, NED.",
        gps: [F64; 3] = "Latitude deg, longitude deg, altitude m (up).",
    }
    /// `SOut2SimulatorSimpleTime`, 112 bytes: without `quaternion`, `acc` and `rate`.
    TimedStatePacket("true state (112 bytes)", 1_234_567_891) {
        copter_id: I32 = "Vehicle id.",
        vehicle_type: I32 = "Number of the 3D model, see [`class_and_style`](super::class_and_style).",
        gps: [I32; 3] = "Latitude and longitude in 1e-7 deg, altitude in mm (up).",
        motor_rpm: [F32; 8] = "Motor speeds in rpm.",
        velocity: [F32; 3] = "Velocity in m/s, NED.",
        euler: [F32; 3] = "Roll, pitch, yaw in rad.",
        position: [F64; 3] = "Position in m, NED.",
        sim_time: F64 = "Simulation time in s.",
    }
    /// `outCopterStruct`, 264 bytes: outputs defined by a vehicle model.
    ModelOutputPacket("model output", 1_234_567_890, new) {
        copter_id: I32 = "Vehicle id.",
        data: [F64; 32] = "Model-defined values.",
    }
    /// `Ue4CMDGPS`, 32 bytes: geodetic position of the map centre.
    MapCentrePacket("map centre", 1_234_567_890, new) {
        copter_id: I32 = "Vehicle id.",
        gps: [F64; 3] = "Latitude deg, longitude deg, altitude m.",
    }
    /// `CopterSimCrash`, 12 bytes. For the check word see docs/wire/traps.md, crash-tag.
    CrashPacket("collision", 1_234_567_890, new) {
        copter_id: I32 = "Vehicle id.",
        target_id: I32 = "Id of the object that it hit; negative: none.",
    }
}

impl ShortStatePacket {
    /// Value of `len` for which `state` is valid (docs/wire/traps.md, short-len: a document says 200).
    pub const STATE_LEN: i32 = 152;
}
