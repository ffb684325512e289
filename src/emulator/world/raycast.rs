use super::{Object, Pose, RayBundle, Scene, Shape, Snapshot, Solid, Vec3, bundle::Cone};
use nalgebra::Matrix3;

/// Face of the ground.
const GROUND: u8 = 6;
/// Face of a solid that is not plane.
const CURVED: u8 = 7;

/// End of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Distance along the ray in m; infinite for no hit.
    pub distance: f64,
    /// The hit object.
    pub object: Option<Object>,
    /// Plane face: axis 0 to 2, plus 3 where the outward normal is negative. The ground is its own face 6, curved
    /// surfaces are 7.
    pub face: u8,
    /// Index of the hit solid in its [`Caster`].
    target: u16,
}

impl Hit {
    /// The hit of a ray that leaves the world.
    pub const NONE: Self = Self { distance: f64::INFINITY, object: None, face: 0, target: 0 };
}

/// The surface where a ray ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Coordinates along the surface in m, fixed to the object.
    pub at: [f64; 2],
    /// Outward normal, NED.
    pub normal: Vec3,
    /// Cosine of the angle between the ray and the normal, 0 to 1.
    pub slant: f64,
}

struct RayTarget {
    object: Object,
    paint: u8,
    stencil: Option<u8>,
    shape: Shape,
    to_body: Option<Matrix3<f64>>,
    /// Origin of the rays in the body's axes, from its centre.
    origin: Vec3,
    half: Vec3,
    /// Centre of a static solid in the body's axes, in m: its texture is fixed to the world. 0 for a moving solid.
    datum: Vec3,
    /// Lower limit of its distance in m.
    near: f64,
}

/// Sphere around a target, as seen from the origin of the rays.
struct BoundingSphere {
    toward: Vec3,
    sin: f64,
    cos: f64,
    is_inside: bool,
}

/// A direction in NED, with the reciprocals of its coordinates.
struct Ray {
    direction: Vec3,
    inverse: Vec3,
}

/// Casts rays from one point of one snapshot.
pub struct Caster {
    origin: Vec3,
    to_world: Matrix3<f64>,
    /// In ascending order of `near`.
    targets: Vec<RayTarget>,
    bounds: Vec<BoundingSphere>,
    ground: Option<u8>,
}

impl Caster {
    /// Prepares ray casting from `pose`; `carrier` is invisible, because a sensor is inside its vehicle's body.
    pub fn new(snapshot: &Snapshot, pose: &Pose, carrier: Option<u16>) -> Self {
        let origin = pose.position;
        let moving = snapshot.moving.iter();
        let moving = moving.filter(|s| carrier.is_none_or(|id| s.object != Object::Vehicle(id)));
        let fixed = snapshot.scene.solids().iter().map(|solid| (solid, true));
        let mut pairs: Vec<_> = fixed
            .chain(moving.map(|solid| (solid, false)))
            .map(|(solid, is_fixed)| target(solid, &origin, is_fixed))
            .collect();
        pairs.sort_by(|(a, _), (b, _)| a.near.total_cmp(&b.near));
        let (targets, bounds) = pairs.into_iter().unzip();
        Self {
            origin,
            to_world: *pose.attitude.to_rotation_matrix().matrix(),
            targets,
            bounds,
            ground: snapshot.scene.ground,
        }
    }

    /// Returns the class that determines the colour of a hit object.
    #[inline]
    pub fn paint(&self, hit: &Hit) -> u8 {
        match self.targets.get(usize::from(hit.target)) {
            Some(target) if hit.face != GROUND => target.paint,
            _ => Object::Ground.class(),
        }
    }

    /// Returns the stencil value that a command set for the hit object.
    #[inline]
    pub fn stencil(&self, hit: &Hit) -> Option<u8> {
        match self.targets.get(usize::from(hit.target)) {
            Some(target) if hit.face != GROUND => target.stencil,
            _ => self.ground,
        }
    }

    /// Casts one ray; `direction` is in the sensor's FRD axes and of unit length.
    pub fn ray(&self, direction: &Vec3) -> Hit {
        let ray = Ray::new(self.to_world * direction);
        let targets = self.targets.iter().zip(0..);
        nearest(&ray, self.ground(&ray), targets)
    }

