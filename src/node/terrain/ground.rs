//! Heights of the terrain in the axes of the map frame.
use crate::frames::{Vector, WorldConvention};
use crate::{config::params::Params, scene::TerrainMap};
use std::sync::Arc;

/// The terrain in the axes of the map frame.
#[derive(Clone)]
pub(super) struct Ground {
    map: Arc<TerrainMap>,
    world: WorldConvention,
    pub(super) frame: String,
}

/// A rectangle in the axes of the map frame, in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Region {
    pub(super) low: [f64; 2],
    pub(super) high: [f64; 2],
}

impl Region {
    /// Returns the smallest region that contains both points.
    pub(super) fn between(a: [f64; 2], b: [f64; 2]) -> Self {
        Self { low: [a[0].min(b[0]), a[1].min(b[1])], high: [a[0].max(b[0]), a[1].max(b[1])] }
    }

    fn contains(&self, at: [f64; 2]) -> bool {
        (0..2).all(|axis| (self.low[axis]..=self.high[axis]).contains(&at[axis]))
    }
}

impl std::fmt::Display for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ([x, y], [to_x, to_y]) = (self.low, self.high);
        write!(f, "x {x} to {to_x} m, y {y} to {to_y} m")
    }
}

impl Ground {
    pub(super) fn new(map: Arc<TerrainMap>, world: WorldConvention, params: &Params) -> Self {
        Self { map, world, frame: params.frames.map.clone() }
    }

    fn to_north_east(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let ned = self.world.ned([x, y, 0.0]);
        [ned.x(), ned.y()]
    }

    fn to_map(&self, [north, east]: [f64; 2]) -> [f64; 2] {
        let [x, y, _] = self.world.vector(Vector::new(north, east, 0.0));
        [x, y]
    }

    /// Returns the region that the terrain covers.
    pub(super) fn extent(&self) -> Region {
        let (origin, far) = (self.map.origin(), self.map.end());
        Region::between(self.to_map(origin), self.to_map(far))
    }

    /// Returns the smaller of the pixel spacings along x and y, in m.
    pub(super) fn step(&self) -> f64 {
        let [x, y] = self.map.step().map(f64::abs);
        x.min(y)
    }

    /// Returns the height above the map's origin, positive upwards; `None` outside of the terrain.
    pub(super) fn height(&self, at: [f64; 2]) -> Option<f64> {
        // A difference, not a negation, so that the height is never -0.
        let height = || 0.0 - self.map.height(self.to_north_east(at));
        self.extent().contains(at).then(height)
    }
}
