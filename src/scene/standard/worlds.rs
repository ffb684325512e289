//! Maps.
use super::filter::Tags;
use super::{answer, done, done_but, refused, refused_with};
use crate::msgs::simulation_interfaces::msg::{Resource, Result as Outcome, WorldResource};
use crate::msgs::simulation_interfaces::srv::{
    GetAvailableWorldsRequest, GetAvailableWorldsResponse, GetCurrentWorldRequest,
    GetCurrentWorldResponse, LoadWorldRequest, LoadWorldResponse, UnloadWorldRequest,
    UnloadWorldResponse,
};
use crate::scene::refusal::{Cause, Refusal};
use crate::scene::state::{Call, Scene};
use crate::scene::worlds::{World, WorldId, parse_world};

/// `GetAvailableWorlds`.
pub fn available_worlds(
    scene: &mut Scene,
    request: GetAvailableWorldsRequest,
    _: &mut Call<'_>,
) -> GetAvailableWorldsResponse {
    let worlds = Tags::new(&request.filter).map(|tags| {
        let worlds = { scene.library.worlds.iter() }.filter(|world| tags.takes(&world.tags));
        worlds.map(resource).collect()
    });
    let (mut result, worlds): (Outcome, Vec<_>) = answer(worlds);
    let sources = &request.additional_sources;
    if result.result == Outcome::RESULT_OK && !sources.is_empty() {
        let message = format!(
            "unknown sources {sources:?}: maps are the renderer's own and those of scene.file"
        );
        if !request.continue_on_error {
            let refusal = Refusal::new(Cause::Failed, message);
            return GetAvailableWorldsResponse { result: refused(refusal), worlds: Vec::new() };
        }
        result = done_but(message);
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
pub fn load_world(
    scene: &mut Scene,
    request: LoadWorldRequest,
    call: &mut Call<'_>,
) -> LoadWorldResponse {
    let Resource { uri, resource_string } = &request.world_resource;
    let loaded = if uri.is_empty() && !resource_string.is_empty() {
        let message = "resource_string is not supported: the renderer has its own maps; set uri, such as rflysim://map/Grasslands";
        Err(Refusal::new(Cause::Unsupported, message))
    } else {
        parse_world(uri, &scene.library.worlds)
    };
    let loaded = loaded.and_then(|world| scene.load(world.clone(), call).map(|()| world));
    match loaded {
        Ok(world) => LoadWorldResponse { result: done(), world: describe(scene, &world) },
        Err(refusal) => LoadWorldResponse {
            result: refused_with(refusal, code),
            world: WorldResource::default(),
        },
    }
}

fn code(cause: Cause) -> Option<u8> {
    Some(match cause {
        Cause::Format => LoadWorldResponse::UNSUPPORTED_FORMAT,
        Cause::NoResource => LoadWorldResponse::NO_RESOURCE,
        Cause::Parse => LoadWorldResponse::RESOURCE_PARSE_ERROR,
        _ => return None,
    })
}

/// `GetCurrentWorld`.
pub fn current_world(
    scene: &mut Scene,
    _: GetCurrentWorldRequest,
    _: &mut Call<'_>,
) -> GetCurrentWorldResponse {
    match &scene.world {
        Some(world) => GetCurrentWorldResponse { result: done(), world: describe(scene, world) },
        None => {
            let message = "the renderer does not say which map it shows: name it with scene.world, or load one with LoadWorld";
            GetCurrentWorldResponse {
                result: refused(Refusal::new(Cause::Failed, message)),
                world: WorldResource::default(),
            }
        }
    }
}

/// `UnloadWorld`.
pub fn unload_world(_: &mut Scene, _: UnloadWorldRequest, _: &mut Call<'_>) -> UnloadWorldResponse {
    let message = "the renderer always shows a map: load another with LoadWorld, or remove what was spawned with ResetSimulation (SCOPE_SPAWNED)";
    UnloadWorldResponse { result: refused(Refusal::new(Cause::Unsupported, message)) }
}
