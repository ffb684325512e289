//! The mavros-style topics and services of a vehicle: the table for documentation and tests.
use crate::config::params::QosGroup;

/// Direction of a topic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// From the vehicle.
    Published,
    /// To the vehicle.
    Subscribed,
}

/// A topic below the vehicle's mavros prefix.
#[derive(Clone, Copy, Debug)]
pub struct TopicSpec {
    /// Name, relative to the prefix unless it is absolute; `{id}` stands for the number of the vehicle.
    pub name: &'static str,
    /// Type, as ROS writes it.
    pub interface: &'static str,
    /// Direction.
    pub direction: Direction,
    /// QoS of a published topic. Subscriptions are best effort, volatile, depth 5: they match every writer.
    pub group: QosGroup,
    /// Content, for the documentation.
    pub doc: &'static str,
}

/// A service below the vehicle's mavros prefix.
#[derive(Clone, Copy, Debug)]
pub struct ServiceSpec {
    /// Name, relative to the prefix.
    pub name: &'static str,
    /// Type, as ROS writes it.
    pub interface: &'static str,
    /// What it does, for the documentation.
    pub doc: &'static str,
}

const fn p(
    name: &'static str,
    interface: &'static str,
    group: QosGroup,
    doc: &'static str,
) -> TopicSpec {
    TopicSpec {
        name,
        interface,
        direction: Direction::Published,
        group,
        doc,
    }
}

const fn s(name: &'static str, interface: &'static str, doc: &'static str) -> TopicSpec {
    TopicSpec {
        name,
        interface,
        direction: Direction::Subscribed,
        group: QosGroup::Telemetry,
        doc,
    }
}

const fn v(name: &'static str, interface: &'static str, doc: &'static str) -> ServiceSpec {
    ServiceSpec {
        name,
        interface,
        doc,
    }
}

use QosGroup::{Latched, ParameterEvents, Telemetry, VehicleState};

