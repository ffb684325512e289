//! Models, spawning, and named poses.
use super::{answer, answer_with, bounds_of, done, done_with_remark, filter::Tags};
use crate::msgs::simulation_interfaces::msg::{
    Bounds, NamedPose, Resource, Result as Outcome, SpawnEntity, SpawnResult, Spawnable,
};
use crate::msgs::simulation_interfaces::srv::*;
use crate::scene::bounds::Volume;
use crate::scene::entities::{Entities, Entity, EntityKind, EntityMotion, KeepAlive};
use crate::scene::error::{Cause, SceneError};
use crate::scene::models::{SCHEME, SpawnableModel, parse_resource};
use crate::scene::names::{check_name, check_namespace, check_new_name};
use crate::scene::state::{SceneCall, draw};
use crate::{config::did_you_mean, msgs::geometry_msgs::msg::PoseStamped};

/// `GetSpawnables`.
pub fn spawnables(
    call: &mut SceneCall<'_>,
    request: GetSpawnablesRequest,
) -> GetSpawnablesResponse {
    let spawnable = |model: &SpawnableModel| Spawnable {
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
            sources => done_with_remark(format!(
                "unknown sources {sources:?}: models come from the renderer's list and from scene.file"
            )),
        },
        spawnables: call.scene.library.models.iter().map(spawnable).collect(),
    }
}

/// `SpawnEntity`.
pub fn spawn_entity(call: &mut SceneCall<'_>, request: SpawnEntityRequest) -> SpawnEntityResponse {
    let request = SpawnEntity {
        name: request.name,
        allow_renaming: request.allow_renaming,
        entity_resource: request.entity_resource,
        entity_namespace: request.entity_namespace,
        initial_pose: request.initial_pose,
    };
    let SpawnResult { result, entity_name } = spawn(call, &request);
    SpawnEntityResponse { result, entity_name }
}

/// `SpawnEntities`.
pub fn spawn_entities(
    call: &mut SceneCall<'_>,
    request: SpawnEntitiesRequest,
) -> SpawnEntitiesResponse {
    let results: Vec<_> =
        request.spawn_requests.iter().map(|request| spawn(call, request)).collect();
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

fn spawn(call: &mut SceneCall<'_>, request: &SpawnEntity) -> SpawnResult {
    let (result, entity_name) = answer_with(spawn_object(call, request), spawn_code);
    SpawnResult { result, entity_name }
}

/// Spawns an object and returns its name.
fn spawn_object(call: &mut SceneCall<'_>, request: &SpawnEntity) -> Result<String, SceneError> {
    let Resource { uri, resource_string } = &request.entity_resource;
    if uri.is_empty() && !resource_string.is_empty() {
        let message = "resource_string is not supported: the renderer draws its own models; set uri, such as rflysim://3";
        return Err(Cause::Unsupported.error(message));
    }
    let model = parse_resource(uri, &call.scene.library.models)?;
    let namespace = request.entity_namespace.trim_matches('/');
    if !namespace.is_empty() {
        check_namespace(namespace).map_err(|why| Cause::Namespace.error(why))?;
    }
    let name = free_name(&call.scene.entities, request, namespace, &model.base)?;
    let PoseStamped { header, pose } = &request.initial_pose;
    let pose = call.scene.map_pose(&header.frame_id, pose)?;
    let mut entity = Entity::new(EntityKind::Spawned, None, model.category);
    (entity.vehicle_type, entity.scale) = (model.vehicle_type, model.scale);
    entity.ground = model.ground;
    entity.keep_alive = model.keep_alive.map(|for_s| KeepAlive { for_s, since_s: call.uptime_s });
    entity.motion = Some(EntityMotion::at_rest(pose, call.now));
    entity.info.description.clone_from(uri);
    let id = call.scene.entities.spawn(name.clone(), entity)?;
    if let Some(entity) = call.scene.entities.of_id(id) {
        draw(entity, &mut call.out);
    }
    Ok(name)
}

/// Returns the name of a new entity: the requested one, or a numbered one if that is taken or empty and may be changed.
fn free_name(
    entities: &Entities,
    request: &SpawnEntity,
    namespace: &str,
    base: &str,
) -> Result<String, SceneError> {
    let with_namespace = |name: &str| match namespace {
        "" => name.to_owned(),
        namespace => format!("{namespace}/{name}"),
    };
    let base = match request.name.as_str() {
        "" if request.allow_renaming => base,
        "" => {
            let message = "name is empty: give one, or set allow_renaming";
            return Err(Cause::NameInvalid.error(message));
        }
        name => name,
    };
    let name = with_namespace(base);
    check_new_name(&name).map_err(|why| Cause::NameInvalid.error(why))?;
    if !entities.has(&name) && !request.name.is_empty() {
        return Ok(name);
    }
    if !request.allow_renaming {
        return Err(Cause::NameTaken.error(format!(
            "{name:?} is the name of an entity already: choose another, or set allow_renaming"
        )));
    }
    let mut numbered = (1..u32::MAX).map(|n| with_namespace(&format!("{base}_{n}")));
    let free = numbered.find(|name| !entities.has(name));
    let free = free.filter(|name| check_name(name).is_ok());
    let too_long = || format!("no number fits behind {name:?}: choose a shorter name");
    free.ok_or_else(|| Cause::NameInvalid.error(too_long()))
}

fn spawn_code(cause: Cause) -> Option<u8> {
    Some(match cause {
        Cause::NameTaken => SpawnResult::NAME_NOT_UNIQUE,
        Cause::NameInvalid => SpawnResult::NAME_INVALID,
        Cause::Format => SpawnResult::UNSUPPORTED_FORMAT,
        Cause::NoResource => SpawnResult::NO_RESOURCE,
        Cause::Namespace => SpawnResult::NAMESPACE_INVALID,
        Cause::Parse => SpawnResult::RESOURCE_PARSE_ERROR,
        Cause::Pose => SpawnResult::INVALID_POSE,
        Cause::Unsupported | Cause::NotFound | Cause::Failed => return None,
    })
}

/// `GetNamedPoses`.
pub fn named_poses(
    call: &mut SceneCall<'_>,
    request: GetNamedPosesRequest,
) -> GetNamedPosesResponse {
    let tags = Tags::new(&request.tags);
    let poses = tags.map(|tags| {
        let poses = call.scene.library.poses.iter();
        let named = poses.filter(|named| tags.matches(&named.tags));
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
    call: &mut SceneCall<'_>,
    request: GetNamedPoseBoundsRequest,
) -> GetNamedPoseBoundsResponse {
    let (poses, name) = (&call.scene.library.poses, &request.name);
    let named = poses.iter().find(|named| named.name == *name);
    let bounds = named.map(|named| named.bounds.map_or_else(Bounds::default, bounds_of));
    let (result, bounds) = answer(bounds.ok_or_else(|| {
        let hint = did_you_mean(name, poses.iter().map(|named| named.name.as_str()));
        let message = match poses.is_empty() {
            true => format!("no pose is called {name:?}: scene.file names none"),
            false => format!("no pose is called {name:?}{hint} (GetNamedPoses lists them)"),
        };
        Cause::NotFound.error(message)
    }));
    GetNamedPoseBoundsResponse { result, bounds }
}
