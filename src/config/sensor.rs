pub use crate::frames::Mount;
use crate::wire::{SensorKind, check_freq_hz};

/// How the simulator delivers a sensor's data, `SendProtocol[0]`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, strum::FromRepr)]
#[repr(u16)]
pub enum TransportMode {
    /// 0: a shared memory block, same machine only.
    SharedMemory,
    /// 1: UDP; images as PNG or JPEG (the vendor's documents disagree: decode by magic bytes), other types uncompressed.
    UdpCompressed,
    /// 2: UDP, raw pixels.
    UdpRaw,
    /// 3: UDP; images as JPEG or PNG, the opposite of mode 1.
    UdpCompressedAlt,
}

impl TransportMode {
    /// Returns the number used on the wire.
    pub const fn number(self) -> u16 {
        self as u16
    }

    /// Whether images arrive as PNG or JPEG files.
    pub const fn is_compressed(self) -> bool {
        matches!(self, Self::UdpCompressed | Self::UdpCompressedAlt)
    }

    /// Whether the data arrives over UDP.
    pub const fn is_udp(self) -> bool {
        !matches!(self, Self::SharedMemory)
    }
}

/// Attitude of a sensor in its mount, with angles in the unit on the wire ([`crate::frames::MountOrientation`]: in rad).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MountOrientation {
    /// Roll, pitch, yaw (FRD, z-y-x) in the unit of [`resolve_angle_unit`](super::resolve_angle_unit); of a pod in degrees.
    Euler([f64; 3]),
    /// w, x, y, z (FRD), normalised.
    Quaternion([f64; 4]),
}

/// One entry of `VisionSensors`, checked, numbered and with its port.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorConfig {
    /// Sensor number, unique; part of the name of the shared-memory block.
    pub seq_id: u16,
    /// Sensor type.
    pub kind: SensorKind,
    /// What carries the sensor.
    pub mount: Mount,
    /// Width in px, or points per ring.
    pub width: u16,
    /// Height in px, or rings.
    pub height: u16,
    /// Rate in Hz as sent; 0: [`DEFAULT_RATE_HZ`](crate::wire::DEFAULT_RATE_HZ).
    pub rate_hz: u16,
    /// `SendProtocol[0]` after the overrides.
    pub transport: TransportMode,
    /// Address the simulator sends to; 0.0.0.0 and 127.0.0.1 mean the source of the request.
    pub ip: [u8; 4],
    /// UDP port, never 0.
    pub port: u16,
    /// `SendProtocol[6]` after the overrides: maximum bytes of a frame per datagram; 0: the renderer's default.
    pub piece_bytes: u16,
    /// `SendProtocol[7]` after the overrides; above 0: clouds have segmentation colours.
    pub segmentation: u16,
    /// Horizontal field of view in degrees, as sent.
    pub fov_deg: f32,
    /// Mounting position in m, FRD, relative to the mount.
    pub position_frd: [f64; 3],
    /// Attitude, FRD.
    pub orientation: MountOrientation,
    /// Per-type parameters; the old layout has only the first 8.
    pub other_params: [f32; 16],
    /// The request uses the 144-byte layout. The same for all sensors of one load.
    pub layout_new: bool,
    /// `SensorAngEular` as sent.
    pub raw_euler: [f32; 3],
    /// `SensorAngQuat` as sent.
    pub raw_quaternion: [f32; 4],
    /// `EularOrQuat` as sent; above 0.5 the quaternion applies.
    pub eular_or_quat: f32,
}

impl SensorConfig {
    /// Returns the requested rate in Hz, with the simulator's default for 0.
    pub fn asked_hz(&self) -> u16 {
        check_freq_hz(self.rate_hz)
    }

    /// Whether its frames arrive over UDP as they are: only images can be compressed.
    pub fn is_sent_raw(&self) -> bool {
        self.transport.is_udp() && !(self.kind.is_camera() && self.transport.is_compressed())
    }

    /// Returns `SensorPosXYZ` as sent.
    pub fn raw_position(&self) -> [f32; 3] {
        self.position_frd.map(|v| v as f32)
    }
}
