//! `imu/*`: attitude and raw measurements.
use super::convert::{enu_wxyz, quaternion, vector3};
use super::plugin::plugin;
use super::topic::{BestMessage, RosResult, Topic};
use crate::frames::{Attitude, Euler, Flu, Frd, Ned, Vector};
use crate::msgs::sensor_msgs::msg::{FluidPressure, Imu, MagneticField, Temperature};
use crate::vehicle::fcu::boot_ns;
use crate::vehicle::{Counter, Fcu, Orientation, Stamp};
use crate::wire::mavlink::dialect::{
    ATTITUDE_DATA, ATTITUDE_QUATERNION_DATA, HIGHRES_IMU_DATA, RAW_IMU_DATA, SCALED_IMU_DATA,
    SCALED_PRESSURE_DATA,
};
use std::time::Duration;

/// Squares of the standard deviations that mavros assumes: 0.0003 m/s2, 0.02 degrees/s, and 1 rad for the attitude.
const ACCELERATION_VARIANCE: f64 = 9e-8;
const RATE_VARIANCE: f64 = 1.218_469_679_146_834e-7;
const ATTITUDE_VARIANCE: f64 = 1.0;
/// First element of a covariance that marks the quantity as not measured.
const UNKNOWN: f64 = -1.0;
/// Age above which specific force is published, but marked as unknown. `imu/data` has the attitude's stamp and the
/// newest earlier force, which at PX4's rates is at most 20 ms old. mavros does not check its age.
const MAX_FORCE_AGE: Duration = Duration::from_millis(200);

const GRAVITY: f64 = 9.80665;
const GAUSS: f64 = 1e-4;
const MILLI: f64 = 1e-3;
const HECTO: f64 = 100.0;
const CENTI: f64 = 0.01;

/// Bits of HIGHRES_IMU.fields_updated.
const FORCE_OR_RATES: u16 = 0b11_1111;
const MAGNETIC_FIELD: u16 = 0b1_1100_0000;
const STATIC_PRESSURE: u16 = 1 << 9;
const DIFFERENTIAL_PRESSURE: u16 = 1 << 10;
const TEMPERATURE: u16 = 1 << 12;

plugin! { ImuPlugin(settings) {
    publish {
        data: Imu("imu/data", Telemetry, "orientation, rates and specific force, FLU (ATTITUDE or ATTITUDE_QUATERNION, HIGHRES_IMU)") in settings.base_link
            => |imu| fill_imu(imu, diagonal(ATTITUDE_VARIANCE));
        data_raw: Imu("imu/data_raw", Telemetry, "rates and specific force, FLU (HIGHRES_IMU, else SCALED_IMU, RAW_IMU)") in settings.base_link
            => |imu| fill_imu(imu, NOT_MEASURED);
        mag: MagneticField("imu/mag", Telemetry, "magnetic field in T, FLU") in settings.base_link
            => |mag| mag.magnetic_field_covariance = NOT_MEASURED;
        static_pressure: FluidPressure("imu/static_pressure", Telemetry, "air pressure in Pa") in settings.base_link;
        diff_pressure: FluidPressure("imu/diff_pressure", Telemetry, "differential pressure in Pa") in settings.base_link;
        temperature_imu: Temperature("imu/temperature_imu", Telemetry, "temperature of the IMU in deg C") in settings.base_link;
        temperature_baro: Temperature("imu/temperature_baro", Telemetry, "temperature of the barometer in deg C") in settings.base_link;
    }
    state {
        best_attitude: BestMessage;
        best_sensors: BestMessage;
        best_pressure: BestMessage;
        /// Specific force and its arrival.
        force: Option<(Vector<Flu>, Duration)>;
        /// Boot time in ns of the newest attitude.
        last_attitude: Option<i64>;
        /// Boot time in ns of the newest sample.
        last_sample: Option<i64>;
    }
    receive {
        dialect::ATTITUDE_DATA => attitude,
        dialect::ATTITUDE_QUATERNION_DATA => attitude_quaternion,
        dialect::HIGHRES_IMU_DATA => highres_imu,
        dialect::SCALED_IMU_DATA => scaled_imu,
        dialect::RAW_IMU_DATA => raw_imu,
        dialect::SCALED_PRESSURE_DATA => scaled_pressure,
    }
} }

const fn diagonal(variance: f64) -> [f64; 9] {
    [variance, 0.0, 0.0, 0.0, variance, 0.0, 0.0, 0.0, variance]
}

const NOT_MEASURED: [f64; 9] = [UNKNOWN, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];

