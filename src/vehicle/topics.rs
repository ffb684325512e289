//! The mavros-style topics and services of a vehicle: the tables for documentation and tests.
use super::telemetry;
use crate::config::params::QosGroup;
use crate::config::{ServiceRow, TopicRow};
use QosGroup::{Latched, ParameterEvents, Telemetry, VehicleState};
use std::sync::LazyLock;

/// All topics by name, relative to the prefix of the vehicle; `{id}` stands for its number. Subscriptions are best
/// effort, volatile, depth 5: they match every writer.
pub static TOPICS: LazyLock<Vec<TopicRow>> = LazyLock::new(|| {
    let mut rows = telemetry::TOPICS.concat();
    rows.extend_from_slice(OTHER_TOPICS);
    rows.sort_unstable_by_key(|row| row.name);
    rows
});

/// All services by name, relative to the prefix of the vehicle.
pub static SERVICES: LazyLock<Vec<ServiceRow>> = LazyLock::new(|| {
    let mut rows = telemetry::SERVICES.concat();
    rows.extend_from_slice(OTHER_SERVICES);
    rows.sort_unstable_by_key(|row| row.name);
    rows
});

/// Topics of the state, the setpoints and the services; the plugins of the telemetry have their own.
#[rustfmt::skip] // a table
const OTHER_TOPICS: &[TopicRow] = &[
    TopicRow::published("state", "mavros_msgs/msg/State", VehicleState, "connection, mode, armed; once per HEARTBEAT, and once when they stop"),
    TopicRow::subscribed("setpoint_raw/local", "mavros_msgs/msg/PositionTarget", "position, velocity, acceleration, yaw by mask; ENU in frame 1, FLU from the body in frame 8"),
    TopicRow::subscribed("setpoint_raw/global", "mavros_msgs/msg/GlobalPositionTarget", "as `local`, with latitude, longitude, altitude"),
    TopicRow::subscribed("setpoint_raw/attitude", "mavros_msgs/msg/AttitudeTarget", "attitude (FLU in ENU), body rates (FLU), thrust 0 to 1"),
    TopicRow::subscribed("setpoint_raw/throttle_step", "mavros_msgs/msg/AttitudeTarget", "attitude, and a *change* of the throttle in `thrust`, -1 to 1; UDP_Simple only, no topic of mavros"),
    TopicRow::subscribed("setpoint_position/local", "geometry_msgs/msg/PoseStamped", "position and yaw"),
    TopicRow::subscribed("setpoint_position/global", "geographic_msgs/msg/GeoPoseStamped", "latitude, longitude, altitude and yaw"),
    TopicRow::subscribed("setpoint_position/global_to_local", "geographic_msgs/msg/GeoPoseStamped", "the same, sent as local position"),
    TopicRow::subscribed("setpoint_velocity/cmd_vel", "geometry_msgs/msg/TwistStamped", "velocity and yaw rate"),
    TopicRow::subscribed("setpoint_velocity/cmd_vel_unstamped", "geometry_msgs/msg/Twist", "velocity and yaw rate"),
    TopicRow::subscribed("setpoint_accel/accel", "geometry_msgs/msg/Vector3Stamped", "acceleration"),
    TopicRow::subscribed("setpoint_attitude/attitude", "geometry_msgs/msg/PoseStamped", "attitude; sent with the thrust of about the same time"),
    TopicRow::subscribed("setpoint_attitude/cmd_vel", "geometry_msgs/msg/TwistStamped", "body rates; sent with the thrust of about the same time"),
    TopicRow::subscribed("setpoint_attitude/thrust", "mavros_msgs/msg/Thrust", "thrust 0 to 1"),
    TopicRow::subscribed("setpoint_attitude/height", "geometry_msgs/msg/PoseStamped", "attitude, and a height above the local origin in `position.z`, which the bridge holds by the thrust; no topic of mavros"),
    TopicRow::subscribed("setpoint_trajectory/local", "trajectory_msgs/msg/MultiDOFJointTrajectory", "trajectory, flown point by point"),
    TopicRow::published("setpoint_trajectory/desired", "nav_msgs/msg/Path", Telemetry, "the trajectory as a path in `local_origin`"),
    TopicRow::subscribed("manual_control/send", "mavros_msgs/msg/ManualControl", "MANUAL_CONTROL, -1000 to 1000"),
    TopicRow::subscribed("rc/override", "mavros_msgs/msg/OverrideRCIn", "RC_CHANNELS_OVERRIDE; 0 releases a channel, 65535 leaves it unchanged"),
    TopicRow::subscribed("vision_pose/pose", "geometry_msgs/msg/PoseStamped", "VISION_POSITION_ESTIMATE"),
    TopicRow::subscribed("vision_pose/pose_cov", "geometry_msgs/msg/PoseWithCovarianceStamped", "VISION_POSITION_ESTIMATE with covariance"),
    TopicRow::subscribed("vision_speed/speed_twist", "geometry_msgs/msg/TwistStamped", "VISION_SPEED_ESTIMATE"),
    TopicRow::subscribed("vision_speed/speed_twist_cov", "geometry_msgs/msg/TwistWithCovarianceStamped", "VISION_SPEED_ESTIMATE with covariance"),
    TopicRow::subscribed("vision_speed/speed_vector", "geometry_msgs/msg/Vector3Stamped", "VISION_SPEED_ESTIMATE"),
    TopicRow::subscribed("mocap/pose", "geometry_msgs/msg/PoseStamped", "ATT_POS_MOCAP"),
    TopicRow::subscribed("mocap/tf", "geometry_msgs/msg/TransformStamped", "ATT_POS_MOCAP"),
    TopicRow::subscribed("odometry/out", "nav_msgs/msg/Odometry", "ODOMETRY for the estimator"),
    TopicRow::published("time_reference", "sensor_msgs/msg/TimeReference", Telemetry, "UNIX time of the autopilot (SYSTEM_TIME)"),
    TopicRow::published("timesync_status", "mavros_msgs/msg/TimesyncStatus", Telemetry, "offset of the autopilot's clock and round trip (TIMESYNC)"),
    TopicRow::published("mission/waypoints", "mavros_msgs/msg/WaypointList", Latched, "the mission, after it was read or changed"),
    TopicRow::published("geofence/fences", "mavros_msgs/msg/WaypointList", Latched, "the geofence, after it was read or changed"),
    TopicRow::published("rallypoint/rallypoints", "mavros_msgs/msg/WaypointList", Latched, "the rally points, after they were read or changed"),
    TopicRow::published("mission/reached", "mavros_msgs/msg/WaypointReached", Latched, "MISSION_ITEM_REACHED"),
    TopicRow::published("param/event", "mavros_msgs/msg/ParamEvent", ParameterEvents, "every PARAM_VALUE"),
    TopicRow::subscribed("actuator_control", "mavros_msgs/msg/ActuatorControl", "SET_ACTUATOR_CONTROL_TARGET"),
    TopicRow::subscribed("companion_process/status", "mavros_msgs/msg/CompanionProcessStatus", "HEARTBEAT of a process of the companion computer"),
    TopicRow::subscribed("distance_sensor/sonar_1_sub", "sensor_msgs/msg/Range", "DISTANCE_SENSOR 2, looking down"),
    TopicRow::subscribed("distance_sensor/laser_1_sub", "sensor_msgs/msg/Range", "DISTANCE_SENSOR 3, looking down"),
    TopicRow::subscribed("mount_control/command", "mavros_msgs/msg/MountControl", "MAV_CMD_DO_MOUNT_CONTROL"),
    TopicRow::subscribed("debug_value/send", "mavros_msgs/msg/DebugValue", "DEBUG, DEBUG_VECT, NAMED_VALUE_FLOAT, NAMED_VALUE_INT by its type"),
];