    /// Casts a whole bundle into `hits`, whose length becomes the bundle's.
    pub fn cast(&self, bundle: &RayBundle, hits: &mut Vec<Hit>) {
        hits.clear();
        hits.resize(bundle.len(), Hit::NONE);
        let axis = self.to_world * bundle.whole.axis;
        let in_view: Vec<_> = (self.targets.iter().zip(&self.bounds).zip(0u16..))
            .filter(|((_, bound), _)| bound.touches_cone(&axis, &bundle.whole))
            .collect();
        let mut near: Vec<(&RayTarget, u16)> = Vec::with_capacity(in_view.len());
        for tile in &bundle.tiles {
            let axis = self.to_world * tile.cone.axis;
            near.clear();
            let in_tile = in_view.iter().filter(|((_, b), _)| b.touches_cone(&axis, &tile.cone));
            near.extend(in_tile.map(|((target, _), number)| (*target, *number)));
            bundle.for_each_ray(tile, |i, direction| {
                let ray = Ray::new(self.to_world * direction);
                if let Some(hit) = hits.get_mut(i) {
                    *hit = nearest(&ray, self.ground(&ray), near.iter().copied());
                }
            });
        }
    }

    /// Returns the position of a hit in NED; `direction` is in the sensor's FRD axes.
    pub fn point(&self, direction: &Vec3, distance: f64) -> Vec3 {
        self.origin + self.to_world * direction * distance
    }

    /// Returns the surface at a hit of this caster; `direction` is in the sensor's FRD axes.
    #[inline]
    pub fn surface(&self, direction: &Vec3, hit: &Hit) -> SurfacePoint {
        let world = self.to_world * direction;
        match self.targets.get(usize::from(hit.target)) {
            Some(target) if hit.face != GROUND => target.surface(&world, hit),
            _ => {
                let point = self.origin + world * hit.distance;
                SurfacePoint { at: [point.x, point.y], normal: -Vec3::z(), slant: world.z.abs() }
            }
        }
    }

    #[inline]
    fn ground(&self, ray: &Ray) -> Hit {
        let distance = -self.origin.z * ray.inverse.z;
        if distance > 0.0 && distance.is_finite() {
            Hit { distance, object: Some(Object::Ground), face: GROUND, target: 0 }
        } else {
            Hit::NONE
        }
    }
}

impl Scene {
    /// Returns the down coordinate of the terrain in m: the ground, or the slope on it.
    pub fn terrain(&self, north: f64, east: f64) -> f64 {
        const HIGH: f64 = -1000.0;
        let above = Vec3::new(north, east, HIGH);
        let down = Ray::new(Vec3::z());
        let slopes = self.solids().iter().filter(|s| s.object == Object::Slope);
        let tops = slopes.filter_map(|slope| target(slope, &above, true).0.intersect(&down));
        tops.map(|(distance, _)| HIGH + distance).fold(0.0, f64::min)
    }
}

/// Returns the nearest hit of a ray; targets in ascending order of `near`.
fn nearest<'a>(
    ray: &Ray,
    mut hit: Hit,
    targets: impl Iterator<Item = (&'a RayTarget, u16)>,
) -> Hit {
    for (target, number) in targets {
        if target.near >= hit.distance {
            break;
        }
        if let Some((distance, face)) = target.intersect(ray)
            && distance < hit.distance
        {
            hit = Hit { distance, object: Some(target.object), face, target: number };
        }
    }
    hit
}

fn target(solid: &Solid, origin: &Vec3, is_fixed: bool) -> (RayTarget, BoundingSphere) {
    let away = solid.pose.position - origin;
    let (distance, radius) = (away.norm(), solid.radius());
    let is_inside = distance <= radius;
    let sin = if is_inside { 1.0 } else { radius / distance };
    let to_body = solid.pose.attitude.inverse();
    let centre = to_body * solid.pose.position;
    let target = RayTarget {
        object: solid.object,
        paint: solid.paint,
        stencil: solid.stencil,
        shape: solid.shape,
        to_body: (to_body.angle() > 0.0).then(|| *to_body.to_rotation_matrix().matrix()),
        origin: to_body * -away,
        half: solid.half,
        datum: if is_fixed { centre } else { Vec3::zeros() },
        near: distance - radius,
    };
    let bound = BoundingSphere {
        toward: away.try_normalize(1e-9).unwrap_or_else(Vec3::x),
        sin,
        cos: (1.0 - sin * sin).sqrt(),
        is_inside,
    };
    (target, bound)
}

impl BoundingSphere {
    /// Whether the sphere touches a cone, by the angle between their axes.
    fn touches_cone(&self, axis: &Vec3, cone: &Cone) -> bool {
        // If the half angles of sphere and cone sum to over 180 degrees, they always touch.
        let sum_cos = cone.cos * self.cos - cone.sin * self.sin;
        let exceeds = cone.cos < -self.cos;
        self.is_inside || exceeds || axis.dot(&self.toward) >= sum_cos
    }
}

