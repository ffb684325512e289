//! Simulated errors of an IMU: constant bias, white noise and random walk of the bias, as in Kalibr's `imu.yaml`.
use crate::noise::{Draws, Purpose, Walk};
use crate::{config::params::ImuParams, time::SimTime};
use std::array::from_fn;

/// Accelerometer and gyroscope: x, y, z each.
type ImuErrors = [[f64; 3]; 2];

/// Errors of the samples of one IMU.
#[derive(Clone, Debug)]
pub(super) struct ImuNoise {
    draws: Draws,
    /// Standard deviation of the white noise of a sample.
    white: [f64; 2],
    /// Standard deviation of the random walk of the bias after 1 s.
    walk: [f64; 2],
    bias: ImuErrors,
    walks: Walk<6>,
}

impl ImuNoise {
    /// Creates the noise; `None` without noise in the parameters.
    pub(super) fn new(params: &ImuParams, draws: Draws) -> Option<Self> {
        let noise = &params.noise;
        noise.is_on().then(|| Self {
            draws,
            white: noise.variances(params.rate_hz).map(f64::sqrt),
            walk: [noise.accelerometer_walk, noise.gyroscope_walk],
            bias: [noise.accelerometer_bias, noise.gyroscope_bias],
            walks: Walk::new(draws, Purpose::ImuWalk),
        })
    }

    /// Returns the error of the sample at a time of the simulator, in m/s² and rad/s.
    pub(super) fn at(&mut self, time: SimTime) -> ImuErrors {
        let mut errors = self.bias;
        if self.white != [0.0; 2] {
            let mut numbers = self.draws.at(Purpose::ImuNoise, time.0);
            for (axes, white) in errors.iter_mut().zip(self.white) {
                *axes = axes.map(|bias| bias + white * numbers.normal());
            }
        }
        if self.walk != [0.0; 2] {
            let walked = self.walks.at(time.0);
            errors = from_fn(|i| from_fn(|j| errors[i][j] + self.walk[i] * walked[3 * i + j]));
        }
        errors
    }
}
