//! Geodetic position of the origin of the simulator's map.
use crate::frames::{Geodetic, Ned, Vector};
use parking_lot::Mutex;
use std::sync::Arc;

/// Geodetic position of the map's origin: the true state is relative to it, estimates are relative to home.
#[derive(Clone)]
pub(super) struct MapCentre(Arc<Mutex<Geodetic>>);

impl Default for MapCentre {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Geodetic::MAP_CENTRE)))
    }
}

impl MapCentre {
    /// Radius of the map in m; a position outside belongs to another map.
    const REACH_M: f64 = 100_000.0;

    /// Sets the position that the simulator reports.
    pub(super) fn set(&self, centre: Geodetic) {
        let mut current = self.0.lock();
        if *current != centre {
            tracing::info!(
                latitude = centre.latitude_deg,
                longitude = centre.longitude_deg,
                altitude = centre.altitude_m,
                "the origin of the simulator's map"
            );
            *current = centre;
        }
    }

    /// Converts a geodetic position to a position in the map; `None` if outside.
    pub(super) fn position_of(&self, geodetic: Geodetic) -> Option<Vector<Ned>> {
        let centre = *self.0.lock();
        let position = Geodetic::home_offset(geodetic, centre)?;
        (position.norm() <= Self::REACH_M).then_some(position)
    }
}
