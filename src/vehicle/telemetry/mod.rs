//! From the autopilot to ROS: what a vehicle reports. One file per group of topics.
//!
//! What comes often is converted only while somebody subscribes to it; what comes seldom or carries state is always
//! published, so that who subscribes late gets the last one from the writer's history. What the parts need of each
//! other (attitude, home) is always kept.
mod convert;
mod global_position;
mod gps;
mod home;
mod imu;
mod local_position;
mod power;
mod status;
mod topic;

use super::{Fcu, Open, VehicleSettings};
use crate::ros::RosError;
use crate::wire::mavlink::dialect::{
    ATTITUDE_DATA, ATTITUDE_QUATERNION_DATA, ESTIMATOR_STATUS_DATA, EVENT_DATA,
    GLOBAL_POSITION_INT_DATA, GPS_GLOBAL_ORIGIN_DATA, HIGHRES_IMU_DATA, HOME_POSITION_DATA,
    LOCAL_POSITION_NED_DATA, LOCAL_POSITION_NED_SYSTEM_GLOBAL_OFFSET_DATA, RAW_IMU_DATA,
    SCALED_IMU_DATA, SCALED_PRESSURE_DATA, SYS_STATUS_DATA, VIBRATION_DATA,
};
use crate::wire::mavlink::raw::{
    BatteryStatus, ExtendedSysState, Gps2Raw, GpsRawInt, LocalPositionNedCov,
};
use crate::wire::mavlink::{Frame, MessageData as _};
use std::time::Duration;

/// Every topic that a vehicle reports on.
pub(super) struct Telemetry {
    local_position: local_position::LocalPosition,
    imu: imu::Imu,
    global_position: global_position::GlobalPosition,
    gps: gps::Gps,
    home: home::Home,
    power: power::Power,
    status: status::Status,
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
        })
    }

    /// Takes a frame of the vehicle, from whichever of its components. The id decides before anything is decoded.
    pub(super) fn frame(&mut self, fcu: &mut Fcu, frame: &Frame<'_>) -> Result<(), RosError> {
        macro_rules! messages {
            (
                dialect { $($data:ident => |$m:ident| $call:expr,)+ }
                raw { $($raw:ident => |$r:ident| $raw_call:expr,)+ }
            ) => {
                match frame.id {
                    $($data::ID => match frame.data::<$data>() {
                        Ok($m) => $call,
                        Err(_) => {
                            fcu.count("mavlink_unknown_value");
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
            }
            raw {
                LocalPositionNedCov => |m| self.local_position.local_position_ned_cov(fcu, &m),
                GpsRawInt => |m| self.gps.gps_raw_int(fcu, &m),
                Gps2Raw => |m| self.gps.gps2_raw(fcu, &m),
                BatteryStatus => |m| self.power.battery_status(fcu, &m),
                ExtendedSysState => |m| self.status.extended_sys_state(fcu, &m),
            }
        }
    }

    /// The autopilot's heartbeat was heard.
    pub(super) fn connected(&mut self, fcu: &Fcu) {
        self.home.connected(fcu);
    }

    /// The autopilot is silent: what comes back may be another one, or restarted.
    pub(super) fn lost(&mut self, fcu: &mut Fcu) {
        fcu.orientation = None;
        self.home.lost(fcu);
    }

    pub(super) fn poll(&mut self, fcu: &mut Fcu) {
        self.home.poll(fcu);
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.home.deadline()
    }
}
