//! ROS message types, and the name each one has on the wire.
//!
//! They come from the sourced workspace with feature `rclrs`, else from a crate that has the same shapes (those of
//! rosidl's Rust generator: `sensor_msgs::msg::Imu { header, .. }`), so conversions do not know which back end carries
//! the message.
#[cfg(feature = "rclrs")]
pub use ros_env::{
    builtin_interfaces, diagnostic_msgs, geographic_msgs, geometry_msgs, nav_msgs, rosgraph_msgs,
    sensor_msgs, std_msgs, tf2_msgs, trajectory_msgs, vision_msgs,
};
/// Messages and services of `rcl_interfaces`; the halves of a service are called as in the other crate.
#[cfg(feature = "rclrs")]
pub mod rcl_interfaces {
    pub use ros_env::rcl_interfaces::msg;
    /// Services.
    pub mod srv {
        pub use ros_env::rcl_interfaces::srv::{
            DescribeParameters, DescribeParameters_Request as DescribeParametersRequest,
            DescribeParameters_Response as DescribeParametersResponse, GetParameterTypes,
            GetParameterTypes_Request as GetParameterTypesRequest,
            GetParameterTypes_Response as GetParameterTypesResponse, GetParameters,
            GetParameters_Request as GetParametersRequest,
            GetParameters_Response as GetParametersResponse, ListParameters,
            ListParameters_Request as ListParametersRequest,
            ListParameters_Response as ListParametersResponse, SetParameters,
            SetParameters_Request as SetParametersRequest,
            SetParameters_Response as SetParametersResponse, SetParametersAtomically,
            SetParametersAtomically_Request as SetParametersAtomicallyRequest,
            SetParametersAtomically_Response as SetParametersAtomicallyResponse,
        };
    }
}
/// Messages and services of `mavros_msgs`; the halves of a service are called as in the other crate.
#[cfg(feature = "rclrs")]
pub mod mavros_msgs {
    pub use ros_env::mavros_msgs::msg;
    /// Services.
    pub mod srv {
        pub use ros_env::mavros_msgs::srv::{
            CommandAck, CommandAck_Request as CommandAckRequest,
            CommandAck_Response as CommandAckResponse, CommandBool,
            CommandBool_Request as CommandBoolRequest, CommandBool_Response as CommandBoolResponse,
            CommandHome, CommandHome_Request as CommandHomeRequest,
            CommandHome_Response as CommandHomeResponse, CommandInt,
            CommandInt_Request as CommandIntRequest, CommandInt_Response as CommandIntResponse,
            CommandLong, CommandLong_Request as CommandLongRequest,
            CommandLong_Response as CommandLongResponse, CommandTOL,
            CommandTOL_Request as CommandTOLRequest, CommandTOL_Response as CommandTOLResponse,
            CommandTOLLocal, CommandTOLLocal_Request as CommandTOLLocalRequest,
            CommandTOLLocal_Response as CommandTOLLocalResponse, CommandTriggerControl,
            CommandTriggerControl_Request as CommandTriggerControlRequest,
            CommandTriggerControl_Response as CommandTriggerControlResponse,
            CommandTriggerInterval,
            CommandTriggerInterval_Request as CommandTriggerIntervalRequest,
            CommandTriggerInterval_Response as CommandTriggerIntervalResponse,
            CommandVtolTransition, CommandVtolTransition_Request as CommandVtolTransitionRequest,
            CommandVtolTransition_Response as CommandVtolTransitionResponse, LogRequestData,
            LogRequestData_Request as LogRequestDataRequest,
            LogRequestData_Response as LogRequestDataResponse, LogRequestEnd,
            LogRequestEnd_Request as LogRequestEndRequest,
            LogRequestEnd_Response as LogRequestEndResponse, LogRequestList,
            LogRequestList_Request as LogRequestListRequest,
            LogRequestList_Response as LogRequestListResponse, MessageInterval,
            MessageInterval_Request as MessageIntervalRequest,
            MessageInterval_Response as MessageIntervalResponse, MountConfigure,
            MountConfigure_Request as MountConfigureRequest,
            MountConfigure_Response as MountConfigureResponse, ParamPull,
            ParamPull_Request as ParamPullRequest, ParamPull_Response as ParamPullResponse,
            ParamSetV2, ParamSetV2_Request as ParamSetV2Request,
            ParamSetV2_Response as ParamSetV2Response, SetMavFrame,
            SetMavFrame_Request as SetMavFrameRequest, SetMavFrame_Response as SetMavFrameResponse,
            SetMode, SetMode_Request as SetModeRequest, SetMode_Response as SetModeResponse,
            StreamRate, StreamRate_Request as StreamRateRequest,
            StreamRate_Response as StreamRateResponse, VehicleInfoGet,
            VehicleInfoGet_Request as VehicleInfoGetRequest,
            VehicleInfoGet_Response as VehicleInfoGetResponse, WaypointClear,
            WaypointClear_Request as WaypointClearRequest,
            WaypointClear_Response as WaypointClearResponse, WaypointPull,
            WaypointPull_Request as WaypointPullRequest,
            WaypointPull_Response as WaypointPullResponse, WaypointPush,
            WaypointPush_Request as WaypointPushRequest,
            WaypointPush_Response as WaypointPushResponse, WaypointSetCurrent,
            WaypointSetCurrent_Request as WaypointSetCurrentRequest,
            WaypointSetCurrent_Response as WaypointSetCurrentResponse,
        };
    }
}
/// Messages and services of `std_srvs`; the halves of a service are called as in the other crate.
#[cfg(feature = "rclrs")]
pub mod std_srvs {
    /// Services.
    pub mod srv {
        pub use ros_env::std_srvs::srv::{
            Trigger, Trigger_Request as TriggerRequest, Trigger_Response as TriggerResponse,
        };
    }
}
/// Items of bounded sequences, which rosidl's generator leaves as the type support lays them out.
pub mod bounded {
    #[cfg(not(feature = "rclrs"))]
    pub use super::rcl_interfaces::msg::{FloatingPointRange, IntegerRange};
    #[cfg(feature = "rclrs")]
    pub use ros_env::rcl_interfaces::msg::rmw::{FloatingPointRange, IntegerRange};
}
#[cfg(all(feature = "rclrs", has_rfly_bridge_msgs))]
pub use ros_env::rfly_bridge_msgs;
#[cfg(not(feature = "rclrs"))]
pub use ros2_interfaces_jazzy_serde::{
    builtin_interfaces, diagnostic_msgs, geographic_msgs, geometry_msgs, mavros_msgs, nav_msgs,
    rcl_interfaces, rosgraph_msgs, sensor_msgs, std_msgs, std_srvs, tf2_msgs, trajectory_msgs,
    vision_msgs,
};
#[cfg(not(all(feature = "rclrs", has_rfly_bridge_msgs)))]
pub mod rfly_bridge_msgs;
use serde::{Serialize, de::DeserializeOwned};

