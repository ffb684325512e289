//! Telemetry: messages of the autopilot to ROS topics. One file per group of topics.
//!
//! Frequent messages are converted only while their topic has a subscriber. Rare messages and states are always
//! published, so that a late subscriber gets the last one from the writer's history. Values that other parts need
//! (attitude, home) are always stored.
mod altitude;
mod convert;
mod global_position;
mod gps;
mod home;
mod imu;
mod local_position;
mod misc;
mod mount;
mod odometry;
mod power;
mod range;
mod raw;
mod rc;
mod stamped;
mod status;
mod statustext;
mod targets;
mod topic;

use super::{Counter, Fcu, Open, VehicleSettings};
use crate::ros::RosError;
use crate::wire::mavlink::dialect::{
    ACTUATOR_CONTROL_TARGET_DATA, ALTITUDE_DATA, ATTITUDE_DATA, ATTITUDE_QUATERNION_DATA,
    ATTITUDE_TARGET_DATA, DEBUG_DATA, DEBUG_VECT_DATA, ESTIMATOR_STATUS_DATA, EVENT_DATA,
    GLOBAL_POSITION_INT_DATA, GPS_GLOBAL_ORIGIN_DATA, HIGHRES_IMU_DATA, HOME_POSITION_DATA,
    LOCAL_POSITION_NED_DATA, LOCAL_POSITION_NED_SYSTEM_GLOBAL_OFFSET_DATA, MANUAL_CONTROL_DATA,
    NAMED_VALUE_FLOAT_DATA, NAMED_VALUE_INT_DATA, NAV_CONTROLLER_OUTPUT_DATA, RAW_IMU_DATA,
    RC_CHANNELS_DATA, RC_CHANNELS_RAW_DATA, SCALED_IMU_DATA, SCALED_PRESSURE_DATA,
    SERVO_OUTPUT_RAW_DATA, SYS_STATUS_DATA, VFR_HUD_DATA, VIBRATION_DATA, WIND_COV_DATA,
};
use crate::wire::mavlink::raw::{
    BatteryStatus, CommandLong, DistanceSensor, ExtendedSysState, Gps2Raw, GpsRawInt,
    HilActuatorControls, LocalPositionNedCov, MountOrientation, OdometryMessage,
    PositionTargetGlobalInt, PositionTargetLocalNed, StatusText,
};
use crate::wire::mavlink::{Frame, MessageData as _};
use std::time::Duration;

/// Messages accepted from any component (cameras, gimbals, companion computers): status texts, gimbal orientations,
/// ranges. The vehicle's own state comes from its autopilot only.
const OF_ANY_COMPONENT: [u32; 3] = [StatusText::ID, MountOrientation::ID, DistanceSensor::ID];

/// All telemetry topics of a vehicle.
pub(super) struct Telemetry {
    local_position: local_position::LocalPosition,
    imu: imu::Imu,
    global_position: global_position::GlobalPosition,
    gps: gps::Gps,
    home: home::Home,
    power: power::Power,
    status: status::Status,
    statustexts: statustext::StatusTexts,
    altitudes: altitude::Altitudes,
    targets: targets::Targets,
    rc: rc::Rc,
    odometry: odometry::Odometry,
    misc: misc::Misc,
    mount: mount::Mount,
    ranges: range::Ranges,
    raw: raw::Raw,
}

impl Telemetry {
    pub(super) fn open(open: &Open<'_>, settings: &VehicleSettings) -> Result<Self, RosError> {
        Ok(Self {
            local_position: local_position::LocalPosition::open(open, settings)?,
            imu: imu::Imu::open(open, settings)?,
            global_position: global_position::GlobalPosition::open(open, settings)?,
            gps: gps::Gps::open(open, settings)?,
            home: home::Home::open(open)?,
            power: power::Power::open(open)?,
            status: status::Status::open(open, settings)?,
            statustexts: statustext::StatusTexts::open(open)?,
            altitudes: altitude::Altitudes::open(open, settings)?,
            targets: targets::Targets::open(open, settings)?,
            rc: rc::Rc::open(open)?,
            odometry: odometry::Odometry::open(open, settings)?,
            misc: misc::Misc::open(open)?,
            mount: mount::Mount::open(open)?,
            ranges: range::Ranges::open(open, settings)?,
            raw: raw::Raw::open(open)?,
        })
    }

    /// Publishes a frame on `mavlink_source`.
    pub(super) fn raw(&mut self, fcu: &Fcu, frame: &Frame<'_>) -> Result<(), RosError> {
        self.raw.frame(fcu, frame)
    }

