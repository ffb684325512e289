//! Tables of the topics and services of models, `CopterSim` and the fleet, for documentation and tests.
use crate::config::params::QosGroup;
use crate::config::{ServiceRow, TopicRow};
use QosGroup::{Latched, State};

/// All topics, with names relative to the vehicle; `fleet/*` and `netsim/*` relative to the topic prefix.
#[rustfmt::skip] // a table
pub const MODEL_TOPICS: &[TopicRow] = &[
    TopicRow::published("model/active_faults", "rfly_bridge_msgs/msg/ActiveFaults", Latched, "the faults that are active now"),
    TopicRow::published("model/output", "rfly_bridge_msgs/msg/ModelOutput", State, "32 values chosen by the author of the model (`outCopterData`); the stamp is the arrival"),
    TopicRow::published("model/px4_output", "rfly_bridge_msgs/msg/ModelOutput", State, "8 values of a modified autopilot (`PX4ExtMsg`)"),
    TopicRow::subscribed("model/inputs", "rfly_bridge_msgs/msg/ModelInputs", "`inSILInts` and `inSILFloats`, or `InCtrlExt1` to `5`"),
    TopicRow::subscribed("model/doubles", "rfly_bridge_msgs/msg/ModelDoubles", "`inDoubCtrls`, or one of `InCtrlExt1` to `5`, or these five together"),
    TopicRow::subscribed("model/command", "rfly_bridge_msgs/msg/ModelCommand", "position or velocity for a model that flies without autopilot; as 28 doubles"),
    TopicRow::subscribed("model/initial_parameters", "rfly_bridge_msgs/msg/ModelParameters", "`InitInParams`: up to 32 parameters that the model starts with"),
    TopicRow::subscribed("model/dynamic_parameters", "rfly_bridge_msgs/msg/ModelParameters", "`DynModiParams`: up to 64 parameters of the running model"),
    TopicRow::subscribed("model/renderer", "rfly_bridge_msgs/msg/ModelValues", "up to 32 values in place of the renderer's (`inFromUE`)"),
    TopicRow::subscribed("model/collision", "rfly_bridge_msgs/msg/ModelValues", "up to 20 values of a collision (`inFloatsCollision`)"),
    TopicRow::subscribed("model/terrain", "rfly_bridge_msgs/msg/ModelValues", "up to 15 values of the terrain (`TerrainIn15d`)"),
    TopicRow::subscribed("model/rays", "rfly_bridge_msgs/msg/ModelRays", "distances around the vehicle (`Ue4RayTraceDrone`)"),
    TopicRow::subscribed("model/uorb", "rfly_bridge_msgs/msg/ModelUorb", "values for a modified autopilot (`rfly_ctrl`)"),
    TopicRow::subscribed("model/custom_data", "rfly_bridge_msgs/msg/CustomData", "16 values for a user program (`model.custom_data_address`, `model.custom_data_port`)"),
    TopicRow::published("fleet/ready", "rfly_bridge_msgs/msg/FleetReady", Latched, "whether the CopterSim of every vehicle sends heartbeats; names the vehicles that do not, and what to check"),
    TopicRow::published("fleet/start", "std_msgs/msg/Int32", State, "start signals: the CopterID of the program that may continue, -1 for all; includes the signals of the bridge itself"),
    TopicRow::subscribed("netsim/send_state", "rfly_bridge_msgs/msg/NetSimState", "sends the state of a vehicle; without receivers, to the vehicles that requested it"),
    TopicRow::subscribed("netsim/send_data", "rfly_bridge_msgs/msg/NetSimData", "sends user data"),
    TopicRow::subscribed("netsim/send_request", "rfly_bridge_msgs/msg/NetSimRequest", "requests the states of other vehicles every second, until a message without vehicles"),
    TopicRow::published("netsim/state", "rfly_bridge_msgs/msg/NetSimState", State, "states received from the network"),
    TopicRow::published("netsim/data", "rfly_bridge_msgs/msg/NetSimData", State, "user data received from the network"),
    TopicRow::published("netsim/request", "rfly_bridge_msgs/msg/NetSimRequest", State, "requests for states received from the network"),
];

/// All services, with names relative as in [`MODEL_TOPICS`].
#[rustfmt::skip] // a table
pub const MODEL_SERVICES: &[ServiceRow] = &[
    ServiceRow::new("model/inject_fault", "rfly_bridge_msgs/srv/InjectFault", "injects a fault, permanently or for a duration"),
    ServiceRow::new("model/clear_faults", "rfly_bridge_msgs/srv/ClearFaults", "clears faults"),
    ServiceRow::new("coptersim/restart", "std_srvs/srv/Trigger", "restarts the vehicle's simulation at the pose of the last request, or else at the pose where it was first seen"),
    ServiceRow::new("coptersim/set_pose", "rfly_bridge_msgs/srv/SetVehiclePose", "moves the vehicle to a pose in `map`"),
    ServiceRow::new("coptersim/set_geo_place", "rfly_bridge_msgs/srv/SetGeoPlace", "moves the vehicle to a latitude and longitude"),
    ServiceRow::new("coptersim/set_geo_origin", "rfly_bridge_msgs/srv/SetGeoOrigin", "sets latitude, longitude and altitude of the origin of the map"),
    ServiceRow::new("coptersim/load_model", "rfly_bridge_msgs/srv/LoadByName", "loads another vehicle model"),
    ServiceRow::new("coptersim/load_map", "rfly_bridge_msgs/srv/LoadByName", "loads another map"),
    ServiceRow::new("coptersim/set_udp_mode", "rfly_bridge_msgs/srv/SetUdpMode", "switches UDPSIMMODE"),
    ServiceRow::new("coptersim/show_geodetic", "std_srvs/srv/SetBool", "switches CopterSim's window between latitude and longitude, and metres"),
    ServiceRow::new("coptersim/start_signal", "std_srvs/srv/Trigger", "sends the start signal to the program of this vehicle"),
    ServiceRow::new("coptersim/reboot_autopilot", "std_srvs/srv/Trigger", "restarts the autopilot"),
    ServiceRow::new("fleet/start_signal", "std_srvs/srv/Trigger", "sends the start signal to all programs"),
];
