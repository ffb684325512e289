use super::{Packet, WireError, expect_tag};
use zerocopy::little_endian::{F32, F64, I32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// `PX4ExtMsg`, `CopterSim` to user port 40101+2(id-1), 48 bytes: outputs defined by a modified autopilot.
///
/// Source: vendor SDK, golden `recv_px4ext`.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct Px4ExtPacket {
    /// Check word 1234567898.
    pub checksum: I32,
    /// Vehicle id.
    pub copter_id: I32,
    /// Simulation time in s.
    pub sim_time: F64,
    /// User-defined.
    pub controls: [F32; 8],
}

impl Px4ExtPacket {
    const TAG: i32 = 1_234_567_898;

    /// Creates the packet.
    pub fn new(copter_id: i32, sim_time: f64, controls: [f32; 8]) -> Self {
        Self {
            checksum: Self::TAG.into(),
            copter_id: copter_id.into(),
            sim_time: sim_time.into(),
            controls: controls.map(F32::new),
        }
    }
}

impl Packet for Px4ExtPacket {
    const NAME: &'static str = "outputs of the autopilot";

    fn check(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, Self::TAG.into(), self.checksum.get().into())
    }
}
