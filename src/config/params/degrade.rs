//! Errors on purpose.
use super::Params;
use std::time::Duration;

/// Errors of the IMU: noise densities and random walks in the units of Kalibr's `imu.yaml`, biases in the message's axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImuNoiseParams {
    /// `imu.accelerometer_noise_density`, m/s²/√Hz.
    pub accelerometer_density: f64,
    /// `imu.accelerometer_random_walk`, m/s³/√Hz.
    pub accelerometer_walk: f64,
    /// `imu.gyroscope_noise_density`, rad/s/√Hz.
    pub gyroscope_density: f64,
    /// `imu.gyroscope_random_walk`, rad/s²/√Hz.
    pub gyroscope_walk: f64,
    /// `imu.accelerometer_bias`, m/s².
    pub accelerometer_bias: [f64; 3],
    /// `imu.gyroscope_bias`, rad/s.
    pub gyroscope_bias: [f64; 3],
}

impl ImuNoiseParams {
    /// Whether samples get any error.
    pub fn is_on(&self) -> bool {
        *self != Self::default()
    }

    /// Variances of the white noise of accelerations and rates, sampled at a rate.
    pub fn variances(&self, rate_hz: u16) -> [f64; 2] {
        [self.accelerometer_density, self.gyroscope_density]
            .map(|density| density * density * f64::from(rate_hz))
    }
}

/// `degrade.*`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DegradeParams {
    /// `degrade.seed`.
    pub seed: u64,
    /// `degrade.latency_s`.
    pub latency: Duration,
    /// `degrade.jitter_s`.
    pub jitter: Duration,
    /// `degrade.drop`.
    pub drop: f64,
    /// `degrade.depth_noise_m`.
    pub depth_noise_m: f64,
    /// `degrade.depth_noise_per_m`.
    pub depth_noise_per_m: f64,
    /// `degrade.lidar_noise_m`.
    pub lidar_noise_m: f64,
    /// `degrade.lidar_dropout`.
    pub lidar_dropout: f64,
    /// `degrade.gps_noise_m`: east, north, up.
    pub gps_noise_m: [f64; 3],
}

impl Params {
    /// Says what is worse than the simulator sends it, one phrase each; empty if nothing is.
    pub fn degraded(&self) -> Vec<String> {
        let (degrade, imu) = (&self.degrade, &self.imu.noise);
        let is_on = |value: f64| value > 0.0;
        let any = |values: [f64; 3]| values != [0.0; 3];
        let phrases = [
            (!degrade.latency.is_zero()).then(|| format!("frames late by {:?}", degrade.latency)),
            (!degrade.jitter.is_zero()).then(|| format!("jitter up to {:?}", degrade.jitter)),
            is_on(degrade.drop).then(|| format!("{} % of frames dropped", degrade.drop * 100.0)),
            is_on(degrade.depth_noise_m + degrade.depth_noise_per_m).then(|| {
                let (floor, growth) = (degrade.depth_noise_m, degrade.depth_noise_per_m);
                format!("noise of depth {floor} m + {growth} z^2")
            }),
            is_on(degrade.lidar_noise_m)
                .then(|| format!("noise of lidar ranges {} m", degrade.lidar_noise_m)),
            is_on(degrade.lidar_dropout).then(|| {
                format!(
                    "{} % of lidar points missing",
                    degrade.lidar_dropout * 100.0
                )
            }),
            any(degrade.gps_noise_m).then(|| format!("noise of gps {:?} m", degrade.gps_noise_m)),
            is_on(imu.accelerometer_density + imu.gyroscope_density)
                .then(|| "noise of the IMU".to_owned()),
            is_on(imu.accelerometer_walk + imu.gyroscope_walk)
                .then(|| "walking biases of the IMU".to_owned()),
            (any(imu.accelerometer_bias) || any(imu.gyroscope_bias))
                .then(|| "constant biases of the IMU".to_owned()),
        ];
        phrases.into_iter().flatten().collect()
    }
}
