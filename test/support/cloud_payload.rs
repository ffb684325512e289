//! Cloud payloads, written by hand from the tables in docs/wire/payloads.md.
use rfly_bridge::wire::{CloudView, PointForm};

/// Head of 28 bytes: f32 x, y, z, roll, pitch, yaw, i32 count. With `odometry`, 36: i32 copter id and i32 axis type come first.
/// After the head: the first 3 or 4 numbers of each point, as the form has; i16 ones are truncated.
pub fn cloud_payload(
    odometry: Option<[i32; 2]>,
    pose: [f32; 6],
    form: PointForm,
    points: &[[f32; 4]],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(odometry.iter().flatten().flat_map(|x| x.to_le_bytes()));
    bytes.extend(pose.iter().flat_map(|x| x.to_le_bytes()));
    bytes.extend(i32::try_from(points.len()).unwrap().to_le_bytes());
    let (numbers, metres, len) = match form {
        PointForm::I16x3 => (3, false, 6),
        PointForm::I16x4 => (4, false, 8),
        PointForm::F32x3 => (3, true, 12),
        PointForm::F32x4 => (4, true, 16),
    };
    for number in points.iter().flat_map(|point| &point[..numbers]) {
        if metres {
            bytes.extend(number.to_le_bytes());
        } else {
            bytes.extend((*number as i16).to_le_bytes());
        }
    }
    let head = if odometry.is_some() { 36 } else { 28 };
    assert_eq!(bytes.len(), head + len * points.len());
    bytes
}

/// A cloud with odometry and points of four f32: the form in the vendor's newer documentation.
pub fn float_cloud(odometry: [i32; 2], pose: [f32; 6], points: &[[f32; 4]]) -> Vec<u8> {
    cloud_payload(Some(odometry), pose, PointForm::F32x4, points)
}

/// Returns the points of a cloud of i16 numbers.
pub fn shorts<const N: usize>(cloud: &CloudView<'_>) -> Vec<[i16; N]> {
    rows(cloud, |bytes: [u8; 2]| i16::from_le_bytes(bytes))
}

/// Returns the points of a cloud of f32 numbers.
pub fn floats<const N: usize>(cloud: &CloudView<'_>) -> Vec<[f32; N]> {
    rows(cloud, |bytes: [u8; 4]| f32::from_le_bytes(bytes))
}

fn rows<const N: usize, const LEN: usize, T>(
    cloud: &CloudView<'_>,
    number: impl Fn([u8; LEN]) -> T,
) -> Vec<[T; N]> {
    assert_eq!(cloud.points.form().bytes(), N * LEN, "another form");
    let row =
        |bytes: &[u8]| std::array::from_fn(|i| number(bytes[i * LEN..][..LEN].try_into().unwrap()));
    cloud.points.as_bytes().chunks_exact(N * LEN).map(row).collect()
}
