//! Telemetry of the vehicle: PX4's streams on its onboard link, and each message from the vehicle's state.
#![expect(deprecated, reason = "PX4 still sends PING")]
use super::Autopilot;
use super::{dynamics::ControlTarget, mode::Mode};
use crate::emulator::world::Vec3;
use crate::wire::mavlink::dialect::*;
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::{ExtendedSysState, Heartbeat};
use crate::wire::mavlink::{MavMessage, MessageData as _, Outbound};

#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) id: u32,
    /// Rate in Hz on PX4's onboard link.
    pub(super) full: f64,
    /// Rate in Hz in MAVLink_Simple; 0: not sent.
    pub(super) simple: f64,
}

const fn stream(id: u32, full: f64, simple: f64) -> Stream {
    Stream { id, full, simple }
}

/// HEARTBEAT first: receivers ignore data of an unknown vehicle.
pub(super) const STREAMS: [Stream; 33] = [
    stream(HEARTBEAT_DATA::ID, 1.0, 1.0),
    stream(ATTITUDE_DATA::ID, 100.0, 30.0),
    stream(ATTITUDE_QUATERNION_DATA::ID, 50.0, 0.0),
    stream(HIGHRES_IMU_DATA::ID, 50.0, 0.0),
    stream(GLOBAL_POSITION_INT_DATA::ID, 50.0, 10.0),
    stream(LOCAL_POSITION_NED_DATA::ID, 30.0, 30.0),
    stream(ODOMETRY_DATA::ID, 30.0, 0.0),
    stream(TIMESYNC_DATA::ID, 10.0, 0.0),
    stream(ALTITUDE_DATA::ID, 10.0, 0.0),
    stream(ATTITUDE_TARGET_DATA::ID, 10.0, 0.0),
    stream(POSITION_TARGET_LOCAL_NED_DATA::ID, 10.0, 0.0),
    stream(SERVO_OUTPUT_RAW_DATA::ID, 10.0, 0.0),
    stream(VFR_HUD_DATA::ID, 10.0, 0.0),
    stream(GPS_RAW_INT_DATA::ID, 8.0, 1.0),
    stream(EXTENDED_SYS_STATE_DATA::ID, 5.0, 1.0),
    stream(SYS_STATUS_DATA::ID, 5.0, 1.0),
    stream(MISSION_CURRENT_DATA::ID, 1.0, 0.0),
    stream(ESTIMATOR_STATUS_DATA::ID, 1.0, 0.0),
    stream(PING_DATA::ID, 1.0, 0.0),
    stream(SCALED_PRESSURE_DATA::ID, 1.0, 0.0),
    stream(SYSTEM_TIME_DATA::ID, 1.0, 1.0),
    stream(LINK_NODE_STATUS_DATA::ID, 1.0, 0.0),
    stream(TIME_ESTIMATE_TO_TARGET_DATA::ID, 0.5, 0.0),
    stream(BATTERY_STATUS_DATA::ID, 0.5, 0.5),
    stream(CURRENT_MODE_DATA::ID, 0.5, 0.0),
    stream(HOME_POSITION_DATA::ID, 0.5, 0.5),
    stream(VIBRATION_DATA::ID, 0.5, 0.0),
    stream(CURRENT_EVENT_SEQUENCE_DATA::ID, 0.35, 0.0),
    stream(HIL_ACTUATOR_CONTROLS_DATA::ID, 10.0, 10.0),
    // Sent only on request.
    stream(POSITION_TARGET_GLOBAL_INT_DATA::ID, 0.0, 0.0),
    stream(GPS_GLOBAL_ORIGIN_DATA::ID, 0.0, 0.0),
    stream(AUTOPILOT_VERSION_DATA::ID, 0.0, 0.0),
    stream(RC_CHANNELS_DATA::ID, 0.0, 0.0),
];

pub(super) fn f(v: f64) -> f32 {
    v as f32
}

