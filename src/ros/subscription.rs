//! Received samples and subscriptions.
use super::RosError;
use crate::{msgs::Message, time::RosTime};
use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// One received sample.
#[derive(Clone, Copy, Debug)]
pub struct RawSample<'a> {
    /// CDR with its 4-byte encapsulation header.
    pub cdr: &'a [u8],
    /// Publication time by the writer's clock.
    pub source_stamp: RosTime,
}

impl RawSample<'_> {
    /// Decodes the sample.
    pub fn decode<M: Message>(&self) -> Result<M, RosError> {
        decode(self.cdr)
    }
}

pub(super) type Callback = Box<dyn FnMut(&RawSample<'_>) + Send>;

/// Data of a message of unknown type, for tools.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Watched {
    /// Size as CDR.
    pub bytes: usize,
    /// Stamp of the header, if the type begins with one.
    pub stamp: Option<RosTime>,
}

/// Types in [`crate::msgs::TYPES`] that begin with a `std_msgs/Header`.
const WITH_HEADER: &[&str] = &[
    "diagnostic_msgs/msg/DiagnosticArray",
    "geographic_msgs/msg/GeoPointStamped",
    "geographic_msgs/msg/GeoPoseStamped",
    "geometry_msgs/msg/AccelStamped",
    "geometry_msgs/msg/AccelWithCovarianceStamped",
    "geometry_msgs/msg/PointStamped",
    "geometry_msgs/msg/PoseStamped",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
    "geometry_msgs/msg/QuaternionStamped",
    "geometry_msgs/msg/TransformStamped",
    "geometry_msgs/msg/TwistStamped",
    "geometry_msgs/msg/TwistWithCovarianceStamped",
    "geometry_msgs/msg/Vector3Stamped",
    "mavros_msgs/msg/ActuatorControl",
    "mavros_msgs/msg/Altitude",
    "mavros_msgs/msg/AttitudeTarget",
    "mavros_msgs/msg/CompanionProcessStatus",
    "mavros_msgs/msg/DebugValue",
    "mavros_msgs/msg/EstimatorStatus",
    "mavros_msgs/msg/ExtendedState",
    "mavros_msgs/msg/GPSRAW",
    "mavros_msgs/msg/GlobalPositionTarget",
    "mavros_msgs/msg/HilActuatorControls",
    "mavros_msgs/msg/HomePosition",
    "mavros_msgs/msg/ManualControl",
    "mavros_msgs/msg/Mavlink",
    "mavros_msgs/msg/MountControl",
    "mavros_msgs/msg/NavControllerOutput",
    "mavros_msgs/msg/ParamEvent",
    "mavros_msgs/msg/PositionTarget",
    "mavros_msgs/msg/RCIn",
    "mavros_msgs/msg/RCOut",
    "mavros_msgs/msg/State",
    "mavros_msgs/msg/StatusEvent",
    "mavros_msgs/msg/StatusText",
    "mavros_msgs/msg/SysStatus",
    "mavros_msgs/msg/Thrust",
    "mavros_msgs/msg/TimesyncStatus",
    "mavros_msgs/msg/VehicleInfo",
    "mavros_msgs/msg/VfrHud",
    "mavros_msgs/msg/Vibration",
    "mavros_msgs/msg/WaypointReached",
    "nav_msgs/msg/Odometry",
    "nav_msgs/msg/Path",
    "rfly_bridge_msgs/msg/BridgeStats",
    "sensor_msgs/msg/BatteryState",
    "sensor_msgs/msg/CameraInfo",
    "sensor_msgs/msg/CompressedImage",
    "sensor_msgs/msg/FluidPressure",
    "sensor_msgs/msg/Image",
    "sensor_msgs/msg/Imu",
    "sensor_msgs/msg/JointState",
    "sensor_msgs/msg/MagneticField",
    "sensor_msgs/msg/NavSatFix",
    "sensor_msgs/msg/PointCloud2",
    "sensor_msgs/msg/Range",
    "sensor_msgs/msg/Temperature",
    "sensor_msgs/msg/TimeReference",
    "trajectory_msgs/msg/MultiDOFJointTrajectory",
    "vision_msgs/msg/Detection2D",
    "vision_msgs/msg/Detection2DArray",
    "vision_msgs/msg/Detection3D",
    "vision_msgs/msg/Detection3DArray",
];

impl Watched {
    /// Reads the stamp if the type is in [`WITH_HEADER`].
    pub(super) fn of_cdr(cdr: &[u8], type_name: &str) -> Self {
        let stamp = cdr
            .get(4..12)
            .filter(|_| WITH_HEADER.contains(&type_name))
            .map(|stamp| {
                let number = |at: usize| {
                    i32::from_le_bytes(std::array::from_fn(|i| {
                        stamp.get(at + i).copied().unwrap_or_default()
                    }))
                };
                RosTime(i64::from(number(0)) * 1_000_000_000 + i64::from(number(4)))
            });
        Self {
            bytes: cdr.len(),
            stamp,
        }
    }
}

/// A subscription; ends on drop. No callback runs after that.
pub struct Subscription {
    undecodable: Arc<AtomicU64>,
    _reader: Box<dyn Any + Send + Sync>,
}

impl Subscription {
    pub(super) fn new(reader: impl Any + Send + Sync) -> Self {
        Self {
            undecodable: Arc::default(),
            _reader: Box::new(reader),
        }
    }

    pub(super) fn with_undecodable(self, undecodable: Arc<AtomicU64>) -> Self {
        Self {
            undecodable,
            ..self
        }
    }

    /// Samples that did not decode.
    pub fn undecodable(&self) -> u64 {
        self.undecodable.load(Ordering::Relaxed)
    }
}

pub(super) fn decode<M: Message>(cdr: &[u8]) -> Result<M, RosError> {
    let error = |message: String| RosError::Decode {
        type_name: M::TYPE,
        message,
    };
    let (header, body) = cdr
        .split_at_checked(4)
        .ok_or_else(|| error(format!("{} bytes", cdr.len())))?;
    match header {
        [0, 1, ..] => cdr_encoding::from_bytes::<M, byteorder::LittleEndian>(body),
        [0, 0, ..] => cdr_encoding::from_bytes::<M, byteorder::BigEndian>(body),
        other => return Err(error(format!("unknown encapsulation {other:02x?}"))),
    }
    .map(|(message, _)| message)
    .map_err(|e| error(e.to_string()))
}
