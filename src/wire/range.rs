use super::Packet;
use zerocopy::little_endian::{F32, I32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Reading of a range finder (TypeID 5), 56 bytes, at the start of a payload.
///
/// Source: vendor SDK, golden `recv_points_udp`. Metres and radians; the world frame is NED.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct RangeRecord {
    /// Measured range in m.
    pub distance: F32,
    /// Id of the object hit.
    pub copter_id: I32,
    /// Origin of the ray.
    pub ray_start: [F32; 3],
    /// Attitude of the ray: roll, pitch, yaw.
    pub ray_angles: [F32; 3],
    /// Point hit.
    pub impact_point: [F32; 3],
    /// Centre of the bounding box of the object hit.
    pub box_origin: [F32; 3],
}

impl Packet for RangeRecord {
    const NAME: &'static str = "range record";
}
