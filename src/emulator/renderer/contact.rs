//! Contacts between bodies.
use crate::emulator::world::{Object, Shape, Snapshot, Solid, Vec3};

/// Distance in m below which two bodies touch.
const TOUCH: f64 = 0.005;
/// Depth in m below the ground from which a body touches it; a standing body is above.
const DEPTH: f64 = 0.02;
/// Speed in m/s downwards at which standing on the ground begins with a crash; faster than any landing.
const CRASH_SPEED: f64 = 2.0;

/// A vehicle, or an object that was spawned like one, that touches something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::emulator) struct Contact {
    pub(in crate::emulator) id: u16,
    pub(in crate::emulator) with: Object,
    /// Point of contact in m, NED.
    pub(in crate::emulator) point: Vec3,
    /// Centre of the other body.
    pub(in crate::emulator) centre: Vec3,
}

/// Returns the contact of each vehicle and spawned object: the first that is found with another one, then with the
/// scene, then with the ground. attached bodies do not collide; `speeds` are those down, in m/s, before this instant.
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
    let touched = |(id, solid): &(u16, Solid)| {
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
    bodies.iter().filter_map(touched).collect()
}

fn ground_contact(id: u16, solid: &Solid, speed: f64) -> Option<Contact> {
    let (_, high) = solid.limits();
    let hit = high.z > DEPTH || (high.z > -DEPTH && speed > CRASH_SPEED);
    let place = solid.pose.position;
    let point = Vec3::new(place.x, place.y, 0.0);
    hit.then_some(Contact { id, with: Object::Ground, point, centre: point })
}

/// Returns where two bodies touch.
///
/// The nearest point of one to a point of the other, and so on in turn, ends at the pair of nearest points of two convex
/// bodies.
fn touch_point(a: &Solid, b: &Solid) -> Option<Vec3> {
    const TURNS: usize = 64;
    let away = (a.pose.position - b.pose.position).norm();
    if away > a.radius() + b.radius() + TOUCH {
        return None;
    }
    let mut point = a.pose.position;
    let mut before = f64::INFINITY;
    for _ in 0..TURNS {
        let on = nearest(b, &point);
        point = nearest(a, &on);
        let gap = (point - on).norm();
        if gap <= TOUCH {
            return Some((point + on) / 2.0);
        }
        if before - gap < 1e-6 {
            return None;
        }
        before = gap;
    }
    None
}

/// The point of a solid that is nearest to a point, both NED.
fn nearest(solid: &Solid, point: &Vec3) -> Vec3 {
    let attitude = &solid.pose.attitude;
    let own = attitude.inverse() * (point - solid.pose.position);
    let half = &solid.half;
    let inside = match solid.shape {
        Shape::Box => Vec3::from_fn(|i, _| own[i].clamp(-half[i], half[i])),
        Shape::Cylinder => {
            let flat = nearest_on_ellipsoid(&Vec3::new(own.x, own.y, 0.0), half);
            Vec3::new(flat.x, flat.y, own.z.clamp(-half.z, half.z))
        }
        Shape::Ellipsoid => nearest_on_ellipsoid(&own, half),
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
    // The excess falls with t, and is below 0 here.
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
