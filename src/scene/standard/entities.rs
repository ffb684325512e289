//! Entities: list, description, bounds, deletion.
use super::{answer, bounds_of, filter::Filter};
use crate::msgs::simulation_interfaces::msg::{
    Bounds, EntityCategory, EntityInfo, Result as Outcome,
};
use crate::msgs::simulation_interfaces::srv::*;
use crate::scene::bounds::Volume;
use crate::scene::datagrams::Recipient;
use crate::scene::entities::{Entity, EntityKind, Info};
use crate::scene::error::Cause;
use crate::scene::models::Category;
use crate::scene::state::{Scene, SceneCall};

/// `GetEntities`.
pub fn entities(call: &mut SceneCall<'_>, request: GetEntitiesRequest) -> GetEntitiesResponse {
    let filter = Filter::new(&request.filters, call.scene.frame.world);
    let (result, entities) = answer(filter.map(|filter| {
        let found = call.scene.entities.iter();
        let found = found.filter(|(name, entity)| filter.matches(name, entity));
        found.map(|(name, _)| name.to_owned()).collect()
    }));
    GetEntitiesResponse { result, entities }
}

/// `GetEntityInfo`.
pub fn entity_info(
    call: &mut SceneCall<'_>,
    request: GetEntityInfoRequest,
) -> GetEntityInfoResponse {
    let info = call.scene.entities.find(&request.entity).map(|(_, entity)| {
        let info = &entity.info;
        let description = match (info.description.as_str(), entity.kind, entity.id) {
            ("", EntityKind::Vehicle, Some(id)) => format!("vehicle with CopterID {id}"),
            ("", EntityKind::Object, _) => "object of the map".to_owned(),
            ("", EntityKind::Created, _) => {
                format!("created by the renderer, type {}", entity.vehicle_type)
            }
            ("", EntityKind::Camera, _) => "camera of the renderer".to_owned(),
            (text, ..) => text.to_owned(),
        };
        EntityInfo {
            category: EntityCategory { category: info.category as u8 },
            description,
            tags: info.tags.clone(),
        }
    });
    let (result, info) = answer(info);
    GetEntityInfoResponse { result, info }
}

/// `SetEntityInfo`.
pub fn set_entity_info(
    call: &mut SceneCall<'_>,
    request: SetEntityInfoRequest,
) -> SetEntityInfoResponse {
    let EntityInfo { category, description, tags } = request.info;
    let number = category.category;
    let set = call.scene.entities.find_mut(&request.entity).and_then(|entity| {
        let category = Category::from_repr(number).ok_or_else(|| {
            Cause::Failed.error(format!(
                "info.category must be 0, 1, 2, 4 or 5 (EntityCategory), is {number}"
            ))
        })?;
        entity.info = Info { category, description, tags };
        Ok(())
    });
    SetEntityInfoResponse { result: answer(set).0 }
}

/// `DeleteEntity`.
pub fn delete_entity(
    call: &mut SceneCall<'_>,
    request: DeleteEntityRequest,
) -> DeleteEntityResponse {
    DeleteEntityResponse { result: answer(call.delete(&request.entity)).0 }
}

/// `GetEntityBounds`; `None` if the renderer must describe the entity first.
pub fn entity_bounds(
    scene: &Scene,
    request: &GetEntityBoundsRequest,
) -> Option<GetEntityBoundsResponse> {
    let bounds = match scene.entities.find(&request.entity) {
        Ok((_, Entity { extent: Some(extent), .. })) => {
            Ok(bounds_of(Volume::Box(extent.corners())))
        }
        Ok((_, Entity { id: Some(_), .. })) => return None,
        Ok((name, _)) => Err(Cause::Failed
            .error(format!("{name:?} has no bounds: the renderer does not describe it"))),
        Err(error) => Err(error),
    };
    let (result, bounds) = answer(bounds);
    Some(GetEntityBoundsResponse { result, bounds })
}

/// Requests the description of an entity from the renderer.
pub fn describe(call: &mut SceneCall<'_>, entity: &str) {
    if let Ok(id) = call.scene.entities.id_of(entity) {
        let text = format!("RflyReqObjData 1 {id} 0");
        call.out.command(Recipient::Windows, &text);
    }
}

/// Returns the response if the renderer does not describe the entity in time.
pub fn no_bounds(entity: &str, waited_s: f64) -> GetEntityBoundsResponse {
    failed_bounds(format!(
        "the renderer did not describe {entity:?} within {waited_s} s on UDP port 20006: is it drawn, and does the report reach \
         this host?"
    ))
}

/// Returns the response if `limit` other requests wait for the renderer.
pub fn too_many_bounds(limit: usize) -> GetEntityBoundsResponse {
    failed_bounds(format!("{limit} requests for bounds wait for the renderer: call again later"))
}

fn failed_bounds(error_message: String) -> GetEntityBoundsResponse {
    GetEntityBoundsResponse {
        result: Outcome { result: Outcome::RESULT_OPERATION_FAILED, error_message },
        bounds: Bounds::default(),
    }
}
