//! Messages with a header, hence a stamp.
use crate::msgs::builtin_interfaces::msg::Time;
use crate::msgs::{
    Message, geographic_msgs, geometry_msgs, mavros_msgs, nav_msgs, sensor_msgs, std_msgs,
};

/// A telemetry message.
pub(super) trait Stamped: Message {
    /// Sets the stamp; does nothing for a message without one.
    fn stamp(&mut self, at: Time);
}

macro_rules! stamped {
    ($($package:ident::$($message:ident)+;)+) => {$($(
        impl Stamped for $package::msg::$message {
            fn stamp(&mut self, at: Time) {
                self.header.stamp = at;
            }
        }
    )+)+};
}

stamped! {
    geographic_msgs::GeoPointStamped;
    geometry_msgs::AccelWithCovarianceStamped PoseStamped PoseWithCovarianceStamped TwistStamped
        TwistWithCovarianceStamped Vector3Stamped;
    mavros_msgs::ActuatorControl Altitude AttitudeTarget DebugValue EstimatorStatus ExtendedState GPSRAW
        GlobalPositionTarget HilActuatorControls HomePosition ManualControl Mavlink NavControllerOutput
        PositionTarget RCIn RCOut StatusEvent StatusText SysStatus VfrHud Vibration;
    nav_msgs::Odometry;
    sensor_msgs::BatteryState FluidPressure Imu MagneticField NavSatFix Range Temperature;
}

macro_rules! unstamped {
    ($($package:ident::$message:ident)+) => {$(
        impl Stamped for $package::msg::$message {
            fn stamp(&mut self, _at: Time) {}
        }
    )+};
}

unstamped! { geometry_msgs::Quaternion std_msgs::Float64 std_msgs::UInt32 }
