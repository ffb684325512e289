//! Telemetry of the vehicle: PX4's streams on its onboard link, and each message from the vehicle's state.
#![expect(deprecated, reason = "PX4 still sends PING")]
use super::Autopilot;
use super::failsafe::Charge;
use super::modes::Landed;
use crate::emulator::world::Vec3;
use crate::wire::mavlink::dialect::*;
use crate::wire::mavlink::raw::Heartbeat;
use crate::wire::mavlink::{MavMessage, Outbound};

/// A periodic message.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Message id.
    pub id: u32,
    /// Rate in Hz on PX4's onboard link.
    pub full: f64,
    /// Rate in Hz in MAVLink_Simple; 0: not sent.
    pub simple: f64,
}

const fn stream(id: u32, full: f64, simple: f64) -> Stream {
    Stream { id, full, simple }
}

/// HIL_ACTUATOR_CONTROLS, sent by CopterSim, not by the autopilot.
pub const COPTERSIM: u32 = 93;

/// HEARTBEAT first, so that a receiver knows the vehicle before its data.
pub const STREAMS: [Stream; 33] = [
    stream(0, 1.0, 1.0),
    stream(30, 100.0, 30.0),
    stream(31, 50.0, 0.0),
    stream(105, 50.0, 0.0),
    stream(33, 50.0, 10.0),
    stream(32, 30.0, 30.0),
    stream(331, 30.0, 0.0),
    stream(111, 10.0, 0.0),
    stream(141, 10.0, 0.0),
    stream(83, 10.0, 0.0),
    stream(85, 10.0, 0.0),
    stream(36, 10.0, 0.0),
    stream(74, 10.0, 0.0),
    stream(24, 8.0, 1.0),
    stream(245, 5.0, 1.0),
    stream(1, 5.0, 1.0),
    stream(42, 1.0, 0.0),
    stream(230, 1.0, 0.0),
    stream(4, 1.0, 0.0),
    stream(29, 1.0, 0.0),
    stream(2, 1.0, 1.0),
    stream(8, 1.0, 0.0),
    stream(380, 0.5, 0.0),
    stream(147, 0.5, 0.5),
    stream(436, 0.5, 0.0),
    stream(242, 0.5, 0.5),
    stream(241, 0.5, 0.0),
    stream(411, 0.35, 0.0),
    stream(COPTERSIM, 10.0, 10.0),
    // Sent only on request.
    stream(87, 0.0, 0.0),
    stream(49, 0.0, 0.0),
    stream(148, 0.0, 0.0),
    stream(65, 0.0, 0.0),
];

/// Magnetic field of the map centre in gauss, NED.
const FIELD: Vec3 = Vec3::new(0.272, -0.034, 0.472);

fn f(v: f64) -> f32 {
    v as f32
}

fn f3(v: &Vec3) -> [f32; 3] {
    [f(v.x), f(v.y), f(v.z)]
}

