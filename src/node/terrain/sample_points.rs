//! The points of a request for heights.
use super::ground::{Ground, Region};
use crate::msgs::geometry_msgs::msg::Point;

/// Limit of points in one response, which is then a few MB long.
pub(super) const MAX_POINTS: usize = 100_000;

/// Returns the step of a request; 0 selects the step of the terrain.
pub(super) fn step_of(step: f64, ground: &Ground) -> Result<f64, String> {
    match step {
        0.0 => Ok(ground.step()),
        step if step.is_finite() && step > 0.0 => Ok(step),
        step => Err(format!(
            "step is {step}, must be a distance in m, or 0 for the step of the terrain ({} m)",
            ground.step()
        )),
    }
}

/// Returns x and y of the points; an error if a point is not finite.
pub(super) fn check_points(points: &[Point]) -> Result<Vec<[f64; 2]>, String> {
    let position = |(i, point): (usize, &Point)| match [point.x, point.y] {
        at if at.iter().all(|v| v.is_finite()) => Ok(at),
        [x, y] => Err(format!("points[{i}] is {x}, {y}, must be finite numbers in m")),
    };
    points.iter().enumerate().map(position).collect()
}

fn too_many(count: f64) -> String {
    format!(
        "these are {count} points, at most {MAX_POINTS} are possible: give a larger step or a smaller part"
    )
}

/// Returns the points of a polyline, and points between them at the distance `step`.
pub(super) fn line(points: &[[f64; 2]], step: f64) -> Result<Vec<[f64; 2]>, String> {
    let legs = || points.iter().zip(points.iter().skip(1));
    let length = |(a, b): (&[f64; 2], &[f64; 2])| (b[0] - a[0]).hypot(b[1] - a[1]);
    let steps = |leg| (length(leg) / step - 1e-9).ceil().max(1.0);
    let count = 1.0 + legs().map(steps).sum::<f64>();
    if points.len() < 2 {
        return Err(format!("a line needs two points or more, points has {}", points.len()));
    }
    if count > MAX_POINTS as f64 {
        return Err(too_many(count));
    }
    let mut positions = Vec::new();
    for (a, b) in legs() {
        let leg_length = length((a, b)).max(f64::MIN_POSITIVE);
        let along = |i: usize| {
            let part = i as f64 * step / leg_length;
            [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part]
        };
        positions.extend((0..steps((a, b)) as usize).map(along));
    }
    positions.extend(points.last());
    Ok(positions)
}

/// Returns the points of a grid in the rectangle between two corners, row by row.
pub(super) fn grid(points: &[[f64; 2]], step: f64) -> Result<Vec<[f64; 2]>, String> {
    let &[a, b] = points else {
        return Err(format!("a grid needs two points, points has {}", points.len()));
    };
    let Region { low, high } = Region::between(a, b);
    // Rounding must not lose the far corner.
    let count = |axis: usize| ((high[axis] - low[axis]) / step + 1e-9).floor() + 1.0;
    let [columns, rows] = [count(0), count(1)];
    if columns * rows > MAX_POINTS as f64 {
        return Err(too_many(columns * rows));
    }
    let row = |y: usize| {
        (0..columns as usize).map(move |x| [low[0] + x as f64 * step, low[1] + y as f64 * step])
    };
    Ok((0..rows as usize).flat_map(row).collect())
}