fn fill_imu(imu: &mut Imu, orientation_covariance: [f64; 9]) {
    imu.orientation = quaternion([1.0, 0.0, 0.0, 0.0]);
    imu.orientation_covariance = orientation_covariance;
    imu.angular_velocity_covariance = diagonal(RATE_VARIANCE);
    imu.linear_acceleration_covariance = diagonal(ACCELERATION_VARIANCE);
}

impl ImuPlugin {
    fn attitude(&mut self, fcu: &mut Fcu, m: &ATTITUDE_DATA) -> RosResult {
        if !self.best_attitude.accept(1, fcu.arrival()) {
            return Ok(());
        }
        let [roll, pitch, yaw] = [m.roll, m.pitch, m.yaw].map(f64::from);
        let attitude = Attitude::<Frd, Ned>::from_euler(Euler { roll, pitch, yaw });
        let rates = [m.rollspeed, m.pitchspeed, m.yawspeed];
        self.set_orientation(fcu, m.time_boot_ms, attitude.wxyz(), rates)
    }

    fn attitude_quaternion(&mut self, fcu: &mut Fcu, m: &ATTITUDE_QUATERNION_DATA) -> RosResult {
        self.best_attitude.accept(2, fcu.arrival()); // the best: always accepted
        let rates = [m.rollspeed, m.pitchspeed, m.yawspeed];
        self.set_orientation(fcu, m.time_boot_ms, [m.q1, m.q2, m.q3, m.q4].map(f64::from), rates)
    }

    fn set_orientation(
        &mut self,
        fcu: &mut Fcu,
        time_boot_ms: u32,
        wxyz: [f64; 4],
        rates: [f32; 3],
    ) -> RosResult {
        let boot_ns = fcu.boot_ns(time_boot_ms);
        if !fcu.check_order(&mut self.last_attitude, boot_ns) {
            return Ok(());
        }
        let stamp = fcu.stamp_ms(time_boot_ms);
        let Some(attitude) = Attitude::<Frd, Ned>::from_wxyz(wxyz) else {
            // The autopilot has no valid attitude any more, so the last one is outdated.
            fcu.orientation = None;
            fcu.count(Counter::BadAttitude);
            return Ok(());
        };
        let orientation = Orientation {
            attitude,
            enu_wxyz: enu_wxyz(attitude),
            rates: Vector::<Frd>::from(rates).into(),
            at: fcu.arrival(),
        };
        fcu.orientation = Some(orientation);
        let is_recent = |at: Duration| fcu.arrival().saturating_sub(at) <= MAX_FORCE_AGE;
        let is_known = self.force.is_some_and(|(_, at)| is_recent(at));
        let force = self.force.map_or(Vector::zero(), |(force, _)| force);
        self.data.publish_if_subscribed(stamp, |message| {
            message.orientation = quaternion(orientation.enu_wxyz);
            // The UDP modes carry no rates.
            let rates = orientation.known_rates();
            message.angular_velocity = vector3(rates.unwrap_or_default());
            message.angular_velocity_covariance =
                rates.map_or(NOT_MEASURED, |_| diagonal(RATE_VARIANCE));
            message.linear_acceleration = vector3(force);
            message.linear_acceleration_covariance = diagonal(ACCELERATION_VARIANCE);
            if let ([first, ..], false) = (&mut message.linear_acceleration_covariance, is_known) {
                *first = UNKNOWN;
            }
        })
    }

    fn highres_imu(&mut self, fcu: &mut Fcu, m: &HIGHRES_IMU_DATA) -> RosResult {
        let boot_ns = boot_ns(m.time_usec);
        if boot_ns.is_some_and(|boot_ns| !fcu.check_order(&mut self.last_sample, boot_ns)) {
            return Ok(());
        }
        self.best_sensors.accept(3, fcu.arrival()); // the best: always accepted, also as pressure
        self.best_pressure.accept(2, fcu.arrival());
        let stamp = fcu.stamp_us(m.time_usec);
        let updated = m.fields_updated.bits();
        let to_pascal = if fcu.settings.quirks { 1.0 } else { HECTO };
        if updated & FORCE_OR_RATES != 0 {
            let (force, rates) = ([m.xacc, m.yacc, m.zacc], [m.xgyro, m.ygyro, m.zgyro]);
            self.publish_sensors(fcu, stamp, force.map(f64::from), rates.map(f64::from))?;
        }
        if updated & MAGNETIC_FIELD != 0 {
            let field = [m.xmag, m.ymag, m.zmag].map(|b| f64::from(b) * GAUSS);
            self.publish_field(fcu, stamp, field)?;
        }
        if updated & STATIC_PRESSURE != 0 {
            let pascal = f64::from(m.abs_pressure) * to_pascal;
            publish_pressure(fcu, &mut self.static_pressure, stamp, pascal)?;
        }
        if updated & DIFFERENTIAL_PRESSURE != 0 {
            let pascal = f64::from(m.diff_pressure) * to_pascal;
            publish_pressure(fcu, &mut self.diff_pressure, stamp, pascal)?;
        }
        if updated & TEMPERATURE != 0 {
            let celsius = f64::from(m.temperature);
            publish_temperature(fcu, &mut self.temperature_imu, stamp, celsius)?;
        }
        Ok(())
    }

