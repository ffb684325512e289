//! Telemetry: messages of the autopilot to ROS topics. One file per plugin; `plugin.rs` describes its table.
//!
//! Frequent messages are converted only while their topic has a subscriber. Rare messages and states are always
//! published, so that a late subscriber gets the last one from the writer's history. Values that other parts need
//! (attitude, home) are always stored.
mod actuators;
mod altitudes;
mod battery;
mod convert;
mod debug_value;
mod distance_sensor;
mod fix_quality;
mod global_position;
mod gps_status;
mod home_position;
mod imu;
mod local_position;
mod manual_control;
mod mavlink;
mod mount_control;
mod nav_controller_output;
mod odometry;
mod plugin;
mod rc;
mod setpoint_target;
mod status;
mod statustext;
mod topic;
mod wind_estimation;

use super::{Counter, Fcu, Open, VehicleSettings};
use crate::config::{ServiceRow, TopicRow};
use crate::{ros::RosError, wire::mavlink::Frame, wire::mavlink::raw::CommandLong};
use plugin::Plugin;
use std::time::Duration;
use topic::RosResult;

macro_rules! plugins {
    ($($plugin:ident: $type:ty,)+) => {
        /// The telemetry of a vehicle.
        pub(super) struct Telemetry {
            $($plugin: $type,)+
        }

        /// The topics of each plugin.
        pub(super) const TOPICS: &[&[TopicRow]] = &[$(<$type>::TOPICS,)+];
        /// The services of each plugin.
        pub(super) const SERVICES: &[&[ServiceRow]] = &[$(<$type>::SERVICES,)+];
        /// Messages accepted from any component (cameras, gimbals, companion computers). The vehicle's own state comes
        /// from its autopilot only.
        const FROM_ANY_COMPONENT: &[&[u32]] = &[$(<$type>::FROM_ANY_COMPONENT,)+];

        impl Telemetry {
            pub(super) fn open(open: &Open<'_>, settings: &VehicleSettings) -> Result<Self, RosError> {
                Ok(Self { $($plugin: Plugin::open(open, settings)?,)+ })
            }

            fn dispatch(&mut self, fcu: &mut Fcu, frame: &Frame<'_>) -> RosResult {
                $(self.$plugin.handle(fcu, frame)?;)+
                Ok(())
            }
        }
    };
}

plugins! {
    actuators: actuators::ActuatorsPlugin,
    altitudes: altitudes::AltitudesPlugin,
    battery: battery::BatteryPlugin,
    debug_value: debug_value::DebugValuePlugin,
    distance_sensor: distance_sensor::DistanceSensorPlugin,
    global_position: global_position::GlobalPositionPlugin,
    gps_status: gps_status::GpsStatusPlugin,
    home_position: home_position::HomePositionPlugin,
    imu: imu::ImuPlugin,
    local_position: local_position::LocalPositionPlugin,
    manual_control: manual_control::ManualControlPlugin,
    mavlink: mavlink::MavlinkPlugin,
    mount_control: mount_control::MountControlPlugin,
    nav_controller_output: nav_controller_output::NavControllerOutputPlugin,
    odometry: odometry::OdometryPlugin,
    rc: rc::RcPlugin,
    setpoint_target: setpoint_target::SetpointTargetPlugin,
    status: status::StatusPlugin,
    statustext: statustext::StatustextPlugin,
    wind_estimation: wind_estimation::WindEstimationPlugin,
}

impl Telemetry {
    /// Publishes a frame on `mavlink_source`.
    pub(super) fn publish_frame(&mut self, fcu: &Fcu, frame: &Frame<'_>) -> RosResult {
        self.mavlink.publish_frame(fcu, frame)
    }

    /// Handles a frame of the vehicle.
    pub(super) fn frame(&mut self, fcu: &mut Fcu, frame: &Frame<'_>) -> RosResult {
        let is_from_any = || FROM_ANY_COMPONENT.iter().any(|ids| ids.contains(&frame.id));
        if frame.component != fcu.component && !is_from_any() {
            fcu.count(Counter::ForeignComponent);
            return Ok(());
        }
        self.dispatch(fcu, frame)
    }

    /// The autopilot's heartbeat arrived.
    pub(super) fn connected(&mut self, fcu: &Fcu) {
        self.home_position.connected(fcu);
    }

    /// The connection was lost: the next autopilot may be another one, or restarted.
    pub(super) fn lost(&mut self, fcu: &mut Fcu) {
        fcu.orientation = None;
        self.home_position.lost(fcu);
        self.global_position.lost();
    }

    pub(super) fn poll(&mut self, fcu: &mut Fcu) -> RosResult {
        self.statustext.poll(fcu)
    }

    /// Refuses waiting callers past their deadline; returns the request for the home position if it is due.
    pub(super) fn take_request(&mut self, fcu: &Fcu) -> Option<CommandLong> {
        self.home_position.poll(fcu)
    }

    /// Publishes the notices of other parts.
    pub(super) fn publish_notices(&mut self, fcu: &mut Fcu) -> RosResult {
        self.statustext.publish_notices(fcu)
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        let deadlines = [self.home_position.deadline(), self.statustext.deadline()];
        deadlines.into_iter().flatten().min()
    }
}