    /// Handles a frame of the vehicle. Checks the id before decoding.
    pub(super) fn frame(&mut self, fcu: &mut Fcu, frame: &Frame<'_>) -> Result<(), RosError> {
        if frame.component != fcu.component && !OF_ANY_COMPONENT.contains(&frame.id) {
            fcu.count(Counter::ForeignComponent);
            return Ok(());
        }
        macro_rules! messages {
            (
                dialect { $($data:ident => |$m:ident| $call:expr,)+ }
                raw { $($raw:ident => |$r:ident| $raw_call:expr,)+ }
            ) => {
                match frame.id {
                    $($data::ID => match frame.data::<$data>() {
                        Ok($m) => $call,
                        Err(_) => {
                            fcu.count(Counter::MavlinkUnknownValue);
                            Ok(())
                        }
                    },)+
                    $($raw::ID => $raw::parse(frame).map_or(Ok(()), |$r| $raw_call),)+
                    _ => Ok(()),
                }
            };
        }
        messages! {
            dialect {
                ATTITUDE_DATA => |m| self.imu.attitude(fcu, &m),
                ATTITUDE_QUATERNION_DATA => |m| self.imu.attitude_quaternion(fcu, &m),
                HIGHRES_IMU_DATA => |m| self.imu.highres_imu(fcu, &m),
                SCALED_IMU_DATA => |m| self.imu.scaled_imu(fcu, &m),
                RAW_IMU_DATA => |m| self.imu.raw_imu(fcu, &m),
                SCALED_PRESSURE_DATA => |m| self.imu.scaled_pressure(fcu, &m),
                LOCAL_POSITION_NED_DATA => |m| self.local_position.local_position_ned(fcu, &m),
                GLOBAL_POSITION_INT_DATA => |m| {
                    let quality = self.gps.quality();
                    self.global_position.global_position_int(fcu, quality, &m)
                },
                GPS_GLOBAL_ORIGIN_DATA => |m| self.global_position.gps_global_origin(fcu, &m),
                LOCAL_POSITION_NED_SYSTEM_GLOBAL_OFFSET_DATA => |m| {
                    self.global_position.global_offset(fcu, &m)
                },
                HOME_POSITION_DATA => |m| self.home.home_position(fcu, &m),
                SYS_STATUS_DATA => |m| self.power.sys_status(fcu, &m),
                ESTIMATOR_STATUS_DATA => |m| self.status.estimator_status(fcu, &m),
                EVENT_DATA => |m| self.status.event(fcu, &m),
                VIBRATION_DATA => |m| self.status.vibration(fcu, &m),
                ALTITUDE_DATA => |m| self.altitudes.altitude(fcu, &m),
                VFR_HUD_DATA => |m| self.altitudes.vfr_hud(fcu, &m),
                ATTITUDE_TARGET_DATA => |m| self.targets.attitude_target(fcu, &m),
                RC_CHANNELS_DATA => |m| self.rc.rc_channels(fcu, &m),
                RC_CHANNELS_RAW_DATA => |m| self.rc.rc_channels_raw(fcu, &m),
                SERVO_OUTPUT_RAW_DATA => |m| self.rc.servo_output_raw(fcu, &m),
                WIND_COV_DATA => |m| self.misc.wind_cov(fcu, &m),
                NAV_CONTROLLER_OUTPUT_DATA => |m| self.misc.nav_controller_output(fcu, &m),
                MANUAL_CONTROL_DATA => |m| self.misc.manual_control(fcu, &m),
                ACTUATOR_CONTROL_TARGET_DATA => |m| self.misc.actuator_control_target(fcu, &m),
                DEBUG_DATA => |m| self.misc.debug(fcu, &m),
                DEBUG_VECT_DATA => |m| self.misc.debug_vect(fcu, &m),
                NAMED_VALUE_FLOAT_DATA => |m| self.misc.named_value_float(fcu, &m),
                NAMED_VALUE_INT_DATA => |m| self.misc.named_value_int(fcu, &m),
            }
            raw {
                LocalPositionNedCov => |m| self.local_position.local_position_ned_cov(fcu, &m),
                GpsRawInt => |m| self.gps.gps_raw_int(fcu, &m),
                Gps2Raw => |m| self.gps.gps2_raw(fcu, &m),
                BatteryStatus => |m| self.power.battery_status(fcu, &m),
                ExtendedSysState => |m| self.status.extended_sys_state(fcu, &m),
                StatusText => |m| self.statustexts.statustext(fcu, frame.component, &m),
                PositionTargetLocalNed => |m| self.targets.position_target_local(fcu, &m),
                PositionTargetGlobalInt => |m| self.targets.position_target_global(fcu, &m),
                OdometryMessage => |m| self.odometry.odometry(fcu, &m),
                HilActuatorControls => |m| self.misc.hil_actuator_controls(fcu, &m),
                MountOrientation => |m| self.mount.orientation(fcu, frame.component, &m),
                DistanceSensor => |m| self.ranges.distance(fcu, &m),
            }
        }
    }

    /// The autopilot's heartbeat arrived.
    pub(super) fn connected(&mut self, fcu: &Fcu) {
        self.home.connected(fcu);
    }

    /// The connection was lost: the next autopilot may be another one, or restarted.
    pub(super) fn lost(&mut self, fcu: &mut Fcu) {
        fcu.orientation = None;
        self.home.lost(fcu);
        self.global_position.lost();
    }

    pub(super) fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        self.statustexts.poll(fcu)
    }

    /// The request that is due.
    pub(super) fn request(&mut self, fcu: &Fcu) -> Option<CommandLong> {
        self.home.poll(fcu)
    }

    /// Publishes the notices of other parts.
    pub(super) fn notices(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        self.statustexts.notices(fcu)
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        let deadlines = [self.home.deadline(), self.statustexts.deadline()];
        deadlines.into_iter().flatten().min()
    }
}
