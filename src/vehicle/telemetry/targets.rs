//! `setpoint_raw/target_*`: the setpoints that the autopilot follows.
use super::convert::{point, quaternion, raw_enu_wxyz, vector3};
use super::topic::Topic;
use crate::frames::{Enu, Flu, Frd, Ned, Vector};
use crate::msgs::geometry_msgs::msg::{Point, Vector3};
use crate::msgs::mavros_msgs::msg::{AttitudeTarget, GlobalPositionTarget, PositionTarget};
use crate::ros::RosError;
use crate::vehicle::{Fcu, Open, VehicleSettings};
use crate::wire::mavlink::dialect::ATTITUDE_TARGET_DATA;
use crate::wire::mavlink::raw::{PositionTargetGlobalInt, PositionTargetLocalNed};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// MAV_FRAMEs with the body's axes: BODY_NED, BODY_OFFSET_NED, BODY_FRD.
const BODY: [u8; 3] = [8, 9, 12];

pub(super) struct Targets {
    local: Topic<PositionTarget>,
    global: Topic<GlobalPositionTarget>,
    attitude: Topic<AttitudeTarget>,
    /// Frames of world and body; mavros leaves them empty.
    frames: [String; 2],
}

impl Targets {
    pub(super) fn open(open: &Open<'_>, settings: &VehicleSettings) -> Result<Self, RosError> {
        Ok(Self {
            local: Topic::open(open, "setpoint_raw/target_local", PositionTarget::default())?,
            global: Topic::open(
                open,
                "setpoint_raw/target_global",
                GlobalPositionTarget::default(),
            )?,
            attitude: Topic::open(open, "setpoint_raw/target_attitude", AttitudeTarget::default())?,
            frames: match settings.frames_of_mavros() {
                true => Default::default(),
                false => [settings.local_frame(), &settings.base_link].map(str::to_owned),
            },
        })
    }

    pub(super) fn position_target_local(
        &mut self,
        fcu: &mut Fcu,
        m: &PositionTargetLocalNed,
    ) -> Result<(), RosError> {
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        // mavros converts every frame as a world frame.
        let axes = if BODY.contains(&m.coordinate_frame) && !fcu.settings.quirks {
            Axes::Body
        } else {
            Axes::World
        };
        let [world, body] = &self.frames;
        let frame = match axes {
            Axes::World => world,
            Axes::Body => body,
        };
        self.local.publish_if_subscribed(stamp, |target| {
            target.header.frame_id.clone_from(frame);
            target.coordinate_frame = m.coordinate_frame;
            target.type_mask = m.type_mask;
            target.position = axes.point(m.position);
            target.velocity = axes.vector(m.velocity);
            target.acceleration_or_force = axes.vector(m.acceleration);
            target.yaw = axes.yaw(m.yaw);
            target.yaw_rate = -m.yaw_rate;
        })
    }

    pub(super) fn position_target_global(
        &mut self,
        fcu: &mut Fcu,
        m: &PositionTargetGlobalInt,
    ) -> Result<(), RosError> {
        /// Mask bits for no position.
        const NO_POSITION: u16 = 0b11;
        if m.type_mask & NO_POSITION == 0 && fcu.place([m.lat, m.lon, 0]).is_none() {
            return Ok(());
        }
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        let axes = Axes::World;
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

    pub(super) fn attitude_target(
        &mut self,
        fcu: &mut Fcu,
        m: &ATTITUDE_TARGET_DATA,
    ) -> Result<(), RosError> {
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        self.attitude.publish_if_subscribed(stamp, |target| {
            target.type_mask = m.type_mask.bits();
            target.orientation = quaternion(raw_enu_wxyz(m.q.map(f64::from)));
            let rates = [m.body_roll_rate, m.body_pitch_rate, m.body_yaw_rate];
            target.body_rate = vector3(Vector::<Flu>::from(Vector::<Frd>::from(rates)));
            target.thrust = m.thrust;
        })
    }
}

#[derive(Clone, Copy)]
enum Axes {
    /// NED to ENU.
    World,
    /// FRD to FLU.
    Body,
}

impl Axes {
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
