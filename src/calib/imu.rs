//! The IMU and its noise.
use super::{CalibOutput, rig::Rig};
use crate::config::Problem;

/// Noise of an IMU as in Kalibr's `imu.yaml`: accelerometer noise density (m/s²/√Hz) and random walk (m/s³/√Hz), gyroscope
/// noise density (rad/s/√Hz) and random walk (rad/s²/√Hz).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Noise(pub(super) [f64; 4]);

impl Noise {
    /// Converts standard deviations of one sample at `rate_hz`: acceleration, rate of change of its bias, angular rate, rate of
    /// change of its bias.
    pub(super) fn from_samples(deviations: [f64; 4], rate_hz: f64) -> Self {
        Self(deviations.map(|d| d / rate_hz.sqrt()))
    }

    /// Returns standard deviations per step, in the order of [`Self::from_samples`]. FAST-LIO and VINS-Fusion expect them,
    /// because their filters add deviation × dt in each step, to the biases too.
    pub(super) fn sample_deviations(&self, rate_hz: f64) -> [f64; 4] {
        self.0.map(|d| d * rate_hz.sqrt())
    }
}

pub(super) struct Imu {
    pub(super) topic: String,
    pub(super) rate_hz: f64,
}

impl Rig<'_> {
    /// Returns the IMU, and adds it to the report.
    pub(super) fn find_imu(&self, output: &mut CalibOutput) -> Result<Imu, Problem> {
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

    /// Returns the noise: the densities in the parameters, else those that the covariances of the message imply, else the
    /// consumer's defaults.
    pub(super) fn noise(&self, imu: &Imu, defaults: Noise) -> Noise {
        let params = &self.settings.params.imu;
        let density = |variance: f64| (variance / imu.rate_hz).sqrt();
        let [acceleration, rate] =
            [params.linear_acceleration_covariance[0], params.angular_velocity_covariance[0]];
        let configured = [
            params.noise.accelerometer_density,
            params.noise.accelerometer_walk,
            params.noise.gyroscope_density,
            params.noise.gyroscope_walk,
        ];
        let from_covariances = [density(acceleration), 0.0, density(rate), 0.0];
        Noise(std::array::from_fn(|i| {
            let values = [configured[i], from_covariances[i], defaults.0[i]];
            values.into_iter().find(|value| *value > 0.0).unwrap_or_default()
        }))
    }
}
