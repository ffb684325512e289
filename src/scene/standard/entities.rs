//! Entities: which there are, what is said of them, what they fill, and their end.
use super::filter::Filter;
use super::{answer, bounds_of, done, refused};
use crate::msgs::simulation_interfaces::msg::{
    Bounds, EntityCategory, EntityInfo, Result as Outcome,
};
use crate::msgs::simulation_interfaces::srv::{
    DeleteEntityRequest, DeleteEntityResponse, GetEntitiesRequest, GetEntitiesResponse,
    GetEntityBoundsRequest, GetEntityBoundsResponse, GetEntityInfoRequest, GetEntityInfoResponse,
    SetEntityInfoRequest, SetEntityInfoResponse,
};
use crate::scene::bounds::Volume;
use crate::scene::datagrams::Recipient;
use crate::scene::entities::{Info, Kind};
use crate::scene::models::Category;
use crate::scene::refusal::{Cause, Refusal};
use crate::scene::state::{Call, Scene};

/// `GetEntities`.
pub fn entities(
    scene: &mut Scene,
    request: GetEntitiesRequest,
    _: &mut Call<'_>,
) -> GetEntitiesResponse {
    let filter = Filter::new(&request.filters, scene.frame.world);
    let found = filter.map(|filter| {
        let taken = scene.entities.iter();
        let taken = taken.filter(|(name, entity)| filter.takes(name, entity));
        taken.map(|(name, _)| name.to_owned()).collect()
    });
    let (result, entities) = answer(found);
    GetEntitiesResponse { result, entities }
}

/// `GetEntityInfo`.
pub fn entity_info(
    scene: &mut Scene,
    request: GetEntityInfoRequest,
    _: &mut Call<'_>,
) -> GetEntityInfoResponse {
    let info = scene.entities.find(&request.entity).map(|(_, entity)| {
        let info = &entity.info;
        let description = match (info.description.as_str(), entity.kind, entity.id) {
            ("", Kind::Vehicle, Some(id)) => format!("vehicle with CopterID {id}"),
            ("", Kind::Object, _) => "object of the map".to_owned(),
            ("", Kind::Created, _) => {
                format!("created by the renderer, type {}", entity.vehicle_type)
            }
            ("", Kind::Camera, _) => "camera of the renderer".to_owned(),
            (own, ..) => own.to_owned(),
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
    scene: &mut Scene,
    request: SetEntityInfoRequest,
    _: &mut Call<'_>,
) -> SetEntityInfoResponse {
    let EntityInfo { category, description, tags } = request.info;
    let number = category.category;
    let set = scene.entities.find_mut(&request.entity).and_then(|entity| {
        let category = Category::from_number(number).ok_or_else(|| {
            let message =
                format!("info.category must be 0, 1, 2, 4 or 5 (EntityCategory), is {number}");
            Refusal::new(Cause::Failed, message)
        })?;
        entity.info = Info { category, description, tags };
        Ok(())
    });
    SetEntityInfoResponse { result: set.map_or_else(refused, |()| done()) }
}

/// `DeleteEntity`.
pub fn delete_entity(
    scene: &mut Scene,
    request: DeleteEntityRequest,
    call: &mut Call<'_>,
) -> DeleteEntityResponse {
    let deleted = scene.delete(&request.entity, call);
    DeleteEntityResponse { result: deleted.map_or_else(refused, |()| done()) }
}

/// `GetEntityBounds`; `None` where only the renderer knows them.
pub fn entity_bounds(
    scene: &Scene,
    request: &GetEntityBoundsRequest,
) -> Option<GetEntityBoundsResponse> {
    let refuse = |refusal: Refusal| GetEntityBoundsResponse {
        result: refused(refusal),
        bounds: Bounds::default(),
    };
    let (name, entity) = match scene.entities.find(&request.entity) {
        Ok(found) => found,
        Err(refusal) => return Some(refuse(refusal)),
    };
    match (entity.extent, entity.id) {
        (Some(extent), _) => Some(GetEntityBoundsResponse {
            result: done(),
            bounds: bounds_of(Volume::Box(extent.corners())),
        }),
        (None, Some(_)) => None,
        (None, None) => {
            let message = format!("{name:?} has no bounds: the renderer describes none of it");
            Some(refuse(Refusal::new(Cause::Failed, message)))
        }
    }
}

/// Asks the renderer to describe an entity.
pub fn describe(scene: &Scene, entity: &str, call: &mut Call<'_>) {
    if let Ok(id) = scene.entities.id_of(entity) {
        let text = format!("RflyReqObjData 1 {id} 0");
        call.out.command(Recipient::Windows, &text);
    }
}

/// The answer where the renderer says no bounds in time.
pub fn no_bounds(entity: &str, waited_s: f64) -> GetEntityBoundsResponse {
    GetEntityBoundsResponse {
        result: Outcome {
            result: Outcome::RESULT_OPERATION_FAILED,
            error_message: format!(
                "the renderer did not describe {entity:?} within {waited_s} s on UDP port 20006: is it drawn, and does the report reach \
                 this host?"
            ),
        },
        bounds: Bounds::default(),
    }
}
