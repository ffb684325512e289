//! Services for maps.
use super::{answer, answer_with, done_with_remark, filter::Tags, refused};
use crate::msgs::simulation_interfaces::msg::{Resource, Result as Outcome, WorldResource};
use crate::msgs::simulation_interfaces::srv::*;
use crate::scene::error::Cause;
use crate::scene::state::{Scene, SceneCall};
use crate::scene::worlds::{World, WorldId, parse_world};

/// `GetAvailableWorlds`.
pub fn available_worlds(
    call: &mut SceneCall<'_>,
    request: GetAvailableWorldsRequest,
) -> GetAvailableWorldsResponse {
    let worlds = Tags::new(&request.filter).map(|tags| {
        let worlds = call.scene.library.worlds.iter();
        worlds.filter(|world| tags.matches(&world.tags)).map(resource).collect()
    });
    let (mut result, worlds): (Outcome, Vec<_>) = answer(worlds);
    let sources = &request.additional_sources;
    if result.result == Outcome::RESULT_OK && !sources.is_empty() {
        let message = format!(
            "unknown sources {sources:?}: maps are the renderer's own and those of scene.file"
        );
        if !request.continue_on_error {
            let result = refused(Cause::Failed.error(message));
            return GetAvailableWorldsResponse { result, worlds: Vec::new() };
        }
        result = done_with_remark(message);
    }
    GetAvailableWorldsResponse { result, worlds }
}

fn resource(world: &World) -> WorldResource {
    WorldResource {
        name: world.name.clone(),
        world_resource: Resource {
            uri: WorldId::Name(world.name.clone()).uri(),
            resource_string: String::new(),
        },
        description: world.description.clone(),
        tags: world.tags.clone(),
    }
}

fn describe(scene: &Scene, id: &WorldId) -> WorldResource {
    let named = |world: &&World| WorldId::Name(world.name.clone()) == *id;
    match scene.library.worlds.iter().find(named) {
        Some(world) => resource(world),
        None => WorldResource {
            name: match id {
                WorldId::Name(name) => name.clone(),
                WorldId::Number(number) => format!("map {number}"),
            },
            world_resource: Resource { uri: id.uri(), resource_string: String::new() },
            ..WorldResource::default()
        },
    }
}

/// `LoadWorld`.
pub fn load_world(call: &mut SceneCall<'_>, request: LoadWorldRequest) -> LoadWorldResponse {
    let Resource { uri, resource_string } = &request.world_resource;
    let world = if uri.is_empty() && !resource_string.is_empty() {
        let message = "resource_string is not supported: the renderer has its own maps; set uri, such as rflysim://map/Grasslands";
        Err(Cause::Unsupported.error(message))
    } else {
        parse_world(uri, &call.scene.library.worlds)
    };
    let loaded = world.and_then(|world| call.load(world.clone()).map(|()| world));
    let (result, world) = answer_with(loaded.map(|world| describe(call.scene, &world)), load_code);
    LoadWorldResponse { result, world }
}

fn load_code(cause: Cause) -> Option<u8> {
    Some(match cause {
        Cause::Format => LoadWorldResponse::UNSUPPORTED_FORMAT,
        Cause::NoResource => LoadWorldResponse::NO_RESOURCE,
        Cause::Parse => LoadWorldResponse::RESOURCE_PARSE_ERROR,
        _ => return None,
    })
}

/// `GetCurrentWorld`.
pub fn current_world(
    call: &mut SceneCall<'_>,
    _: GetCurrentWorldRequest,
) -> GetCurrentWorldResponse {
    let message = "the renderer does not say which map it shows: name it with scene.world, or load one with LoadWorld";
    let world = call.scene.world.as_ref().map(|world| describe(call.scene, world));
    let (result, world) = answer(world.ok_or_else(|| Cause::Failed.error(message)));
    GetCurrentWorldResponse { result, world }
}

/// `UnloadWorld`.
pub fn unload_world(_: &mut SceneCall<'_>, _: UnloadWorldRequest) -> UnloadWorldResponse {
    let message = "the renderer always shows a map: load another with LoadWorld, or remove what was spawned with ResetSimulation (SCOPE_SPAWNED)";
    UnloadWorldResponse { result: refused(Cause::Unsupported.error(message)) }
}