impl Ray {
    fn new(direction: Vec3) -> Self {
        Self { direction, inverse: direction.map(|x| 1.0 / x) }
    }
}

/// The part of a ray inside a convex body, and the face at which it enters.
struct RayInterval {
    enter: f64,
    leave: f64,
    face: u8,
}

impl RayInterval {
    const ALL: Self = Self { enter: f64::NEG_INFINITY, leave: f64::INFINITY, face: 0 };

    /// Clips the interval between two planes at `half` from the centre, across an axis.
    fn clip_slab(&mut self, axis: usize, half: f64, origin: f64, inverse: f64) {
        let a = (-half - origin) * inverse;
        let b = (half - origin) * inverse;
        let (first, last) = if a < b { (a, b) } else { (b, a) };
        if first > self.enter {
            self.enter = first;
            self.face = axis as u8 + if inverse > 0.0 { 3 } else { 0 };
        }
        self.leave = self.leave.min(last);
    }

    /// Clips the interval to (o + t d)² <= 1, for vectors scaled by the half extents.
    fn clip_round(&mut self, o: &Vec3, d: &Vec3) {
        let (a, b, c) = (d.norm_squared(), o.dot(d), o.norm_squared() - 1.0);
        let root = (b * b - a * c).sqrt();
        let (first, last) = match a > 0.0 {
            // The root is NaN if the ray misses the body.
            true => ((-b - root) / a, (-b + root) / a),
            false if c <= 0.0 => return,
            false => (f64::NAN, f64::NAN),
        };
        if first.is_nan() {
            self.leave = f64::NEG_INFINITY;
            return;
        }
        if first > self.enter {
            self.enter = first;
            self.face = CURVED;
        }
        self.leave = self.leave.min(last);
    }

    /// Returns distance and face of the entry; a body is invisible from inside.
    fn entry(&self) -> Option<(f64, u8)> {
        (self.enter > 0.0 && self.enter <= self.leave).then_some((self.enter, self.face))
    }
}

impl RayTarget {
    /// Returns distance and face at which a ray enters the solid.
    fn intersect(&self, ray: &Ray) -> Option<(f64, u8)> {
        let (direction, inverse) = match &self.to_body {
            Some(to_body) => {
                let ray = Ray::new(to_body * ray.direction);
                (ray.direction, ray.inverse)
            }
            None => (ray.direction, ray.inverse),
        };
        let mut interval = RayInterval::ALL;
        let slab = |interval: &mut RayInterval, axis: usize| {
            interval.clip_slab(axis, self.half[axis], self.origin[axis], inverse[axis]);
        };
        let scaled = |v: &Vec3| v.component_div(&self.half);
        match self.shape {
            Shape::Box => (0..3).for_each(|axis| slab(&mut interval, axis)),
            Shape::Ellipsoid => interval.clip_round(&scaled(&self.origin), &scaled(&direction)),
            Shape::Cylinder => {
                slab(&mut interval, 2);
                let flat = |v: Vec3| Vec3::new(v.x, v.y, 0.0);
                let (o, d) = (flat(scaled(&self.origin)), flat(scaled(&direction)));
                interval.clip_round(&o, &d);
            }
        }
        interval.entry()
    }

    /// Returns the surface where a ray in direction `world` ends.
    #[inline]
    fn surface(&self, world: &Vec3, hit: &Hit) -> SurfacePoint {
        /// Offset of the texture from face to face in m, so that parallel faces differ.
        const SHIFT: f64 = 2.37;
        let direction = self.to_body.map_or(*world, |m| m * world);
        let point = self.origin + direction * hit.distance;
        let (axis, normal) = if hit.face < GROUND {
            let axis = usize::from(hit.face % 3);
            let mut normal = Vec3::zeros();
            normal[axis] = if hit.face < 3 { 1.0 } else { -1.0 };
            (axis, normal)
        } else {
            let mut normal = point.component_div(&self.half.component_mul(&self.half));
            if self.shape == Shape::Cylinder {
                normal.z = 0.0;
            }
            (normal.iamax(), normal.normalize())
        };
        let at = point + self.datum;
        let [u, v] = match axis {
            0 => [at.y, at.z],
            1 => [at.x, at.z],
            _ => [at.x, at.y],
        };
        SurfacePoint {
            at: [u + SHIFT * f64::from(hit.face), v],
            normal: self.to_body.map_or(normal, |m| m.tr_mul(&normal)),
            slant: direction.dot(&normal).abs(),
        }
    }
}
