use super::{Packet, WireError, packet::expect_tag};
use zerocopy::FromZeros;
use zerocopy::little_endian::{F32, F64, I32, U16};

packets! {
    /// IMU sample, `CopterSim` to user port 31000+id-1, 40 bytes.
    ///
    /// Source: vendor SDK, golden `recv_imu`.
    ImuPacket("IMU sample", 1_234_567_898, new) {
        seq: I32 = "Sample counter.",
        sim_time: F64 = "Simulation time in s.",
        acc: [F32; 3] = "Specific force in m/s², body FRD.",
        rate: [F32; 3] = "Angular rate in rad/s, body FRD.",
    }
    /// Request for IMU samples, user to `CopterSim` port 30100+2(id-1), 36 bytes.
    ///
    /// Source: vendor SDK, golden `coptersim_send`.
    ImuRequestPacket() {
        checksum: U16 = "Check word 12345.",
        sensor_type: U16 = "0: IMU, the only kind in use.",
        rate_hz: U16 = "Rate in Hz.",
        port: U16 = "UDP port the samples are sent to.",
        ip: [u8; 4] = "IPv4 address the samples are sent to; 127.0.0.1: the source of the request.",
        params: [F32; 6] = "Reserved.",
    }
}

impl ImuRequestPacket {
    const TAG: u16 = 12345;

    /// Creates a request for IMU samples at `rate_hz`, sent to `ip`:`port`.
    pub fn new(rate_hz: u16, ip: [u8; 4], port: u16) -> Self {
        Self {
            checksum: Self::TAG.into(),
            rate_hz: rate_hz.into(),
            port: port.into(),
            ip,
            ..Self::new_zeroed()
        }
    }
}

impl Packet for ImuRequestPacket {
    const NAME: &'static str = "IMU request";

    fn check(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, Self::TAG.into(), self.checksum.get().into())
    }
}
