//! `setpoint_raw/target_*`: the setpoints that the autopilot follows.
use super::convert::{point, quaternion, vector3};
use super::{plugin::plugin, topic::RosResult};
use crate::frames::{Enu, Flu, Frd, Ned, Vector, raw_enu_ned};
use crate::msgs::geometry_msgs::msg::{Point, Vector3};
use crate::msgs::mavros_msgs::msg::{AttitudeTarget, GlobalPositionTarget, PositionTarget};
use crate::vehicle::Fcu;
use crate::wire::mavlink::dialect::ATTITUDE_TARGET_DATA;
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::{PositionTargetGlobalInt, PositionTargetLocalNed};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Frames with the body's axes.
const BODY: [u8; 3] = [MAV_FRAME_BODY_NED, MAV_FRAME_BODY_OFFSET_NED, MAV_FRAME_BODY_FRD];

plugin! { SetpointTargetPlugin {
    publish {
        local: PositionTarget("setpoint_raw/target_local", Telemetry, "setpoint that the autopilot follows, in `local_origin` or `base_link` (POSITION_TARGET_LOCAL_NED)") in "";
        global: GlobalPositionTarget("setpoint_raw/target_global", Telemetry, "setpoint that the autopilot follows (POSITION_TARGET_GLOBAL_INT)") in "";
        attitude: AttitudeTarget("setpoint_raw/target_attitude", Telemetry, "setpoint that the autopilot follows (ATTITUDE_TARGET)") in "";
    }
    receive {
        dialect::ATTITUDE_TARGET_DATA => attitude_target,
        raw::PositionTargetLocalNed => position_target_local,
        raw::PositionTargetGlobalInt => position_target_global,
    }
} }

impl SetpointTargetPlugin {
    fn position_target_local(&mut self, fcu: &mut Fcu, m: &PositionTargetLocalNed) -> RosResult {
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        // mavros converts every frame as a world frame.
        let axes = if BODY.contains(&m.coordinate_frame) && !fcu.settings.quirks {
            TargetAxes::Body
        } else {
            TargetAxes::World
        };
        // mavros leaves `frame_id` empty.
        let frame = match axes {
            _ if fcu.settings.has_mavros_frames() => "",
            TargetAxes::World => fcu.settings.local_frame(),
            TargetAxes::Body => &fcu.settings.base_link,
        };
        self.local.publish_if_subscribed(stamp, |target| {
            frame.clone_into(&mut target.header.frame_id);
            target.coordinate_frame = m.coordinate_frame;
            target.type_mask = m.type_mask;
            target.position = axes.point(m.position);
            target.velocity = axes.vector(m.velocity);
            target.acceleration_or_force = axes.vector(m.acceleration);
            target.yaw = axes.yaw(m.yaw);
            target.yaw_rate = -m.yaw_rate;
        })
    }

    fn position_target_global(&mut self, fcu: &mut Fcu, m: &PositionTargetGlobalInt) -> RosResult {
        /// Bits of `type_mask` that ignore latitude and longitude.
        const NO_LAT_LON: u16 = 0b11;
        if m.type_mask & NO_LAT_LON == 0 && fcu.to_geodetic([m.lat, m.lon, 0]).is_none() {
            return Ok(());
        }
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        let axes = TargetAxes::World;
        self.global.publish_if_subscribed(stamp, |target| {
            target.coordinate_frame = m.coordinate_frame;
            target.type_mask = m.type_mask;
            target.latitude = f64::from(m.lat) / 1e7;
            target.longitude = f64::from(m.lon) / 1e7;
            target.altitude = m.alt;
            target.velocity = axes.vector(m.velocity);
            target.acceleration_or_force = axes.vector(m.acceleration);
            target.yaw = axes.yaw(m.yaw);
            target.yaw_rate = -m.yaw_rate;
        })
    }

    fn attitude_target(&mut self, fcu: &mut Fcu, m: &ATTITUDE_TARGET_DATA) -> RosResult {
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        self.attitude.publish_if_subscribed(stamp, |target| {
            target.type_mask = m.type_mask.bits();
            target.orientation = quaternion(raw_enu_ned(m.q.map(f64::from)));
            let rates = [m.body_roll_rate, m.body_pitch_rate, m.body_yaw_rate];
            target.body_rate = vector3(Vector::<Flu>::from(Vector::<Frd>::from(rates)));
            target.thrust = m.thrust;
        })
    }
}

#[derive(Clone, Copy)]
enum TargetAxes {
    /// NED to ENU.
    World,
    /// FRD to FLU.
    Body,
}

impl TargetAxes {
    fn point(self, v: [f32; 3]) -> Point {
        match self {
            Self::World => point(Vector::<Enu>::from(Vector::<Ned>::from(v))),
            Self::Body => point(Vector::<Flu>::from(Vector::<Frd>::from(v))),
        }
    }

    fn vector(self, v: [f32; 3]) -> Vector3 {
        match self {
            Self::World => vector3(Vector::<Enu>::from(Vector::<Ned>::from(v))),
            Self::Body => vector3(Vector::<Flu>::from(Vector::<Frd>::from(v))),
        }
    }

    fn yaw(self, yaw: f32) -> f32 {
        match self {
            Self::World => {
                let turned = FRAC_PI_2 - f64::from(yaw);
                (turned - TAU * ((turned - PI) / TAU).ceil()) as f32
            }
            Self::Body => -yaw,
        }
    }
}
