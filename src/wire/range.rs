use zerocopy::little_endian::{F32, I32};

packets! {
    /// Reading of a range finder (TypeID 5), 56 bytes, at the start of a payload.
    ///
    /// Source: vendor SDK, golden `recv_points_udp`. Metres and radians; the world frame is NED.
    RangeRecord("range record", new) {
        distance: F32 = "Measured range in m.",
        copter_id: I32 = "Id of the hit object.",
        ray_start: [F32; 3] = "Origin of the ray.",
        ray_angles: [F32; 3] = "Attitude of the ray: roll, pitch, yaw.",
        impact_point: [F32; 3] = "Point hit.",
        box_origin: [F32; 3] = "Centre of the bounding box of the hit object.",
    }
}
