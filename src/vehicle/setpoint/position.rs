//! `setpoint_position/*`: a pose, local or global.
use super::geometry::{ned, point, stamp_ms, wxyz, yaw};
use super::target::{ACCELERATION, SetpointTarget, VELOCITY, YAW_RATE};
use super::{reject::Reject, subscriptions::subscriptions};
use crate::frames::{Geodetic, Separation};
use crate::msgs::geographic_msgs::msg::{GeoPoint, GeoPoseStamped};
use crate::msgs::geometry_msgs::msg::{PoseStamped, Quaternion};
use crate::time::RosTime;
use crate::vehicle::{Fcu, fcu::ANOTHER_RUN_NS};
use crate::wire::mavlink::numbers::{MAV_FRAME_GLOBAL_INT, MAV_FRAME_LOCAL_NED};
use crate::{msgs::builtin_interfaces::msg::Time, wire::mavlink::MavMessage};
use std::time::Duration;

subscriptions! {
    PoseStamped("setpoint_position/local", "position and yaw") => |autopilot, topic, message| {
        let frame = autopilot.fcu.settings.position_frame.number();
        let position = point(&message.pose.position);
        let target = pose_target(&message.header.stamp, frame, position, &message.pose.orientation);
        autopilot.send_local_setpoint(topic, &target);
    };
    GeoPoseStamped("setpoint_position/global", "latitude, longitude, altitude (AMSL) and yaw") => |autopilot, topic, message| {
        let GeoPoint { latitude, longitude, altitude, .. } = message.pose.position;
        autopilot.send_global_setpoint(topic, &SetpointTarget {
            stamp_ms: stamp_ms(&message.header.stamp),
            // The altitude is above sea level.
            frame: MAV_FRAME_GLOBAL_INT,
            mask: VELOCITY | ACCELERATION,
            position: [latitude, longitude, altitude],
            yaw: Some(yaw(wxyz(&message.pose.orientation))),
            ..SetpointTarget::default()
        });
    };
    GeoPoseStamped("setpoint_position/global_to_local", "as `global`, but the altitude is above the ellipsoid; sent as a local position")
        => |autopilot, topic, message| match autopilot.setpoints.reported.target(message, &autopilot.fcu) {
            Ok(target) => autopilot.send_local_setpoint(topic, &target),
            Err(reject) => autopilot.fcu.refuse(topic, &reject),
        };
}

fn pose_target(stamp: &Time, frame: u8, at: [f64; 3], orientation: &Quaternion) -> SetpointTarget {
    SetpointTarget {
        stamp_ms: stamp_ms(stamp),
        frame,
        mask: VELOCITY | ACCELERATION | YAW_RATE,
        position: at,
        yaw: Some(yaw(wxyz(orientation))),
        ..SetpointTarget::default()
    }
}

/// A reported local position.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportedLocalPosition {
    /// m, NED.
    pub(super) position: [f64; 3],
    /// m/s, NED.
    pub(super) velocity: [f64; 3],
    /// Arrival.
    at: Duration,
}

/// The vehicle's global and local position, to convert between them.
#[derive(Debug, Default)]
pub(super) struct ReportedPosition {
    /// With its arrival; the altitude is above sea level.
    global: Option<(Geodetic, Duration)>,
    local: Option<ReportedLocalPosition>,
    geoid: Option<Separation>,
    /// Stamp of the last converted setpoint in ns.
    last_stamp: Option<i64>,
}

impl ReportedPosition {
    /// Stores a reported position.
    pub(super) fn observe(&mut self, message: &MavMessage, at: Duration) {
        match message {
            MavMessage::GLOBAL_POSITION_INT(m) => {
                self.global = Some((Geodetic::from_e7([m.lat, m.lon, m.alt]), at));
            }
            MavMessage::LOCAL_POSITION_NED(m) => {
                self.local = Some(ReportedLocalPosition {
                    position: [m.x, m.y, m.z].map(f64::from),
                    velocity: [m.vx, m.vy, m.vz].map(f64::from),
                    at,
                });
            }
            _ => (),
        }
    }

    /// The local position, unless it is too old or not finite.
    pub(super) fn local(&self, fcu: &Fcu) -> Result<ReportedLocalPosition, Reject> {
        let is_usable = |local: &ReportedLocalPosition| {
            let numbers = [local.position, local.velocity];
            fcu.is_recent(local.at) && numbers.iter().flatten().all(|x| x.is_finite())
        };
        self.local.filter(is_usable).ok_or(Reject::NoPose)
    }

    /// Converts a global position (altitude above the ellipsoid) to a local setpoint.
    fn target(&mut self, message: &GeoPoseStamped, fcu: &Fcu) -> Result<SetpointTarget, Reject> {
        let GeoPoint { latitude, longitude, altitude, .. } = message.pose.position;
        if !(latitude.abs() <= 90.0 && longitude.abs() <= 180.0) {
            return Err(Reject::NotOnEarth { latitude, longitude });
        }
        let stamp = &message.header.stamp;
        let stamp_ns = RosTime::from_msg(stamp).0;
        let is_late = |last: i64| (0..ANOTHER_RUN_NS).contains(&last.saturating_sub(stamp_ns));
        if self.last_stamp.is_some_and(is_late) {
            return Err(Reject::NotNewer);
        }
        let global = self.global.filter(|(_, at)| fcu.is_recent(*at));
        let (here, _) = global.ok_or(Reject::NoPosition)?;
        let local = self.local(fcu)?;
        self.last_stamp = Some(stamp_ns);
        let geoid = self.geoid.get_or_insert_with(|| Separation::new(fcu.settings.geoid));
        let separation = geoid.at(here.latitude_deg, here.longitude_deg);
        let altitude_m = here.altitude_m + separation;
        let here = Geodetic { altitude_m, ..here };
        let goal = Geodetic::new(latitude, longitude, altitude);
        let [east, north, up] = goal.to_enu(here).to_array();
        // `ned` also converts NED to ENU: it is its own inverse.
        let [x, y, z] = ned(local.position);
        let position = [x + east, y + north, z + up];
        Ok(pose_target(stamp, MAV_FRAME_LOCAL_NED, position, &message.pose.orientation))
    }
}
