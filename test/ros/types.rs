//! Every message and service type once more, as types, for tests that are the same for each.

/// `vec![f::<M>(arguments), ..]` for every message type `M`, in the order of `msgs::TYPES`.
macro_rules! every_message {
    ($f:ident $(, $argument:expr)*) => {
        super::types::every! { $f ($($argument),*) msg;
            builtin_interfaces: Duration Time;
            diagnostic_msgs: DiagnosticArray DiagnosticStatus KeyValue;
            geographic_msgs: GeoPoint GeoPointStamped GeoPose GeoPoseStamped;
            geometry_msgs: Accel AccelStamped AccelWithCovariance AccelWithCovarianceStamped Point PointStamped Pose
                PoseStamped PoseWithCovariance PoseWithCovarianceStamped Quaternion QuaternionStamped Transform
                TransformStamped Twist TwistStamped TwistWithCovariance TwistWithCovarianceStamped Vector3 Vector3Stamped;
            mavros_msgs: ActuatorControl Altitude AttitudeTarget CompanionProcessStatus DebugValue EstimatorStatus ExtendedState GPSRAW
                GlobalPositionTarget HilActuatorControls HomePosition ManualControl Mavlink MountControl NavControllerOutput OverrideRCIn
                ParamEvent ParamValue PositionTarget RCIn RCOut State StatusEvent StatusText SysStatus Thrust TimesyncStatus
                VehicleInfo VfrHud Vibration Waypoint WaypointList WaypointReached;
            nav_msgs: Odometry Path;
            rcl_interfaces: FloatingPointRange IntegerRange ListParametersResult Log Parameter ParameterDescriptor ParameterEvent
                ParameterValue SetParametersResult;
            rosgraph_msgs: Clock;
            sensor_msgs: BatteryState CameraInfo CompressedImage FluidPressure Image Imu JointState MagneticField NavSatFix NavSatStatus
                PointCloud2 PointField Range RegionOfInterest Temperature TimeReference;
            std_msgs: Bool ColorRGBA Float32 Float64 Header Int32 Int64 String UInt8 UInt16 UInt32 UInt64;
            tf2_msgs: TFMessage;
            trajectory_msgs: MultiDOFJointTrajectory MultiDOFJointTrajectoryPoint;
            vision_msgs: BoundingBox2D BoundingBox3D Detection2D Detection2DArray Detection3D Detection3DArray
                ObjectHypothesis ObjectHypothesisWithPose;
            rfly_bridge_msgs: BridgeStats ClockStats DropCount SourceStats;
        }
    };
}

/// `vec![f::<S>(arguments), ..]` for every service `S`, in the order of `msgs::SERVICES`.
macro_rules! every_service {
    ($f:ident $(, $argument:expr)*) => {
        super::types::every! { $f ($($argument),*) srv;
            mavros_msgs: CommandAck CommandBool CommandHome CommandInt CommandLong CommandTOL CommandTOLLocal
                CommandTriggerControl CommandTriggerInterval CommandVtolTransition LogRequestData LogRequestEnd LogRequestList MessageInterval MountConfigure ParamPull
                ParamSetV2 SetMavFrame SetMode StreamRate VehicleInfoGet WaypointClear WaypointPull WaypointPush
                WaypointSetCurrent;
            rcl_interfaces: DescribeParameters GetParameterTypes GetParameters ListParameters SetParameters
                SetParametersAtomically;
            std_srvs: Trigger;
        }
    };
}

macro_rules! every {
    ($f:ident $arguments:tt $kind:ident; $($package:ident: $($name:ident)+;)+) => {
        vec![$($(super::types::every!(@one $f $arguments $package $kind $name),)+)+]
    };
    (@one $f:ident ($($argument:expr),*) $package:ident $kind:ident $name:ident) => {
        $f::<rfly_bridge::msgs::$package::$kind::$name>($($argument),*)
    };
}

pub(super) use {every, every_message, every_service};
