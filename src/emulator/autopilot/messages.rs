//! The longer messages, built from the vehicle's state.
use super::telemetry::{f, f3, pressure};
use super::{Autopilot, failsafe::ChargeLevel};
use crate::emulator::world::Vec3;
use crate::wire::mavlink::dialect::*;
use crate::wire::mavlink::raw::{
    BatteryStatus, GpsRawInt, HilActuatorControls, OdometryMessage, PositionTargetLocalNed,
};
use crate::{wire::mavlink::Outbound, wire::mavlink::numbers::MAV_FRAME_LOCAL_NED};

/// Magnetic field of the map centre in gauss, NED.
const FIELD: Vec3 = Vec3::new(0.272, -0.034, 0.472);

impl Autopilot {
    pub(super) fn gps_raw_int(&self, time_usec: u64) -> Outbound {
        if !self.has_gps() {
            return GpsRawInt {
                time_usec,
                eph: u16::MAX,
                epv: u16::MAX,
                vel: u16::MAX,
                cog: u16::MAX,
                satellites_visible: u8::MAX,
                ..Default::default()
            }
            .into();
        }
        let motion = &self.motion;
        let [fix_type, satellites_visible] = self.damage.gps;
        let [lat, lon, alt] = self.geodetic(&motion.pose.position);
        let course = motion.velocity.y.atan2(motion.velocity.x).to_degrees();
        GpsRawInt {
            time_usec,
            lat,
            lon,
            alt,
            eph: 70,
            epv: 110,
            vel: (motion.velocity.xy().norm() * 100.0) as u16,
            cog: (course.rem_euclid(360.0) * 100.0) as u16,
            fix_type,
            satellites_visible,
            alt_ellipsoid: alt,
            h_acc: 900,
            v_acc: 1780,
            vel_acc: 400,
            ..Default::default()
        }
        .into()
    }

    pub(super) fn highres_imu(&self, time_usec: u64, amsl: f64) -> HIGHRES_IMU_DATA {
        let motion = &self.motion;
        let force = f3(&motion.specific_force);
        let rate = f3(&motion.rate);
        let field = f3(&(motion.pose.attitude.inverse() * FIELD));
        HIGHRES_IMU_DATA {
            time_usec,
            xacc: force[0],
            yacc: force[1],
            zacc: force[2],
            xgyro: rate[0],
            ygyro: rate[1],
            zgyro: rate[2],
            xmag: field[0],
            ymag: field[1],
            zmag: field[2],
            abs_pressure: f(pressure(amsl)), // PX4 sends Pa; the definition has hPa
            pressure_alt: f(amsl),
            temperature: 25.0,
            fields_updated: HighresImuUpdatedFlags::from_bits_retain(0x1fff),
            ..Default::default()
        }
    }

    pub(super) fn servo_output_raw(&self, time_usec: u64) -> SERVO_OUTPUT_RAW_DATA {
        const STOPPED: u16 = 900;
        let running = (1000.0 + 1000.0 * self.thrust()) as u16;
        let pulse = if self.is_armed() { running } else { STOPPED };
        SERVO_OUTPUT_RAW_DATA {
            time_usec: time_usec as u32,
            servo1_raw: pulse,
            servo2_raw: pulse,
            servo3_raw: pulse,
            servo4_raw: pulse,
            servo5_raw: STOPPED,
            servo6_raw: STOPPED,
            servo7_raw: STOPPED,
            servo8_raw: STOPPED,
            ..Default::default()
        }
    }

    pub(super) fn attitude_target(&self, time_boot_ms: u32) -> ATTITUDE_TARGET_DATA {
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
            type_mask: AttitudeTargetTypemask::empty(),
        }
    }

    pub(super) fn position_target(&self, time_boot_ms: u32) -> Outbound {
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
        let mut type_mask = 0;
        for (i, value) in position.iter().chain(&velocity).enumerate() {
            type_mask |= u16::from(value.is_nan()) << i;
        }
        PositionTargetLocalNed {
            time_boot_ms,
            position: f3(&position),
            velocity: f3(&velocity),
            acceleration: f3(&acceleration),
            yaw: f(yaw),
            yaw_rate: if yaw_rate.is_nan() { 0.0 } else { f(yaw_rate) },
            type_mask,
            coordinate_frame: MAV_FRAME_LOCAL_NED,
        }
        .into()
    }

    pub(super) fn battery_status(&self) -> Outbound {
        let mut voltages = [u16::MAX; 10];
        voltages[0] = self.battery_mv();
        BatteryStatus {
            energy_consumed: -1,
            temperature: i16::MAX,
            voltages,
            current_battery: -100,
            function: MavBatteryFunction::MAV_BATTERY_FUNCTION_ALL as u8,
            kind: MavBatteryType::MAV_BATTERY_TYPE_LIPO as u8,
            battery_remaining: self.battery_percent(),
            charge_state: ChargeLevel::of(self.battery, &self.parameters) as u8,
            ..Default::default()
        }
        .into()
    }

    pub(super) fn battery_percent(&self) -> i8 {
        self.battery.round() as i8
    }

    pub(super) fn battery_mv(&self) -> u16 {
        // Four cells of 3.5 V (empty) to 4.05 V (full), as PX4's simulated battery has.
        (4000.0 * (3.5 + 0.55 * self.battery / 100.0)) as u16
    }

    pub(super) fn autopilot_version(&self) -> AUTOPILOT_VERSION_DATA {
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

    pub(super) fn home_position(&self, time_usec: u64) -> HOME_POSITION_DATA {
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

    pub(super) fn odometry(&self, time_usec: u64) -> Outbound {
        let motion = &self.motion;
        let diagonal = |linear: f32, angular: f32| {
            let mut covariance = [f32::NAN; 21];
            for i in [0, 6, 11] {
                covariance[i] = linear;
            }
            for i in [15, 18, 20] {
                covariance[i] = angular;
            }
            covariance
        };
        OdometryMessage {
            time_usec,
            position: f3(&self.local()),
            q: motion.pose.wxyz().map(f),
            velocity: f3(&motion.velocity),
            rates: f3(&motion.rate),
            pose_covariance: diagonal(0.05, 0.001),
            velocity_covariance: diagonal(0.02, f32::NAN),
            frame_id: MAV_FRAME_LOCAL_NED,
            child_frame_id: MAV_FRAME_LOCAL_NED, // as PX4: its velocities are in NED
            estimator_type: MavEstimatorType::MAV_ESTIMATOR_TYPE_AUTOPILOT as u8,
            ..Default::default()
        }
        .into()
    }

    /// CopterSim's own true state, sent as HIL_ACTUATOR_CONTROLS.
    pub(super) fn true_state(&self) -> Outbound {
        let motion = &self.motion;
        let mut controls = [0.0f32; 16];
        let euler = motion.pose.roll_pitch_yaw().map(f);
        let state = [euler, f3(&motion.pose.position), f3(&motion.velocity), f3(&motion.rate)];
        controls[..12].copy_from_slice(state.as_flattened());
        controls[15] = if self.has_position() { 1.0 } else { 0.0 };
        let time_usec = (self.now * 1e3).round() as u64; // CopterSim sends ms in this field
        HilActuatorControls { time_usec, flags: 1_234_567_890, controls, mode: 0 }.into()
    }
}
