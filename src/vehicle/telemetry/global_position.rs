//! `global_position/*`: the fix of the GPS and the estimator's global position.
use super::convert::{NOT_KNOWN, enu_wxyz, geo_point, point, quaternion};
use super::{fix_quality::FixQuality, plugin::plugin, topic::RosResult};
use crate::frames::{Attitude, Enu, Euler, Frd, Geodetic, Ned, Vector};
use crate::msgs::geometry_msgs::msg::{PoseStamped, TwistStamped, Vector3};
use crate::msgs::sensor_msgs::msg::NavSatFix;
use crate::msgs::std_msgs::msg::{Float64, UInt32};
use crate::vehicle::fcu::metres;
use crate::vehicle::stamp::stamp_us;
use crate::vehicle::{Autopilot, Counter, Fcu};
use crate::wire::mavlink::dialect::{
    GLOBAL_POSITION_INT_DATA, GPS_GLOBAL_ORIGIN_DATA, LOCAL_POSITION_NED_SYSTEM_GLOBAL_OFFSET_DATA,
};
use crate::wire::mavlink::raw::{GpsRawInt, SetGpsGlobalOrigin};
use crate::{msgs::geographic_msgs::msg::GeoPointStamped, msgs::nav_msgs::msg::Odometry};

plugin! { GlobalPositionPlugin(settings) {
    publish {
        // `frame_id` of a fix is the frame of the antenna, not of the coordinates.
        raw_fix: NavSatFix("global_position/raw/fix", Telemetry, "GPS fix (GPS_RAW_INT)") in settings.base_link;
        raw_velocity: TwistStamped("global_position/raw/gps_vel", Telemetry, "velocity over ground of the GPS, ENU") in settings.local_frame();
        raw_satellites: UInt32("global_position/raw/satellites", Telemetry, "satellites in view");
        global: NavSatFix("global_position/global", Telemetry, "estimated position; altitude above the ellipsoid (GLOBAL_POSITION_INT)") in settings.base_link;
        local: Odometry("global_position/local", Telemetry, "`global` in `local_origin`, ENU; relative to the first fix until the origin is known") in settings.local_frame()
            => |odometry| {
                odometry.child_frame_id.clone_from(&settings.base_link);
                odometry.pose.pose.orientation = quaternion([1.0, 0.0, 0.0, 0.0]);
                odometry.twist.covariance[0] = -1.0;
            };
        rel_alt: Float64("global_position/rel_alt", Telemetry, "height above home in m");
        compass_hdg: Float64("global_position/compass_hdg", Telemetry, "heading in degrees, 0 to 360 from north, clockwise; NaN if unknown");
        gp_origin: GeoPointStamped("global_position/gp_origin", Latched, "local origin (GPS_GLOBAL_ORIGIN)") in "earth";
        gp_lp_offset: PoseStamped("global_position/gp_lp_offset", Telemetry, "LOCAL_POSITION_NED_SYSTEM_GLOBAL_OFFSET") in "earth";
    }
    subscribe {
        GeoPointStamped("global_position/set_gp_origin", "SET_GPS_GLOBAL_ORIGIN") => set_gp_origin;
    }
    state {
        quality: FixQuality;
        /// Position at the first fix: the origin of `local` until the local origin or home is known.
        first_fix: Option<Geodetic>;
    }
    receive {
        dialect::GLOBAL_POSITION_INT_DATA => global_position_int,
        dialect::GPS_GLOBAL_ORIGIN_DATA => gps_global_origin,
        dialect::LOCAL_POSITION_NED_SYSTEM_GLOBAL_OFFSET_DATA => global_offset,
        raw::GpsRawInt => gps_raw_int,
    }
} }

impl GlobalPositionPlugin {
    fn gps_raw_int(&mut self, fcu: &mut Fcu, m: &GpsRawInt) -> RosResult {
        self.quality = FixQuality::of(m);
        let (quality, stamp) = (self.quality, fcu.stamp_us(m.time_usec));
        // Converted only for subscribers: without a fix, autopilots send arbitrary numbers, which `to_geodetic` may count as
        // an invalid position.
        let geo = self.raw_fix.is_subscribed().then(|| fcu.to_geodetic([m.lat, m.lon, m.alt]));
        if let Some(geo) = geo.flatten() {
            self.raw_fix.publish_if_subscribed(stamp, |fix| fill_fix(fix, geo, quality))?;
        }
        if m.vel != u16::MAX && m.cog != u16::MAX {
            let (speed, course) = (f64::from(m.vel) / 1e2, (f64::from(m.cog) / 1e2).to_radians());
            self.raw_velocity.publish_if_subscribed(stamp, |twist| {
                twist.twist.linear =
                    Vector3 { x: speed * course.sin(), y: speed * course.cos(), z: 0.0 };
            })?;
        }
        self.raw_satellites
            .publish_if_subscribed(stamp, |count| count.data = m.satellites_visible.into())
    }

