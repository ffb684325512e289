//! The orientation of an IMU message: none, or the vehicle's true attitude at the time of the sample.
use super::golden_ros::imu_params;
use rfly_bridge::config::params::AccelerationAxes;
use rfly_bridge::{
    config::params::{ImuFrame, WorldConvention},
    frames::{Attitude, Euler},
    msgs::geometry_msgs::msg::Quaternion,
    sensors::{AttitudeSample, ImuConverter},
    time::{RosTime, SimTime},
    wire::ImuPacket,
};

/// rad/s about the body's z axis (down).
const RATE: f64 = 2.0;

/// A vehicle that turns on the spot, nose to the north at 0 s.
fn attitude(seconds: f64) -> AttitudeSample {
    AttitudeSample {
        at: SimTime::from_secs(seconds),
        attitude: Attitude::from_euler(Euler { roll: 0.0, pitch: 0.0, yaw: RATE * seconds }),
    }
}

/// Orientation and first covariance of a sample at `seconds`.
fn orientation(
    frame: ImuFrame,
    world: WorldConvention,
    seconds: f64,
    known: Option<AttitudeSample>,
) -> (Quaternion, f64) {
    let mut converter = ImuConverter::new(&imu_params(frame), "imu_link", world);
    let sample = ImuPacket::new(1, seconds, [0.0, 0.0, -9.81], [0.0, 0.0, RATE as f32]);
    let message = converter.convert(&sample, AccelerationAxes::Frd, known, RosTime(0)).unwrap();
    (message.orientation.clone(), message.orientation_covariance[0])
}

/// Heading of the body's x axis in the world's x-y plane.
fn heading(q: &Quaternion) -> f64 {
    (2.0 * (q.w * q.z + q.x * q.y)).atan2(1.0 - 2.0 * (q.y * q.y + q.z * q.z))
}

#[test]
fn without_an_attitude_the_covariance_says_so_and_the_quaternion_is_a_rotation() {
    let (q, covariance) = orientation(ImuFrame::Flu, WorldConvention::Enu, 1.0, None);
    assert_eq!((q.w, q.x, q.y, q.z, covariance), (1.0, 0.0, 0.0, 0.0, -1.0));
}

#[test]
fn the_true_attitude_is_turned_to_the_time_of_the_sample() {
    let north = std::f64::consts::FRAC_PI_2;
    for (world, at_start) in [(WorldConvention::Enu, north), (WorldConvention::Nwu, 0.0)] {
        for ahead in [-0.02, 0.0, 0.005, 0.03] {
            let seconds = 0.3 + ahead;
            let (q, covariance) = orientation(ImuFrame::Flu, world, seconds, Some(attitude(0.3)));
            // Clockwise seen from above is negative in ENU and NWU.
            let wanted = at_start - RATE * seconds;
            assert!((heading(&q) - wanted).abs() < 1e-4, "{world:?} {ahead}: {q:?}");
            assert_eq!(covariance, 0.0);
        }
    }
}

#[test]
fn an_imu_in_frd_has_the_orientation_of_frd_axes() {
    let (q, _) = orientation(ImuFrame::Frd, WorldConvention::Enu, 0.0, Some(attitude(0.0)));
    // Nose north, y to the east, z down: x' = y, y' = x, z' = -z.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let same = (q.w.abs() < 1e-12, q.z.abs() < 1e-12, (q.x * q.y - half * half).abs() < 1e-12);
    assert_eq!(same, (true, true, true), "{q:?}");
}

#[test]
fn an_old_attitude_is_not_given_out_with_a_new_stamp() {
    for seconds in [0.949, 1.051] {
        let (q, covariance) =
            orientation(ImuFrame::Flu, WorldConvention::Enu, seconds, Some(attitude(1.0)));
        assert_eq!((q.w, covariance), (1.0, -1.0), "{seconds}");
    }
}