/// All topics.
#[rustfmt::skip] // a table
pub const TOPICS: &[TopicSpec] = &[
    p("state", "mavros_msgs/msg/State", VehicleState, "connection, mode, armed; once per HEARTBEAT, and once when they stop"),
    p("extended_state", "mavros_msgs/msg/ExtendedState", VehicleState, "landed or in the air (EXTENDED_SYS_STATE)"),
    p("sys_status", "mavros_msgs/msg/SysStatus", VehicleState, "sensors, load, battery (SYS_STATUS)"),
    p("estimator_status", "mavros_msgs/msg/EstimatorStatus", VehicleState, "flags of the estimator (ESTIMATOR_STATUS)"),
    p("status_event", "mavros_msgs/msg/StatusEvent", Telemetry, "EVENT, as PX4 encodes it"),
    p("statustext/recv", "mavros_msgs/msg/StatusText", Telemetry, "STATUSTEXT, also in the log; long texts are joined"),
    s("statustext/send", "mavros_msgs/msg/StatusText", "sent as STATUSTEXT, in chunks if longer than 50 characters"),
    p("battery", "sensor_msgs/msg/BatteryState", Telemetry, "BATTERY_STATUS, else SYS_STATUS; the current is negative while discharging"),
    p("vibration/raw/vibration", "mavros_msgs/msg/Vibration", Telemetry, "VIBRATION"),
    p("local_position/pose", "geometry_msgs/msg/PoseStamped", Telemetry, "estimated pose in `local_origin` (LOCAL_POSITION_NED and the last attitude)"),
    p("local_position/pose_cov", "geometry_msgs/msg/PoseWithCovarianceStamped", Telemetry, "the same with covariance (LOCAL_POSITION_NED_COV)"),
    p("local_position/odom", "nav_msgs/msg/Odometry", Telemetry, "estimated pose in `local_origin`, twist in `base_link`"),
    p("local_position/velocity_local", "geometry_msgs/msg/TwistStamped", Telemetry, "estimated velocity, ENU"),
    p("local_position/velocity_body", "geometry_msgs/msg/TwistStamped", Telemetry, "estimated velocity, FLU"),
    p("local_position/velocity_body_cov", "geometry_msgs/msg/TwistWithCovarianceStamped", Telemetry, "the same with covariance"),
    p("local_position/accel", "geometry_msgs/msg/AccelWithCovarianceStamped", Telemetry, "estimated acceleration, ENU"),
    p("imu/data", "sensor_msgs/msg/Imu", Telemetry, "orientation, rates and specific force, FLU (ATTITUDE or ATTITUDE_QUATERNION, HIGHRES_IMU)"),
    p("imu/data_raw", "sensor_msgs/msg/Imu", Telemetry, "rates and specific force, FLU (HIGHRES_IMU, else SCALED_IMU, RAW_IMU)"),
    p("imu/mag", "sensor_msgs/msg/MagneticField", Telemetry, "magnetic field in T, FLU"),
    p("imu/static_pressure", "sensor_msgs/msg/FluidPressure", Telemetry, "air pressure in Pa"),
    p("imu/diff_pressure", "sensor_msgs/msg/FluidPressure", Telemetry, "differential pressure in Pa"),
    p("imu/temperature_imu", "sensor_msgs/msg/Temperature", Telemetry, "temperature of the IMU in deg C"),
    p("imu/temperature_baro", "sensor_msgs/msg/Temperature", Telemetry, "temperature of the barometer in deg C"),
    p("global_position/global", "sensor_msgs/msg/NavSatFix", Telemetry, "estimated position; altitude above the ellipsoid (GLOBAL_POSITION_INT)"),
    p("global_position/local", "nav_msgs/msg/Odometry", Telemetry, "the same in `local_origin`, ENU; relative to the first fix until the origin is known"),
    p("global_position/rel_alt", "std_msgs/msg/Float64", Telemetry, "height above home in m"),
    p("global_position/compass_hdg", "std_msgs/msg/Float64", Telemetry, "heading in degrees, 0 to 360 from north, clockwise; NaN if unknown"),
    p("global_position/raw/fix", "sensor_msgs/msg/NavSatFix", Telemetry, "GPS fix (GPS_RAW_INT)"),
    p("global_position/raw/gps_vel", "geometry_msgs/msg/TwistStamped", Telemetry, "velocity over ground of the GPS, ENU"),
    p("global_position/raw/satellites", "std_msgs/msg/UInt32", Telemetry, "satellites in view"),
    p("global_position/gp_origin", "geographic_msgs/msg/GeoPointStamped", Latched, "local origin (GPS_GLOBAL_ORIGIN)"),
    s("global_position/set_gp_origin", "geographic_msgs/msg/GeoPointStamped", "SET_GPS_GLOBAL_ORIGIN"),
    p("global_position/gp_lp_offset", "geometry_msgs/msg/PoseStamped", Telemetry, "LOCAL_POSITION_NED_SYSTEM_GLOBAL_OFFSET"),
    p("gpsstatus/gps1/raw", "mavros_msgs/msg/GPSRAW", Telemetry, "GPS_RAW_INT, unchanged"),
    p("gpsstatus/gps2/raw", "mavros_msgs/msg/GPSRAW", Telemetry, "GPS2_RAW, unchanged"),
    p("altitude", "mavros_msgs/msg/Altitude", Telemetry, "altitudes of every kind (ALTITUDE)"),
    p("vfr_hud", "mavros_msgs/msg/VfrHud", Telemetry, "airspeed, groundspeed, heading, throttle, climb (VFR_HUD)"),
    p("home_position/home", "mavros_msgs/msg/HomePosition", VehicleState, "home (HOME_POSITION); requested until known"),
    s("home_position/set", "mavros_msgs/msg/HomePosition", "SET_HOME_POSITION"),
    p("setpoint_raw/target_local", "mavros_msgs/msg/PositionTarget", Telemetry, "setpoint that the autopilot follows, in `local_origin` or `base_link` (POSITION_TARGET_LOCAL_NED)"),
    p("setpoint_raw/target_global", "mavros_msgs/msg/GlobalPositionTarget", Telemetry, "setpoint that the autopilot follows (POSITION_TARGET_GLOBAL_INT)"),
    p("setpoint_raw/target_attitude", "mavros_msgs/msg/AttitudeTarget", Telemetry, "setpoint that the autopilot follows (ATTITUDE_TARGET)"),
    s("setpoint_raw/local", "mavros_msgs/msg/PositionTarget", "position, velocity, acceleration, yaw by mask; ENU in frame 1, FLU in frame 8"),
    s("setpoint_raw/global", "mavros_msgs/msg/GlobalPositionTarget", "the same with latitude, longitude, altitude"),
    s("setpoint_raw/attitude", "mavros_msgs/msg/AttitudeTarget", "attitude (FLU in ENU), body rates (FLU), thrust 0 to 1"),
    s("setpoint_position/local", "geometry_msgs/msg/PoseStamped", "position and yaw"),
    s("setpoint_position/global", "geographic_msgs/msg/GeoPoseStamped", "latitude, longitude, altitude and yaw"),
    s("setpoint_position/global_to_local", "geographic_msgs/msg/GeoPoseStamped", "the same, sent as local position"),
    s("setpoint_velocity/cmd_vel", "geometry_msgs/msg/TwistStamped", "velocity and yaw rate"),
    s("setpoint_velocity/cmd_vel_unstamped", "geometry_msgs/msg/Twist", "velocity and yaw rate"),
    s("setpoint_accel/accel", "geometry_msgs/msg/Vector3Stamped", "acceleration"),
    s("setpoint_attitude/attitude", "geometry_msgs/msg/PoseStamped", "attitude; sent with the thrust of about the same time"),
    s("setpoint_attitude/cmd_vel", "geometry_msgs/msg/TwistStamped", "body rates; sent with the thrust of about the same time"),
    s("setpoint_attitude/thrust", "mavros_msgs/msg/Thrust", "thrust 0 to 1"),
    s("setpoint_trajectory/local", "trajectory_msgs/msg/MultiDOFJointTrajectory", "trajectory, flown point by point"),
    p("setpoint_trajectory/desired", "nav_msgs/msg/Path", Telemetry, "the trajectory as a path in `local_origin`"),
    s("manual_control/send", "mavros_msgs/msg/ManualControl", "MANUAL_CONTROL, -1000 to 1000"),
    p("manual_control/control", "mavros_msgs/msg/ManualControl", Telemetry, "MANUAL_CONTROL of another station"),
    p("rc/in", "mavros_msgs/msg/RCIn", Telemetry, "RC_CHANNELS"),
    p("rc/out", "mavros_msgs/msg/RCOut", Telemetry, "SERVO_OUTPUT_RAW"),
    s("rc/override", "mavros_msgs/msg/OverrideRCIn", "RC_CHANNELS_OVERRIDE; 0 releases a channel, 65535 leaves it unchanged"),
    s("vision_pose/pose", "geometry_msgs/msg/PoseStamped", "VISION_POSITION_ESTIMATE"),
    s("vision_pose/pose_cov", "geometry_msgs/msg/PoseWithCovarianceStamped", "VISION_POSITION_ESTIMATE with covariance"),
    s("vision_speed/speed_twist", "geometry_msgs/msg/TwistStamped", "VISION_SPEED_ESTIMATE"),
    s("vision_speed/speed_twist_cov", "geometry_msgs/msg/TwistWithCovarianceStamped", "VISION_SPEED_ESTIMATE with covariance"),
    s("vision_speed/speed_vector", "geometry_msgs/msg/Vector3Stamped", "VISION_SPEED_ESTIMATE"),
    s("mocap/pose", "geometry_msgs/msg/PoseStamped", "ATT_POS_MOCAP"),
    s("mocap/tf", "geometry_msgs/msg/TransformStamped", "ATT_POS_MOCAP"),
    p("odometry/in", "nav_msgs/msg/Odometry", Telemetry, "ODOMETRY of the autopilot, in `local_origin`"),
    s("odometry/out", "nav_msgs/msg/Odometry", "ODOMETRY for the estimator"),
    p("time_reference", "sensor_msgs/msg/TimeReference", Telemetry, "UNIX time of the autopilot (SYSTEM_TIME)"),
    p("timesync_status", "mavros_msgs/msg/TimesyncStatus", Telemetry, "offset of the autopilot's clock and round trip (TIMESYNC)"),
    p("mission/waypoints", "mavros_msgs/msg/WaypointList", Latched, "the mission, after it was read or changed"),
    p("geofence/fences", "mavros_msgs/msg/WaypointList", Latched, "the geofence, after it was read or changed"),
    p("rallypoint/rallypoints", "mavros_msgs/msg/WaypointList", Latched, "the rally points, after they were read or changed"),
    p("mission/reached", "mavros_msgs/msg/WaypointReached", Latched, "MISSION_ITEM_REACHED"),
    p("param/event", "mavros_msgs/msg/ParamEvent", ParameterEvents, "every PARAM_VALUE"),
    p("wind_estimation", "geometry_msgs/msg/TwistWithCovarianceStamped", Telemetry, "wind, ENU (WIND_COV)"),
    p("nav_controller_output/output", "mavros_msgs/msg/NavControllerOutput", Telemetry, "NAV_CONTROLLER_OUTPUT"),
    s("actuator_control", "mavros_msgs/msg/ActuatorControl", "SET_ACTUATOR_CONTROL_TARGET"),
    p("target_actuator_control", "mavros_msgs/msg/ActuatorControl", Telemetry, "ACTUATOR_CONTROL_TARGET"),
    p("hil/actuator_controls", "mavros_msgs/msg/HilActuatorControls", Telemetry, "motor outputs (HIL_ACTUATOR_CONTROLS); the true state that CopterSim sends in such messages is on `ground_truth/*`"),
    p("debug_value/debug", "mavros_msgs/msg/DebugValue", Telemetry, "DEBUG"),
    p("debug_value/debug_vector", "mavros_msgs/msg/DebugValue", Telemetry, "DEBUG_VECT"),
    p("debug_value/named_value_float", "mavros_msgs/msg/DebugValue", Telemetry, "NAMED_VALUE_FLOAT"),
    p("debug_value/named_value_int", "mavros_msgs/msg/DebugValue", Telemetry, "NAMED_VALUE_INT"),
    s("companion_process/status", "mavros_msgs/msg/CompanionProcessStatus", "HEARTBEAT of a process of the companion computer"),
    p("distance_sensor/hrlv_ez4_pub", "sensor_msgs/msg/Range", Telemetry, "range finder 0 of the vehicle (DISTANCE_SENSOR)"),
    p("distance_sensor/lidarlite_pub", "sensor_msgs/msg/Range", Telemetry, "range finder 1 of the vehicle (DISTANCE_SENSOR)"),
    s("distance_sensor/sonar_1_sub", "sensor_msgs/msg/Range", "DISTANCE_SENSOR 2, looking down"),
    s("distance_sensor/laser_1_sub", "sensor_msgs/msg/Range", "DISTANCE_SENSOR 3, looking down"),
    s("mount_control/command", "mavros_msgs/msg/MountControl", "MAV_CMD_DO_MOUNT_CONTROL"),
    p("mount_control/orientation", "geometry_msgs/msg/Quaternion", Telemetry, "roll, pitch and yaw of the gimbal, FRD (MOUNT_ORIENTATION)"),
    p("mount_control/status", "geometry_msgs/msg/Vector3Stamped", Telemetry, "the same as angles in rad; `frame_id` is the component id, as in mavros"),
    s("debug_value/send", "mavros_msgs/msg/DebugValue", "DEBUG, DEBUG_VECT, NAMED_VALUE_FLOAT, NAMED_VALUE_INT by its type"),
    p("uas{id}/mavlink_source", "mavros_msgs/msg/Mavlink", Telemetry, "every frame from the vehicle"),
    s("uas{id}/mavlink_sink", "mavros_msgs/msg/Mavlink", "a frame to the vehicle, unchanged"),
];