/// Services that no plugin of the telemetry has.
#[rustfmt::skip] // a table
const OTHER_SERVICES: &[ServiceRow] = &[
    ServiceRow::new("cmd/arming", "mavros_msgs/srv/CommandBool", "arms or disarms; waits until the heartbeat shows it"),
    ServiceRow::new("set_mode", "mavros_msgs/srv/SetMode", "changes the mode; waits until the vehicle is in it"),
    ServiceRow::new("cmd/command", "mavros_msgs/srv/CommandLong", "COMMAND_LONG; waits for the result"),
    ServiceRow::new("cmd/command_int", "mavros_msgs/srv/CommandInt", "COMMAND_INT; waits for the result"),
    ServiceRow::new("cmd/command_ack", "mavros_msgs/srv/CommandAck", "sends a COMMAND_ACK"),
    ServiceRow::new("cmd/takeoff", "mavros_msgs/srv/CommandTOL", "MAV_CMD_NAV_TAKEOFF"),
    ServiceRow::new("cmd/land", "mavros_msgs/srv/CommandTOL", "MAV_CMD_NAV_LAND"),
    ServiceRow::new("cmd/takeoff_local", "mavros_msgs/srv/CommandTOLLocal", "refused: PX4 has no such command; in the UDP modes, to a place counted from home"),
    ServiceRow::new("cmd/land_local", "mavros_msgs/srv/CommandTOLLocal", "refused: PX4 takes its number for a precision landing; the UDP modes have none"),
    ServiceRow::new("cmd/set_home", "mavros_msgs/srv/CommandHome", "MAV_CMD_DO_SET_HOME"),
    ServiceRow::new("cmd/trigger_control", "mavros_msgs/srv/CommandTriggerControl", "MAV_CMD_DO_TRIGGER_CONTROL"),
    ServiceRow::new("cmd/trigger_interval", "mavros_msgs/srv/CommandTriggerInterval", "MAV_CMD_DO_SET_CAM_TRIGG_INTERVAL"),
    ServiceRow::new("cmd/vtol_transition", "mavros_msgs/srv/CommandVtolTransition", "MAV_CMD_DO_VTOL_TRANSITION"),
    ServiceRow::new("set_stream_rate", "mavros_msgs/srv/StreamRate", "REQUEST_DATA_STREAM"),
    ServiceRow::new("set_message_interval", "mavros_msgs/srv/MessageInterval", "MAV_CMD_SET_MESSAGE_INTERVAL"),
    ServiceRow::new("mount_control/configure", "mavros_msgs/srv/MountConfigure", "MAV_CMD_DO_MOUNT_CONFIGURE"),
    ServiceRow::new("log_transfer/raw/log_request_list", "mavros_msgs/srv/LogRequestList", "refused with the reason"),
    ServiceRow::new("log_transfer/raw/log_request_data", "mavros_msgs/srv/LogRequestData", "refused with the reason"),
    ServiceRow::new("log_transfer/raw/log_request_end", "mavros_msgs/srv/LogRequestEnd", "refused with the reason"),
    ServiceRow::new("log_transfer/raw/log_request_erase", "std_srvs/srv/Trigger", "refused with the reason"),
    ServiceRow::new("vehicle_info_get", "mavros_msgs/srv/VehicleInfoGet", "type, versions and capabilities of the vehicle"),
    ServiceRow::new("setpoint_position/mav_frame", "mavros_msgs/srv/SetMavFrame", "frame of `setpoint_position/local`"),
    ServiceRow::new("setpoint_velocity/mav_frame", "mavros_msgs/srv/SetMavFrame", "frame of `setpoint_velocity/*`"),
    ServiceRow::new("setpoint_trajectory/reset", "std_srvs/srv/Trigger", "deletes the trajectory"),
    ServiceRow::new("setpoint_trajectory/mav_frame", "mavros_msgs/srv/SetMavFrame", "frame of `setpoint_trajectory/local`"),
    ServiceRow::new("param/pull", "mavros_msgs/srv/ParamPull", "reads all parameters"),
    ServiceRow::new("param/set", "mavros_msgs/srv/ParamSetV2", "sets a parameter; waits until the vehicle confirms it, where it does"),
    ServiceRow::new("param/get_parameters", "rcl_interfaces/srv/GetParameters", "parameters of the vehicle as ROS parameters"),
    ServiceRow::new("param/set_parameters", "rcl_interfaces/srv/SetParameters", "parameters of the vehicle as ROS parameters"),
    ServiceRow::new("param/set_parameters_atomically", "rcl_interfaces/srv/SetParametersAtomically", "parameters of the vehicle as ROS parameters"),
    ServiceRow::new("param/list_parameters", "rcl_interfaces/srv/ListParameters", "parameters of the vehicle as ROS parameters"),
    ServiceRow::new("param/describe_parameters", "rcl_interfaces/srv/DescribeParameters", "parameters of the vehicle as ROS parameters"),
    ServiceRow::new("param/get_parameter_types", "rcl_interfaces/srv/GetParameterTypes", "parameters of the vehicle as ROS parameters"),
    ServiceRow::new("mission/pull", "mavros_msgs/srv/WaypointPull", "reads the mission"),
    ServiceRow::new("mission/push", "mavros_msgs/srv/WaypointPush", "writes the mission"),
    ServiceRow::new("mission/clear", "mavros_msgs/srv/WaypointClear", "deletes the mission"),
    ServiceRow::new("geofence/pull", "mavros_msgs/srv/WaypointPull", "reads the geofence"),
    ServiceRow::new("geofence/push", "mavros_msgs/srv/WaypointPush", "writes the geofence"),
    ServiceRow::new("geofence/clear", "mavros_msgs/srv/WaypointClear", "deletes the geofence"),
    ServiceRow::new("rallypoint/pull", "mavros_msgs/srv/WaypointPull", "reads the rally points"),
    ServiceRow::new("rallypoint/push", "mavros_msgs/srv/WaypointPush", "writes the rally points"),
    ServiceRow::new("rallypoint/clear", "mavros_msgs/srv/WaypointClear", "deletes the rally points"),
    ServiceRow::new("mission/set_current", "mavros_msgs/srv/WaypointSetCurrent", "makes this waypoint the current one"),
];
