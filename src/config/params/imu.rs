//! The IMU.
use super::{AccelerationAxes, ImuFrame, ImuOrientation, declare::parameters, table::IMU};

parameters! {
    /// `imu.*`.
    pub struct ImuParams {
        [IMU]
        enabled: bool = "imu.enabled", Bool = true, "Request the IMU of every vehicle.";
        rate_hz: u16 = "imu.rate_hz", Int(1, 1000) = 200, ["Hz"] live "Rate to request.";
        topic: String = "imu.topic", Topic = "imu",
            "Topic, relative to the prefix; with several vehicles a relative name gets the prefix `copter<id>/`.";
        frame_id: String = "imu.frame_id", Frame = "imu_link", "Frame of the IMU, without the vehicle's prefix.";
        frame: ImuFrame = "imu.frame", Choice = "flu", "Axes of the message: `flu` as in REP 103, `frd` as the simulator reports.";
        acceleration_axes: AccelerationAxes = "imu.acceleration_axes", Choice = "auto",
            "Axes of the accelerations on the wire, which changed in January 2026: f forward, b backward, l left, r right, u up, d down. `auto`: frd \
            until the true motion shows other axes; at rest and level, frd and bld read the same.";
        orientation: ImuOrientation = "imu.orientation", Choice = "none",
            "`none`: no orientation, marked by -1 in the covariance (REP 145). `truth`: the vehicle's true attitude in the map at the time of the \
            sample, for consumers that read only the quaternion. The autopilot's estimate is on `<mavros>/imu/data`.";
        angular_velocity_covariance: [f64; 9] = "imu.angular_velocity_covariance", Covariance = [0.001, 0.001, 0.001], ["rad^2/s^2"] live
            "Diagonal or row-major 3x3; all zero means unknown. The default is the vendor's.";
        linear_acceleration_covariance: [f64; 9] = "imu.linear_acceleration_covariance", Covariance = [0.0, 0.0, 0.0], ["m^2/s^4"] live
            "Diagonal or row-major 3x3; all zero means unknown.";
        noise: ImuNoiseParams;
    }

    /// Errors of the IMU: noise densities and random walks in the units of Kalibr's `imu.yaml`, biases in the message's axes.
    #[derive(Copy, Default)]
    pub struct ImuNoiseParams {
        [IMU]
        accelerometer_density: f64 = "imu.accelerometer_noise_density", Float(0.0, 10.0) = 0.0, ["m/s^2/sqrt(Hz)"] live
            "White noise added to the accelerations, as in Kalibr's imu.yaml. A sample gets the variance density^2 * `imu.rate_hz`, which replaces \
            `imu.linear_acceleration_covariance`. Seeded by `degrade.seed` (docs/degrade.md).";
        accelerometer_walk: f64 = "imu.accelerometer_random_walk", Float(0.0, 10.0) = 0.0, ["m/s^3/sqrt(Hz)"] live
            "Random walk of the bias of the accelerations, as in Kalibr's imu.yaml; 0 at the simulator's time 0.";
        accelerometer_bias: [f64; 3] = "imu.accelerometer_bias", Vector(-100.0, 100.0) = [0.0, 0.0, 0.0], ["m/s^2"] live
            "Constant bias of the accelerations, in the axes of the message.";
        gyroscope_density: f64 = "imu.gyroscope_noise_density", Float(0.0, 10.0) = 0.0, ["rad/s/sqrt(Hz)"] live
            "White noise added to the angular rates, as in Kalibr's imu.yaml, with variance and seed as for the accelerations.";
        gyroscope_walk: f64 = "imu.gyroscope_random_walk", Float(0.0, 10.0) = 0.0, ["rad/s^2/sqrt(Hz)"] live
            "Random walk of the bias of the angular rates, as in Kalibr's imu.yaml; 0 at the simulator's time 0.";
        gyroscope_bias: [f64; 3] = "imu.gyroscope_bias", Vector(-100.0, 100.0) = [0.0, 0.0, 0.0], ["rad/s"] live
            "Constant bias of the angular rates, in the axes of the message.";
    }
}

impl ImuNoiseParams {
    /// Whether the bridge adds an error to samples.
    pub fn is_on(&self) -> bool {
        *self != Self::default()
    }

    /// Returns the variances of the white noise of accelerations and angular rates at this sample rate.
    pub fn variances(&self, rate_hz: u16) -> [f64; 2] {
        [self.accelerometer_density, self.gyroscope_density]
            .map(|density| density * density * f64::from(rate_hz))
    }
}
