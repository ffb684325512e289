//! The geofence: PX4's maximum distances, and the uploaded areas.
use super::parameters::{Parameters, px4_parameters};
use super::{failsafe::FenceBreach, geo::Geo};
use crate::emulator::world::Vec3;
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::MissionItemInt;

px4_parameters! {
    /// Maximum distances; 0 is no limit.
    pub FenceLimits {
        distance: f64 = number("GF_MAX_HOR_DIST"), " in m";
        height: f64 = number("GF_MAX_VER_DIST"), " in m";
    }
}

impl FenceLimits {
    pub(super) fn store(self, parameters: &mut Parameters) {
        parameters.set("GF_MAX_HOR_DIST", self.distance);
        parameters.set("GF_MAX_VER_DIST", self.height);
    }
}

/// Returns how a vehicle at `position` breaches the fence; positions in m, NED from the map centre.
pub(super) fn breach(
    position: &Vec3,
    home: &Vec3,
    limits: &FenceLimits,
    areas: &[MissionItemInt],
    geo: Geo,
) -> Option<FenceBreach> {
    let away = position - home;
    if limits.distance > 0.0 && away.xy().norm() > limits.distance {
        return Some(FenceBreach::Distance);
    }
    if limits.height > 0.0 && -away.z > limits.height {
        return Some(FenceBreach::Height);
    }
    (!is_allowed(position, areas, geo)).then_some(FenceBreach::Area)
}

/// Whether a position is inside one of the inclusion areas, if there are any, and outside all exclusion areas.
fn is_allowed(position: &Vec3, areas: &[MissionItemInt], geo: Geo) -> bool {
    let (mut has_inclusions, mut is_included, mut is_excluded) = (false, false, false);
    let mut rest = areas;
    while let Some(first) = rest.first() {
        let is_polygon = matches!(
            first.command,
            MAV_CMD_NAV_FENCE_POLYGON_VERTEX_INCLUSION | MAV_CMD_NAV_FENCE_POLYGON_VERTEX_EXCLUSION
        );
        let count = if is_polygon { first.params[0] as usize } else { 1 };
        let (area, after) = rest.split_at(count.clamp(1, rest.len()));
        rest = after;
        let corners: Vec<Vec3> = area.iter().map(|item| position_of(item, geo)).collect();
        let is_inside = if is_polygon {
            is_in_polygon(position, &corners)
        } else {
            (position - corners[0]).xy().norm() <= f64::from(first.params[0])
        };
        match first.command {
            MAV_CMD_NAV_FENCE_POLYGON_VERTEX_INCLUSION | MAV_CMD_NAV_FENCE_CIRCLE_INCLUSION => {
                has_inclusions = true;
                is_included |= is_inside;
            }
            MAV_CMD_NAV_FENCE_POLYGON_VERTEX_EXCLUSION | MAV_CMD_NAV_FENCE_CIRCLE_EXCLUSION => {
                is_excluded |= is_inside;
            }
            _ => {} // the return point
        }
    }
    (is_included || !has_inclusions) && !is_excluded
}

fn position_of(item: &MissionItemInt, geo: Geo) -> Vec3 {
    geo.to_ned([f64::from(item.x) * 1e-7, f64::from(item.y) * 1e-7, geo.centre[2]])
}

/// Whether a ray to the east crosses the border an odd number of times.
fn is_in_polygon(position: &Vec3, corners: &[Vec3]) -> bool {
    let last = corners.last().into_iter();
    let crossings = last.chain(corners).zip(corners).filter(|(a, b)| {
        (a.x > position.x) != (b.x > position.x)
            && position.y < a.y + (b.y - a.y) * (position.x - a.x) / (b.x - a.x)
    });
    crossings.count() % 2 == 1
}
