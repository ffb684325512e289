//! Converts between the bridge's vectors and ROS messages.
use crate::frames::{Attitude, CoordinateFrame, Enu, Flu, Frd, Geodetic, Ned, Vector};
use crate::msgs::geographic_msgs::msg::GeoPoint;
use crate::msgs::geometry_msgs::msg::{Point, Quaternion, Vector3};

/// Variance of an unknown quantity, in messages where -1 does not mean unknown.
pub(super) const NOT_KNOWN: f64 = 99_999.0;

pub(super) fn point<F: CoordinateFrame>(vector: Vector<F>) -> Point {
    let [x, y, z] = vector.to_array();
    Point { x, y, z }
}

pub(super) fn vector3<F: CoordinateFrame>(vector: Vector<F>) -> Vector3 {
    let [x, y, z] = vector.to_array();
    Vector3 { x, y, z }
}

pub(super) fn quaternion([w, x, y, z]: [f64; 4]) -> Quaternion {
    Quaternion { x, y, z, w }
}

pub(super) fn geo_point(position: Geodetic) -> GeoPoint {
    GeoPoint {
        latitude: position.latitude_deg,
        longitude: position.longitude_deg,
        altitude: position.altitude_m,
    }
}

/// Attitude of FLU in ENU, w first, with mavros' sign.
pub(super) fn enu_wxyz(attitude: Attitude<Frd, Ned>) -> [f64; 4] {
    Attitude::<Flu, Enu>::from(attitude).wxyz().map(|c| -c)
}

/// Returns the full symmetric matrix of a MAVLink covariance, which is an upper triangle, row by row. If an element is NaN
/// or infinite, returns all zeros, which ROS defines as unknown.
pub(super) fn symmetric<const SIZE: usize, const CELLS: usize>(triangle: &[f32]) -> [f64; CELLS] {
    if !triangle.iter().all(|cell| cell.is_finite()) {
        return [0.0; CELLS];
    }
    std::array::from_fn(|cell| {
        let (row, column) = (cell / SIZE, cell % SIZE);
        let (low, high) = (row.min(column), row.max(column));
        // Row `low` begins after `low` rows of SIZE, SIZE - 1, ... elements.
        let at = low * (2 * SIZE + 1 - low) / 2 + high - low;
        triangle.get(at).copied().map_or(0.0, f64::from)
    })
}
