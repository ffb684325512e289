//! A cloud payload with f32 points, written by hand from the table in docs/wire/payloads.md.

/// i32 copter id, i32 axis type, f32 x, y, z, roll, pitch, yaw, i32 count, then f32 x, y, z, class of each point.
pub fn float_cloud(
    [copter_id, axis_type]: [i32; 2],
    pose: [f32; 6],
    points: &[[f32; 4]],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(copter_id.to_le_bytes());
    bytes.extend(axis_type.to_le_bytes());
    bytes.extend(pose.iter().flat_map(|x| x.to_le_bytes()));
    bytes.extend(i32::try_from(points.len()).unwrap().to_le_bytes());
    bytes.extend(points.iter().flatten().flat_map(|x| x.to_le_bytes()));
    assert_eq!(bytes.len(), 36 + 16 * points.len());
    bytes
}
