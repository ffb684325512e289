//! The topics and services of models, of `CopterSim` and of the fleet: the tables for documentation and tests.
use crate::config::params::QosGroup;

/// Direction of a topic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// From the model, with this QoS.
    Out(QosGroup),
    /// To the model.
    In,
}

/// A topic.
#[derive(Clone, Copy, Debug)]
pub struct ModelTopic {
    /// Name, relative to the vehicle; `fleet/*` and `netsim/*` relative to the prefix of the topics.
    pub name: &'static str,
    /// Type, as ROS writes it.
    pub interface: &'static str,
    /// Direction.
    pub way: Way,
    /// Content, for the documentation.
    pub doc: &'static str,
}

/// A service.
#[derive(Clone, Copy, Debug)]
pub struct ModelService {
    /// Name, as of a topic.
    pub name: &'static str,
    /// Type, as ROS writes it.
    pub interface: &'static str,
    /// What it does, for the documentation.
    pub doc: &'static str,
}

const fn i(name: &'static str, interface: &'static str, doc: &'static str) -> ModelTopic {
    ModelTopic {
        name,
        interface,
        way: Way::In,
        doc,
    }
}

const fn o(
    name: &'static str,
    interface: &'static str,
    group: QosGroup,
    doc: &'static str,
) -> ModelTopic {
    ModelTopic {
        name,
        interface,
        way: Way::Out(group),
        doc,
    }
}

const fn v(name: &'static str, interface: &'static str, doc: &'static str) -> ModelService {
    ModelService {
        name,
        interface,
        doc,
    }
}

use QosGroup::{Latched, State};

/// All topics.
#[rustfmt::skip] // a table
pub const MODEL_TOPICS: &[ModelTopic] = &[
    o("model/active_faults", "rfly_bridge_msgs/msg/ActiveFaults", Latched, "the faults that are active now"),
    o("model/output", "rfly_bridge_msgs/msg/ModelOutput", State, "32 values that the author of the model chose (`outCopterData`); the stamp is the arrival"),
    o("model/px4_output", "rfly_bridge_msgs/msg/ModelOutput", State, "8 values of a modified autopilot (`PX4ExtMsg`)"),
    i("model/inputs", "rfly_bridge_msgs/msg/ModelInputs", "`inSILInts` and `inSILFloats`, or `InCtrlExt1` to `5`"),
    i("model/doubles", "rfly_bridge_msgs/msg/ModelDoubles", "`inDoubCtrls`, or `InCtrlExt1` to `5`, or all of these together"),
    i("model/command", "rfly_bridge_msgs/msg/ModelCommand", "position or velocity for a model that flies without autopilot; as 28 doubles"),
    i("model/initial_parameters", "rfly_bridge_msgs/msg/ModelParameters", "`InitInParams`: up to 32 parameters that the model starts with"),
    i("model/dynamic_parameters", "rfly_bridge_msgs/msg/ModelParameters", "`DynModiParams`: up to 64 parameters of the running model"),
    i("model/renderer", "rfly_bridge_msgs/msg/ModelValues", "up to 32 values that stand for the renderer's (`inFromUE`)"),
    i("model/collision", "rfly_bridge_msgs/msg/ModelValues", "up to 20 values of a collision (`inFloatsCollision`)"),
    i("model/terrain", "rfly_bridge_msgs/msg/ModelValues", "up to 15 values of the terrain (`TerrainIn15d`)"),
    i("model/rays", "rfly_bridge_msgs/msg/ModelRays", "distances around the vehicle (`Ue4RayTraceDrone`)"),
    i("model/uorb", "rfly_bridge_msgs/msg/ModelUorb", "values for a modified autopilot (`rfly_ctrl`)"),
    i("model/custom_data", "rfly_bridge_msgs/msg/CustomData", "16 values to a program of the user's own on this host (`model.custom_data_port`)"),
    o("fleet/ready", "rfly_bridge_msgs/msg/FleetReady", Latched, "whether the CopterSim of every vehicle sends heartbeats; names those that do not, and what to look at"),
    i("netsim/send_state", "rfly_bridge_msgs/msg/NetSimState", "sends the state of a vehicle; without receivers to those that asked for it"),
    i("netsim/send_data", "rfly_bridge_msgs/msg/NetSimData", "sends data of the user's own"),
    i("netsim/send_request", "rfly_bridge_msgs/msg/NetSimRequest", "asks for the states of other vehicles, once a second until a message without vehicles"),
    o("netsim/state", "rfly_bridge_msgs/msg/NetSimState", State, "states in the network"),
    o("netsim/data", "rfly_bridge_msgs/msg/NetSimData", State, "data of the user's own in the network"),
    o("netsim/request", "rfly_bridge_msgs/msg/NetSimRequest", State, "who asks for whose state"),
];

/// All services.
#[rustfmt::skip] // a table
pub const MODEL_SERVICES: &[ModelService] = &[
    v("model/inject_fault", "rfly_bridge_msgs/srv/InjectFault", "injects a fault, for a time if wanted"),
    v("model/clear_faults", "rfly_bridge_msgs/srv/ClearFaults", "clears faults"),
    v("coptersim/restart", "std_srvs/srv/Trigger", "puts the vehicle where it was put last, else where it was first seen: its simulation starts anew"),
    v("coptersim/set_pose", "rfly_bridge_msgs/srv/SetVehiclePose", "puts the vehicle to a pose in `map`"),
    v("coptersim/set_geo_place", "rfly_bridge_msgs/srv/SetGeoPlace", "puts the vehicle to a latitude and longitude"),
    v("coptersim/set_geo_origin", "rfly_bridge_msgs/srv/SetGeoOrigin", "sets latitude, longitude and altitude of the origin of the map"),
    v("coptersim/load_model", "rfly_bridge_msgs/srv/LoadByName", "loads another vehicle model"),
    v("coptersim/load_map", "rfly_bridge_msgs/srv/LoadByName", "loads another map"),
    v("coptersim/set_udp_mode", "rfly_bridge_msgs/srv/SetUdpMode", "switches UDPSIMMODE"),
    v("coptersim/show_geodetic", "std_srvs/srv/SetBool", "lets CopterSim's window show latitude and longitude, or metres"),
    v("coptersim/start_signal", "std_srvs/srv/Trigger", "lets the program of this vehicle continue that waits for the start signal"),
    v("coptersim/reboot_autopilot", "std_srvs/srv/Trigger", "restarts the autopilot"),
    v("fleet/start_signal", "std_srvs/srv/Trigger", "lets all programs continue that wait for the start signal"),
];