    fn scaled_imu(&mut self, fcu: &mut Fcu, m: &SCALED_IMU_DATA) -> RosResult {
        if !self.best_sensors.accept(2, fcu.arrival()) {
            return Ok(());
        }
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        let force = [m.xacc, m.yacc, m.zacc].map(|a| f64::from(a) * MILLI * GRAVITY);
        let rates = [m.xgyro, m.ygyro, m.zgyro].map(|w| f64::from(w) * MILLI);
        self.publish_sensors(fcu, stamp, force, rates)?;
        let field = milligauss(fcu, [m.xmag, m.ymag, m.zmag]);
        self.publish_field(fcu, stamp, field)
    }

    fn raw_imu(&mut self, fcu: &mut Fcu, m: &RAW_IMU_DATA) -> RosResult {
        if !self.best_sensors.accept(1, fcu.arrival()) {
            return Ok(());
        }
        // Raw values are in the autopilot's own scale; mavros assumes thousandths of SI units.
        let stamp = fcu.stamp_us(m.time_usec);
        let force = [m.xacc, m.yacc, m.zacc].map(|a| f64::from(a) * MILLI);
        let rates = [m.xgyro, m.ygyro, m.zgyro].map(|w| f64::from(w) * MILLI);
        self.publish_sensors(fcu, stamp, force, rates)?;
        let field = milligauss(fcu, [m.xmag, m.ymag, m.zmag]);
        self.publish_field(fcu, stamp, field)
    }

    fn scaled_pressure(&mut self, fcu: &mut Fcu, m: &SCALED_PRESSURE_DATA) -> RosResult {
        if !self.best_pressure.accept(1, fcu.arrival()) {
            return Ok(());
        }
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        let (total, difference) = (f64::from(m.press_abs), f64::from(m.press_diff));
        let celsius = f64::from(m.temperature) * CENTI;
        publish_temperature(fcu, &mut self.temperature_baro, stamp, celsius)?;
        publish_pressure(fcu, &mut self.static_pressure, stamp, total * HECTO)?;
        publish_pressure(fcu, &mut self.diff_pressure, stamp, difference * HECTO)
    }

    fn publish_sensors(
        &mut self,
        fcu: &mut Fcu,
        stamp: Stamp,
        force: [f64; 3],
        rates: [f64; 3],
    ) -> RosResult {
        if !fcu.check_finite(force.into_iter().chain(rates).map(|x| x as f32)) {
            return Ok(());
        }
        let force = Vector::<Flu>::from(Vector::<Frd>::from(force));
        self.force = Some((force, fcu.arrival()));
        self.data_raw.publish_if_subscribed(stamp, |m| {
            m.angular_velocity = vector3(Vector::<Flu>::from(Vector::<Frd>::from(rates)));
            m.linear_acceleration = vector3(force);
        })
    }

    fn publish_field(&mut self, fcu: &mut Fcu, stamp: Stamp, tesla: [f64; 3]) -> RosResult {
        if !fcu.check_finite(tesla.map(|b| b as f32)) {
            return Ok(());
        }
        self.mag.publish_if_subscribed(stamp, |m| {
            m.magnetic_field = vector3(Vector::<Flu>::from(Vector::<Frd>::from(tesla)));
        })
    }
}

fn milligauss(fcu: &Fcu, field: [i16; 3]) -> [f64; 3] {
    // mavros multiplies instead of dividing.
    let to_tesla = if fcu.settings.quirks { 1e3 } else { GAUSS * MILLI };
    field.map(|b| f64::from(b) * to_tesla)
}

fn publish_pressure(
    fcu: &mut Fcu,
    topic: &mut Topic<FluidPressure>,
    stamp: Stamp,
    pascal: f64,
) -> RosResult {
    if !fcu.check_finite([pascal as f32]) {
        return Ok(());
    }
    topic.publish_if_subscribed(stamp, |m| m.fluid_pressure = pascal)
}

fn publish_temperature(
    fcu: &mut Fcu,
    topic: &mut Topic<Temperature>,
    stamp: Stamp,
    celsius: f64,
) -> RosResult {
    if !fcu.check_finite([celsius as f32]) {
        return Ok(());
    }
    topic.publish_if_subscribed(stamp, |m| m.temperature = celsius)
}
