//! The mavros-style topics and services of a vehicle: the tables for documentation and tests.
use super::{setpoint, telemetry};
use crate::config::params::QosGroup;
use crate::config::{ServiceRow, TopicRow};
use QosGroup::{Latched, ParameterEvents, Telemetry, VehicleState};
use std::sync::LazyLock;

/// All topics by name, relative to the prefix of the vehicle; `{id}` stands for its number. Subscriptions are best
/// effort, volatile, depth 5: they match every writer.
pub static TOPICS: LazyLock<Vec<TopicRow>> = LazyLock::new(|| {
    let mut rows = [telemetry::TOPICS, setpoint::TOPICS, &[OTHER_TOPICS]].concat().concat();
    rows.sort_unstable_by_key(|row| row.name);
    rows
});

/// All services by name, relative to the prefix of the vehicle.
pub static SERVICES: LazyLock<Vec<ServiceRow>> = LazyLock::new(|| {
    let mut rows = [telemetry::SERVICES, &[OTHER_SERVICES]].concat().concat();
    rows.sort_unstable_by_key(|row| row.name);
    rows
});

/// Topics that the bridge publishes and no plugin of the telemetry has; those have their own tables, as have the setpoints.
#[rustfmt::skip] // a table
const OTHER_TOPICS: &[TopicRow] = &[
    TopicRow::published("state", "mavros_msgs/msg/State", VehicleState, "connection, mode, armed; once per HEARTBEAT, and once when they stop"),
    TopicRow::published("setpoint_trajectory/desired", "nav_msgs/msg/Path", Telemetry, "the trajectory as a path in `local_origin`"),
    TopicRow::published("time_reference", "sensor_msgs/msg/TimeReference", Telemetry, "UNIX time of the autopilot (SYSTEM_TIME)"),
    TopicRow::published("timesync_status", "mavros_msgs/msg/TimesyncStatus", Telemetry, "offset of the autopilot's clock and round trip (TIMESYNC)"),
    TopicRow::published("mission/waypoints", "mavros_msgs/msg/WaypointList", Latched, "the mission, after it was read or changed"),
    TopicRow::published("geofence/fences", "mavros_msgs/msg/WaypointList", Latched, "the geofence, after it was read or changed"),
    TopicRow::published("rallypoint/rallypoints", "mavros_msgs/msg/WaypointList", Latched, "the rally points, after they were read or changed"),
    TopicRow::published("mission/reached", "mavros_msgs/msg/WaypointReached", Latched, "MISSION_ITEM_REACHED"),
    TopicRow::published("param/event", "mavros_msgs/msg/ParamEvent", ParameterEvents, "every PARAM_VALUE"),
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
