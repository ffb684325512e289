use super::{Object, Pose, Snapshot, Vec3};
use nalgebra::Matrix3;

/// Rays per cone of a bundle; few enough to be narrow, enough to pay for the test.
const TILE: usize = 32;

/// Directions of a sensor's rays in its own FRD axes, unit length, grouped into narrow cones.
#[derive(Clone, Debug)]
pub struct RayBundle {
    directions: Vec<[f32; 3]>,
    cones: Vec<Cone>,
}

#[derive(Clone, Copy, Debug)]
struct Cone {
    axis: Vec3,
    cos: f64,
    sin: f64,
}

impl RayBundle {
    /// Collects the directions; they need not have unit length.
    pub fn new(directions: impl IntoIterator<Item = Vec3>) -> Self {
        let directions: Vec<[f32; 3]> = directions
            .into_iter()
            .map(|d| d.normalize().map(|x| x as f32).into())
            .collect();
        let cones = directions
            .chunks(TILE)
            .map(|tile| {
                let sum: Vec3 = tile.iter().map(wide).sum();
                let axis = sum.try_normalize(1e-9).unwrap_or_else(Vec3::x);
                // A little wider than the widest ray, for the rounding of f32.
                let cos = tile.iter().map(|d| wide(d).dot(&axis)).fold(1.0, f64::min) - 1e-6;
                Cone {
                    axis,
                    cos,
                    sin: (1.0 - cos * cos).max(0.0).sqrt(),
                }
            })
            .collect();
        Self { directions, cones }
    }

    /// Returns the number of rays.
    pub fn len(&self) -> usize {
        self.directions.len()
    }

    /// Returns whether there are no rays.
    pub fn is_empty(&self) -> bool {
        self.directions.is_empty()
    }

    /// Returns the direction of a ray in the sensor's FRD axes.
    pub fn direction(&self, index: usize) -> Vec3 {
        self.directions.get(index).map_or_else(Vec3::zeros, wide)
    }
}

fn wide(direction: &[f32; 3]) -> Vec3 {
    Vec3::new(
        direction[0].into(),
        direction[1].into(),
        direction[2].into(),
    )
}

/// End of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Distance along the ray in m; infinite for no hit.
    pub distance: f64,
    /// The hit object.
    pub object: Option<Object>,
    /// Face of a box: axis 0 to 2, plus 3 where the outward normal is negative. The ground is its own face 6.
    pub face: u8,
}

/// The hit of a ray that leaves the world.
#[allow(non_upper_case_globals, reason = "reads as a value of `Hit`")]
pub const Nothing: Hit = Hit {
    distance: f64::INFINITY,
    object: None,
    face: 0,
};

struct Target {
    object: Object,
    to_own: Option<Matrix3<f64>>,
    origin: Vec3,
    half: Vec3,
    toward: Vec3,
    sin: f64,
    cos: f64,
    inside: bool,
}

/// Casts rays from one point of one snapshot.
pub struct Caster {
    origin: Vec3,
    to_world: Matrix3<f64>,
    targets: Vec<Target>,
}

impl Caster {
    /// Prepares ray casting from `pose`; `own` is invisible, because a sensor is inside its vehicle's body.
    pub fn new(snapshot: &Snapshot, pose: &Pose, own: Option<u16>) -> Self {
        let origin = pose.position;
        let seen = snapshot
            .solids
            .iter()
            .filter(|s| own.is_none_or(|id| s.object != Object::Vehicle(id)));
        let targets = seen.map(|solid| {
            let away = solid.pose.position - origin;
            let (distance, radius) = (away.norm(), solid.half.norm());
            let inside = distance <= radius;
            let sin = if inside { 1.0 } else { radius / distance };
            let to_own = solid.pose.attitude.inverse();
            Target {
                object: solid.object,
                to_own: (to_own.angle() > 0.0).then(|| *to_own.to_rotation_matrix().matrix()),
                origin: to_own * -away,
                half: solid.half,
                toward: away.try_normalize(1e-9).unwrap_or_else(Vec3::x),
                sin,
                cos: (1.0 - sin * sin).sqrt(),
                inside,
            }
        });
        Self {
            origin,
            to_world: *pose.attitude.to_rotation_matrix().matrix(),
            targets: targets.collect(),
        }
    }

    /// Casts one ray; `direction` is in the sensor's FRD axes and of unit length.
    pub fn ray(&self, direction: &Vec3) -> Hit {
        let world = self.to_world * direction;
        let mut hit = self.ground(&world);
        self.targets
            .iter()
            .for_each(|target| target.meet(&world, &mut hit));
        hit
    }

    /// Casts a whole bundle into `hits`, whose length becomes the bundle's.
    pub fn cast(&self, bundle: &RayBundle, hits: &mut Vec<Hit>) {
        hits.clear();
        hits.reserve(bundle.len());
        let mut near: Vec<&Target> = Vec::with_capacity(self.targets.len());
        for (tile, cone) in bundle.directions.chunks(TILE).zip(&bundle.cones) {
            let axis = self.to_world * cone.axis;
            near.clear();
            near.extend(self.targets.iter().filter(|t| t.in_cone(&axis, cone)));
            for direction in tile {
                let world = self.to_world * wide(direction);
                let mut hit = self.ground(&world);
                near.iter().for_each(|target| target.meet(&world, &mut hit));
                hits.push(hit);
            }
        }
    }

    /// Returns the position of a hit in NED; `direction` is in the sensor's FRD axes.
    pub fn point(&self, direction: &Vec3, distance: f64) -> Vec3 {
        self.origin + self.to_world * direction * distance
    }

    fn ground(&self, world: &Vec3) -> Hit {
        let distance = -self.origin.z / world.z;
        if distance > 0.0 && distance.is_finite() {
            Hit {
                distance,
                object: Some(Object::Ground),
                face: 6,
            }
        } else {
            Nothing
        }
    }
}

impl Target {
    /// Whether the bounding sphere touches a cone, by the angle between their axes.
    fn in_cone(&self, axis: &Vec3, cone: &Cone) -> bool {
        // sphere angle + cone angle beyond 180 degrees: always touches
        let sum_cos = cone.cos * self.cos - cone.sin * self.sin;
        let beyond = cone.cos < -self.cos;
        self.inside || beyond || axis.dot(&self.toward) >= sum_cos
    }

    /// Slab test in the box's own axes; keeps the nearer hit. A box is invisible from inside.
    fn meet(&self, world: &Vec3, hit: &mut Hit) {
        let direction = self.to_own.map_or(*world, |m| m * world);
        let (mut enter, mut leave, mut face) = (f64::NEG_INFINITY, f64::INFINITY, 0u8);
        for axis in 0..3 {
            let inverse = 1.0 / direction[axis];
            let a = (-self.half[axis] - self.origin[axis]) * inverse;
            let b = (self.half[axis] - self.origin[axis]) * inverse;
            let (first, last) = if a < b { (a, b) } else { (b, a) };
            if first > enter {
                enter = first;
                face = axis as u8 + if inverse > 0.0 { 3 } else { 0 };
            }
            leave = leave.min(last);
        }
        if enter > 0.0 && enter <= leave && enter < hit.distance {
            *hit = Hit {
                distance: enter,
                object: Some(self.object),
                face,
            };
        }
    }
}
