//! True (simulated) state of a vehicle, `CopterSim` to user port 30101+2(id-1).
use super::{Packet, WireError, expect_tag};
use zerocopy::little_endian::{F32, F64, I32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// State inside [`ShortStatePacket`], 152 bytes, NED world and FRD body.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct StateInner {
    /// Vehicle id.
    pub copter_id: I32,
    /// 3D style.
    pub vehicle_type: I32,
    /// Simulation time in s.
    pub sim_time: F64,
    /// Velocity in m/s, NED.
    pub velocity: [F32; 3],
    /// Position in m, NED, origin at the map centre.
    pub position: [F32; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [F32; 3],
    /// Attitude w, x, y, z.
    pub quaternion: [F32; 4],
    /// Motor speeds in rpm.
    pub motor_rpm: [F32; 8],
    /// Specific force in m/s², FRD.
    pub acc: [F32; 3],
    /// Angular rate in rad/s, FRD.
    pub rate: [F32; 3],
    /// Alignment padding.
    pub pad: [u8; 4],
    /// Latitude deg, longitude deg, altitude m (up).
    pub gps: [F64; 3],
}

/// `netDataShort`, 200 bytes.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct ShortStatePacket {
    /// Normally negative; otherwise the id of the vehicle collided with.
    pub collided_with: I32,
    /// 152; with another value only `collided_with` is valid.
    pub len: I32,
    /// The state.
    pub state: StateInner,
    /// Reserved.
    pub reserved: [u8; 40],
}

impl ShortStatePacket {
    /// Value of `len` for which `state` is valid (docs/wire/traps.md, short-len: a document says 200).
    pub const STATE_LEN: i32 = 152;
}

impl Packet for ShortStatePacket {
    const NAME: &'static str = "true state (200 bytes)";
}

/// `SOut2Simulator`, 168 bytes.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct FullStatePacket {
    /// Check word 123456789.
    pub checksum: I32,
    /// Vehicle id.
    pub copter_id: I32,
    /// 3D style.
    pub vehicle_type: I32,
    /// Reserved.
    pub reserved: I32,
    /// Velocity in m/s, NED.
    pub velocity: [F32; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [F32; 3],
    /// Attitude w, x, y, z.
    pub quaternion: [F32; 4],
    /// Motor speeds in rpm.
    pub motor_rpm: [F32; 8],
    /// Specific force in m/s², FRD.
    pub acc: [F32; 3],
    /// Angular rate in rad/s, FRD.
    pub rate: [F32; 3],
    /// Simulation time in s.
    pub sim_time: F64,
    /// Position in m, NED.
    pub position: [F64; 3],
    /// Latitude deg, longitude deg, altitude m (up).
    pub gps: [F64; 3],
}

impl FullStatePacket {
    /// Check word.
    pub const TAG: i32 = 123_456_789;
}

impl Packet for FullStatePacket {
    const NAME: &'static str = "true state (168 bytes)";

    fn check(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, Self::TAG.into(), self.checksum.get().into())
    }
}

/// `SOut2SimulatorSimpleTime`, 112 bytes.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct TimedStatePacket {
    /// Check word 1234567891.
    pub checksum: I32,
    /// Vehicle id.
    pub copter_id: I32,
    /// 3D style.
    pub vehicle_type: I32,
    /// Latitude and longitude in 1e-7 deg, altitude in mm (up).
    pub gps: [I32; 3],
    /// Motor speeds in rpm.
    pub motor_rpm: [F32; 8],
    /// Velocity in m/s, NED.
    pub velocity: [F32; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [F32; 3],
    /// Position in m, NED.
    pub position: [F64; 3],
    /// Simulation time in s.
    pub sim_time: F64,
}

impl TimedStatePacket {
    /// Check word.
    pub const TAG: i32 = 1_234_567_891;
}

impl Packet for TimedStatePacket {
    const NAME: &'static str = "true state (112 bytes)";

    fn check(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, Self::TAG.into(), self.checksum.get().into())
    }
}

macro_rules! tagged_1234567890 {
    ($name:ident, $text:literal) => {
        impl Packet for $name {
            const NAME: &'static str = $text;

            fn check(&self) -> Result<(), WireError> {
                expect_tag(Self::NAME, 1_234_567_890, self.checksum.get().into())
            }
        }
    };
}

/// `outCopterStruct`, 264 bytes: outputs defined by a vehicle model.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct ModelOutputPacket {
    /// Check word 1234567890.
    pub checksum: I32,
    /// Vehicle id.
    pub copter_id: I32,
    /// Model-defined values.
    pub data: [F64; 32],
}
tagged_1234567890!(ModelOutputPacket, "model output");

impl ModelOutputPacket {
    /// Creates the packet.
    pub fn new(copter_id: i32, data: [f64; 32]) -> Self {
        Self {
            checksum: 1_234_567_890.into(),
            copter_id: copter_id.into(),
            data: data.map(F64::new),
        }
    }
}

/// `Ue4CMDGPS`, 32 bytes: geodetic position of the map centre.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct MapCentrePacket {
    /// Check word 1234567890.
    pub checksum: I32,
    /// Vehicle id.
    pub copter_id: I32,
    /// Latitude deg, longitude deg, altitude m.
    pub gps: [F64; 3],
}
tagged_1234567890!(MapCentrePacket, "map centre");

impl MapCentrePacket {
    /// Creates the packet; `gps` is latitude deg, longitude deg, altitude m.
    pub fn new(copter_id: i32, gps: [f64; 3]) -> Self {
        Self { checksum: 1_234_567_890.into(), copter_id: copter_id.into(), gps: gps.map(F64::new) }
    }
}

/// `CopterSimCrash`, 12 bytes.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct CrashPacket {
    /// Check word 1234567890 (docs/wire/traps.md, crash-tag).
    pub checksum: I32,
    /// Vehicle id.
    pub copter_id: I32,
    /// Id collided with; negative: none.
    pub target_id: I32,
}
tagged_1234567890!(CrashPacket, "collision");

impl CrashPacket {
    /// Creates the packet; `target_id` is negative without a collision.
    pub fn new(copter_id: i32, target_id: i32) -> Self {
        Self {
            checksum: 1_234_567_890.into(),
            copter_id: copter_id.into(),
            target_id: target_id.into(),
        }
    }
}
