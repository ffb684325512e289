//! Rotations by textbook formulas on plain arrays: shares nothing with the library, so that it can judge it.

pub type Vector = [f64; 3];
pub type Matrix = [[f64; 3]; 3];

pub const IDENTITY: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

pub fn rotation_x(angle: f64) -> Matrix {
    let (s, c) = angle.sin_cos();
    [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]
}

pub fn rotation_y(angle: f64) -> Matrix {
    let (s, c) = angle.sin_cos();
    [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]
}

pub fn rotation_z(angle: f64) -> Matrix {
    let (s, c) = angle.sin_cos();
    [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
}

/// Body to world: yaw about z, then pitch about the new y, then roll about the new x. Angles in rad.
pub fn euler_zyx([roll, pitch, yaw]: Vector) -> Matrix {
    product(&product(&rotation_z(yaw), &rotation_y(pitch)), &rotation_x(roll))
}

/// The matrix of a unit quaternion w, x, y, z (Hamilton).
pub fn quaternion_matrix([w, x, y, z]: [f64; 4]) -> Matrix {
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

/// Hamilton product of w, x, y, z.
pub fn quaternion_product([a, b, c, d]: [f64; 4], [e, f, g, h]: [f64; 4]) -> [f64; 4] {
    [
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    ]
}

pub fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

pub fn transpose(a: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

pub fn apply(a: &Matrix, v: Vector) -> Vector {
    std::array::from_fn(|i| (0..3).map(|k| a[i][k] * v[k]).sum())
}

pub fn add(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|i| a[i] + b[i])
}

pub fn determinant(a: &Matrix) -> f64 {
    (0..3)
        .map(|i| {
            a[0][i]
                * (a[1][(i + 1) % 3] * a[2][(i + 2) % 3] - a[1][(i + 2) % 3] * a[2][(i + 1) % 3])
        })
        .sum()
}

/// Largest difference of two lists of numbers; panics if their lengths differ.
pub fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

pub fn matrix_difference(a: &Matrix, b: &Matrix) -> f64 {
    difference(a.as_flattened(), b.as_flattened())
}
