//! Home, the origin of local positions, and positions of MAVLink.
use super::Fcu;
use crate::vehicle::Counter;
use crate::{frames::Geodetic, msgs::geographic_msgs::msg::GeoPoint};

impl Fcu {
    /// Origin of local positions; its altitude is above sea level.
    pub fn origin(&self) -> Option<Geodetic> {
        self.origin
    }

    /// As [`Self::origin`], with its altitude above the ellipsoid.
    pub fn origin_above_ellipsoid(&mut self) -> Option<Geodetic> {
        let origin = self.origin?;
        let altitude_m = origin.altitude_m + self.separation(origin);
        Some(Geodetic { altitude_m, ..origin })
    }

    /// Whether the autopilot reported its origin.
    pub(in crate::vehicle) fn is_origin_reported(&self) -> bool {
        self.is_origin_reported
    }

    /// Adopts a reported origin.
    pub(in crate::vehicle) fn set_origin(&mut self, origin: Geodetic) {
        if origin.is_known() {
            (self.origin, self.is_origin_reported) = (Some(origin), true);
        }
    }

    /// Adopts the origin inferred from home and its local position, until the autopilot reports one.
    pub(in crate::vehicle) fn infer_origin(&mut self, origin: Option<Geodetic>) {
        if !self.is_origin_reported {
            self.origin = origin;
        }
    }

    /// Forgets positions: an autopilot that reconnects or restarts may be elsewhere.
    pub(in crate::vehicle) fn forget_positions(&mut self) {
        (self.home, self.origin, self.is_origin_reported) = (None, None, false);
        self.home_height = 0.0;
    }

    /// Converts a position of MAVLink (1e-7 degrees, mm above sea level) to one with its altitude above the ellipsoid, NaN if
    /// the autopilot knows none. Counts an invalid position.
    pub fn to_geodetic(&mut self, e7: [i32; 3]) -> Option<Geodetic> {
        let position = Geodetic::from_e7(e7);
        if position.latitude_deg.abs() > 90.0 || position.longitude_deg.abs() > 180.0 {
            self.count(Counter::BadPosition);
            return None;
        }
        let [.., altitude] = e7;
        Some(Geodetic { altitude_m: metres(altitude) + self.separation(position), ..position })
    }

    /// The inverse of [`Self::to_geodetic`]; `None` if the position is invalid.
    pub fn to_e7(&mut self, position: &GeoPoint) -> Option<[i32; 3]> {
        let geo = Geodetic::new(position.latitude, position.longitude, position.altitude);
        if !geo.is_known() {
            return None;
        }
        let amsl = Geodetic { altitude_m: geo.altitude_m - self.separation(geo), ..geo };
        amsl.to_e7()
    }

    fn separation(&mut self, position: Geodetic) -> f64 {
        self.geoid.at(position.latitude_deg, position.longitude_deg)
    }
}

/// mm to m; NaN at both ends of the range, to which autopilots cast NaN.
pub(in crate::vehicle) fn metres(mm: i32) -> f64 {
    match mm {
        i32::MIN | i32::MAX => f64::NAN,
        mm => f64::from(mm) / 1e3,
    }
}
