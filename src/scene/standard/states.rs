//! Poses and twists of entities.
use super::{answer, answer_with, done_with_remark, filter::Filter};
use crate::msgs::geometry_msgs::msg::{Accel, Twist, Vector3};
use crate::msgs::simulation_interfaces::msg::{EntityState, Result as Outcome};
use crate::msgs::simulation_interfaces::srv::*;
use crate::msgs::std_msgs::msg::Header;
use crate::scene::entities::{Entity, EntityKind, EntityMotion};
use crate::scene::error::{Cause, SceneError};
use crate::scene::map_pose::MapFrame;
use crate::scene::state::SceneCall;

/// `GetEntityState`.
pub fn entity_state(
    call: &mut SceneCall<'_>,
    request: GetEntityStateRequest,
) -> GetEntityStateResponse {
    let scene = &mut *call.scene;
    scene.entities.renew_keep_alive(&request.entity, call.uptime_s);
    let found = scene.entities.find(&request.entity);
    let (result, state) = answer(found.and_then(|(name, entity)| match &entity.motion {
        Some(motion) => Ok(state_of(&scene.frame, motion)),
        None => {
            let why = match entity.kind {
                EntityKind::Vehicle => {
                    ": its CopterSim must send true states to this host (docs/network.md)"
                }
                _ => "",
            };
            Err(Cause::Failed.error(format!("the pose of {name:?} has not been reported yet{why}")))
        }
    }));
    GetEntityStateResponse { result, state }
}

/// `GetEntitiesStates`, for the entities with a known pose.
pub fn entities_states(
    call: &mut SceneCall<'_>,
    request: GetEntitiesStatesRequest,
) -> GetEntitiesStatesResponse {
    let scene = &*call.scene;
    let filter = Filter::new(&request.filters, scene.frame.world);
    let (result, (entities, states)) = answer(filter.map(|filter| {
        let found = scene.entities.iter();
        let found = found.filter(|(name, entity)| filter.matches(name, entity));
        let state = |(name, entity): (&str, &Entity)| {
            Some((name.to_owned(), state_of(&scene.frame, entity.motion.as_ref()?)))
        };
        found.filter_map(state).unzip::<_, _, Vec<_>, Vec<_>>()
    }));
    GetEntitiesStatesResponse { result, entities, states }
}

/// Pose and twist in the frame of the map.
fn state_of(frame: &MapFrame, motion: &EntityMotion) -> EntityState {
    let vector = |[x, y, z]: [f64; 3]| Vector3 { x, y, z };
    let rate = motion.rate.map(|rate| motion.pose.attitude.rotate(rate));
    EntityState {
        header: Header { stamp: motion.stamp.to_msg(), frame_id: frame.name.clone() },
        pose: frame.pose(&motion.pose),
        twist: Twist {
            linear: vector(frame.world.vector(motion.velocity)),
            angular: vector(rate.map_or([0.0; 3], |rate| frame.world.vector(rate))),
        },
        acceleration: Accel::default(),
    }
}

/// `SetEntityState`.
pub fn set_entity_state(
    call: &mut SceneCall<'_>,
    request: SetEntityStateRequest,
) -> SetEntityStateResponse {
    let own_code = |cause| (cause == Cause::Pose).then_some(SetEntityStateResponse::INVALID_POSE);
    call.scene.entities.renew_keep_alive(&request.entity, call.uptime_s);
    let (mut result, ()) = answer_with(set_state(call, &request), own_code);
    let sets_nothing = !(request.set_pose || request.set_twist || request.set_acceleration);
    if sets_nothing && result.result == Outcome::RESULT_OK {
        result = done_with_remark(
            "nothing was set: set_pose, set_twist and set_acceleration are all false",
        );
    }
    SetEntityStateResponse { result }
}

fn set_state(call: &mut SceneCall<'_>, request: &SetEntityStateRequest) -> Result<(), SceneError> {
    let (_, entity) = call.scene.entities.find(&request.entity)?;
    let EntityState { header, pose, twist, acceleration } = &request.state;
    for (what, wanted, parts) in [
        ("twist", request.set_twist, [&twist.linear, &twist.angular]),
        ("acceleration", request.set_acceleration, [&acceleration.linear, &acceleration.angular]),
    ] {
        if !wanted || parts.iter().all(|v| [v.x, v.y, v.z] == [0.0; 3]) {
            continue;
        }
        return Err(match entity.kind {
            EntityKind::Vehicle => Cause::Unsupported.error(format!(
                "the {what} of a vehicle follows from its model: CopterSim takes a pose only; fly it with the topics of mavros (docs/mavros.md)"
            )),
            _ => Cause::Failed.error(format!(
                "{:?} does not move by itself: its {what} can only be 0; stream poses on scene/set_states",
                request.entity
            )),
        });
    }
    if request.set_pose {
        let pose = call.scene.map_pose(&header.frame_id, pose)?;
        call.set_pose(&request.entity, pose)?;
    }
    Ok(())
}
