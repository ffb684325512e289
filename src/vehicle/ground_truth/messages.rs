//! Converts a true state to messages.
use crate::frames::{
    Attitude, Flu, Frd, Geodetic, Ned, Separation, Vector, VehiclePose, WorldConvention,
};
use crate::msgs::geometry_msgs::msg::{
    AccelStamped, Point, Pose, PoseStamped, PoseWithCovariance, Quaternion, Twist, TwistStamped,
    TwistWithCovariance, Vector3,
};
use crate::msgs::sensor_msgs::msg::{JointState, NavSatFix, NavSatStatus};
use crate::wire::TrueState;
use crate::{msgs::nav_msgs::msg::Odometry, msgs::std_msgs::msg::Header, time::RosTime};
use std::f64::consts::TAU;

/// Value of vectors that the simulator does not send.
const UNKNOWN: Vector3 = Vector3 { x: f64::NAN, y: f64::NAN, z: f64::NAN };

/// Returns the true state as odometry; `pose` is the pose that is sent to TF.
pub fn odometry(
    state: &TrueState,
    pose: &VehiclePose,
    world: WorldConvention,
    stamp: RosTime,
) -> Odometry {
    let body =
        |vector: Vector<Ned>| -> Vector<Flu> { pose.attitude.inverse().rotate(vector).into() };
    let mut twist = TwistWithCovariance {
        twist: Twist {
            linear: vector3(body(state.velocity.into())),
            angular: vector3(state.rate.map_or_else(Vector::default, |rate| {
                Vector::<Flu>::from(Vector::<Frd>::from(rate))
            })),
        },
        ..TwistWithCovariance::default()
    };
    if state.rate.is_none() {
        twist.covariance[21] = -1.0;
    }
    Odometry {
        header: header(stamp),
        pose: PoseWithCovariance {
            pose: pose_msg(pose.position, pose.attitude, world),
            ..PoseWithCovariance::default()
        },
        twist,
        ..Odometry::default()
    }
}

/// Returns the true pose; `pose` is the pose that is sent to TF.
pub fn pose_stamped(pose: &VehiclePose, world: WorldConvention, stamp: RosTime) -> PoseStamped {
    PoseStamped { header: header(stamp), pose: pose_msg(pose.position, pose.attitude, world) }
}

/// Returns velocity and rates in the body frame. Rates that the simulator does not send are NaN.
pub fn twist_stamped(state: &TrueState, pose: &VehiclePose, stamp: RosTime) -> TwistStamped {
    let velocity = pose.attitude.inverse().rotate(Vector::from(state.velocity));
    TwistStamped {
        header: header(stamp),
        twist: Twist { linear: vector3(velocity.into()), angular: flu_or_nan(state.rate) },
    }
}

/// Returns the simulator's acceleration in the body frame; `None` if it is missing, NaN or infinite.
pub fn accel_stamped(state: &TrueState, stamp: RosTime) -> Option<AccelStamped> {
    state.acc.filter(|acc| acc.iter().all(|x| x.is_finite()))?;
    let mut message = AccelStamped { header: header(stamp), ..AccelStamped::default() };
    message.accel.linear = flu_or_nan(state.acc);
    message.accel.angular = UNKNOWN;
    Some(message)
}

/// Returns the true position as a fix without error; `None` if the state has no valid one. Converts the altitude
/// from above sea level to above the ellipsoid.
pub fn nav_sat_fix(state: &TrueState, geoid: &mut Separation, stamp: RosTime) -> Option<NavSatFix> {
    let [latitude, longitude, altitude] = state.gps;
    if !Geodetic::new(latitude, longitude, altitude).is_known() {
        return None;
    }
    Some(NavSatFix {
        header: header(stamp),
        status: NavSatStatus {
            status: NavSatStatus::STATUS_FIX,
            service: NavSatStatus::SERVICE_GPS,
        },
        latitude,
        longitude,
        altitude: altitude + geoid.at(latitude, longitude),
        position_covariance_type: NavSatFix::COVARIANCE_TYPE_KNOWN,
        ..NavSatFix::default()
    })
}

/// Returns the speeds of the motors in rad/s as joints `motor1` to `motor8`; `None` if one is NaN or infinite.
pub fn motor_speeds(state: &TrueState, stamp: RosTime) -> Option<JointState> {
    if !state.motor_rpm.iter().all(|rpm| rpm.is_finite()) {
        return None;
    }
    Some(JointState {
        header: header(stamp),
        name: (1..=state.motor_rpm.len()).map(|n| format!("motor{n}")).collect(),
        velocity: state.motor_rpm.map(|rpm| rpm * TAU / 60.0).to_vec(),
        ..JointState::default()
    })
}

fn header(stamp: RosTime) -> Header {
    Header { stamp: stamp.to_msg(), ..Header::default() }
}

fn flu_or_nan(frd: Option<[f64; 3]>) -> Vector3 {
    frd.map_or(UNKNOWN, |v| vector3(Vector::<Flu>::from(Vector::<Frd>::from(v))))
}

pub(super) fn pose_msg(
    position: Vector<Ned>,
    attitude: Attitude<Frd, Ned>,
    world: WorldConvention,
) -> Pose {
    let [x, y, z] = world.vector(position);
    let [qw, qx, qy, qz] = world.attitude(attitude);
    Pose { position: Point { x, y, z }, orientation: Quaternion { x: qx, y: qy, z: qz, w: qw } }
}

fn vector3(vector: Vector<Flu>) -> Vector3 {
    let [x, y, z] = vector.to_array();
    Vector3 { x, y, z }
}
