//! Where entities are.
use super::filter::Filter;
use super::{answer, done, done_but, refused_with};
use crate::msgs::geometry_msgs::msg::{Accel, Twist, Vector3};
use crate::msgs::simulation_interfaces::msg::EntityState;
use crate::msgs::simulation_interfaces::srv::{
    GetEntitiesStatesRequest, GetEntitiesStatesResponse, GetEntityStateRequest,
    GetEntityStateResponse, SetEntityStateRequest, SetEntityStateResponse,
};
use crate::msgs::std_msgs::msg::Header;
use crate::scene::entities::{Entity, Kind, Motion};
use crate::scene::place::MapFrame;
use crate::scene::refusal::{Cause, Refusal};
use crate::scene::state::{Call, Scene};

/// `GetEntityState`.
pub fn entity_state(
    scene: &mut Scene,
    request: GetEntityStateRequest,
    call: &mut Call<'_>,
) -> GetEntityStateResponse {
    scene.entities.keep(&request.entity, call.uptime_s);
    let found = scene.entities.find(&request.entity);
    let state = found.and_then(|(name, entity)| match &entity.motion {
        Some(motion) => Ok(state_of(&scene.frame, motion)),
        None => {
            let message = format!("where {name:?} is has not been reported yet{}", why(entity));
            Err(Refusal::new(Cause::Failed, message))
        }
    });
    let (result, state) = answer(state);
    GetEntityStateResponse { result, state }
}

fn why(entity: &Entity) -> &'static str {
    match entity.kind {
        Kind::Vehicle => ": its CopterSim must send true states to this host (docs/network.md)",
        _ => "",
    }
}

/// `GetEntitiesStates`: of the entities whose place is known.
pub fn entities_states(
    scene: &mut Scene,
    request: GetEntitiesStatesRequest,
    _: &mut Call<'_>,
) -> GetEntitiesStatesResponse {
    let filter = Filter::new(&request.filters, scene.frame.world);
    let found = filter.map(|filter| {
        let taken = scene.entities.iter();
        let taken = taken.filter(|(name, entity)| filter.takes(name, entity));
        let state = |(name, entity): (&str, &Entity)| {
            let state = state_of(&scene.frame, entity.motion.as_ref()?);
            Some((name.to_owned(), state))
        };
        taken.filter_map(state).unzip::<_, _, Vec<_>, Vec<_>>()
    });
    let (result, (entities, states)) = answer(found);
    GetEntitiesStatesResponse { result, entities, states }
}

/// Pose and twist in the frame of the map.
fn state_of(frame: &MapFrame, motion: &Motion) -> EntityState {
    let vector = |[x, y, z]: [f64; 3]| Vector3 { x, y, z };
    let rate = motion.rate.map(|rate| motion.place.attitude.rotate(rate));
    EntityState {
        header: Header { stamp: motion.stamp.to_msg(), frame_id: frame.name.clone() },
        pose: frame.pose(&motion.place),
        twist: Twist {
            linear: vector(frame.world.vector(motion.velocity)),
            angular: vector(rate.map_or([0.0; 3], |rate| frame.world.vector(rate))),
        },
        acceleration: Accel::default(),
    }
}

/// `SetEntityState`.
pub fn set_entity_state(
    scene: &mut Scene,
    request: SetEntityStateRequest,
    call: &mut Call<'_>,
) -> SetEntityStateResponse {
    let own = |cause| (cause == Cause::Pose).then_some(SetEntityStateResponse::INVALID_POSE);
    scene.entities.keep(&request.entity, call.uptime_s);
    let result = match set(scene, &request, call) {
        Ok(()) if !(request.set_pose || request.set_twist || request.set_acceleration) => {
            done_but("nothing was set: set_pose, set_twist and set_acceleration are all false")
        }
        Ok(()) => done(),
        Err(refusal) => refused_with(refusal, own),
    };
    SetEntityStateResponse { result }
}

fn set(
    scene: &mut Scene,
    request: &SetEntityStateRequest,
    call: &mut Call<'_>,
) -> Result<(), Refusal> {
    let (_, entity) = scene.entities.find(&request.entity)?;
    let state = &request.state;
    let at_rest = |linear: &Vector3, angular: &Vector3| {
        let all = [linear, angular].map(|v| [v.x, v.y, v.z]);
        all.as_flattened().iter().all(|v| *v == 0.0)
    };
    let twist = &state.twist;
    let acceleration = &state.acceleration;
    for (what, wanted, rests) in [
        ("twist", request.set_twist, at_rest(&twist.linear, &twist.angular)),
        (
            "acceleration",
            request.set_acceleration,
            at_rest(&acceleration.linear, &acceleration.angular),
        ),
    ] {
        if wanted && !rests {
            return Err(match entity.kind {
                Kind::Vehicle => Refusal::new(
                    Cause::Unsupported,
                    format!(
                        "the {what} of a vehicle is its model's: CopterSim takes a pose only; fly it with the topics of mavros (docs/mavros.md)"
                    ),
                ),
                _ => Refusal::new(
                    Cause::Failed,
                    format!(
                        "{:?} does not move by itself: its {what} can only be 0; stream poses on scene/set_states",
                        request.entity
                    ),
                ),
            });
        }
    }
    if request.set_pose {
        let place = scene.place(&state.header.frame_id, &state.pose)?;
        scene.put(&request.entity, place, call)?;
    }
    Ok(())
}
