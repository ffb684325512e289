//! Scalars and lists of YAML in a form that PyYAML, libyaml, yaml-cpp and OpenCV read alike.
use crate::frames::Transform;

/// Values are rounded to multiples of 1 / this number, which hides the rounding errors of products of sines.
const STEPS_PER_UNIT: f64 = 1e12;

/// Formats a real number, with a point, because ROS and Kalibr distinguish reals from integers. With an exponent, PyYAML needs
/// the point and the sign: it reads `1e-5` and `1.0e17` as text.
pub(super) fn real(value: f64) -> String {
    let text = format!("{value:?}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

pub(super) fn rounded(value: f64) -> f64 {
    (value * STEPS_PER_UNIT).round() / STEPS_PER_UNIT + 0.0 // -0 becomes 0
}

/// Quotes a text.
pub(super) fn text(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Formats rounded values as `[a, b, c]`.
pub(super) fn list(values: &[f64]) -> String {
    let values: Vec<_> = values.iter().map(|v| real(rounded(*v))).collect();
    format!("[{}]", values.join(", "))
}

/// Formats a rounded matrix row by row; the lines after the first are indented by `indent`.
pub(super) fn row_major<const N: usize>(rows: &[[f64; N]], indent: usize) -> String {
    let rows: Vec<_> = rows.iter().map(|row| row.map(|v| real(rounded(v))).join(", ")).collect();
    format!("[{}]", rows.join(&format!(",\n{:indent$}", "")))
}

/// Formats a rounded matrix as a list of rows, one line each.
pub(super) fn nested<const N: usize>(rows: &[[f64; N]], indent: usize) -> String {
    let rows: Vec<_> = rows.iter().map(|row| format!("{:indent$}- {}", "", list(row))).collect();
    rows.join("\n")
}

/// Returns the rotation matrix of a pose.
pub(super) fn rotation(pose: &Transform) -> [[f64; 3]; 3] {
    let [a, b, c, _] = pose.matrix().map(|[x, y, z, _]| [x, y, z]);
    [a, b, c]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_are_reals_for_every_reader() {
        let cases = [
            (0.0, "0.0"),
            (200.0, "200.0"),
            (1e-5, "1.0e-5"),
            (1.5e-7, "1.5e-7"),
            (1e17, "1.0e+17"),
        ];
        for (value, written) in cases {
            assert_eq!(real(value), written);
        }
        assert_eq!(real(rounded(-1e-17)), "0.0");
    }
}
