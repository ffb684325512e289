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
    /// Id of the hit object.
    pub copter_id: I32,
    /// Origin of the ray.
    pub ray_start: [F32; 3],
    /// Attitude of the ray: roll, pitch, yaw.
    pub ray_angles: [F32; 3],
    /// Point hit.
    pub impact_point: [F32; 3],
    /// Centre of the bounding box of the hit object.
    pub box_origin: [F32; 3],
}

impl RangeRecord {
    /// Creates a reading of `distance` m along the ray that starts at `ray_start` with the attitude `ray_angles`.
    pub fn new(
        distance: f32,
        copter_id: i32,
        ray_start: [f32; 3],
        ray_angles: [f32; 3],
        impact_point: [f32; 3],
        box_origin: [f32; 3],
    ) -> Self {
        Self {
            distance: distance.into(),
            copter_id: copter_id.into(),
            ray_start: ray_start.map(F32::new),
            ray_angles: ray_angles.map(F32::new),
            impact_point: impact_point.map(F32::new),
            box_origin: box_origin.map(F32::new),
        }
    }
}

impl Packet for RangeRecord {
    const NAME: &'static str = "range record";
}
