//! Table of the scene services.
use super::server::SceneServer;
use crate::ros::{Middleware, RosError, ServiceHandle};

pub(super) struct SceneServiceRow {
    /// Name: with `~` below the node, else below `topic_prefix`.
    pub(super) name: &'static str,
    /// Type in the notation of ROS, `package/srv/Name`.
    pub(super) interface: &'static str,
    /// Text for the documentation.
    pub(super) doc: &'static str,
    pub(super) open: fn(&SceneServer, &Middleware, &str) -> Result<ServiceHandle, RosError>,
}

#[cfg(any(has_simulation_interfaces, has_rfly_bridge_msgs))]
macro_rules! rows {
    ($module:ident, $package:ident: $($name:literal $service:ident $answer:ident $doc:literal;)+) => {
        &[$(SceneServiceRow {
            name: $name,
            interface: concat!(stringify!($package), "/srv/", stringify!($service)),
            doc: $doc,
            open: |server, middleware, name| {
                server.serve::<crate::msgs::$package::srv::$service>(middleware, name, $module::$answer)
            },
        },)+]
    };
}

pub(super) fn rows() -> impl Iterator<Item = &'static SceneServiceRow> {
    STANDARD.iter().chain(OWN)
}

#[cfg(not(has_simulation_interfaces))]
const STANDARD: &[SceneServiceRow] = &[];
#[cfg(not(has_rfly_bridge_msgs))]
const OWN: &[SceneServiceRow] = &[];

#[cfg(has_simulation_interfaces)]
use crate::scene::standard;

#[cfg(has_simulation_interfaces)]
#[rustfmt::skip] // a table
const STANDARD: &[SceneServiceRow] = rows! { standard, simulation_interfaces:
    "~/get_simulator_features" GetSimulatorFeatures features "what is served";
    "~/get_spawnables" GetSpawnables spawnables "models of the renderer and of `scene.file`";
    "~/spawn_entity" SpawnEntity spawn_entity "draws an object, `rflysim://<class or model>[?style=..&factor=..&scale=..&ground=..&keep_alive=..]`";
    "~/spawn_entities" SpawnEntities spawn_entities "draws several";
    "~/delete_entity" DeleteEntity delete_entity "removes what was spawned";
    "~/get_entities" GetEntities entities "names of vehicles, spawned objects, described objects of the map and cameras";
    "~/get_entity_info" GetEntityInfo entity_info "category, description, tags";
    "~/set_entity_info" SetEntityInfo set_entity_info "changes category, description, tags";
    "~/get_entity_state" GetEntityState entity_state "pose and twist in `map`";
    "~/get_entities_states" GetEntitiesStates entities_states "poses and twists of all entities with a known pose";
    "~/set_entity_state" SetEntityState set_entity_state "moves a spawned object in the renderer, a vehicle in its CopterSim";
    "~/get_available_worlds" GetAvailableWorlds available_worlds "maps of the vendor and of `scene.file`";
    "~/load_world" LoadWorld load_world "changes the map of renderer and CopterSim, `rflysim://map/<name or number>`; sensors are requested again";
    "~/get_current_world" GetCurrentWorld current_world "the map, if it was loaded or is named by `scene.world`";
    "~/unload_world" UnloadWorld unload_world "refused: the renderer always shows a map";
    "~/get_simulation_state" GetSimulationState simulation_state "playing once the simulator has sent its time";
    "~/set_simulation_state" SetSimulationState set_simulation_state "refused with the reason: there is no pause and no stop";
    "~/reset_simulation" ResetSimulation reset_simulation "removes what was spawned, restarts the simulation of every vehicle";
    "~/step_simulation" StepSimulation step_simulation "refused: there is no pause; in `replay --step` plays this number of datagrams and frames ([record.md](record.md))";
    "~/get_named_poses" GetNamedPoses named_poses "poses of `scene.file`";
    "~/get_named_pose_bounds" GetNamedPoseBounds named_pose_bounds "bounds of the poses of `scene.file`";
};

#[cfg(has_rfly_bridge_msgs)]
use crate::scene::own;

#[cfg(has_rfly_bridge_msgs)]
#[rustfmt::skip] // a table
const OWN: &[SceneServiceRow] = rows! { own, rfly_bridge_msgs:
    "scene/attach" Attach attach "lets up to 25 entities follow others";
    "scene/command" SceneCommand command "sends a checked console command to a window, to all of `scene.windows`, or to the network";
    "scene/describe_all" DescribeAll describe_all "`RflyReqObjData 20` to `24`, which request descriptions of all entities, or end them: the vendor's documents disagree";
    "scene/set_actuators" SetActuators set_actuators "inputs 1 to 8 and 9 to 24 of a model's blueprint";
    "scene/set_label" SetLabel set_label "a text above an entity";
    "scene/set_size" SetSize set_size "factors of an entity's size";
    "scene/set_stencil" SetStencil set_stencil "class number for segmentation and thermal cameras";
    "scene/set_temperatures" SetTemperatures set_temperatures "class numbers for the thermal camera, from temperatures";
    "scene/set_view" SetView set_view "camera of the renderer's window";
    "scene/show_message" ShowMessage show_message "a text on the screen or at entities";
};
