//! `global_position/raw/*` and `gpsstatus/*`: reports of the GPS receivers.
use super::convert::header;
use super::topic::Topic;
use crate::frames::{Covariance3, Enu};
use crate::msgs::geometry_msgs::msg::{TwistStamped, Vector3};
use crate::msgs::mavros_msgs::msg::GPSRAW;
use crate::msgs::sensor_msgs::msg::{NavSatFix, NavSatStatus};
use crate::msgs::std_msgs::msg::UInt32;
use crate::ros::RosError;
use crate::vehicle::{Fcu, Open, VehicleSettings};
use crate::wire::mavlink::raw::{Gps2Raw, GpsRawInt};

/// GPS_FIX_TYPE_3D_FIX.
const FIX_3D: u8 = 3;
/// NavSatStatus.
const NO_FIX: i8 = -1;
const FIX: i8 = 0;
const SERVICE_GPS: u16 = 1;
/// NavSatFix.position_covariance_type.
const UNKNOWN: u8 = 0;
const APPROXIMATED: u8 = 1;
const DIAGONAL_KNOWN: u8 = 2;
/// Standard deviation in m of a position at a dilution of 1, as mavros assumes.
const RANGE_ERROR_M: f64 = 1.0;

/// Quality of the last fix; the estimated position is published with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quality {
    status: i8,
    covariance: Covariance3<Enu>,
    kind: u8,
}

impl Default for Quality {
    fn default() -> Self {
        Self {
            status: NO_FIX,
            covariance: Covariance3::from_rows([-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            kind: UNKNOWN,
        }
    }
}

impl Quality {
    fn of(m: &GpsRawInt) -> Self {
        let status = if m.fix_type >= FIX_3D { FIX } else { NO_FIX };
        let of = |horizontal: f64, vertical: f64, kind| {
            let variances =
                [horizontal, horizontal, vertical].map(|deviation| deviation * deviation);
            Self { status, covariance: Covariance3::from_variances(variances), kind }
        };
        if m.h_acc > 0 && m.v_acc > 0 {
            let metres = |mm: u32| f64::from(mm) / 1e3;
            of(metres(m.h_acc), metres(m.v_acc), DIAGONAL_KNOWN)
        } else if m.eph != u16::MAX && m.epv != u16::MAX {
            let metres = |dilution: u16| f64::from(f32::from(dilution) / 1e2) * RANGE_ERROR_M;
            of(metres(m.eph), metres(m.epv), APPROXIMATED)
        } else {
            Self { status, ..Self::default() }
        }
    }

    /// Whether there was a fix.
    pub(super) const fn fixed(self) -> bool {
        self.status == FIX
    }

    pub(super) const fn covariance(self) -> Covariance3<Enu> {
        self.covariance
    }

    /// Writes the quality into a fix.
    pub(super) fn fill(self, fix: &mut NavSatFix) {
        fix.status = NavSatStatus { status: self.status, service: SERVICE_GPS };
        fix.position_covariance = self.covariance.to_rows();
        fix.position_covariance_type = self.kind;
    }
}

pub(super) struct Gps {
    fix: Topic<NavSatFix>,
    velocity: Topic<TwistStamped>,
    satellites: Topic<UInt32>,
    gps1: Topic<GPSRAW>,
    gps2: Topic<GPSRAW>,
    quality: Quality,
}

impl Gps {
    pub(super) fn open(open: &Open<'_>, settings: &VehicleSettings) -> Result<Self, RosError> {
        // A fix is in the frame of the antenna.
        let fix = NavSatFix { header: header(&settings.base_link), ..NavSatFix::default() };
        let velocity =
            TwistStamped { header: header(settings.local_frame()), ..TwistStamped::default() };
        let raw = || GPSRAW {
            header: header("/wgs84"),
            dgps_numch: u8::MAX,
            dgps_age: u32::MAX,
            ..GPSRAW::default()
        };
        Ok(Self {
            fix: Topic::open(open, "global_position/raw/fix", fix)?,
            velocity: Topic::open(open, "global_position/raw/gps_vel", velocity)?,
            satellites: Topic::open(open, "global_position/raw/satellites", UInt32::default())?,
            gps1: Topic::open(open, "gpsstatus/gps1/raw", raw())?,
            gps2: Topic::open(open, "gpsstatus/gps2/raw", raw())?,
            quality: Quality::default(),
        })
    }

    /// Quality of the last fix.
    pub(super) const fn quality(&self) -> Quality {
        self.quality
    }

    pub(super) fn gps_raw_int(&mut self, fcu: &mut Fcu, m: &GpsRawInt) -> Result<(), RosError> {
        self.quality = Quality::of(m);
        let (quality, stamp) = (self.quality, fcu.stamp_us(m.time_usec));
        // Without a fix the position is unknown, and autopilots cast that to arbitrary numbers.
        let place = self.fix.wanted().then(|| fcu.place([m.lat, m.lon, m.alt]));
        if let Some(place) = place.flatten() {
            self.fix.publish_if_subscribed(stamp, |fix| {
                fix.latitude = place.latitude_deg;
                fix.longitude = place.longitude_deg;
                fix.altitude = place.altitude_m;
                quality.fill(fix);
            })?;
        }
        if m.vel != u16::MAX && m.cog != u16::MAX {
            let (speed, course) = (f64::from(m.vel) / 1e2, (f64::from(m.cog) / 1e2).to_radians());
            self.velocity.publish_if_subscribed(stamp, |twist| {
                twist.twist.linear =
                    Vector3 { x: speed * course.sin(), y: speed * course.cos(), z: 0.0 };
            })?;
        }
        self.satellites
            .publish_if_subscribed(stamp, |count| count.data = m.satellites_visible.into())?;
        self.gps1.publish_if_subscribed(stamp, |raw| {
            raw.fix_type = m.fix_type;
            (raw.lat, raw.lon, raw.alt) = (m.lat, m.lon, m.alt);
            (raw.eph, raw.epv, raw.vel, raw.cog) = (m.eph, m.epv, m.vel, m.cog);
            raw.satellites_visible = m.satellites_visible;
            raw.alt_ellipsoid = m.alt_ellipsoid;
            (raw.h_acc, raw.v_acc, raw.vel_acc) = (m.h_acc, m.v_acc, m.vel_acc);
            raw.hdg_acc = i32::try_from(m.hdg_acc).unwrap_or(i32::MAX);
            raw.yaw = m.yaw;
        })
    }

    pub(super) fn gps2_raw(&mut self, fcu: &mut Fcu, m: &Gps2Raw) -> Result<(), RosError> {
        let stamp = fcu.stamp_us(m.time_usec);
        self.gps2.publish_if_subscribed(stamp, |raw| {
            raw.fix_type = m.fix_type;
            (raw.lat, raw.lon, raw.alt) = (m.lat, m.lon, m.alt);
            (raw.eph, raw.epv, raw.vel, raw.cog) = (m.eph, m.epv, m.vel, m.cog);
            raw.satellites_visible = m.satellites_visible;
            raw.alt_ellipsoid = m.alt_ellipsoid;
            (raw.h_acc, raw.v_acc, raw.vel_acc) = (m.h_acc, m.v_acc, m.vel_acc);
            raw.hdg_acc = i32::try_from(m.hdg_acc).unwrap_or(i32::MAX);
            raw.yaw = m.yaw;
            (raw.dgps_numch, raw.dgps_age) = (m.dgps_numch, m.dgps_age);
        })
    }
}
