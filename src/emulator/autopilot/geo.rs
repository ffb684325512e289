//! Positions on the earth: WGS 84 and the plane that touches it at the map centre.
use crate::emulator::world::Vec3;
use map_3d::{Ellipsoid, geodetic2ned, ned2geodetic};

/// The documented map centre: latitude deg, longitude deg, altitude m.
pub const MAP_CENTRE: [f64; 3] = [40.154_030_2, 116.259_368_3, 50.0];

/// The map centre, as reference of all positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geo {
    /// Latitude deg, longitude deg, altitude m.
    pub centre: [f64; 3],
}

impl Default for Geo {
    fn default() -> Self {
        Self { centre: MAP_CENTRE }
    }
}

impl Geo {
    /// Returns latitude deg, longitude deg, altitude m of a position in m, NED from the map centre.
    pub fn to_degrees(self, position: &Vec3) -> [f64; 3] {
        let [latitude, longitude, altitude] = radians(self.centre);
        let [x, y, z] = (*position).into();
        let (latitude, longitude, altitude) =
            ned2geodetic(x, y, z, latitude, longitude, altitude, Ellipsoid::WGS84);
        [latitude.to_degrees(), longitude.to_degrees(), altitude]
    }

    /// Returns the position in m on a flat map, as PX4 projects it: height does not depend on the distance.
    pub fn project(self, [latitude, longitude, altitude]: [f64; 3]) -> Vec3 {
        let mut position = self.to_ned([latitude, longitude, self.centre[2]]);
        position.z = self.centre[2] - altitude;
        position
    }

    /// Returns the position in m, NED from the map centre.
    pub fn to_ned(self, position: [f64; 3]) -> Vec3 {
        let ([lat, lon, altitude], [lat0, lon0, altitude0]) =
            (radians(position), radians(self.centre));
        let (north, east, down) =
            geodetic2ned(lat, lon, altitude, lat0, lon0, altitude0, Ellipsoid::WGS84);
        Vec3::new(north, east, down)
    }
}

fn radians([latitude, longitude, altitude]: [f64; 3]) -> [f64; 3] {
    [latitude.to_radians(), longitude.to_radians(), altitude]
}
