//! The IMU and its noise.
use super::Output;
use super::rig::Rig;
use crate::config::Problem;

/// Noise of an IMU, in the units of Kalibr's `imu.yaml`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Noise {
    /// m/s²/√Hz.
    pub(super) accelerometer_noise_density: f64,
    /// m/s³/√Hz.
    pub(super) accelerometer_random_walk: f64,
    /// rad/s/√Hz.
    pub(super) gyroscope_noise_density: f64,
    /// rad/s²/√Hz.
    pub(super) gyroscope_random_walk: f64,
}

impl Noise {
    /// From standard deviations of samples at `rate_hz`: accelerometer, its bias, gyroscope, its bias.
    ///
    /// A filter that multiplies them by the time step in every step means density times the root of the rate.
    pub(super) fn of_samples(deviations: [f64; 4], rate_hz: f64) -> Self {
        let [a, ab, g, gb] = deviations.map(|d| d / rate_hz.sqrt());
        Self {
            accelerometer_noise_density: a,
            accelerometer_random_walk: ab,
            gyroscope_noise_density: g,
            gyroscope_random_walk: gb,
        }
    }

    /// Standard deviations of samples, in the order of [`Self::of_samples`].
    pub(super) fn samples(&self, rate_hz: f64) -> [f64; 4] {
        [
            self.accelerometer_noise_density,
            self.accelerometer_random_walk,
            self.gyroscope_noise_density,
            self.gyroscope_random_walk,
        ]
        .map(|d| d * rate_hz.sqrt())
    }
}

/// The IMU of the vehicle.
pub(super) struct Imu {
    pub(super) topic: String,
    pub(super) rate_hz: f64,
}

impl Rig<'_> {
    pub(super) fn imu(&self, output: &mut Output) -> Result<Imu, Problem> {
        let params = &self.settings.params.imu;
        if !params.enabled {
            return Err(Problem::new("imu.enabled", "is false, an IMU is needed"));
        }
        let imu = Imu {
            topic: self.resolve(&self.settings.vehicle_topic(self.vehicle, &params.topic))?,
            rate_hz: params.rate_hz.into(),
        };
        let frame = self.settings.imu_frame(&self.tree, self.vehicle);
        let figures = format!("{}, frame {frame}, {} Hz", imu.topic, imu.rate_hz);
        output.used.push(("imu", figures));
        Ok(imu)
    }

    /// The only place that knows the IMU's noise: what the parameters add, else the densities of the message's covariances,
    /// else the consumer's own defaults.
    pub(super) fn noise(&self, imu: &Imu, defaults: Noise) -> Noise {
        let params = &self.settings.params.imu;
        let added = params.noise;
        let density = |variance: f64| (variance / imu.rate_hz).sqrt();
        let first = |values: [f64; 3]| values.into_iter().find(|v| *v > 0.0).unwrap_or_default();
        Noise {
            accelerometer_noise_density: first([
                added.accelerometer_density,
                density(params.linear_acceleration_covariance[0]),
                defaults.accelerometer_noise_density,
            ]),
            accelerometer_random_walk: first([
                added.accelerometer_walk,
                0.0,
                defaults.accelerometer_random_walk,
            ]),
            gyroscope_noise_density: first([
                added.gyroscope_density,
                density(params.angular_velocity_covariance[0]),
                defaults.gyroscope_noise_density,
            ]),
            gyroscope_random_walk: first([
                added.gyroscope_walk,
                0.0,
                defaults.gyroscope_random_walk,
            ]),
        }
    }
}
