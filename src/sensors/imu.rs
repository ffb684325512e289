//! IMU samples of a vehicle.
use super::imu_noise::ImuNoise;
use crate::config::params::{AccelerationAxes, ImuFrame, ImuParams};
use crate::frames::{Attitude, Frd, Ned, WorldConvention};
use crate::msgs::geometry_msgs::msg::{Quaternion, Vector3};
use crate::time::{RosTime, SimTime};
use crate::{msgs::sensor_msgs::msg::Imu, noise::Draws, wire::ImuPacket};

/// Longest time between a sample and the attitude from which its orientation is extrapolated.
const MAX_ATTITUDE_AGE_NS: u64 = 50_000_000;

/// The vehicle's attitude at a simulator time.
#[derive(Clone, Copy, Debug)]
pub struct AttitudeSample {
    /// Simulator time.
    pub at: SimTime,
    /// The body's attitude in the map's NED.
    pub attitude: Attitude<Frd, Ned>,
}

impl AttitudeSample {
    /// Returns the attitude at `at`, extrapolated with `rate` (rad/s, FRD); `None` beyond 50 ms.
    fn extrapolate(&self, at: SimTime, rate: [f64; 3]) -> Option<Attitude<Frd, Ned>> {
        if at.0.abs_diff(self.at.0) > MAX_ATTITUDE_AGE_NS {
            return None;
        }
        let half = (at.0 - self.at.0) as f64 * 0.5e-9;
        let [x, y, z] = rate.map(|rate| rate * half);
        Some(self.attitude.then(Attitude::from_wxyz([1.0, x, y, z])?))
    }
}

/// Converts samples to messages; reuses one message, so that a sample allocates nothing.
///
/// The simulator sends specific force and angular rate in body FRD; some versions send the force in other axes. REP 145 prefers
/// the axes of the sensor, REP 103 requires FLU; the message is in FLU by default, which negates y and z, so that a vehicle at rest
/// shows +9.8 m/s² on z. Without an attitude there is no orientation: `orientation_covariance[0] = -1` (REP 145).
#[derive(Clone, Debug)]
pub struct ImuConverter {
    message: Imu,
    frame: ImuFrame,
    world: WorldConvention,
    noise: Option<ImuNoise>,
}

impl ImuConverter {
    /// Creates a converter for messages in `frame_id`; the noise has seed 0.
    pub fn new(params: &ImuParams, frame_id: &str, world: WorldConvention) -> Self {
        let mut message = Imu::default();
        message.header.frame_id = frame_id.to_owned();
        let frame = params.frame;
        let mut converter = Self { message, frame, world, noise: None };
        converter.set_noise(params, Draws::default());
        converter
    }

    /// Sets noise and covariances of the following samples. With white noise the covariance is the variance of a
    /// sample, from the noise density and the requested rate.
    pub fn set_noise(&mut self, params: &ImuParams, draws: Draws) {
        self.noise = ImuNoise::new(params, draws);
        let [acceleration, rate] = params.noise.variances(params.rate_hz);
        let covariance = |given, v: f64| {
            if v > 0.0 { [v, 0.0, 0.0, 0.0, v, 0.0, 0.0, 0.0, v] } else { given }
        };
        let message = &mut self.message;
        message.angular_velocity_covariance = covariance(params.angular_velocity_covariance, rate);
        message.linear_acceleration_covariance =
            covariance(params.linear_acceleration_covariance, acceleration);
    }

    /// Converts one sample, whose accelerations have these axes; the message is valid until the next call. `attitude`: the latest
    /// one; `None`: a message without orientation. Returns `None` if a number is NaN or infinite.
    pub fn convert(
        &mut self,
        sample: &ImuPacket,
        axes: AccelerationAxes,
        attitude: Option<AttitudeSample>,
        stamp: RosTime,
    ) -> Option<&Imu> {
        let [ax, ay, az] = axes.to_frd(sample.acc.map(|v| f64::from(v.get())));
        let [rx, ry, rz] = sample.rate.map(|v| f64::from(v.get()));
        if ![ax, ay, az, rx, ry, rz].iter().all(|v| v.is_finite()) {
            return None;
        }
        let at = SimTime::from_secs(sample.sim_time.get());
        let attitude = attitude.and_then(|latest| latest.extrapolate(at, [rx, ry, rz]));
        self.set_orientation(attitude);
        let sign = match self.frame {
            ImuFrame::Flu => -1.0,
            ImuFrame::Frd => 1.0,
        };
        let message = &mut self.message;
        message.header.stamp = stamp.to_msg();
        message.linear_acceleration = Vector3 { x: ax, y: sign * ay, z: sign * az };
        message.angular_velocity = Vector3 { x: rx, y: sign * ry, z: sign * rz };
        if let Some(noise) = &mut self.noise {
            let [acceleration, rate] = noise.at(at);
            add(&mut message.linear_acceleration, acceleration);
            add(&mut message.angular_velocity, rate);
        }
        Some(message)
    }

    fn set_orientation(&mut self, attitude: Option<Attitude<Frd, Ned>>) {
        // Without an attitude, the orientation is the identity: many readers reject the vendor's all-zero quaternion even if
        // the covariance marks it unknown.
        let [w, x, y, z] = match (attitude.map(|a| self.world.attitude(a)), self.frame) {
            (None, _) => [1.0, 0.0, 0.0, 0.0],
            (Some(flu), ImuFrame::Flu) => flu,
            // Rotated by a half turn about its x axis.
            (Some([w, x, y, z]), ImuFrame::Frd) => [-x, w, z, -y],
        };
        self.message.orientation = Quaternion { x, y, z, w };
        self.message.orientation_covariance[0] = if attitude.is_some() { 0.0 } else { -1.0 };
    }
}

fn add(vector: &mut Vector3, [x, y, z]: [f64; 3]) {
    vector.x += x;
    vector.y += y;
    vector.z += z;
}
