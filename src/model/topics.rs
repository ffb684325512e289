//! The topics and services of models, of `CopterSim` and of the fleet: the tables for documentation and tests.
use crate::config::params::QosGroup;
use crate::config::{ServiceRow, TopicRow};
use QosGroup::{Latched, State};

/// All topics, relative to the vehicle; `fleet/*` and `netsim/*` relative to the prefix of the topics.
#[rustfmt::skip] // a table
pub const MODEL_TOPICS: &[TopicRow] = &[
    TopicRow::published("model/active_faults", "rfly_bridge_msgs/msg/ActiveFaults", Latched, "the faults that are active now"),
    TopicRow::published("model/output", "rfly_bridge_msgs/msg/ModelOutput", State, "32 values that the author of the model chose (`outCopterData`); the stamp is the arrival"),
    TopicRow::published("model/px4_output", "rfly_bridge_msgs/msg/ModelOutput", State, "8 values of a modified autopilot (`PX4ExtMsg`)"),
    TopicRow::subscribed("model/inputs", "rfly_bridge_msgs/msg/ModelInputs", "`inSILInts` and `inSILFloats`, or `InCtrlExt1` to `5`"),
    TopicRow::subscribed("model/doubles", "rfly_bridge_msgs/msg/ModelDoubles", "`inDoubCtrls`, or `InCtrlExt1` to `5`, or all of these together"),
    TopicRow::subscribed("model/command", "rfly_bridge_msgs/msg/ModelCommand", "position or velocity for a model that flies without autopilot; as 28 doubles"),
    TopicRow::subscribed("model/initial_parameters", "rfly_bridge_msgs/msg/ModelParameters", "`InitInParams`: up to 32 parameters that the model starts with"),
    TopicRow::subscribed("model/dynamic_parameters", "rfly_bridge_msgs/msg/ModelParameters", "`DynModiParams`: up to 64 parameters of the running model"),
    TopicRow::subscribed("model/renderer", "rfly_bridge_msgs/msg/ModelValues", "up to 32 values that stand for the renderer's (`inFromUE`)"),
    TopicRow::subscribed("model/collision", "rfly_bridge_msgs/msg/ModelValues", "up to 20 values of a collision (`inFloatsCollision`)"),
    TopicRow::subscribed("model/terrain", "rfly_bridge_msgs/msg/ModelValues", "up to 15 values of the terrain (`TerrainIn15d`)"),
    TopicRow::subscribed("model/rays", "rfly_bridge_msgs/msg/ModelRays", "distances around the vehicle (`Ue4RayTraceDrone`)"),
    TopicRow::subscribed("model/uorb", "rfly_bridge_msgs/msg/ModelUorb", "values for a modified autopilot (`rfly_ctrl`)"),
    TopicRow::subscribed("model/custom_data", "rfly_bridge_msgs/msg/CustomData", "16 values to a program of the user's own (`model.custom_data_address`, `model.custom_data_port`)"),
    TopicRow::published("fleet/ready", "rfly_bridge_msgs/msg/FleetReady", Latched, "whether the CopterSim of every vehicle sends heartbeats; names those that do not, and what to look at"),
    TopicRow::published("fleet/start", "std_msgs/msg/Int32", State, "start signals: the CopterID whose program may continue, -1: all; what the bridge itself sends comes back"),
    TopicRow::subscribed("netsim/send_state", "rfly_bridge_msgs/msg/NetSimState", "sends the state of a vehicle; without receivers to those that asked for it"),
    TopicRow::subscribed("netsim/send_data", "rfly_bridge_msgs/msg/NetSimData", "sends data of the user's own"),
    TopicRow::subscribed("netsim/send_request", "rfly_bridge_msgs/msg/NetSimRequest", "asks for the states of other vehicles, once a second until a message without vehicles"),
    TopicRow::published("netsim/state", "rfly_bridge_msgs/msg/NetSimState", State, "states in the network"),
    TopicRow::published("netsim/data", "rfly_bridge_msgs/msg/NetSimData", State, "data of the user's own in the network"),
    TopicRow::published("netsim/request", "rfly_bridge_msgs/msg/NetSimRequest", State, "who asks for whose state"),
];

/// All services, relative as topics are.
#[rustfmt::skip] // a table
pub const MODEL_SERVICES: &[ServiceRow] = &[
    ServiceRow::new("model/inject_fault", "rfly_bridge_msgs/srv/InjectFault", "injects a fault, for a time if wanted"),
    ServiceRow::new("model/clear_faults", "rfly_bridge_msgs/srv/ClearFaults", "clears faults"),
    ServiceRow::new("coptersim/restart", "std_srvs/srv/Trigger", "puts the vehicle where it was put last, else where it was first seen: its simulation starts anew"),
    ServiceRow::new("coptersim/set_pose", "rfly_bridge_msgs/srv/SetVehiclePose", "puts the vehicle to a pose in `map`"),
    ServiceRow::new("coptersim/set_geo_place", "rfly_bridge_msgs/srv/SetGeoPlace", "puts the vehicle to a latitude and longitude"),
    ServiceRow::new("coptersim/set_geo_origin", "rfly_bridge_msgs/srv/SetGeoOrigin", "sets latitude, longitude and altitude of the origin of the map"),
    ServiceRow::new("coptersim/load_model", "rfly_bridge_msgs/srv/LoadByName", "loads another vehicle model"),
    ServiceRow::new("coptersim/load_map", "rfly_bridge_msgs/srv/LoadByName", "loads another map"),
    ServiceRow::new("coptersim/set_udp_mode", "rfly_bridge_msgs/srv/SetUdpMode", "switches UDPSIMMODE"),
    ServiceRow::new("coptersim/show_geodetic", "std_srvs/srv/SetBool", "lets CopterSim's window show latitude and longitude, or metres"),
    ServiceRow::new("coptersim/start_signal", "std_srvs/srv/Trigger", "lets the program of this vehicle continue that waits for the start signal"),
    ServiceRow::new("coptersim/reboot_autopilot", "std_srvs/srv/Trigger", "restarts the autopilot"),
    ServiceRow::new("fleet/start_signal", "std_srvs/srv/Trigger", "lets all programs continue that wait for the start signal"),
];
