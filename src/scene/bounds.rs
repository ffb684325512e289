//! Volumes: what an entity fills, and where a query looks.
use super::place::Place;
use crate::frames::{Flu, Frd, Vector, WorldConvention};

/// A volume; lengths in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Volume {
    /// Least and greatest corner.
    Box([[f64; 3]; 2]),
    /// Centre and radius.
    Sphere([f64; 3], f64),
}

impl Volume {
    /// A box between two opposite corners.
    pub fn of_corners(corners: [[f64; 3]; 2]) -> Result<Self, String> {
        if !corners.as_flattened().iter().all(|v| v.is_finite()) {
            return Err(format!("the corners of a box must be finite, are {corners:?}"));
        }
        let [a, b] = corners;
        let pick = |f: fn(f64, f64) -> f64| std::array::from_fn(|i| f(a[i], b[i]));
        Ok(Self::Box([pick(f64::min), pick(f64::max)]))
    }

    /// A sphere.
    pub fn sphere(centre: [f64; 3], radius: f64) -> Result<Self, String> {
        if !centre.iter().all(|v| v.is_finite()) || !(radius.is_finite() && radius >= 0.0) {
            return Err(format!(
                "a sphere needs a finite centre and a radius of at least 0, has {centre:?} and {radius}"
            ));
        }
        Ok(Self::Sphere(centre, radius))
    }

    /// Whether two volumes share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Box([a, b]), Self::Box([c, d])) => {
                (0..3).all(|i| a[i] <= d[i] && c[i] <= b[i])
            }
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
    let squares = (0..3).map(|i| (a[i] - b[i]).powi(2));
    squares.sum::<f64>().sqrt()
}

/// A box around an entity, along its body's axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Centre in the body, FLU.
    pub centre: [f64; 3],
    /// Half the sides.
    pub half: [f64; 3],
}

impl Extent {
    /// Reads what the renderer describes: a centre in the world and half the sides of the object.
    pub fn described(place: &Place, centre: [f32; 3], half: [f32; 3]) -> Option<Self> {
        let offset = Vector::from(centre) - place.position;
        let body: Vector<Frd> = place.attitude.inverse().rotate(offset);
        let extent = Self {
            centre: Vector::<Flu>::from(body).to_array(),
            half: half.map(|side| f64::from(side).abs()),
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
    pub fn in_world(&self, place: &Place, world: WorldConvention) -> Volume {
        let pose = world.pose(place.position, place.attitude);
        let [least, most] = self.corners();
        let mut around = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        for corner in 0..8_u8 {
            let point = std::array::from_fn(|i| match corner >> i & 1 {
                0 => least[i],
                _ => most[i],
            });
            let point = pose.apply(point);
            for i in 0..3 {
                around[0][i] = around[0][i].min(point[i]);
                around[1][i] = around[1][i].max(point[i]);
            }
        }
        Volume::Box(around)
    }
}
