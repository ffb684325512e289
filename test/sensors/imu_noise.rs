//! Noise of the IMU against its parameters, by the Allan deviation.
use super::golden_ros::imu_params;
use rfly_bridge::config::params::AccelerationAxes;
use rfly_bridge::{
    config::params::{ImuFrame, ImuNoiseParams, ImuParams, WorldConvention},
    noise::Draws,
    sensors::ImuConverter,
    time::RosTime,
    wire::ImuPacket,
};

const DENSITY: [f64; 2] = [2e-3, 1.7e-4];
const WALK: [f64; 2] = [3e-3, 2e-5];

fn params(rate_hz: u16, noise: ImuNoiseParams) -> ImuParams {
    ImuParams { rate_hz, noise, ..imu_params(ImuFrame::Flu) }
}

fn converter(params: &ImuParams, seed: u64, vehicle: u16) -> ImuConverter {
    let mut converter = ImuConverter::new(params, "imu_link", WorldConvention::Enu);
    converter.set_noise(params, Draws::new(seed, vehicle));
    converter
}

/// Accelerations and rates of sample `index` of a vehicle at rest.
fn sample(converter: &mut ImuConverter, rate_hz: u16, index: u32) -> [f64; 6] {
    let time = f64::from(index) / f64::from(rate_hz);
    let packet = ImuPacket::new(index as i32, time, [0.0, 0.0, -9.5], [0.25, 0.0, 0.0]);
    let message = converter.convert(&packet, AccelerationAxes::Frd, None, RosTime(0)).unwrap();
    let (a, r) = (&message.linear_acceleration, &message.angular_velocity);
    [a.x, a.y, a.z - 9.5, r.x - 0.25, r.y, r.z]
}

/// Allan deviation at the averaging time of `cluster` samples (IEEE Std 952): half the mean square of the differences of
/// neighbouring averages.
fn allan_deviation(values: &[f64], cluster: usize) -> f64 {
    let means: Vec<f64> =
        values.chunks_exact(cluster).map(|c| c.iter().sum::<f64>() / cluster as f64).collect();
    let squares = means.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
    (squares.sum::<f64>() / (2.0 * (means.len() - 1) as f64)).sqrt()
}

/// Ratio of the Allan deviations of accelerometer and gyroscope to `wanted`, over three axes each.
fn ratios(samples: &[[f64; 6]], cluster: usize, wanted: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|sensor| {
        let axes = (0..3).map(|axis| {
            let values: Vec<f64> = samples.iter().map(|s| s[3 * sensor + axis]).collect();
            allan_deviation(&values, cluster).powi(2)
        });
        (axes.sum::<f64>() / 3.0).sqrt() / wanted[sensor]
    })
}

fn run(params: &ImuParams, samples: u32) -> Vec<[f64; 6]> {
    let mut converter = converter(params, 1, 1);
    (0..samples).map(|index| sample(&mut converter, params.rate_hz, index)).collect()
}

/// White noise of density n has the Allan deviation n / sqrt(t).
#[test]
fn white_noise_has_its_density_at_every_averaging_time_and_rate() {
    let noise = ImuNoiseParams {
        accelerometer_density: DENSITY[0],
        gyroscope_density: DENSITY[1],
        ..ImuNoiseParams::default()
    };
    for rate_hz in [100, 400] {
        let samples = run(&params(rate_hz, noise), 60_000);
        for cluster in [1, 10, 100] {
            let seconds = f64::from(cluster) / f64::from(rate_hz);
            let wanted = DENSITY.map(|density| density / seconds.sqrt());
            for ratio in ratios(&samples, cluster as usize, wanted) {
                assert!((ratio - 1.0).abs() < 0.06, "{ratio} at {seconds} s");
            }
        }
    }
}

/// A random walk of K per sqrt(s) has the Allan deviation K * sqrt(t / 3).
#[test]
fn a_random_walk_has_its_slope_at_every_averaging_time() {
    let noise = ImuNoiseParams {
        accelerometer_walk: WALK[0],
        gyroscope_walk: WALK[1],
        ..ImuNoiseParams::default()
    };
    let rate_hz = 10;
    let samples = run(&params(rate_hz, noise), 60_000);
    for cluster in [20, 100, 400] {
        let seconds = f64::from(cluster) / f64::from(rate_hz);
        let wanted = WALK.map(|walk| walk * (seconds / 3.0).sqrt());
        for ratio in ratios(&samples, cluster as usize, wanted) {
            assert!((ratio - 1.0).abs() < 0.12, "{ratio} at {seconds} s");
        }
    }
}

fn all() -> ImuNoiseParams {
    ImuNoiseParams {
        accelerometer_density: DENSITY[0],
        accelerometer_walk: WALK[0],
        gyroscope_density: DENSITY[1],
        gyroscope_walk: WALK[1],
        accelerometer_bias: [0.1, 0.2, 0.3],
        gyroscope_bias: [0.0, 0.0, -0.01],
    }
}

#[test]
fn a_sample_is_the_same_whatever_was_lost_before_and_another_with_another_seed() {
    let params = params(200, all());
    let mut whole = converter(&params, 9, 1);
    let all: Vec<_> = (0..400).map(|i| sample(&mut whole, 200, i)).collect();
    let mut lossy = converter(&params, 9, 1);
    for index in (3..400).filter(|i| i % 7 != 0) {
        assert_eq!(sample(&mut lossy, 200, index), all[index as usize]);
    }
    for (seed, vehicle) in [(8, 1), (9, 2)] {
        let mut other = converter(&params, seed, vehicle);
        assert!((0..6).all(|axis| sample(&mut other, 200, 5)[axis] != all[5][axis]));
    }
}

#[test]
fn biases_are_in_the_axes_of_the_message() {
    let noise = ImuNoiseParams {
        accelerometer_bias: [0.1, 0.2, 0.3],
        gyroscope_bias: [-1.0, -2.0, -3.0],
        ..ImuNoiseParams::default()
    };
    let found = sample(&mut converter(&params(200, noise), 0, 1), 200, 1);
    let wanted = [0.1, 0.2, 0.3, -1.0, -2.0, -3.0];
    assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
}

/// Without white noise the covariances of the parameters stand, and the numbers are the simulator's.
#[test]
fn the_covariance_is_the_variance_of_the_white_noise_and_follows_the_rate() {
    let covariances = |params: &ImuParams| {
        let mut converter = converter(params, 0, 1);
        let packet = ImuPacket::new(1, 1.0, [0.0; 3], [0.0; 3]);
        let message =
            converter.convert(&packet, AccelerationAxes::Frd, None, RosTime(0)).unwrap().clone();
        (message.linear_acceleration_covariance, message.angular_velocity_covariance)
    };
    let off = params(200, ImuNoiseParams::default());
    assert_eq!(
        covariances(&off),
        (off.linear_acceleration_covariance, off.angular_velocity_covariance)
    );
    let only_accelerometer = ImuNoiseParams { gyroscope_density: 0.0, ..all() };
    for rate_hz in [100, 200] {
        let (acceleration, rate) = covariances(&params(rate_hz, only_accelerometer));
        let variance = 4e-6 * f64::from(rate_hz);
        for (i, found) in acceleration.iter().enumerate() {
            let wanted = if i % 4 == 0 { variance } else { 0.0 };
            assert!((found - wanted).abs() < 1e-15, "{acceleration:?}");
        }
        assert_eq!(rate, off.angular_velocity_covariance);
    }
}