pub(super) fn f3(v: &Vec3) -> [f32; 3] {
    [f(v.x), f(v.y), f(v.z)]
}

/// Pressure in Pa of the standard atmosphere at an altitude in m.
pub(super) fn pressure(altitude: f64) -> f64 {
    101_325.0 * (1.0 - 2.255_77e-5 * altitude).powf(5.255_88)
}

impl Autopilot {
    fn boot_ms(&self) -> u32 {
        (self.boot_us() / 1000) as u32
    }

    fn boot_us(&self) -> u64 {
        (self.uptime() * 1e6).round() as u64
    }

    /// Latitude and longitude in 1e-7 deg, altitude in mm.
    pub(super) fn geodetic(&self, position: &Vec3) -> [i32; 3] {
        let [latitude, longitude, altitude] = self.geo.to_degrees(position);
        [latitude * 1e7, longitude * 1e7, altitude * 1e3].map(|v| v.round() as i32)
    }

    /// Builds a message; `None` if the vehicle does not support it, or has no data for it now.
    pub(super) fn message(&self, id: u32) -> Option<Outbound> {
        let motion = &self.motion;
        let [roll, pitch, yaw] = motion.pose.roll_pitch_yaw();
        let q = motion.pose.wxyz().map(f);
        let rate = f3(&motion.rate);
        let local = f3(&self.local());
        let velocity = f3(&motion.velocity);
        let time_boot_ms = self.boot_ms();
        let time_usec = self.boot_us();
        let heading = yaw.to_degrees().rem_euclid(360.0);
        let ground_speed = motion.velocity.xy().norm();
        let amsl = self.geo.centre[2] - motion.pose.position.z;
        let message = match id {
            HEARTBEAT_DATA::ID => return Some(self.heartbeat()),
            SYS_STATUS_DATA::ID => {
                let mut health = MavSysStatusSensor::from_bits_retain(0x2320_c83f);
                let is_ready = self.modes.can_arm() || self.is_armed();
                health.set(MavSysStatusSensor::MAV_SYS_STATUS_PREARM_CHECK, is_ready);
                let sensors = |bits| MavSysStatusSensor::from_bits_retain(bits);
                MavMessage::SYS_STATUS(SYS_STATUS_DATA {
                    onboard_control_sensors_present: sensors(0x0200_402d),
                    onboard_control_sensors_enabled: sensors(0x0201_402d),
                    onboard_control_sensors_health: health,
                    load: 120,
                    voltage_battery: self.battery_mv(),
                    current_battery: -100,
                    battery_remaining: self.battery_percent(),
                    ..Default::default()
                })
            }
            SYSTEM_TIME_DATA::ID => MavMessage::SYSTEM_TIME(SYSTEM_TIME_DATA {
                time_unix_usec: self.setup.unix_us + (self.now * 1e6).round() as u64,
                time_boot_ms,
            }),
            PING_DATA::ID => MavMessage::PING(PING_DATA {
                time_usec,
                seq: self.uptime() as u32,
                ..Default::default()
            }),
            LINK_NODE_STATUS_DATA::ID => MavMessage::LINK_NODE_STATUS(LINK_NODE_STATUS_DATA {
                timestamp: time_usec,
                messages_sent: self.sent,
                messages_received: self.received,
                tx_rate: 24_000,
                ..Default::default()
            }),
            GPS_RAW_INT_DATA::ID => return Some(self.gps_raw_int(time_usec)),
            SCALED_PRESSURE_DATA::ID => MavMessage::SCALED_PRESSURE(SCALED_PRESSURE_DATA {
                time_boot_ms,
                press_abs: f(pressure(amsl) / 100.0),
                temperature: 2500,
                ..Default::default()
            }),
            ATTITUDE_DATA::ID => MavMessage::ATTITUDE(ATTITUDE_DATA {
                time_boot_ms,
                roll: f(roll),
                pitch: f(pitch),
                yaw: f(yaw),
                rollspeed: rate[0],
                pitchspeed: rate[1],
                yawspeed: rate[2],
            }),
            ATTITUDE_QUATERNION_DATA::ID => {
                MavMessage::ATTITUDE_QUATERNION(ATTITUDE_QUATERNION_DATA {
                    time_boot_ms,
                    q1: q[0],
                    q2: q[1],
                    q3: q[2],
                    q4: q[3],
                    rollspeed: rate[0],
                    pitchspeed: rate[1],
                    yawspeed: rate[2],
                    ..Default::default()
                })
            }
            LOCAL_POSITION_NED_DATA::ID if self.has_position() => {
                MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
                    time_boot_ms,
                    x: local[0],
                    y: local[1],
                    z: local[2],
                    vx: velocity[0],
                    vy: velocity[1],
                    vz: velocity[2],
                })
            }
            GLOBAL_POSITION_INT_DATA::ID if self.has_position() && self.has_gps() => {
                let [lat, lon, alt] = self.geodetic(&motion.pose.position);
                let centi = |v: f64| (v * 100.0).round() as i16;
                MavMessage::GLOBAL_POSITION_INT(GLOBAL_POSITION_INT_DATA {
                    time_boot_ms,
                    lat,
                    lon,
                    alt,
                    relative_alt: ((self.home.z - motion.pose.position.z) * 1e3).round() as i32,
                    vx: centi(motion.velocity.x),
                    vy: centi(motion.velocity.y),
                    vz: centi(motion.velocity.z),
                    hdg: (heading * 100.0) as u16,
                })
            }
            SERVO_OUTPUT_RAW_DATA::ID => {
                MavMessage::SERVO_OUTPUT_RAW(self.servo_output_raw(time_usec))
            }
            MISSION_CURRENT_DATA::ID => return Some(self.mission.current_message()),
            GPS_GLOBAL_ORIGIN_DATA::ID if self.has_position() && self.has_gps() => {
                let [latitude, longitude, altitude] = self.geodetic(&self.origin);
                MavMessage::GPS_GLOBAL_ORIGIN(GPS_GLOBAL_ORIGIN_DATA {
                    latitude,
                    longitude,
                    altitude,
                    time_usec,
                })
            }
            VFR_HUD_DATA::ID => MavMessage::VFR_HUD(VFR_HUD_DATA {
                groundspeed: f(ground_speed),
                heading: heading as i16,
                throttle: (self.thrust() * 100.0) as u16,
                alt: f(amsl),
                climb: f(-motion.velocity.z),
                ..Default::default()
            }),
            ATTITUDE_TARGET_DATA::ID => {
                MavMessage::ATTITUDE_TARGET(self.attitude_target(time_boot_ms))
            }
            POSITION_TARGET_LOCAL_NED_DATA::ID if self.sends_position_target() => {
                return Some(self.position_target(time_boot_ms));
            }
            HIL_ACTUATOR_CONTROLS_DATA::ID => return Some(self.true_state()),
            HIGHRES_IMU_DATA::ID => MavMessage::HIGHRES_IMU(self.highres_imu(time_usec, amsl)),
            TIMESYNC_DATA::ID => {
                MavMessage::TIMESYNC(TIMESYNC_DATA { ts1: self.boot_ns(), ..Default::default() })
            }
            ALTITUDE_DATA::ID if self.has_position() => MavMessage::ALTITUDE(ALTITUDE_DATA {
                time_usec,
                altitude_monotonic: f(amsl),
                altitude_amsl: f(amsl),
                altitude_local: -local[2],
                altitude_relative: f(self.home.z - motion.pose.position.z),
                altitude_terrain: f(self.origin.z - self.setup.ground),
                bottom_clearance: f(self.setup.ground - motion.pose.position.z),
            }),
            BATTERY_STATUS_DATA::ID => return Some(self.battery_status()),
            AUTOPILOT_VERSION_DATA::ID => MavMessage::AUTOPILOT_VERSION(self.autopilot_version()),
            ESTIMATOR_STATUS_DATA::ID if self.has_position() => {
                use EstimatorStatusFlags as Flags;
                let mut flags = Flags::from_bits_retain(1023);
                let (gps, armed) = (self.has_gps(), self.is_armed());
                flags.set(Flags::ESTIMATOR_CONST_POS_MODE, gps && !armed);
                flags.set(Flags::ESTIMATOR_POS_HORIZ_ABS, gps);
                MavMessage::ESTIMATOR_STATUS(ESTIMATOR_STATUS_DATA {
                    time_usec,
                    flags,
                    vel_ratio: 0.02,
                    pos_horiz_ratio: 0.02,
                    pos_vert_ratio: 0.02,
                    mag_ratio: 0.02,
                    hagl_ratio: 0.01,
                    tas_ratio: f32::NAN,
                    pos_horiz_accuracy: 0.3,
                    pos_vert_accuracy: 0.3,
                })
            }
            VIBRATION_DATA::ID => MavMessage::VIBRATION(VIBRATION_DATA {
                time_usec,
                vibration_z: f(0.02 * self.thrust()),
                ..Default::default()
            }),
            HOME_POSITION_DATA::ID if self.is_home_set => {
                MavMessage::HOME_POSITION(self.home_position(time_usec))
            }
            EXTENDED_SYS_STATE_DATA::ID => {
                let landed_state = self.landed() as u8;
                return Some(ExtendedSysState { vtol_state: 0, landed_state }.into());
            }
            ODOMETRY_DATA::ID if self.has_position() => return Some(self.odometry(time_usec)),
            TIME_ESTIMATE_TO_TARGET_DATA::ID => {
                MavMessage::TIME_ESTIMATE_TO_TARGET(TIME_ESTIMATE_TO_TARGET_DATA {
                    safe_return: -1,
                    land: -1,
                    mission_next_item: -1,
                    mission_end: -1,
                    commanded_action: -1,
                })
            }
            CURRENT_EVENT_SEQUENCE_DATA::ID => {
                MavMessage::CURRENT_EVENT_SEQUENCE(CURRENT_EVENT_SEQUENCE_DATA {
                    sequence: 0,
                    flags: MavEventCurrentSequenceFlags::empty(),
                })
            }
            CURRENT_MODE_DATA::ID => MavMessage::CURRENT_MODE(CURRENT_MODE_DATA {
                custom_mode: self.mode().custom(),
                intended_custom_mode: if self.is_on_script() {
                    self.mode().custom()
                } else {
                    self.modes.requested.custom()
                },
                standard_mode: MavStandardMode::default(),
            }),
            _ => return None,
        };
        Some(message.into())
    }

    /// HEARTBEAT, as it would be sent now.
    pub fn heartbeat(&self) -> Outbound {
        let armed = MAV_MODE_FLAG_SAFETY_ARMED;
        let (base_mode, status) = if self.is_on_script() {
            (self.mode().base(false) | armed, MavState::MAV_STATE_ACTIVE)
        } else {
            (self.modes.base(), self.modes.status())
        };
        Heartbeat {
            custom_mode: self.mode().custom(),
            kind: MAV_TYPE_QUADROTOR,
            autopilot: MAV_AUTOPILOT_PX4,
            base_mode,
            system_status: status as u8,
            mavlink_version: 3,
        }
        .into()
    }

    /// POSITION_TARGET_LOCAL_NED is not sent while attitudes or rates are commanded.
    fn sends_position_target(&self) -> bool {
        let is_attitude =
            matches!(self.setpoint, Some(ControlTarget::Attitude(..) | ControlTarget::Rates(..)));
        !(self.modes.is_armed && self.modes.active == Mode::Offboard && is_attitude)
    }

    /// Share of the maximum thrust.
    pub(super) fn thrust(&self) -> f64 {
        match &self.body {
            Some(body) => body.state.thrust,
            None if self.is_on_script() => super::HOVER,
            None => 0.0,
        }
    }
}
