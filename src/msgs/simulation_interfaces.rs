//! Messages of `simulation_interfaces` (version 2.1) for builds without that package.
#![expect(
    missing_docs,
    reason = "documented in the .msg, .srv and .action files of the package"
)]

/// Constants of a message.
macro_rules! constants {
    ($message:ident: $type:ident { $($name:ident = $value:literal,)+ }) => {
        impl $message {
            $(pub const $name: $type = $value;)+
        }
    };
}

/// Messages.
pub mod msg {
    use crate::msgs::{
        geometry_msgs::msg::{Accel, Pose, PoseStamped, Twist, Vector3},
        std_msgs::msg::Header,
    };
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct Bounds {
        #[serde(rename = "type")]
        pub type_: u8,
        pub points: Vec<Vector3>,
    }

    constants! { Bounds: u8 {
        TYPE_EMPTY = 0, TYPE_BOX = 1, TYPE_CONVEX_HULL = 2, TYPE_SPHERE = 3,
    } }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct EntityCategory {
        pub category: u8,
    }

    constants! { EntityCategory: u8 {
        CATEGORY_OBJECT = 0, CATEGORY_ROBOT = 1, CATEGORY_HUMAN = 2, CATEGORY_DYNAMIC_OBJECT = 4,
        CATEGORY_STATIC_OBJECT = 5,
    } }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct EntityFilters {
        pub filter: String,
        pub categories: Vec<EntityCategory>,
        pub tags: TagsFilter,
        pub bounds: Bounds,
    }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct EntityInfo {
        pub category: EntityCategory,
        pub description: String,
        pub tags: Vec<String>,
    }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct EntityState {
        pub header: Header,
        pub pose: Pose,
        pub twist: Twist,
        pub acceleration: Accel,
    }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct NamedPose {
        pub name: String,
        pub description: String,
        pub tags: Vec<String>,
        pub pose: Pose,
    }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct Resource {
        pub uri: String,
        pub resource_string: String,
    }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct Result {
        pub result: u8,
        pub error_message: String,
    }

    constants! { Result: u8 {
        RESULT_FEATURE_UNSUPPORTED = 0, RESULT_OK = 1, RESULT_NOT_FOUND = 2, RESULT_INCORRECT_STATE = 3,
        RESULT_OPERATION_FAILED = 4,
    } }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct SimulationState {
        pub state: u8,
    }

    constants! { SimulationState: u8 {
        STATE_STOPPED = 0, STATE_PLAYING = 1, STATE_PAUSED = 2, STATE_QUITTING = 3, STATE_NO_WORLD = 4,
        STATE_LOADING_WORLD = 5,
    } }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct SimulatorFeatures {
        pub features: Vec<u16>,
        pub spawn_formats: Vec<String>,
        pub custom_info: String,
    }

    constants! { SimulatorFeatures: u8 {
        SPAWNING = 0, DELETING = 1, NAMED_POSES = 2, POSE_BOUNDS = 3, ENTITY_TAGS = 4, ENTITY_BOUNDS = 5,
        ENTITY_BOUNDS_BOX = 6, ENTITY_BOUNDS_CONVEX = 7, ENTITY_CATEGORIES = 8, SPAWNING_RESOURCE_STRING = 9,
        ENTITY_STATE_GETTING = 10, ENTITY_STATE_SETTING = 11, ENTITY_INFO_GETTING = 12, ENTITY_INFO_SETTING = 13,
        SPAWNABLES = 14, SIMULATION_RESET = 20, SIMULATION_RESET_TIME = 21, SIMULATION_RESET_STATE = 22,
        SIMULATION_RESET_SPAWNED = 23, SIMULATION_STATE_GETTING = 24, SIMULATION_STATE_SETTING = 25,
        SIMULATION_STATE_PAUSE = 26, STEP_SIMULATION_SINGLE = 31, STEP_SIMULATION_MULTIPLE = 32,
        STEP_SIMULATION_ACTION = 33, WORLD_LOADING = 40, WORLD_RESOURCE_STRING = 41, WORLD_TAGS = 42,
        WORLD_UNLOADING = 43, WORLD_INFO_GETTING = 44, AVAILABLE_WORLDS = 45, SPAWNING_ENTITIES = 50,
    } }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct SpawnEntity {
        pub name: String,
        pub allow_renaming: bool,
        pub entity_resource: Resource,
        pub entity_namespace: String,
        pub initial_pose: PoseStamped,
    }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct SpawnResult {
        pub result: Result,
        pub entity_name: String,
    }

    constants! { SpawnResult: u8 {
        NAME_NOT_UNIQUE = 101, NAME_INVALID = 102, UNSUPPORTED_FORMAT = 103, NO_RESOURCE = 104,
        NAMESPACE_INVALID = 105, RESOURCE_PARSE_ERROR = 106, MISSING_ASSETS = 107, UNSUPPORTED_ASSETS = 108,
        INVALID_POSE = 109,
    } }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct Spawnable {
        pub entity_resource: Resource,
        pub description: String,
        pub spawn_bounds: Bounds,
    }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct TagsFilter {
        pub tags: Vec<String>,
        pub filter_mode: u8,
    }

