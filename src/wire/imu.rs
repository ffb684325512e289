use super::{Packet, WireError, expect_tag};
use zerocopy::little_endian::{F32, F64, I32, U16};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// IMU sample, `CopterSim` to user port 31000+id-1, 40 bytes.
///
/// Source: vendor SDK, golden `recv_imu`.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct ImuPacket {
    /// Check word 1234567898.
    pub checksum: I32,
    /// Sample counter.
    pub seq: I32,
    /// Simulation time in s.
    pub sim_time: F64,
    /// Specific force in m/s², body FRD.
    pub acc: [F32; 3],
    /// Angular rate in rad/s, body FRD.
    pub rate: [F32; 3],
}

impl ImuPacket {
    const TAG: i32 = 1_234_567_898;

    /// Creates a sample; vectors are in body FRD.
    pub fn new(seq: i32, sim_time: f64, acc: [f32; 3], rate: [f32; 3]) -> Self {
        Self {
            checksum: Self::TAG.into(),
            seq: seq.into(),
            sim_time: sim_time.into(),
            acc: acc.map(F32::new),
            rate: rate.map(F32::new),
        }
    }
}

impl Packet for ImuPacket {
    const NAME: &'static str = "IMU sample";

    fn check(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, Self::TAG.into(), self.checksum.get().into())
    }
}

/// Request for IMU samples, user to `CopterSim` port 30100+2(id-1), 36 bytes.
///
/// Source: vendor SDK, golden `coptersim_send`.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct ImuRequestPacket {
    /// Check word 12345.
    pub checksum: U16,
    /// 0: IMU, the only kind in use.
    pub sensor_type: U16,
    /// Rate in Hz.
    pub rate_hz: U16,
    /// UDP port the samples are sent to.
    pub port: U16,
    /// IPv4 address the samples are sent to; 127.0.0.1: the source of the request.
    pub ip: [u8; 4],
    /// Reserved.
    pub params: [F32; 6],
}

impl ImuRequestPacket {
    const TAG: u16 = 12345;

    /// Creates a request for IMU samples at `rate_hz`, sent to `ip`:`port`.
    pub fn new(rate_hz: u16, ip: [u8; 4], port: u16) -> Self {
        Self {
            checksum: Self::TAG.into(),
            sensor_type: 0.into(),
            rate_hz: rate_hz.into(),
            port: port.into(),
            ip,
            params: [F32::ZERO; 6],
        }
    }
}

impl Packet for ImuRequestPacket {
    const NAME: &'static str = "IMU request";

    fn check(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, Self::TAG.into(), self.checksum.get().into())
    }
}
