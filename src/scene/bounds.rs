//! Volumes of entities and of queries.
use super::map_pose::MapPose;
use crate::frames::{Transform, WorldConvention};

/// A volume; lengths in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Volume {
    /// Least and greatest corner.
    Box([[f64; 3]; 2]),
    /// Centre and radius.
    Sphere([f64; 3], f64),
}

impl Volume {
    /// Creates a box from two opposite corners.
    pub fn of_corners(corners: [[f64; 3]; 2]) -> Result<Self, String> {
        if !corners.as_flattened().iter().all(|v| v.is_finite()) {
            return Err(format!("the corners of a box must be finite, are {corners:?}"));
        }
        let [a, b] = corners;
        let pick = |f: fn(f64, f64) -> f64| std::array::from_fn(|i| f(a[i], b[i]));
        Ok(Self::Box([pick(f64::min), pick(f64::max)]))
    }

    /// Creates a sphere.
    pub fn sphere(centre: [f64; 3], radius: f64) -> Result<Self, String> {
        let is_finite = centre.iter().all(|v| v.is_finite()) && radius.is_finite();
        if !is_finite || radius < 0.0 {
            return Err(format!(
                "a sphere needs a finite centre and a radius of at least 0, has {centre:?} and {radius}"
            ));
        }
        Ok(Self::Sphere(centre, radius))
    }

    /// Whether two volumes share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Box([a, b]), Self::Box([c, d])) => (0..3).all(|i| a[i] <= d[i] && c[i] <= b[i]),
            (Self::Sphere(a, r), Self::Sphere(b, s)) => distance(*a, *b) <= r + s,
            (Self::Sphere(centre, radius), Self::Box([least, most]))
            | (Self::Box([least, most]), Self::Sphere(centre, radius)) => {
                let nearest = std::array::from_fn(|i| centre[i].clamp(least[i], most[i]));
                distance(*centre, nearest) <= *radius
            }
        }
    }
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
}

/// A box around an entity, along its body's axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Centre in the body, FLU.
    pub centre: [f64; 3],
    /// Half of each side.
    pub half: [f64; 3],
}

impl Extent {
    /// Returns the box along the axes of a body at `pose` that contains a box of `size` at `centre`; both poses are in one frame.
    pub fn around(pose: &Transform, centre: &Transform, size: [f64; 3]) -> Option<Self> {
        let in_body = pose.inverse() * *centre;
        let half = size.map(|side| side / 2.0);
        let around = corners(half.map(|side| -side), half).map(|corner| in_body.apply(corner));
        let [least, most] = around.fold(EMPTY, widen);
        let extent = Self {
            centre: std::array::from_fn(|i| (least[i] + most[i]) / 2.0),
            half: std::array::from_fn(|i| (most[i] - least[i]) / 2.0),
        };
        let mut all = extent.centre.iter().chain(&extent.half);
        all.all(|v| v.is_finite()).then_some(extent)
    }

    /// Returns least and greatest corner in the body, FLU.
    pub fn corners(&self) -> [[f64; 3]; 2] {
        let corner = |sign: f64| std::array::from_fn(|i| self.centre[i] + sign * self.half[i]);
        [corner(-1.0), corner(1.0)]
    }

    /// Returns the box along the axes of the world that contains this one.
    pub fn in_world(&self, pose: &MapPose, world: WorldConvention) -> Volume {
        let pose = world.pose(pose.position, pose.attitude);
        let [least, most] = self.corners();
        let around = corners(least, most).map(|corner| pose.apply(corner));
        Volume::Box(around.fold(EMPTY, widen))
    }
}

fn corners(least: [f64; 3], most: [f64; 3]) -> impl Iterator<Item = [f64; 3]> {
    (0..8_u8).map(move |corner| {
        std::array::from_fn(|i| if corner >> i & 1 == 0 { least[i] } else { most[i] })
    })
}

/// Least and greatest corner of a box without points.
const EMPTY: [[f64; 3]; 2] = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];

fn widen([least, most]: [[f64; 3]; 2], point: [f64; 3]) -> [[f64; 3]; 2] {
    let pick = |f: fn(f64, f64) -> f64, a: [f64; 3]| std::array::from_fn(|i| f(a[i], point[i]));
    [pick(f64::min, least), pick(f64::max, most)]
}
