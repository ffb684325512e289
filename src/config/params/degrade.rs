//! Errors that the bridge deliberately adds to the data.
use super::{Params, declare::parameters, table::DEGRADED};
use std::time::Duration;

parameters! {
    /// `degrade.*`.
    #[derive(Copy, Default)]
    pub struct DegradeParams {
        [DEGRADED]
        seed: u64 = "degrade.seed", Int(0, i64::MAX) = 0,
            "Seed of all noise, also of `imu.*`; the random numbers depend only on it, on the SeqID or CopterID, and on the simulator's time \
            (docs/degrade.md).";
        latency: Duration = "degrade.latency_s", Float(0.0, 10.0) = 0.0, ["s"]
            "Hold every frame of every sensor of Config.json back for this time after its arrival; stamps stay true.";
        jitter: Duration = "degrade.jitter_s", Float(0.0, 10.0) = 0.0, ["s"]
            "Hold each frame back for up to this much longer, evenly distributed; frames stay in order.";
        drop: f64 = "degrade.drop", Float(0.0, 1.0) = 0.0, "Probability that a frame of a sensor is dropped, counted as drop_on_purpose.";
        depth_noise_m: f64 = "degrade.depth_noise_m", Float(0.0, 100.0) = 0.0, ["m"]
            "Standard deviation of depth (types 2 and 7) at depth 0. That at depth z is depth_noise_m + depth_noise_per_m * z^2.";
        depth_noise_per_m: f64 = "degrade.depth_noise_per_m", Float(0.0, 10.0) = 0.0, ["1/m"]
            "Growth of the standard deviation of depth with the square of the depth, as in a stereo camera.";
        lidar_noise_m: f64 = "degrade.lidar_noise_m", Float(0.0, 100.0) = 0.0, ["m"]
            "Standard deviation of the ranges of lidars along the ray (types 20, 22 and 23).";
        lidar_dropout: f64 = "degrade.lidar_dropout", Float(0.0, 1.0) = 0.0,
            "Probability that a point of a lidar (types 20 to 23) has no return: NaN in organised clouds, left out elsewhere.";
        gps_noise_m: [f64; 3] = "degrade.gps_noise_m", Vector(0.0, 10_000.0) = [0.0, 0.0, 0.0], ["m"]
            "Standard deviations east, north and up of the topic `gps`, which exists only if one is not 0; `ground_truth/gps` stays true.";
    }
}

impl Params {
    /// Returns a phrase for each deliberate error that is on.
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
            is_on(degrade.lidar_dropout)
                .then(|| format!("{} % of lidar points missing", degrade.lidar_dropout * 100.0)),
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
