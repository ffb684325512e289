//! Where the simulator's map is on the earth.
use crate::frames::{Geodetic, Ned, Vector};
use std::sync::{Arc, Mutex, PoisonError};

/// Where the origin of the simulator's map is on the earth: estimates are relative to home, the truth to this.
#[derive(Clone)]
pub(super) struct MapCentre(Arc<Mutex<Geodetic>>);

impl Default for MapCentre {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Geodetic::MAP_CENTRE)))
    }
}

impl MapCentre {
    /// Further from the map's origin than this is another map.
    const REACH_M: f64 = 100_000.0;

    /// The simulator says where it is.
    pub(super) fn set(&self, centre: Geodetic) {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Where something is in the map; `None` if it is not in it.
    pub(super) fn position_of(&self, place: Geodetic) -> Option<Vector<Ned>> {
        let centre = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let position = Geodetic::home_offset(place, centre)?;
        (position.norm() <= Self::REACH_M).then_some(position)
    }
}
