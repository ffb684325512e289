//! `global_position/*` except `raw`: the estimator's global position.
use super::convert::{NOT_KNOWN, enu_wxyz, geo_point, header, point, quaternion, stamp_us};
use super::gps::Quality;
use super::topic::Topic;
use crate::frames::{Attitude, Enu, Euler, Frd, Geodetic, Ned, Vector};
use crate::msgs::geographic_msgs::msg::GeoPointStamped;
use crate::msgs::geometry_msgs::msg::{PoseStamped, Vector3};
use crate::msgs::nav_msgs::msg::Odometry;
use crate::msgs::sensor_msgs::msg::NavSatFix;
use crate::msgs::std_msgs::msg::Float64;
use crate::ros::RosError;
use crate::vehicle::fcu::metres;
use crate::vehicle::{Autopilot, Counter, Fcu, Open, VehicleSettings};
use crate::wire::mavlink::dialect::{
    GLOBAL_POSITION_INT_DATA, GPS_GLOBAL_ORIGIN_DATA, LOCAL_POSITION_NED_SYSTEM_GLOBAL_OFFSET_DATA,
};
use crate::wire::mavlink::raw::SetGpsGlobalOrigin;

pub(super) struct GlobalPosition {
    global: Topic<NavSatFix>,
    local: Topic<Odometry>,
    rel_alt: Topic<Float64>,
    compass_hdg: Topic<Float64>,
    gp_origin: Topic<GeoPointStamped>,
    gp_lp_offset: Topic<PoseStamped>,
    /// First fix: the origin of `local` until home is known.
    first: Option<Geodetic>,
}

impl GlobalPosition {
    pub(super) fn open(open: &Open<'_>, settings: &VehicleSettings) -> Result<Self, RosError> {
        let global = NavSatFix {
            // A fix is in the frame of the antenna.
            header: header(&settings.base_link),
            ..NavSatFix::default()
        };
        let mut local = Odometry {
            header: header(settings.local_frame()),
            child_frame_id: settings.base_link.clone(),
            ..Odometry::default()
        };
        local.pose.pose.orientation = quaternion([1.0, 0.0, 0.0, 0.0]);
        let [unknown, ..] = &mut local.twist.covariance;
        *unknown = -1.0;
        let gp_origin = GeoPointStamped { header: header("earth"), ..GeoPointStamped::default() };
        let gp_lp_offset = PoseStamped { header: header("earth"), ..PoseStamped::default() };
        open.subscribe("global_position/set_gp_origin", set_gp_origin)?;
        Ok(Self {
            global: Topic::open(open, "global_position/global", global)?,
            local: Topic::open(open, "global_position/local", local)?,
            rel_alt: Topic::open(open, "global_position/rel_alt", Float64::default())?,
            compass_hdg: Topic::open(open, "global_position/compass_hdg", Float64::default())?,
            gp_origin: Topic::open(open, "global_position/gp_origin", gp_origin)?,
            gp_lp_offset: Topic::open(open, "global_position/gp_lp_offset", gp_lp_offset)?,
            first: None,
        })
    }

    pub(super) fn global_position_int(
        &mut self,
        fcu: &mut Fcu,
        quality: Quality,
        m: &GLOBAL_POSITION_INT_DATA,
    ) -> Result<(), RosError> {
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        let Some(place) = fcu.place([m.lat, m.lon, m.alt]) else {
            return Ok(());
        };
        if self.first.is_none() && quality.fixed() && place.altitude_m.is_finite() {
            self.first = Some(place);
        }
        let above_home = metres(m.relative_alt);
        fcu.amsl = Some(metres(m.alt)).filter(|altitude| altitude.is_finite());
        // mavros counts from home, which differs from the local origin if the vehicle was moved before it was armed.
        let own = fcu.origin_above_ellipsoid();
        let (origin, height) = match (own.filter(|_| !fcu.settings.quirks), fcu.home) {
            (Some(origin), Some(home)) => {
                (origin, above_home + home.altitude_m - origin.altitude_m)
            }
            (Some(origin), None) => (origin, place.altitude_m - origin.altitude_m),
            (None, home) => (home.or(self.first).unwrap_or(place), above_home),
        };
        self.global.publish_if_subscribed(stamp, |fix| {
            fix.latitude = place.latitude_deg;
            fix.longitude = place.longitude_deg;
            fix.altitude = place.altitude_m;
            quality.fill(fix);
        })?;
        let [north, east, down] = [m.vx, m.vy, m.vz].map(|v| f64::from(v) / 1e2);
        // mavros does not negate the vertical speed.
        let up = if fcu.settings.quirks { down } else { -down };
        // No odometry without a known altitude.
        if place.altitude_m.is_finite() && height.is_finite() {
            self.local.publish_if_subscribed(stamp, |odometry| {
                let plane = place.to_enu(origin);
                let position = Vector::<Enu>::new(plane.x(), plane.y(), height);
                odometry.pose.pose.position = point(position);
                // The message has no orientation.
                let mut covariance = quality.covariance().to_linear_part();
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
        self.first = None;
    }

    pub(super) fn gps_global_origin(
        &mut self,
        fcu: &mut Fcu,
        m: &GPS_GLOBAL_ORIGIN_DATA,
    ) -> Result<(), RosError> {
        let e7 = [m.latitude, m.longitude, m.altitude];
        let Some(place) = fcu.place(e7) else {
            return Ok(());
        };
        if place.altitude_m.is_finite() {
            fcu.set_origin(Geodetic::from_e7(e7));
        }
        let stamp = fcu.stamp_us(m.time_usec);
        self.gp_origin.publish_always(stamp, |origin| {
            origin.position = geo_point(place);
        })
    }

    pub(super) fn global_offset(
        &mut self,
        fcu: &mut Fcu,
        m: &LOCAL_POSITION_NED_SYSTEM_GLOBAL_OFFSET_DATA,
    ) -> Result<(), RosError> {
        if !fcu.finite([m.x, m.y, m.z, m.roll, m.pitch, m.yaw]) {
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
