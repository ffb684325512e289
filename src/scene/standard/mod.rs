//! The services of `simulation_interfaces`.
mod entities;
mod filter;
mod simulation;
mod spawning;
mod states;
mod worlds;

pub use entities::{
    delete_entity, describe, entities, entity_bounds, entity_info, no_bounds, set_entity_info,
    too_many_bounds,
};
pub use simulation::{
    features, reset_simulation, set_simulation_state, simulate_steps, simulation_state,
    step_simulation,
};
pub use spawning::{named_pose_bounds, named_poses, spawn_entities, spawn_entity, spawnables};
pub use states::{entities_states, entity_state, set_entity_state};
pub use worlds::{available_worlds, current_world, load_world, unload_world};

use super::bounds::Volume;
use super::error::{Cause, SceneError};
use crate::msgs::geometry_msgs::msg::Vector3;
use crate::msgs::simulation_interfaces::msg::{Bounds, Result as Outcome};

fn done() -> Outcome {
    Outcome { result: Outcome::RESULT_OK, error_message: String::new() }
}

/// Success, with a remark.
fn done_with_remark(remark: impl Into<String>) -> Outcome {
    Outcome { error_message: remark.into(), ..done() }
}

/// Returns the outcome of an error, with a code that all services share.
fn refused(error: SceneError) -> Outcome {
    let result = match error.cause {
        Cause::Unsupported => Outcome::RESULT_FEATURE_UNSUPPORTED,
        Cause::NotFound => Outcome::RESULT_NOT_FOUND,
        _ => Outcome::RESULT_OPERATION_FAILED,
    };
    Outcome { result, error_message: error.message }
}

/// Returns the outcome, and the value or its default.
fn answer<T: Default>(result: Result<T, SceneError>) -> (Outcome, T) {
    answer_with(result, |_| None)
}

/// As [`answer`], but with the service's own code if it has one for the cause.
fn answer_with<T: Default>(
    result: Result<T, SceneError>,
    own_code: fn(Cause) -> Option<u8>,
) -> (Outcome, T) {
    match result {
        Ok(value) => (done(), value),
        Err(error) => {
            let code = own_code(error.cause);
            let outcome = refused(error);
            (Outcome { result: code.unwrap_or(outcome.result), ..outcome }, T::default())
        }
    }
}

fn bounds_of(volume: Volume) -> Bounds {
    let point = |[x, y, z]: [f64; 3]| Vector3 { x, y, z };
    match volume {
        // Upper right, then lower left.
        Volume::Box([least, most]) => {
            Bounds { type_: Bounds::TYPE_BOX, points: vec![point(most), point(least)] }
        }
        Volume::Sphere(centre, radius) => Bounds {
            type_: Bounds::TYPE_SPHERE,
            points: vec![point(centre), point([radius, 0.0, 0.0])],
        },
    }
}

/// Reads bounds; `None` if they are empty.
fn volume_of(bounds: &Bounds) -> Result<Option<Volume>, SceneError> {
    let failed = |message: String| Cause::Failed.error(message);
    let array = |v: &Vector3| [v.x, v.y, v.z];
    let found = bounds.points.len();
    let message = match (bounds.type_, &bounds.points[..]) {
        (Bounds::TYPE_EMPTY, []) => return Ok(None),
        (Bounds::TYPE_BOX, [a, b]) => {
            return Volume::of_corners([array(a), array(b)]).map(Some).map_err(failed);
        }
        (Bounds::TYPE_SPHERE, [centre, radius]) => {
            return Volume::sphere(array(centre), radius.x).map(Some).map_err(failed);
        }
        (Bounds::TYPE_CONVEX_HULL, _) => {
            return Err(Cause::Unsupported.error(
                "bounds.type TYPE_CONVEX_HULL (2) is not supported: use TYPE_BOX (1) or TYPE_SPHERE (3)",
            ));
        }
        (Bounds::TYPE_EMPTY, _) => format!(
            "bounds.type TYPE_EMPTY (0) has no points, got {found}; TYPE_BOX is 1, TYPE_SPHERE is 3"
        ),
        (Bounds::TYPE_BOX, _) => format!(
            "bounds.type TYPE_BOX (1) has two points, its upper right and lower left corner, got {found}"
        ),
        (Bounds::TYPE_SPHERE, _) => format!(
            "bounds.type TYPE_SPHERE (3) has two points, its centre and its radius in x, got {found}"
        ),
        (other, _) => {
            format!("bounds.type must be 0 (empty), 1 (box) or 3 (sphere), is {other}")
        }
    };
    Err(failed(message))
}