    fn global_position_int(&mut self, fcu: &mut Fcu, m: &GLOBAL_POSITION_INT_DATA) -> RosResult {
        let quality = self.quality;
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        let Some(geo) = fcu.to_geodetic([m.lat, m.lon, m.alt]) else { return Ok(()) };
        if self.first_fix.is_none() && quality.is_fix() && geo.altitude_m.is_finite() {
            self.first_fix = Some(geo);
        }
        let above_home = metres(m.relative_alt);
        fcu.amsl = Some(metres(m.alt)).filter(|altitude| altitude.is_finite());
        // mavros' `local` is relative to home, which differs from the local origin if the vehicle was moved before it was armed.
        let local_origin = fcu.origin_above_ellipsoid();
        let (origin, height) = match (local_origin.filter(|_| !fcu.settings.quirks), fcu.home) {
            (Some(origin), Some(home)) => {
                (origin, above_home + home.altitude_m - origin.altitude_m)
            }
            (Some(origin), None) => (origin, geo.altitude_m - origin.altitude_m),
            (None, home) => (home.or(self.first_fix).unwrap_or(geo), above_home),
        };
        self.global.publish_if_subscribed(stamp, |fix| fill_fix(fix, geo, quality))?;
        let [north, east, down] = [m.vx, m.vy, m.vz].map(|v| f64::from(v) / 1e2);
        // mavros does not negate the vertical speed.
        let up = if fcu.settings.quirks { down } else { -down };
        // No odometry without a known altitude.
        if geo.altitude_m.is_finite() && height.is_finite() {
            self.local.publish_if_subscribed(stamp, |odometry| {
                let plane = geo.to_enu(origin);
                let position = Vector::<Enu>::new(plane.x(), plane.y(), height);
                odometry.pose.pose.position = point(position);
                // The message has no orientation.
                let mut covariance = quality.covariance.to_linear_part();
                for cell in covariance.iter_mut().skip(21).step_by(7) {
                    *cell = NOT_KNOWN;
                }
                odometry.pose.covariance = covariance;
                odometry.twist.twist.linear = Vector3 { x: east, y: north, z: up };
            })?;
        }
        self.rel_alt.publish_if_subscribed(stamp, |height| height.data = above_home)?;
        self.compass_hdg.publish_if_subscribed(stamp, |heading| {
            heading.data = match m.hdg {
                u16::MAX => f64::NAN,
                known => f64::from(known) / 1e2,
            };
        })
    }

    /// The connection was lost: the next autopilot may be elsewhere.
    pub(super) fn lost(&mut self) {
        self.first_fix = None;
    }

    fn gps_global_origin(&mut self, fcu: &mut Fcu, m: &GPS_GLOBAL_ORIGIN_DATA) -> RosResult {
        let e7 = [m.latitude, m.longitude, m.altitude];
        let Some(geo) = fcu.to_geodetic(e7) else { return Ok(()) };
        if geo.altitude_m.is_finite() {
            fcu.set_origin(Geodetic::from_e7(e7));
        }
        let stamp = fcu.stamp_us(m.time_usec);
        self.gp_origin.publish_always(stamp, |origin| origin.position = geo_point(geo))
    }

    fn global_offset(
        &mut self,
        fcu: &mut Fcu,
        m: &LOCAL_POSITION_NED_SYSTEM_GLOBAL_OFFSET_DATA,
    ) -> RosResult {
        if !fcu.check_finite([m.x, m.y, m.z, m.roll, m.pitch, m.yaw]) {
            return Ok(());
        }
        let [roll, pitch, yaw] = [m.roll, m.pitch, m.yaw].map(f64::from);
        let attitude = Attitude::<Frd, Ned>::from_euler(Euler { roll, pitch, yaw });
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        self.gp_lp_offset.publish_always(stamp, |offset| {
            offset.pose.position = point(Vector::<Enu>::from(Vector::<Ned>::from([m.x, m.y, m.z])));
            offset.pose.orientation = quaternion(enu_wxyz(attitude));
        })
    }
}

fn fill_fix(fix: &mut NavSatFix, geo: Geodetic, quality: FixQuality) {
    fix.latitude = geo.latitude_deg;
    fix.longitude = geo.longitude_deg;
    fix.altitude = geo.altitude_m;
    quality.fill(fix);
}

fn set_gp_origin(autopilot: &mut Autopilot, message: GeoPointStamped) {
    let fcu = &mut autopilot.fcu;
    let Some([latitude, longitude, altitude]) = fcu.to_e7(&message.position) else {
        return fcu.count(Counter::BadPosition);
    };
    let message = SetGpsGlobalOrigin {
        target_system: fcu.system,
        latitude,
        longitude,
        altitude,
        time_usec: stamp_us(&message.header.stamp),
    };
    // A failure is counted.
    let _counted = fcu.send(message);
}
