//! The geofence: PX4's maximum distances, and the uploaded areas.
use super::failsafe::Breach;
use super::geo::Geo;
use crate::emulator::world::Vec3;
use crate::wire::mavlink::raw::MissionItemInt;

/// Commands of fence items.
const INSIDE_POLYGON: u16 = 5001;
const OUTSIDE_POLYGON: u16 = 5002;
const INSIDE_CIRCLE: u16 = 5003;
const OUTSIDE_CIRCLE: u16 = 5004;

/// Maximum distances in m, by PX4's parameter names; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// GF_MAX_HOR_DIST.
    pub distance: f64,
    /// GF_MAX_VER_DIST.
    pub height: f64,
}

/// Returns how a vehicle at `position` breaches the fence; everything in m, NED from the map centre.
pub fn breach(
    position: &Vec3,
    home: &Vec3,
    limits: &Limits,
    areas: &[MissionItemInt],
    geo: Geo,
) -> Option<Breach> {
    let away = position - home;
    if limits.distance > 0.0 && away.xy().norm() > limits.distance {
        return Some(Breach::Distance);
    }
    if limits.height > 0.0 && -away.z > limits.height {
        return Some(Breach::Height);
    }
    (!allowed(position, areas, geo)).then_some(Breach::Area)
}

/// Whether a position is inside one of the inclusion areas, if there are any, and outside all exclusion areas.
fn allowed(position: &Vec3, areas: &[MissionItemInt], geo: Geo) -> bool {
    let (mut inclusions, mut included, mut excluded) = (false, false, false);
    let mut rest = areas;
    while let Some(first) = rest.first() {
        let polygon = matches!(first.command, INSIDE_POLYGON | OUTSIDE_POLYGON);
        let count = if polygon { first.params[0] as usize } else { 1 };
        let (area, after) = rest.split_at(count.clamp(1, rest.len()));
        rest = after;
        let corners: Vec<Vec3> = area.iter().map(|item| place(item, geo)).collect();
        let inside = if polygon {
            in_polygon(position, &corners)
        } else {
            (position - corners[0]).xy().norm() <= f64::from(first.params[0])
        };
        match first.command {
            INSIDE_POLYGON | INSIDE_CIRCLE => {
                inclusions = true;
                included |= inside;
            }
            OUTSIDE_POLYGON | OUTSIDE_CIRCLE => excluded |= inside,
            _ => {} // the return point
        }
    }
    (included || !inclusions) && !excluded
}

fn place(item: &MissionItemInt, geo: Geo) -> Vec3 {
    geo.to_ned([f64::from(item.x) * 1e-7, f64::from(item.y) * 1e-7, geo.centre[2]])
}

/// Whether a ray to the east crosses the border an odd number of times.
fn in_polygon(position: &Vec3, corners: &[Vec3]) -> bool {
    let last = corners.last().into_iter();
    let crossings = last.chain(corners).zip(corners).filter(|(a, b)| {
        (a.x > position.x) != (b.x > position.x)
            && position.y < a.y + (b.y - a.y) * (position.x - a.x) / (b.x - a.x)
    });
    crossings.count() % 2 == 1
}
