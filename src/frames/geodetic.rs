//! Positions on the earth (WGS 84), local tangent planes, and the height of the geoid above the ellipsoid.
use super::vector::{Ecef, Enu, Ned, Vector};
use map_3d::Ellipsoid::WGS84;

/// A geodetic position (WGS 84).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geodetic {
    /// Degrees, north positive.
    pub latitude_deg: f64,
    /// Degrees, east positive.
    pub longitude_deg: f64,
    /// m, up: above the ellipsoid for [`Geodetic::to_ecef`]; for tangent planes, above any reference that both positions
    /// share.
    pub altitude_m: f64,
}

impl Geodetic {
    /// Default origin of the simulator's map.
    pub const MAP_CENTRE: Self = Self::new(40.154_030_2, 116.259_368_3, 50.0);

    /// Creates a position.
    pub const fn new(latitude_deg: f64, longitude_deg: f64, altitude_m: f64) -> Self {
        Self { latitude_deg, longitude_deg, altitude_m }
    }

    /// Creates a position from MAVLink's units: 1e-7 degrees and mm.
    pub fn from_e7([latitude, longitude, millimetres]: [i32; 3]) -> Self {
        let [latitude, longitude] = [latitude, longitude].map(|e7| f64::from(e7) / 1e7);
        Self::new(latitude, longitude, f64::from(millimetres) / 1e3)
    }

    /// Returns MAVLink's units, rounded: 1e-7 degrees and mm. `None` if a number does not fit.
    pub fn to_e7(self) -> Option<[i32; 3]> {
        let to_i32 = |value: f64| {
            let fits = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value.round());
            fits.then_some(value.round() as i32)
        };
        Some([
            to_i32(self.latitude_deg * 1e7)?,
            to_i32(self.longitude_deg * 1e7)?,
            to_i32(self.altitude_m * 1e3)?,
        ])
    }

    /// Whether the position is known: finite, valid degrees, and not the zeros that mean unknown.
    ///
    /// The vendor's client treats every position with negative latitude and longitude as unknown; the bridge does not.
    pub fn is_known(self) -> bool {
        self.latitude_deg.abs() <= 90.0
            && self.longitude_deg.abs() <= 360.0
            && self.altitude_m.is_finite()
            && (self.latitude_deg.abs() >= 0.001 || self.longitude_deg.abs() >= 0.001)
    }

    fn radians(self) -> (f64, f64, f64) {
        (self.latitude_deg.to_radians(), self.longitude_deg.to_radians(), self.altitude_m)
    }

    /// Returns earth-centred coordinates.
    pub fn to_ecef(self) -> Vector<Ecef> {
        let (latitude, longitude, altitude) = self.radians();
        let (x, y, z) = map_3d::geodetic2ecef(latitude, longitude, altitude, WGS84);
        Vector::new(x, y, z)
    }

    /// Returns the position of earth-centred coordinates; NaN at the centre of the earth.
    pub fn from_ecef(position: Vector<Ecef>) -> Self {
        let [x, y, z] = position.to_array();
        let (latitude, longitude, altitude) = map_3d::ecef2geodetic(x, y, z, WGS84);
        Self::new(latitude.to_degrees(), longitude.to_degrees(), altitude)
    }

    /// Returns the position in the tangent plane at `reference`.
    pub fn to_ned(self, reference: Self) -> Vector<Ned> {
        let (latitude, longitude, altitude) = self.radians();
        let (latitude0, longitude0, altitude0) = reference.radians();
        let (north, east, down) = map_3d::geodetic2ned(
            latitude, longitude, altitude, latitude0, longitude0, altitude0, WGS84,
        );
        Vector::new(north, east, down)
    }

    /// Returns the position in the tangent plane at `reference`.
    pub fn to_enu(self, reference: Self) -> Vector<Enu> {
        self.to_ned(reference).into()
    }

    /// Returns the geodetic position of a point in the tangent plane at `reference`.
    pub fn from_ned(position: Vector<Ned>, reference: Self) -> Self {
        let [north, east, down] = position.to_array();
        let (latitude0, longitude0, altitude0) = reference.radians();
        let (x, y, z) =
            map_3d::ned2ecef(north, east, down, latitude0, longitude0, altitude0, WGS84);
        Self::from_ecef(Vector::new(x, y, z))
    }

    /// Returns the geodetic position of a point in the tangent plane at `reference`.
    pub fn from_enu(position: Vector<Enu>, reference: Self) -> Self {
        Self::from_ned(position.into(), reference)
    }

    /// Returns the position of a vehicle's home in the simulator's map; `None` while home is not known.
    ///
    /// Estimates are relative to home, the true state to the map's centre; the offset is their difference.
    pub fn home_offset(home: Self, map_centre: Self) -> Option<Vector<Ned>> {
        home.is_known().then(|| home.to_ned(map_centre))
    }
}

/// Model of the geoid's height above the ellipsoid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Geoid {
    /// EGM96, as mavros and PX4 use it.
    #[default]
    Egm96,
    /// Constant height in m; 0: a simulator without a geoid.
    Constant(f64),
}

impl Geoid {
    /// Returns the height of the geoid above the ellipsoid in m. EGM96 takes about a millisecond: see [`Separation`].
    pub fn separation(self, latitude_deg: f64, longitude_deg: f64) -> f64 {
        match self {
            Self::Constant(height) => height,
            Self::Egm96 if latitude_deg.is_finite() && longitude_deg.is_finite() => {
                egm96::egm96_compute_altitude_offset(latitude_deg, longitude_deg)
            }
            Self::Egm96 => f64::NAN,
        }
    }
}

/// Cached height of the geoid for one moving position.
#[derive(Clone, Copy, Debug, Default)]
pub struct Separation {
    geoid: Geoid,
    /// Latitude and longitude in degrees, height in m.
    computed: Option<[f64; 3]>,
}

impl Separation {
    /// Distance after which the height is computed again: the geoid changes by a few centimetres in 1 km.
    const RANGE_M: f64 = 1000.0;
    const METRES_PER_DEGREE: f64 = 111_320.0;

    /// Creates an empty cache.
    pub const fn new(geoid: Geoid) -> Self {
        Self { geoid, computed: None }
    }

    /// Returns the height of the geoid above the ellipsoid in m; recomputed after about 1 km.
    pub fn at(&mut self, latitude_deg: f64, longitude_deg: f64) -> f64 {
        if let Some([latitude, longitude, height]) = self.computed {
            let north = latitude_deg - latitude;
            let east = longitude_deg - longitude;
            let east = (east - 360.0 * (east / 360.0).round()) * latitude_deg.to_radians().cos();
            if north.hypot(east) * Self::METRES_PER_DEGREE <= Self::RANGE_M {
                return height;
            }
        }
        let height = self.geoid.separation(latitude_deg, longitude_deg);
        // A NaN must not become the cached reference.
        self.computed = height.is_finite().then_some([latitude_deg, longitude_deg, height]);
        height
    }
}
