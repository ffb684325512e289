"""Messages and services of `simulation_interfaces` 2.1, `grid_map_msgs` and `action_msgs` that `rosbags` does not ship: the
types and names of their fields."""

SIM = "simulation_interfaces"

RESULT = f"{SIM}/Result result"

SPAWN = (
    f"string name; bool allow_renaming; {SIM}/Resource entity_resource; string entity_namespace; "
    "geometry_msgs/PoseStamped initial_pose"
)

# https://github.com/ros-simulation/simulation_interfaces and https://github.com/ANYbotics/grid_map (branch ros2).
MESSAGES = {
    "grid_map_msgs/msg/GridMapInfo": (
        "float64 resolution; float64 length_x; float64 length_y; geometry_msgs/Pose pose"
    ),
    "grid_map_msgs/msg/GridMap": (
        "std_msgs/Header header; grid_map_msgs/GridMapInfo info; string[] layers; string[] basic_layers; "
        "std_msgs/Float32MultiArray[] data; uint16 outer_start_index; uint16 inner_start_index"
    ),
} | {
    f"{SIM}/msg/{name}": fields
    for name, fields in {
        "Bounds": "uint8 type; geometry_msgs/Vector3[] points",
        "EntityCategory": "uint8 category",
        "TagsFilter": "string[] tags; uint8 filter_mode",
        "EntityFilters": (
            f"string filter; {SIM}/EntityCategory[] categories; {SIM}/TagsFilter tags; {SIM}/Bounds bounds"
        ),
        "EntityInfo": f"{SIM}/EntityCategory category; string description; string[] tags",
        "EntityState": (
            "std_msgs/Header header; geometry_msgs/Pose pose; geometry_msgs/Twist twist; "
            "geometry_msgs/Accel acceleration"
        ),
        "NamedPose": "string name; string description; string[] tags; geometry_msgs/Pose pose",
        "Resource": "string uri; string resource_string",
        "Result": "uint8 result; string error_message",
        "SimulationState": "uint8 state",
        "SimulatorFeatures": "uint16[] features; string[] spawn_formats; string custom_info",
        "SpawnEntity": SPAWN,
        "SpawnResult": f"{RESULT}; string entity_name",
        "Spawnable": f"{SIM}/Resource entity_resource; string description; {SIM}/Bounds spawn_bounds",
        "WorldResource": f"string name; {SIM}/Resource world_resource; string description; string[] tags",
    }.items()
}

# Request and response.
SERVICES = {
    "action_msgs/srv/CancelGoal": (
        "action_msgs/GoalInfo goal_info",
        "int8 return_code; action_msgs/GoalInfo[] goals_canceling",
    ),
} | {
    f"{SIM}/srv/{name}": halves
    for name, halves in {
        "DeleteEntity": ("string entity", RESULT),
        "GetAvailableWorlds": (
            f"string[] additional_sources; {SIM}/TagsFilter filter; bool offline_only; bool continue_on_error",
            f"{RESULT}; {SIM}/WorldResource[] worlds",
        ),
        "GetCurrentWorld": ("", f"{RESULT}; {SIM}/WorldResource world"),
        "GetEntities": (f"{SIM}/EntityFilters filters", f"{RESULT}; string[] entities"),
        "GetEntitiesStates": (
            f"{SIM}/EntityFilters filters",
            f"{RESULT}; string[] entities; {SIM}/EntityState[] states",
        ),
        "GetEntityBounds": ("string entity", f"{RESULT}; {SIM}/Bounds bounds"),
        "GetEntityInfo": ("string entity", f"{RESULT}; {SIM}/EntityInfo info"),
        "GetEntityState": ("string entity", f"{RESULT}; {SIM}/EntityState state"),
        "GetNamedPoseBounds": ("string name", f"{RESULT}; {SIM}/Bounds bounds"),
        "GetNamedPoses": (f"{SIM}/TagsFilter tags", f"{RESULT}; {SIM}/NamedPose[] poses"),
        "GetSimulationState": ("", f"{SIM}/SimulationState state; {RESULT}"),
        "GetSimulatorFeatures": ("", f"{SIM}/SimulatorFeatures features"),
        "GetSpawnables": ("string[] sources", f"{RESULT}; {SIM}/Spawnable[] spawnables"),
        "LoadWorld": (
            f"{SIM}/Resource world_resource; bool fail_on_unsupported_element; "
            "bool ignore_missing_or_unsupported_assets",
            f"{RESULT}; {SIM}/WorldResource world",
        ),
        "ResetSimulation": ("uint8 scope", RESULT),
        "SetEntityInfo": (f"string entity; {SIM}/EntityInfo info", RESULT),
        "SetEntityState": (
            f"string entity; {SIM}/EntityState state; bool set_pose; bool set_twist; bool set_acceleration",
            RESULT,
        ),
        "SetSimulationState": (f"{SIM}/SimulationState state", RESULT),
        "SpawnEntities": (f"{SIM}/SpawnEntity[] spawn_requests", f"{RESULT}; {SIM}/SpawnResult[] results"),
        "SpawnEntity": (SPAWN, f"{RESULT}; string entity_name"),
        "StepSimulation": ("uint64 steps", RESULT),
        "UnloadWorld": ("", RESULT),
    }.items()
}