/// Pressure in Pa of the standard atmosphere at an altitude in m.
fn pressure(altitude: f64) -> f64 {
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

    /// Builds a message; `None` if the vehicle does not support it, or has no data for it yet.
    pub fn message(&self, id: u32) -> Option<Outbound> {
        let k = &self.motion;
        let [roll, pitch, yaw] = k.pose.roll_pitch_yaw();
        let q = k.pose.wxyz().map(f);
        let rate = f3(&k.rate);
        let local = f3(&self.local());
        let velocity = f3(&k.velocity);
        let time_boot_ms = self.boot_ms();
        let time_usec = self.boot_us();
        let heading = yaw.to_degrees().rem_euclid(360.0);
        let ground_speed = k.velocity.xy().norm();
        let amsl = self.geo.centre[2] - k.pose.position.z;
        let message = match id {
            0 => return Some(self.heartbeat()),
            1 => {
                let ready = u32::from(self.modes.can_arm() || self.armed()) << 28;
                let sensors = |bits| MavSysStatusSensor::from_bits_retain(bits);
                MavMessage::SYS_STATUS(SYS_STATUS_DATA {
                    onboard_control_sensors_present: sensors(0x0200_402d),
                    onboard_control_sensors_enabled: sensors(0x0201_402d),
                    onboard_control_sensors_health: sensors(0x2320_c83f | ready),
                    load: 120,
                    voltage_battery: self.battery_mv(),
                    current_battery: -100,
                    battery_remaining: self.battery_percent(),
                    ..Default::default()
                })
            }
            2 => MavMessage::SYSTEM_TIME(SYSTEM_TIME_DATA {
                time_unix_usec: self.setup.unix_us + (self.now * 1e6).round() as u64,
                time_boot_ms,
            }),
            4 => MavMessage::PING(PING_DATA {
                time_usec,
                seq: self.uptime() as u32,
                ..Default::default()
            }),
            8 => MavMessage::LINK_NODE_STATUS(LINK_NODE_STATUS_DATA {
                timestamp: time_usec,
                messages_sent: self.sent,
                messages_received: self.received,
                tx_rate: 24_000,
                ..Default::default()
            }),
            24 => MavMessage::GPS_RAW_INT(self.gps(time_usec)),
            29 => MavMessage::SCALED_PRESSURE(SCALED_PRESSURE_DATA {
                time_boot_ms,
                press_abs: f(pressure(amsl) / 100.0),
                temperature: 2500,
                ..Default::default()
            }),
            30 => MavMessage::ATTITUDE(ATTITUDE_DATA {
                time_boot_ms,
                roll: f(roll),
                pitch: f(pitch),
                yaw: f(yaw),
                rollspeed: rate[0],
                pitchspeed: rate[1],
                yawspeed: rate[2],
            }),
            31 => MavMessage::ATTITUDE_QUATERNION(ATTITUDE_QUATERNION_DATA {
                time_boot_ms,
                q1: q[0],
                q2: q[1],
                q3: q[2],
                q4: q[3],
                rollspeed: rate[0],
                pitchspeed: rate[1],
                yawspeed: rate[2],
                ..Default::default()
            }),
            32 if self.located() => MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
                time_boot_ms,
                x: local[0],
                y: local[1],
                z: local[2],
                vx: velocity[0],
                vy: velocity[1],
                vz: velocity[2],
            }),
            33 if self.located() && self.has_gps() => {
                let [lat, lon, alt] = self.geodetic(&k.pose.position);
                let centi = |v: f64| (v * 100.0).round() as i16;
                MavMessage::GLOBAL_POSITION_INT(GLOBAL_POSITION_INT_DATA {
                    time_boot_ms,
                    lat,
                    lon,
                    alt,
                    relative_alt: ((self.home.z - k.pose.position.z) * 1e3).round() as i32,
                    vx: centi(k.velocity.x),
                    vy: centi(k.velocity.y),
                    vz: centi(k.velocity.z),
                    hdg: (heading * 100.0) as u16,
                })
            }
            36 => MavMessage::SERVO_OUTPUT_RAW(self.servos(time_usec)),
            42 => return Some(self.mission.current_message()),
            49 if self.located() && self.has_gps() => {
                let [latitude, longitude, altitude] = self.geodetic(&self.origin);
                MavMessage::GPS_GLOBAL_ORIGIN(GPS_GLOBAL_ORIGIN_DATA {
                    latitude,
                    longitude,
                    altitude,
                    time_usec,
                })
            }
            74 => MavMessage::VFR_HUD(VFR_HUD_DATA {
                airspeed: 0.0,
                groundspeed: f(ground_speed),
                heading: heading as i16,
                throttle: (self.thrust() * 100.0) as u16,
                alt: f(amsl),
                climb: f(-k.velocity.z),
            }),
            83 => MavMessage::ATTITUDE_TARGET(self.attitude_target(time_boot_ms)),
            85 if self.tells_position_target() => {
                MavMessage::POSITION_TARGET_LOCAL_NED(self.position_target(time_boot_ms))
            }
            93 => return Some(self.truth()),
            105 => MavMessage::HIGHRES_IMU(self.imu(time_usec, amsl)),
            111 => MavMessage::TIMESYNC(TIMESYNC_DATA {
                tc1: 0,
                ts1: self.boot_ns(),
                ..Default::default()
            }),
            141 if self.located() => {
                let above = self.ground() - k.pose.position.z;
                MavMessage::ALTITUDE(ALTITUDE_DATA {
                    time_usec,
                    altitude_monotonic: f(amsl),
                    altitude_amsl: f(amsl),
                    altitude_local: -local[2],
                    altitude_relative: f(self.home.z - k.pose.position.z),
                    altitude_terrain: f(self.origin.z - self.ground()),
                    bottom_clearance: f(above),
                })
            }
            147 => MavMessage::BATTERY_STATUS(self.battery()),
            148 => MavMessage::AUTOPILOT_VERSION(self.version()),
            230 if self.located() => {
                let flags = match (self.has_gps(), self.armed()) {
                    (true, false) => 1023,
                    (true, true) => 895,
                    (false, _) => 895 & !16,
                };
                MavMessage::ESTIMATOR_STATUS(ESTIMATOR_STATUS_DATA {
                    time_usec,
                    flags: EstimatorStatusFlags::from_bits_retain(flags),
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
            241 => MavMessage::VIBRATION(VIBRATION_DATA {
                time_usec,
                vibration_z: f(0.02 * self.thrust()),
                ..Default::default()
            }),
            242 if self.home_known => MavMessage::HOME_POSITION(self.home_position(time_usec)),
            245 => {
                use MavLandedState::*;
                MavMessage::EXTENDED_SYS_STATE(EXTENDED_SYS_STATE_DATA {
                    vtol_state: MavVtolState::MAV_VTOL_STATE_UNDEFINED,
                    landed_state: match self.landed() {
                        Landed::Ground => MAV_LANDED_STATE_ON_GROUND,
                        Landed::Air => MAV_LANDED_STATE_IN_AIR,
                        Landed::Takeoff => MAV_LANDED_STATE_TAKEOFF,
                        Landed::Landing => MAV_LANDED_STATE_LANDING,
                    },
                })
            }
            331 if self.located() => MavMessage::ODOMETRY(self.odometry(time_usec)),
            380 => MavMessage::TIME_ESTIMATE_TO_TARGET(TIME_ESTIMATE_TO_TARGET_DATA {
                safe_return: -1,
                land: -1,
                mission_next_item: -1,
                mission_end: -1,
                commanded_action: -1,
            }),
            411 => MavMessage::CURRENT_EVENT_SEQUENCE(CURRENT_EVENT_SEQUENCE_DATA {
                sequence: 0,
                flags: MavEventCurrentSequenceFlags::from_bits_retain(0),
            }),
            436 => MavMessage::CURRENT_MODE(CURRENT_MODE_DATA {
                custom_mode: self.mode().custom(),
                intended_custom_mode: match self.on_lap() {
                    true => self.mode().custom(),
                    false => self.modes.wanted.custom(),
                },
                standard_mode: MavStandardMode::default(),
            }),
            _ => return None,
        };
        Some(message.into())
    }

    /// HEARTBEAT.
    pub fn heartbeat(&self) -> Outbound {
        let lap = self.on_lap();
        Heartbeat {
            custom_mode: self.mode().custom(),
            kind: 2,
            autopilot: 12,
            base_mode: match lap {
                true => self.mode().base(false) | 0x80,
                false => self.modes.base(),
            },
            // MAV_STATE_ACTIVE.
            system_status: if lap { 4 } else { self.modes.status() },
            mavlink_version: 3,
        }
        .into()
    }

    fn gps(&self, time_usec: u64) -> GPS_RAW_INT_DATA {
        if !self.has_gps() {
            return GPS_RAW_INT_DATA {
                time_usec,
                eph: u16::MAX,
                epv: u16::MAX,
                vel: u16::MAX,
                cog: u16::MAX,
                fix_type: GpsFixType::GPS_FIX_TYPE_NO_GPS,
                satellites_visible: u8::MAX,
                ..Default::default()
            };
        }
        let k = &self.motion;
        let [lat, lon, alt] = self.geodetic(&k.pose.position);
        let course = k.velocity.y.atan2(k.velocity.x).to_degrees();
        GPS_RAW_INT_DATA {
            time_usec,
            lat,
            lon,
            alt,
            eph: 70,
            epv: 110,
            vel: (k.velocity.xy().norm() * 100.0) as u16,
            cog: (course.rem_euclid(360.0) * 100.0) as u16,
            fix_type: GpsFixType::GPS_FIX_TYPE_3D_FIX,
            satellites_visible: self.damage.gps[1],
            alt_ellipsoid: alt,
            h_acc: 900,
            v_acc: 1780,
            vel_acc: 400,
            hdg_acc: 0,
            yaw: 0,
        }
    }

    fn imu(&self, time_usec: u64, amsl: f64) -> HIGHRES_IMU_DATA {
        let k = &self.motion;
        let felt = f3(&k.specific_force);
        let rate = f3(&k.rate);
        let field = f3(&(k.pose.attitude.inverse() * FIELD));
        HIGHRES_IMU_DATA {
            time_usec,
            xacc: felt[0],
            yacc: felt[1],
            zacc: felt[2],
            xgyro: rate[0],
            ygyro: rate[1],
            zgyro: rate[2],
            xmag: field[0],
            ymag: field[1],
            zmag: field[2],
            abs_pressure: f(pressure(amsl)), // Pa where the definition says hPa: so does PX4
            diff_pressure: 0.0,
            pressure_alt: f(amsl),
            temperature: 25.0,
            fields_updated: HighresImuUpdatedFlags::from_bits_retain(0x1fff),
            id: 0,
        }
    }

    fn servos(&self, time_usec: u64) -> SERVO_OUTPUT_RAW_DATA {
        let pulse = match self.armed() {
            true => (1000.0 + 1000.0 * self.thrust()) as u16,
            false => 900,
        };
        SERVO_OUTPUT_RAW_DATA {
            time_usec: time_usec as u32,
            servo1_raw: pulse,
            servo2_raw: pulse,
            servo3_raw: pulse,
            servo4_raw: pulse,
            servo5_raw: 900,
            servo6_raw: 900,
            servo7_raw: 900,
            servo8_raw: 900,
            ..Default::default()
        }
    }

    fn attitude_target(&self, time_boot_ms: u32) -> ATTITUDE_TARGET_DATA {
        let (attitude, rate, thrust) = match &self.body {
            Some(b) => (b.attitude_target, b.drive.rate(), b.drive.thrust()),
            None => (self.motion.pose.attitude, Vec3::zeros(), 0.0),
        };
        let q = attitude.quaternion();
        ATTITUDE_TARGET_DATA {
            time_boot_ms,
            q: [f(q.w), f(q.i), f(q.j), f(q.k)],
            body_roll_rate: f(rate.x),
            body_pitch_rate: f(rate.y),
            body_yaw_rate: f(rate.z),
            thrust: f(thrust.max(0.001)),
            type_mask: AttitudeTargetTypemask::from_bits_retain(0),
        }
    }

    fn position_target(&self, time_boot_ms: u32) -> POSITION_TARGET_LOCAL_NED_DATA {
        let nan = Vec3::repeat(f64::NAN);
        let (position, velocity, acceleration, yaw, yaw_rate) = match (&self.body, self.flight.goal)
        {
            (Some(body), Some(goal)) => (
                goal.position - self.origin,
                body.velocity_target,
                body.acceleration_target,
                if goal.yaw.is_finite() { goal.yaw } else { body.attitude_target.euler_angles().2 },
                goal.yaw_rate,
            ),
            _ => (nan, nan, Vec3::new(0.0, 0.0, 100.0), self.motion.pose.roll_pitch_yaw()[2], 0.0),
        };
        let mut mask = 0;
        for (i, value) in position.iter().chain(velocity.iter()).enumerate() {
            mask |= u16::from(value.is_nan()) << i;
        }
        let (p, v, a) = (f3(&position), f3(&velocity), f3(&acceleration));
        POSITION_TARGET_LOCAL_NED_DATA {
            time_boot_ms,
            x: p[0],
            y: p[1],
            z: p[2],
            vx: v[0],
            vy: v[1],
            vz: v[2],
            afx: a[0],
            afy: a[1],
            afz: a[2],
            yaw: f(yaw),
            yaw_rate: if yaw_rate.is_nan() { 0.0 } else { f(yaw_rate) },
            type_mask: PositionTargetTypemask::from_bits_retain(mask),
            coordinate_frame: MavFrame::MAV_FRAME_LOCAL_NED,
        }
    }

    fn battery(&self) -> BATTERY_STATUS_DATA {
        let mut voltages = [u16::MAX; 10];
        voltages[0] = self.battery_mv();
        BATTERY_STATUS_DATA {
            current_consumed: 0,
            energy_consumed: -1,
            temperature: i16::MAX,
            voltages,
            current_battery: -100,
            id: 0,
            battery_function: MavBatteryFunction::MAV_BATTERY_FUNCTION_ALL,
            mavtype: MavBatteryType::MAV_BATTERY_TYPE_LIPO,
            battery_remaining: self.battery_percent(),
            charge_state: self.charge_state(),
            ..Default::default()
        }
    }

    fn charge_state(&self) -> MavBatteryChargeState {
        use MavBatteryChargeState::*;
        match self.parameters.charge(self.battery) {
            Charge::Fine => MAV_BATTERY_CHARGE_STATE_OK,
            Charge::Low => MAV_BATTERY_CHARGE_STATE_LOW,
            Charge::Critical => MAV_BATTERY_CHARGE_STATE_CRITICAL,
            Charge::Emergency => MAV_BATTERY_CHARGE_STATE_EMERGENCY,
        }
    }

    fn battery_percent(&self) -> i8 {
        self.battery.round() as i8
    }

    fn battery_mv(&self) -> u16 {
        // Four cells from 3.5 V empty to 4.05 V full, as PX4's simulated battery.
        (4000.0 * (3.5 + 0.55 * self.battery / 100.0)) as u16
    }

    fn version(&self) -> AUTOPILOT_VERSION_DATA {
        AUTOPILOT_VERSION_DATA {
            capabilities: MavProtocolCapability::from_bits_retain(59_647),
            uid: 0x4546_5f45_4d55_0000 + u64::from(self.setup.id),
            flight_sw_version: 0x0110_0040,
            middleware_sw_version: 0x0110_0040,
            os_sw_version: 0x0612_30ff,
            board_version: 1,
            flight_custom_version: *b"emulator",
            middleware_custom_version: *b"emulator",
            ..Default::default()
        }
    }

    fn home_position(&self, time_usec: u64) -> HOME_POSITION_DATA {
        let [latitude, longitude, altitude] = self.geodetic(&self.home);
        let [x, y, z] = f3(&(self.home - self.origin));
        let half = self.home_yaw / 2.0;
        HOME_POSITION_DATA {
            latitude,
            longitude,
            altitude,
            x,
            y,
            z,
            q: [f(half.cos()), 0.0, 0.0, f(half.sin())],
            time_usec,
            ..Default::default()
        }
    }

    fn odometry(&self, time_usec: u64) -> ODOMETRY_DATA {
        let k = &self.motion;
        let [x, y, z] = f3(&self.local());
        let [vx, vy, vz] = f3(&k.velocity);
        let [rollspeed, pitchspeed, yawspeed] = f3(&k.rate);
        let spread = |linear: f32, angular: f32| {
            let mut covariance = [f32::NAN; 21];
            for i in [0, 6, 11] {
                covariance[i] = linear;
            }
            for i in [15, 18, 20] {
                covariance[i] = angular;
            }
            covariance
        };
        ODOMETRY_DATA {
            time_usec,
            x,
            y,
            z,
            q: k.pose.wxyz().map(f),
            vx,
            vy,
            vz,
            rollspeed,
            pitchspeed,
            yawspeed,
            pose_covariance: spread(0.05, 0.001),
            velocity_covariance: spread(0.02, f32::NAN),
            frame_id: MavFrame::MAV_FRAME_LOCAL_NED,
            child_frame_id: MavFrame::MAV_FRAME_LOCAL_NED, // velocities in NED: so does PX4
            reset_counter: 0,
            estimator_type: MavEstimatorType::MAV_ESTIMATOR_TYPE_AUTOPILOT,
            quality: 0,
        }
    }

    /// POSITION_TARGET_LOCAL_NED is not sent while attitudes or rates are commanded.
    fn tells_position_target(&self) -> bool {
        use super::setpoints::Wish;
        let by_attitude = matches!(self.wish, Some(Wish::Attitude(..) | Wish::Rates(..)));
        !(self.modes.armed && self.modes.active == super::Mode::Offboard && by_attitude)
    }

    /// Share of the maximum thrust.
    pub fn thrust(&self) -> f64 {
        match &self.body {
            Some(body) => body.state.thrust,
            None if self.on_lap() => super::HOVER,
            None => 0.0,
        }
    }

    /// CopterSim's own true state, sent as HIL_ACTUATOR_CONTROLS.
    fn truth(&self) -> Outbound {
        let k = &self.motion;
        let mut controls = [0.0f32; 16];
        let euler = k.pose.roll_pitch_yaw().map(f);
        let parts = [euler, f3(&k.pose.position), f3(&k.velocity), f3(&k.rate)];
        for (place, value) in controls.iter_mut().zip(parts.into_iter().flatten()) {
            *place = value;
        }
        controls[15] = if self.located() { 1.0 } else { 0.0 };
        MavMessage::HIL_ACTUATOR_CONTROLS(HIL_ACTUATOR_CONTROLS_DATA {
            time_usec: (self.now * 1e3).round() as u64, // in ms, as its readers expect
            flags: HilActuatorControlsFlags::from_bits_retain(1_234_567_890),
            controls,
            mode: MavModeFlag::from_bits_retain(0),
        })
        .into()
    }
}
