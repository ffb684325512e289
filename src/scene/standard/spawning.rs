//! What can be spawned, spawning, and named poses to spawn at.
use super::filter::Tags;
use super::{answer, bounds_of, done, done_but, refused_with};
use crate::config::did_you_mean;
use crate::msgs::geometry_msgs::msg::PoseStamped;
use crate::msgs::simulation_interfaces::msg::{
    Bounds, NamedPose, Resource, Result as Outcome, SpawnEntity, SpawnResult, Spawnable,
};
use crate::msgs::simulation_interfaces::srv::{
    GetNamedPoseBoundsRequest, GetNamedPoseBoundsResponse, GetNamedPosesRequest,
    GetNamedPosesResponse, GetSpawnablesRequest, GetSpawnablesResponse, SpawnEntitiesRequest,
    SpawnEntitiesResponse, SpawnEntityRequest, SpawnEntityResponse,
};
use crate::scene::bounds::Volume;
use crate::scene::models::{Model, SCHEME};
use crate::scene::refusal::{Cause, Refusal};
use crate::scene::state::{Call, Scene, Spawn};

/// `GetSpawnables`.
pub fn spawnables(
    scene: &mut Scene,
    request: GetSpawnablesRequest,
    _: &mut Call<'_>,
) -> GetSpawnablesResponse {
    let spawnable = |model: &Model| Spawnable {
        entity_resource: Resource {
            uri: format!("{SCHEME}{}", model.name),
            resource_string: String::new(),
        },
        description: model.description.clone(),
        spawn_bounds: model.size.map_or_else(Bounds::default, |size| {
            let half = size.map(|side| side / 2.0);
            bounds_of(Volume::Box([half.map(|side| -side), half]))
        }),
    };
    GetSpawnablesResponse {
        result: match &request.sources[..] {
            [] => done(),
            sources => done_but(format!(
                "unknown sources {sources:?}: models come from the renderer's list and from scene.file"
            )),
        },
        spawnables: scene.library.models.iter().map(spawnable).collect(),
    }
}

/// `SpawnEntity`.
pub fn spawn_entity(
    scene: &mut Scene,
    request: SpawnEntityRequest,
    call: &mut Call<'_>,
) -> SpawnEntityResponse {
    let (result, entity_name) = spawn(
        scene,
        &SpawnEntity {
            name: request.name,
            allow_renaming: request.allow_renaming,
            entity_resource: request.entity_resource,
            entity_namespace: request.entity_namespace,
            initial_pose: request.initial_pose,
        },
        call,
    );
    SpawnEntityResponse { result, entity_name }
}

/// `SpawnEntities`.
pub fn spawn_entities(
    scene: &mut Scene,
    request: SpawnEntitiesRequest,
    call: &mut Call<'_>,
) -> SpawnEntitiesResponse {
    let one = |wish: &SpawnEntity| {
        let (result, entity_name) = spawn(scene, wish, call);
        SpawnResult { result, entity_name }
    };
    let results: Vec<SpawnResult> = request.spawn_requests.iter().map(one).collect();
    let failed: Vec<_> =
        (0..results.len()).filter(|i| results[*i].result.result != Outcome::RESULT_OK).collect();
    let result = match &failed[..] {
        [] => done(),
        failed => Outcome {
            result: SpawnEntitiesResponse::ENTITIES_SPAWN_FAILED,
            error_message: format!(
                "{} of {} were not spawned, see results {failed:?}",
                failed.len(),
                results.len()
            ),
        },
    };
    SpawnEntitiesResponse { result, results }
}

fn spawn(scene: &mut Scene, wish: &SpawnEntity, call: &mut Call<'_>) -> (Outcome, String) {
    let PoseStamped { header, pose } = &wish.initial_pose;
    let spawned = scene.spawn(
        &Spawn {
            name: &wish.name,
            allow_renaming: wish.allow_renaming,
            uri: &wish.entity_resource.uri,
            resource_string: &wish.entity_resource.resource_string,
            namespace: &wish.entity_namespace,
            frame_id: &header.frame_id,
            pose,
        },
        call,
    );
    match spawned {
        Ok(name) => (done(), name),
        Err(refusal) => (refused_with(refusal, code), String::new()),
    }
}

fn code(cause: Cause) -> Option<u8> {
    Some(match cause {
        Cause::NameTaken => SpawnResult::NAME_NOT_UNIQUE,
        Cause::NameInvalid => SpawnResult::NAME_INVALID,
        Cause::Format => SpawnResult::UNSUPPORTED_FORMAT,
        Cause::NoResource => SpawnResult::NO_RESOURCE,
        Cause::Namespace => SpawnResult::NAMESPACE_INVALID,
        Cause::Parse => SpawnResult::RESOURCE_PARSE_ERROR,
        Cause::Pose => SpawnResult::INVALID_POSE,
        Cause::Unsupported | Cause::NotFound | Cause::IncorrectState | Cause::Failed => {
            return None;
        }
    })
}

/// `GetNamedPoses`.
pub fn named_poses(
    scene: &mut Scene,
    request: GetNamedPosesRequest,
    _: &mut Call<'_>,
) -> GetNamedPosesResponse {
    let tags = Tags::new(&request.tags);
    let poses = tags.map(|tags| {
        let named = { scene.library.poses.iter() }.filter(|named| tags.takes(&named.tags));
        let pose = named.map(|named| NamedPose {
            name: named.name.clone(),
            description: named.description.clone(),
            tags: named.tags.clone(),
            pose: named.pose.clone(),
        });
        pose.collect()
    });
    let (result, poses) = answer(poses);
    GetNamedPosesResponse { result, poses }
}

/// `GetNamedPoseBounds`.
pub fn named_pose_bounds(
    scene: &mut Scene,
    request: GetNamedPoseBoundsRequest,
    _: &mut Call<'_>,
) -> GetNamedPoseBoundsResponse {
    let poses = &scene.library.poses;
    let named = poses.iter().find(|named| named.name == request.name);
    let bounds = match named {
        Some(named) => Ok(named.bounds.map_or_else(Bounds::default, bounds_of)),
        None => {
            let name = &request.name;
            let hint = did_you_mean(name, poses.iter().map(|named| named.name.as_str()));
            let message = match poses.is_empty() {
                true => format!("no pose is called {name:?}: scene.file names none"),
                false => format!("no pose is called {name:?}{hint} (GetNamedPoses lists them)"),
            };
            Err(Refusal::new(Cause::NotFound, message))
        }
    };
    let (result, bounds) = answer(bounds);
    GetNamedPoseBoundsResponse { result, bounds }
}
