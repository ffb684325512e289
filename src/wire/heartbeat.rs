use zerocopy::little_endian::{I32, I64};

packets! {
    /// Clock heartbeat of one vehicle, `CopterSim` to port 20005 (unicast and 224.0.0.10), 32 bytes, about 1 Hz.
    ///
    /// Documents (docs/wire/traps.md, heartbeat-tag) also show the check word 1234567897; receivers accept only 123456789.
    /// Source: vendor SDK, golden `recv_time`.
    HeartbeatPacket("clock heartbeat", 123_456_789, new) {
        copter_id: I32 = "Vehicle id, from 1.",
        start_ms: I64 = "Wall clock of the simulator host, ms since 1970, when simulation time was 0.",
        now_ms: I64 = "Wall clock of the simulator host, ms since 1970, when sent.",
        count: I64 = "Heartbeat counter.",
    }
}
