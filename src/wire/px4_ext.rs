use zerocopy::little_endian::{F32, F64, I32};

packets! {
    /// `PX4ExtMsg`, `CopterSim` to user port 40101+2(id-1), 48 bytes: outputs defined by a modified autopilot.
    ///
    /// Source: vendor SDK, golden `recv_px4ext`.
    Px4ExtPacket("outputs of the autopilot", 1_234_567_898, new) {
        /// Vehicle id.
        copter_id: I32,
        /// Simulation time in s.
        sim_time: F64,
        /// User-defined.
        controls: [F32; 8],
    }
}
