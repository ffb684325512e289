//! IMU samples of a vehicle.
use crate::{
    config::params::{ImuFrame, ImuParams},
    msgs::sensor_msgs::msg::Imu,
    time::RosTime,
    wire::ImuPacket,
};

/// Turns samples into messages, reusing one message: no allocation per sample.
///
/// The simulator sends specific force and angular rate in body FRD. REP 145 prefers data as measured and REP 103 wants
/// FLU; the message is in FLU by default, which negates y and z, so that a vehicle at rest shows +9.8 m/s² on z. There is
/// no orientation, which REP 145 writes as `orientation_covariance[0] = -1`.
#[derive(Clone, Debug)]
pub struct ImuConverter {
    message: Imu,
    sign: f64,
}

impl ImuConverter {
    /// Creates a converter for messages in `frame_id`.
    pub fn new(params: &ImuParams, frame_id: &str) -> Self {
        let mut message = Imu::default();
        message.header.frame_id = frame_id.to_owned();
        // The vendor leaves the quaternion all zero, which many readers reject even where the covariance says ignore.
        message.orientation.w = 1.0;
        message.orientation_covariance[0] = -1.0;
        let sign = match params.frame {
            ImuFrame::Flu => -1.0,
            ImuFrame::Frd => 1.0,
        };
        let mut converter = Self { message, sign };
        converter.set_covariances(params);
        converter
    }

    /// Takes over the covariances, for the following samples.
    pub fn set_covariances(&mut self, params: &ImuParams) {
        let message = &mut self.message;
        message.angular_velocity_covariance = params.angular_velocity_covariance;
        message.linear_acceleration_covariance = params.linear_acceleration_covariance;
    }

    /// Converts one sample; the message is valid until the next call.
    pub fn convert(&mut self, sample: &ImuPacket, stamp: RosTime) -> &Imu {
        let [ax, ay, az] = sample.acc.map(|v| f64::from(v.get()));
        let [rx, ry, rz] = sample.rate.map(|v| f64::from(v.get()));
        let message = &mut self.message;
        message.header.stamp = stamp.to_msg();
        (
            message.linear_acceleration.x,
            message.linear_acceleration.y,
            message.linear_acceleration.z,
        ) = (ax, self.sign * ay, self.sign * az);
        (
            message.angular_velocity.x,
            message.angular_velocity.y,
            message.angular_velocity.z,
        ) = (rx, self.sign * ry, self.sign * rz);
        message
    }
}
