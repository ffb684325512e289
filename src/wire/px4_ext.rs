use zerocopy::little_endian::{F32, F64, I32};

packets! {
    /// `PX4ExtMsg`, `CopterSim` to user port 40101+2(id-1), 48 bytes: outputs defined by a modified autopilot.
    ///
    /// Source: vendor SDK, golden `recv_px4ext`.
    Px4ExtPacket("outputs of the autopilot", 1_234_567_898, new) {
        copter_id: I32 = "Vehicle id.",
        sim_time: F64 = "Simulation time in s.",
        controls: [F32; 8] = "User-defined.",
    }
}