/// What the back end itself asks of a message type: type support in a workspace, nothing elsewhere.
#[cfg(feature = "rclrs")]
pub use rclrs::rosidl_runtime_rs::Message as Native;
/// What the back end itself asks of a message type: type support in a workspace, nothing elsewhere.
#[cfg(not(feature = "rclrs"))]
pub trait Native {}
#[cfg(not(feature = "rclrs"))]
impl<T> Native for T {}

/// A ROS message: fields in the order of its `.msg` file, and its full name.
pub trait Message: Native + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Name as ROS writes it, for example `sensor_msgs/msg/Image`.
    const TYPE: &'static str;
}

/// A service: a marker type for a pair of messages, and its full name.
pub trait Service: 'static {
    /// What the client sends.
    type Request: Message + Default;
    /// What it gets back.
    type Response: Message + Default;
    /// The type support of the workspace.
    #[cfg(feature = "rclrs")]
    type Native: rclrs::rosidl_runtime_rs::Service<Request = Self::Request, Response = Self::Response>;
    /// Name as ROS writes it, for example `rcl_interfaces/srv/GetParameters`.
    const TYPE: &'static str;
}

macro_rules! messages {
    ($($package:ident: $($name:ident)+;)+ @ours: $($own:ident)+;) => {
        $($(
            impl Message for $package::msg::$name {
                const TYPE: &'static str = concat!(stringify!($package), "/msg/", stringify!($name));
            }
        )+)+
        $(
            #[cfg(has_rfly_bridge_msgs)]
            impl Message for rfly_bridge_msgs::msg::$own {
                const TYPE: &'static str = concat!("rfly_bridge_msgs/msg/", stringify!($own));
            }
        )+

        /// Every type that implements [`Message`], for tests and tools that iterate.
        pub const TYPES: &[&str] = &[
            $($(concat!(stringify!($package), "/msg/", stringify!($name)),)+)+
            $(#[cfg(has_rfly_bridge_msgs)] concat!("rfly_bridge_msgs/msg/", stringify!($own)),)+
        ];
    };
}

messages! {
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
    @ours: BridgeStats ClockStats DropCount SourceStats;
}

macro_rules! services {
    ($($package:ident: $($name:ident($request:ident, $response:ident))+;)+) => {
        $($(
            impl Message for $package::srv::$request {
                const TYPE: &'static str = concat!(stringify!($package), "/srv/", stringify!($name), "_Request");
            }
            impl Message for $package::srv::$response {
                const TYPE: &'static str = concat!(stringify!($package), "/srv/", stringify!($name), "_Response");
            }
            impl Service for $package::srv::$name {
                type Request = $package::srv::$request;
                type Response = $package::srv::$response;
                #[cfg(feature = "rclrs")]
                type Native = Self;
                const TYPE: &'static str = concat!(stringify!($package), "/srv/", stringify!($name));
            }
        )+)+

        /// Every type that implements [`Service`], for tests and tools that iterate.
        pub const SERVICES: &[&str] = &[$($(concat!(stringify!($package), "/srv/", stringify!($name)),)+)+];
    };
}

services! {
    mavros_msgs:
        CommandAck(CommandAckRequest, CommandAckResponse)
        CommandBool(CommandBoolRequest, CommandBoolResponse)
        CommandHome(CommandHomeRequest, CommandHomeResponse)
        CommandInt(CommandIntRequest, CommandIntResponse)
        CommandLong(CommandLongRequest, CommandLongResponse)
        CommandTOL(CommandTOLRequest, CommandTOLResponse)
        CommandTOLLocal(CommandTOLLocalRequest, CommandTOLLocalResponse)
        CommandTriggerControl(CommandTriggerControlRequest, CommandTriggerControlResponse)
        CommandTriggerInterval(CommandTriggerIntervalRequest, CommandTriggerIntervalResponse)
        CommandVtolTransition(CommandVtolTransitionRequest, CommandVtolTransitionResponse)
        LogRequestData(LogRequestDataRequest, LogRequestDataResponse)
        LogRequestEnd(LogRequestEndRequest, LogRequestEndResponse)
        LogRequestList(LogRequestListRequest, LogRequestListResponse)
        MessageInterval(MessageIntervalRequest, MessageIntervalResponse)
        MountConfigure(MountConfigureRequest, MountConfigureResponse)
        ParamPull(ParamPullRequest, ParamPullResponse)
        ParamSetV2(ParamSetV2Request, ParamSetV2Response)
        SetMavFrame(SetMavFrameRequest, SetMavFrameResponse)
        SetMode(SetModeRequest, SetModeResponse)
        StreamRate(StreamRateRequest, StreamRateResponse)
        VehicleInfoGet(VehicleInfoGetRequest, VehicleInfoGetResponse)
        WaypointClear(WaypointClearRequest, WaypointClearResponse)
        WaypointPull(WaypointPullRequest, WaypointPullResponse)
        WaypointPush(WaypointPushRequest, WaypointPushResponse)
        WaypointSetCurrent(WaypointSetCurrentRequest, WaypointSetCurrentResponse);
    rcl_interfaces:
        DescribeParameters(DescribeParametersRequest, DescribeParametersResponse)
        GetParameterTypes(GetParameterTypesRequest, GetParameterTypesResponse)
        GetParameters(GetParametersRequest, GetParametersResponse)
        ListParameters(ListParametersRequest, ListParametersResponse)
        SetParameters(SetParametersRequest, SetParametersResponse)
        SetParametersAtomically(SetParametersAtomicallyRequest, SetParametersAtomicallyResponse);
    std_srvs:
        Trigger(TriggerRequest, TriggerResponse);
}
