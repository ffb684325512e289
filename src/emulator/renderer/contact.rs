//! Contacts between bodies.
use crate::emulator::world::{Object, Shape, Snapshot, Solid, Vec3};

/// Distance in m below which two bodies touch.
const TOUCH: f64 = 0.005;
/// Depth in m below the ground at which a body touches it; a standing body stays above that.
const DEPTH: f64 = 0.02;
/// Downward speed in m/s above which reaching the ground is a crash; faster than any landing.
const CRASH_SPEED: f64 = 2.0;

/// Contact of a vehicle or a spawned object with another body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::emulator) struct Contact {
    pub(in crate::emulator) id: u16,
    pub(in crate::emulator) with: Object,
    /// Point of contact in m, NED.
    pub(in crate::emulator) point: Vec3,
    /// Centre of the other body.
    pub(in crate::emulator) centre: Vec3,
}

/// Returns at most one contact of each vehicle and spawned object: with another of them, else with the scene, else with the
/// ground. Attached bodies do not collide. `speed` is the downward speed in m/s before this instant; infinite for a body that has
/// touched the ground already, so that its contact lasts while it lies there.
pub(in crate::emulator) fn contacts(
    snapshot: &Snapshot,
    is_attached: impl Fn(u16, u16) -> bool,
    speed: impl Fn(u16) -> f64,
) -> Vec<Contact> {
    let with_id = |solid: &Solid| match solid.object {
        Object::Vehicle(id) => Some((id, *solid)),
        _ => None,
    };
    let bodies: Vec<(u16, Solid)> = snapshot.moving.iter().filter_map(with_id).collect();
    let contact_of = |(id, solid): &(u16, Solid)| {
        let others = bodies.iter().filter(|(other, _)| other != id);
        let others = others.filter(|(other, _)| !is_attached(*id, *other));
        let walkers = snapshot.moving.iter().filter(|s| with_id(s).is_none());
        let scene = walkers.chain(snapshot.scene.solids());
        let all = others.map(|(_, other)| other).chain(scene);
        let found = all.filter_map(|other| Some((other, touch_point(solid, other)?)));
        let hit = found.map(|(other, point)| Contact {
            id: *id,
            with: other.object,
            point,
            centre: other.pose.position,
        });
        hit.into_iter().next().or_else(|| ground_contact(*id, solid, speed(*id)))
    };
    bodies.iter().filter_map(contact_of).collect()
}

fn ground_contact(id: u16, solid: &Solid, speed: f64) -> Option<Contact> {
    let (_, high) = solid.limits();
    let is_hit = high.z > DEPTH || (high.z > -DEPTH && speed > CRASH_SPEED);
    let position = solid.pose.position;
    let point = Vec3::new(position.x, position.y, 0.0);
    is_hit.then_some(Contact { id, with: Object::Ground, point, centre: point })
}

/// Returns where two bodies touch.
///
/// Alternating projections: the nearest point of one body to a point of the other, in turn, converge to the nearest points of
/// two convex bodies.
fn touch_point(a: &Solid, b: &Solid) -> Option<Vec3> {
    const TURNS: usize = 64;
    let distance = (a.pose.position - b.pose.position).norm();
    if distance > a.radius() + b.radius() + TOUCH {
        return None;
    }
    let mut point = a.pose.position;
    let mut last_gap = f64::INFINITY;
    for _ in 0..TURNS {
        let other = nearest(b, &point);
        point = nearest(a, &other);
        let gap = (point - other).norm();
        if gap <= TOUCH {
            return Some((point + other) / 2.0);
        }
        if last_gap - gap < 1e-6 {
            return None;
        }
        last_gap = gap;
    }
    None
}

/// The point of a solid that is nearest to a point, both NED.
fn nearest(solid: &Solid, point: &Vec3) -> Vec3 {
    let attitude = &solid.pose.attitude;
    let local = attitude.inverse() * (point - solid.pose.position);
    let half = &solid.half;
    let inside = match solid.shape {
        Shape::Box => Vec3::from_fn(|i, _| local[i].clamp(-half[i], half[i])),
        Shape::Cylinder => {
            let flat = nearest_on_ellipsoid(&Vec3::new(local.x, local.y, 0.0), half);
            Vec3::new(flat.x, flat.y, local.z.clamp(-half.z, half.z))
        }
        Shape::Ellipsoid => nearest_on_ellipsoid(&local, half),
    };
    solid.pose.position + attitude * inside
}

/// The point of an ellipsoid that is nearest to a point.
fn nearest_on_ellipsoid(point: &Vec3, half: &Vec3) -> Vec3 {
    let scaled =
        |t: f64| Vec3::from_fn(|i, _| half[i] * half[i] * point[i] / (half[i] * half[i] + t));
    let excess = |t: f64| scaled(t).component_div(half).norm_squared() - 1.0;
    if excess(0.0) <= 0.0 {
        return *point;
    }
    // The excess falls with t, and is negative at `high`.
    let (mut low, mut high) = (0.0, point.norm() * half.amax());
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if excess(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    scaled(high)
}
