use super::{Packet, WireError, expect_tag};
use zerocopy::little_endian::{I32, I64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Clock heartbeat of one vehicle, `CopterSim` to port 20005 (unicast and 224.0.0.10), 32 bytes, about 1 Hz.
///
/// Documents (docs/wire/traps.md, heartbeat-tag) also show the check word 1234567897; receivers accept only 123456789.
/// Source: vendor SDK, golden `recv_time`.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct HeartbeatPacket {
    /// Check word 123456789.
    pub checksum: I32,
    /// Vehicle id, from 1.
    pub copter_id: I32,
    /// Wall clock of the simulator host, ms since 1970, when simulation time was 0.
    pub start_ms: I64,
    /// Wall clock of the simulator host, ms since 1970, when sent.
    pub now_ms: I64,
    /// Heartbeat counter.
    pub count: I64,
}

impl HeartbeatPacket {
    const TAG: i32 = 123_456_789;

    /// Creates a heartbeat.
    pub fn new(copter_id: i32, start_ms: i64, now_ms: i64, count: i64) -> Self {
        Self {
            checksum: Self::TAG.into(),
            copter_id: copter_id.into(),
            start_ms: start_ms.into(),
            now_ms: now_ms.into(),
            count: count.into(),
        }
    }
}

impl Packet for HeartbeatPacket {
    const NAME: &'static str = "clock heartbeat";

    fn check(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, Self::TAG.into(), self.checksum.get().into())
    }
}
