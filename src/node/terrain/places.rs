//! The places that a request names.
use super::ground::{Ground, Region};
use crate::msgs::geometry_msgs::msg::Point;

/// Places of one answer: some MB.
pub(super) const MAX_PLACES: usize = 100_000;

/// What a request says in `step`: 0 is that of the terrain.
pub(super) fn step_of(step: f64, ground: &Ground) -> Result<f64, String> {
    match step {
        0.0 => Ok(ground.step()),
        step if step.is_finite() && step > 0.0 => Ok(step),
        step => Err(format!(
            "step is {step}, wanted is a distance in m, or 0 for that of the terrain ({} m)",
            ground.step()
        )),
    }
}

/// Refuses points that are no places.
pub(super) fn plane(points: &[Point]) -> Result<Vec<[f64; 2]>, String> {
    let place = |(i, point): (usize, &Point)| match [point.x, point.y] {
        at if at.iter().all(|v| v.is_finite()) => Ok(at),
        [x, y] => Err(format!("points[{i}] is {x}, {y}, wanted are numbers in m")),
    };
    points.iter().enumerate().map(place).collect()
}

fn too_many(count: f64) -> String {
    format!(
        "these are {count} places, at most {MAX_PLACES} are answered: give a larger step, or ask for a smaller part"
    )
}

/// The points, and what lies between them.
pub(super) fn line(points: &[[f64; 2]], step: f64) -> Result<Vec<[f64; 2]>, String> {
    let legs = || points.iter().zip(points.iter().skip(1));
    let length = |(a, b): (&[f64; 2], &[f64; 2])| (b[0] - a[0]).hypot(b[1] - a[1]);
    let steps = |leg| (length(leg) / step - 1e-9).ceil().max(1.0);
    let count = 1.0 + legs().map(steps).sum::<f64>();
    if points.len() < 2 {
        let found = points.len();
        return Err(format!("a line has two points or more, points has {found}"));
    }
    if count > MAX_PLACES as f64 {
        return Err(too_many(count));
    }
    let mut places = Vec::new();
    for (a, b) in legs() {
        let whole = length((a, b)).max(f64::MIN_POSITIVE);
        let along = |i: usize| {
            let part = i as f64 * step / whole;
            [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part]
        };
        places.extend((0..steps((a, b)) as usize).map(along));
    }
    places.extend(points.last());
    Ok(places)
}

/// The rectangle between two points, row by row.
pub(super) fn grid(points: &[[f64; 2]], step: f64) -> Result<Vec<[f64; 2]>, String> {
    let &[a, b] = points else {
        let found = points.len();
        return Err(format!(
            "a grid lies between two points, points has {found}"
        ));
    };
    let Region { low, high } = Region::between(a, b);
    // A corner is not lost to rounding.
    let count = |axis: usize| ((high[axis] - low[axis]) / step + 1e-9).floor() + 1.0;
    let [columns, rows] = [count(0), count(1)];
    if columns * rows > MAX_PLACES as f64 {
        return Err(too_many(columns * rows));
    }
    let row = |y: usize| {
        (0..columns as usize).map(move |x| [low[0] + x as f64 * step, low[1] + y as f64 * step])
    };
    Ok((0..rows as usize).flat_map(row).collect())
}