    constants! { TagsFilter: u8 { FILTER_MODE_ANY = 0, FILTER_MODE_ALL = 1, } }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct WorldResource {
        pub name: String,
        pub world_resource: Resource,
        pub description: String,
        pub tags: Vec<String>,
    }
}

/// Services.
pub mod srv {
    use super::msg::{
        Bounds, EntityFilters, EntityInfo, EntityState, NamedPose, Resource, Result,
        SimulationState, SimulatorFeatures, SpawnEntity as Spawn, SpawnResult, Spawnable,
        TagsFilter, WorldResource,
    };
    use crate::msgs::{geometry_msgs::msg::PoseStamped, halves};
    use serde::{Deserialize, Serialize};

    halves! { DeleteEntity { entity: String, } => { result: Result, } }
    halves! { GetAvailableWorlds
        {
            additional_sources: Vec<String>,
            filter: TagsFilter,
            offline_only: bool,
            continue_on_error: bool,
        } => {
            result: Result,
            worlds: Vec<WorldResource>,
        }
    }
    constants! { GetAvailableWorldsResponse: u8 { DEFAULT_SOURCES_FAILED = 101, } }
    halves! { GetCurrentWorld {} => { result: Result, world: WorldResource, } }
    constants! { GetCurrentWorldResponse: u8 { NO_WORLD_LOADED = 101, } }
    halves! { GetEntities { filters: EntityFilters, } => { result: Result, entities: Vec<String>, } }
    halves! { GetEntitiesStates
        { filters: EntityFilters, } => {
            result: Result,
            entities: Vec<String>,
            states: Vec<EntityState>,
        }
    }
    halves! { GetEntityBounds { entity: String, } => { result: Result, bounds: Bounds, } }
    halves! { GetEntityInfo { entity: String, } => { result: Result, info: EntityInfo, } }
    halves! { GetEntityState { entity: String, } => { result: Result, state: EntityState, } }
    halves! { GetNamedPoseBounds { name: String, } => { result: Result, bounds: Bounds, } }
    halves! { GetNamedPoses { tags: TagsFilter, } => { result: Result, poses: Vec<NamedPose>, } }
    halves! { GetSimulationState {} => { state: SimulationState, result: Result, } }
    halves! { GetSimulatorFeatures {} => { features: SimulatorFeatures, } }
    halves! { GetSpawnables
        { sources: Vec<String>, } => { result: Result, spawnables: Vec<Spawnable>, }
    }
    halves! { LoadWorld
        {
            world_resource: Resource,
            fail_on_unsupported_element: bool,
            ignore_missing_or_unsupported_assets: bool,
        } => {
            result: Result,
            world: WorldResource,
        }
    }
    constants! { LoadWorldResponse: u8 {
        UNSUPPORTED_FORMAT = 101, NO_RESOURCE = 102, RESOURCE_PARSE_ERROR = 103, MISSING_ASSETS = 104,
        UNSUPPORTED_ASSETS = 105, UNSUPPORTED_ELEMENTS = 106,
    } }
    halves! { ResetSimulation { scope: u8, } => { result: Result, } }
    constants! { ResetSimulationRequest: u8 {
        SCOPE_DEFAULT = 0, SCOPE_TIME = 1, SCOPE_STATE = 2, SCOPE_SPAWNED = 4, SCOPE_ALL = 255,
    } }
    halves! { SetEntityInfo { entity: String, info: EntityInfo, } => { result: Result, } }
    halves! { SetEntityState
        {
            entity: String,
            state: EntityState,
            set_pose: bool,
            set_twist: bool,
            set_acceleration: bool,
        } => {
            result: Result,
        }
    }
    constants! { SetEntityStateResponse: u8 { INVALID_POSE = 101, } }
    halves! { SetSimulationState { state: SimulationState, } => { result: Result, } }
    constants! { SetSimulationStateResponse: u8 {
        ALREADY_IN_TARGET_STATE = 101, STATE_TRANSITION_ERROR = 102, INCORRECT_TRANSITION = 103,
    } }
    halves! { SpawnEntities
        { spawn_requests: Vec<Spawn>, } => { result: Result, results: Vec<SpawnResult>, }
    }
    constants! { SpawnEntitiesResponse: u8 { ENTITIES_SPAWN_FAILED = 150, } }
    halves! { SpawnEntity
        {
            name: String,
            allow_renaming: bool,
            entity_resource: Resource,
            entity_namespace: String,
            initial_pose: PoseStamped,
        } => {
            result: Result,
            entity_name: String,
        }
    }
    constants! { SpawnEntityResponse: u8 {
        NAME_NOT_UNIQUE = 101, NAME_INVALID = 102, UNSUPPORTED_FORMAT = 103, NO_RESOURCE = 104,
        NAMESPACE_INVALID = 105, RESOURCE_PARSE_ERROR = 106, MISSING_ASSETS = 107, UNSUPPORTED_ASSETS = 108,
        INVALID_POSE = 109,
    } }
    #[derive(Debug)]
    pub struct StepSimulation;

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
    pub struct StepSimulationRequest {
        pub steps: u64,
    }

    impl Default for StepSimulationRequest {
        fn default() -> Self {
            Self { steps: 1 }
        }
    }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct StepSimulationResponse {
        pub result: Result,
    }

    halves! { UnloadWorld {} => { result: Result, } }
    constants! { UnloadWorldResponse: u8 { NO_WORLD_LOADED = 101, } }
}
