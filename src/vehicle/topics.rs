//! The mavros-style topics and services of a vehicle: the tables for documentation and tests.
use super::{services, setpoint, telemetry};
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
    let mut rows = telemetry::SERVICES.concat();
    let others = services::SERVICES.iter().copied().chain([setpoint::SERVICES]).flatten();
    rows.extend(others.map(|service| service.row));
    rows.sort_unstable_by_key(|row| row.name);
    rows
});

/// Published topics that are in no table of a telemetry plugin or of the setpoints.
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