/// All services.
#[rustfmt::skip] // a table
pub const SERVICES: &[ServiceSpec] = &[
    v("cmd/arming", "mavros_msgs/srv/CommandBool", "arms or disarms; waits until the heartbeat shows it"),
    v("set_mode", "mavros_msgs/srv/SetMode", "changes the mode; waits until the vehicle is in it"),
    v("cmd/command", "mavros_msgs/srv/CommandLong", "COMMAND_LONG; waits for the result"),
    v("cmd/command_int", "mavros_msgs/srv/CommandInt", "COMMAND_INT; waits for the result"),
    v("cmd/command_ack", "mavros_msgs/srv/CommandAck", "sends a COMMAND_ACK"),
    v("cmd/takeoff", "mavros_msgs/srv/CommandTOL", "MAV_CMD_NAV_TAKEOFF"),
    v("cmd/land", "mavros_msgs/srv/CommandTOL", "MAV_CMD_NAV_LAND"),
    v("cmd/takeoff_local", "mavros_msgs/srv/CommandTOLLocal", "refused: PX4 has no such command"),
    v("cmd/land_local", "mavros_msgs/srv/CommandTOLLocal", "refused: PX4 takes its number for a precision landing"),
    v("cmd/set_home", "mavros_msgs/srv/CommandHome", "MAV_CMD_DO_SET_HOME"),
    v("cmd/trigger_control", "mavros_msgs/srv/CommandTriggerControl", "MAV_CMD_DO_TRIGGER_CONTROL"),
    v("cmd/trigger_interval", "mavros_msgs/srv/CommandTriggerInterval", "MAV_CMD_DO_SET_CAM_TRIGG_INTERVAL"),
    v("cmd/vtol_transition", "mavros_msgs/srv/CommandVtolTransition", "MAV_CMD_DO_VTOL_TRANSITION"),
    v("set_stream_rate", "mavros_msgs/srv/StreamRate", "REQUEST_DATA_STREAM"),
    v("set_message_interval", "mavros_msgs/srv/MessageInterval", "MAV_CMD_SET_MESSAGE_INTERVAL"),
    v("mount_control/configure", "mavros_msgs/srv/MountConfigure", "MAV_CMD_DO_MOUNT_CONFIGURE"),
    v("log_transfer/raw/log_request_list", "mavros_msgs/srv/LogRequestList", "refused with the reason"),
    v("log_transfer/raw/log_request_data", "mavros_msgs/srv/LogRequestData", "refused with the reason"),
    v("log_transfer/raw/log_request_end", "mavros_msgs/srv/LogRequestEnd", "refused with the reason"),
    v("log_transfer/raw/log_request_erase", "std_srvs/srv/Trigger", "refused with the reason"),
    v("vehicle_info_get", "mavros_msgs/srv/VehicleInfoGet", "type, versions and capabilities of the vehicle"),
    v("home_position/req_update", "std_srvs/srv/Trigger", "requests HOME_POSITION"),
    v("setpoint_position/mav_frame", "mavros_msgs/srv/SetMavFrame", "frame of `setpoint_position/local`"),
    v("setpoint_velocity/mav_frame", "mavros_msgs/srv/SetMavFrame", "frame of `setpoint_velocity/*`"),
    v("setpoint_trajectory/reset", "std_srvs/srv/Trigger", "deletes the trajectory"),
    v("setpoint_trajectory/mav_frame", "mavros_msgs/srv/SetMavFrame", "frame of `setpoint_trajectory/local`"),
    v("param/pull", "mavros_msgs/srv/ParamPull", "reads all parameters"),
    v("param/set", "mavros_msgs/srv/ParamSetV2", "sets a parameter; waits until the vehicle confirms it"),
    v("param/get_parameters", "rcl_interfaces/srv/GetParameters", "parameters of the vehicle as ROS parameters"),
    v("param/set_parameters", "rcl_interfaces/srv/SetParameters", "parameters of the vehicle as ROS parameters"),
    v("param/set_parameters_atomically", "rcl_interfaces/srv/SetParametersAtomically", "parameters of the vehicle as ROS parameters"),
    v("param/list_parameters", "rcl_interfaces/srv/ListParameters", "parameters of the vehicle as ROS parameters"),
    v("param/describe_parameters", "rcl_interfaces/srv/DescribeParameters", "parameters of the vehicle as ROS parameters"),
    v("param/get_parameter_types", "rcl_interfaces/srv/GetParameterTypes", "parameters of the vehicle as ROS parameters"),
    v("mission/pull", "mavros_msgs/srv/WaypointPull", "reads the mission"),
    v("mission/push", "mavros_msgs/srv/WaypointPush", "writes the mission"),
    v("mission/clear", "mavros_msgs/srv/WaypointClear", "deletes the mission"),
    v("geofence/pull", "mavros_msgs/srv/WaypointPull", "reads the geofence"),
    v("geofence/push", "mavros_msgs/srv/WaypointPush", "writes the geofence"),
    v("geofence/clear", "mavros_msgs/srv/WaypointClear", "deletes the geofence"),
    v("rallypoint/pull", "mavros_msgs/srv/WaypointPull", "reads the rally points"),
    v("rallypoint/push", "mavros_msgs/srv/WaypointPush", "writes the rally points"),
    v("rallypoint/clear", "mavros_msgs/srv/WaypointClear", "deletes the rally points"),
    v("mission/set_current", "mavros_msgs/srv/WaypointSetCurrent", "makes this waypoint the current one"),
];
