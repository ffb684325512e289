//! The simulation: features, state, reset.
use super::{done, done_with_remark, refused};
use crate::msgs::simulation_interfaces::action::SimulateSteps_Result;
use crate::msgs::simulation_interfaces::msg::{
    Result as Outcome, SimulationState, SimulatorFeatures,
};
use crate::msgs::simulation_interfaces::srv::*;
use crate::scene::error::Cause;
use crate::scene::state::SceneCall;

#[rustfmt::skip] // a table
const FEATURES: [u8; 22] = {
    use SimulatorFeatures as F;
    [
        F::SPAWNING, F::DELETING, F::NAMED_POSES, F::POSE_BOUNDS, F::ENTITY_TAGS, F::ENTITY_BOUNDS, F::ENTITY_BOUNDS_BOX,
        F::ENTITY_CATEGORIES, F::ENTITY_STATE_GETTING, F::ENTITY_STATE_SETTING, F::ENTITY_INFO_GETTING,
        F::ENTITY_INFO_SETTING, F::SPAWNABLES, F::SIMULATION_RESET, F::SIMULATION_RESET_STATE, F::SIMULATION_RESET_SPAWNED,
        F::SIMULATION_STATE_GETTING, F::WORLD_LOADING, F::WORLD_TAGS, F::WORLD_INFO_GETTING, F::AVAILABLE_WORLDS,
        F::SPAWNING_ENTITIES,
    ]
};

/// `GetSimulatorFeatures`.
pub fn features(
    _: &mut SceneCall<'_>,
    _: GetSimulatorFeaturesRequest,
) -> GetSimulatorFeaturesResponse {
    GetSimulatorFeaturesResponse {
        features: SimulatorFeatures {
            features: FEATURES.map(u16::from).to_vec(),
            spawn_formats: vec!["rflysim".to_owned()],
            custom_info: concat!(
                "RflySim through rfly_bridge ",
                env!("CARGO_PKG_VERSION"),
                ". Resources are rflysim://<class or model>[?style=..&scale=..&ground=..&keep_alive=..] and rflysim://map/<name or number>. The \
                 simulator cannot be paused or stepped, and a loaded map goes on playing. docs/scene.md"
            )
            .to_owned(),
        },
    }
}

fn state_of(call: &SceneCall<'_>) -> u8 {
    if call.playing { SimulationState::STATE_PLAYING } else { SimulationState::STATE_STOPPED }
}

/// `GetSimulationState`.
pub fn simulation_state(
    call: &mut SceneCall<'_>,
    _: GetSimulationStateRequest,
) -> GetSimulationStateResponse {
    GetSimulationStateResponse {
        state: SimulationState { state: state_of(call) },
        result: if call.playing {
            done()
        } else {
            done_with_remark("no simulator time has been received yet")
        },
    }
}

/// `SetSimulationState`.
pub fn set_simulation_state(
    call: &mut SceneCall<'_>,
    request: SetSimulationStateRequest,
) -> SetSimulationStateResponse {
    let requested = request.state.state;
    let coded = |result: u8, message: &str| Outcome { result, error_message: message.to_owned() };
    let unsupported = |message: &str| refused(Cause::Unsupported.error(message));
    let result = match requested {
        SimulationState::STATE_STOPPED | SimulationState::STATE_PLAYING
            if requested == state_of(call) =>
        {
            coded(
                SetSimulationStateResponse::ALREADY_IN_TARGET_STATE,
                "the simulation is in this state already",
            )
        }
        SimulationState::STATE_PLAYING => coded(
            SetSimulationStateResponse::STATE_TRANSITION_ERROR,
            "no simulator time has been received: start CopterSim and RflySim3D, and check that their data reach this host (docs/network.md)",
        ),
        SimulationState::STATE_PAUSED if !call.playing => coded(
            SetSimulationStateResponse::INCORRECT_TRANSITION,
            "a simulation that is stopped cannot be paused",
        ),
        SimulationState::STATE_PAUSED => unsupported(
            "RflySim has no pause; scene/command with `RflySetSimSpeed 0.1` slows it down",
        ),
        SimulationState::STATE_STOPPED => unsupported(
            "RflySim cannot be stopped from the network; ResetSimulation restarts the vehicles and removes what was spawned",
        ),
        SimulationState::STATE_QUITTING => {
            unsupported("RflySim cannot be ended from the network: end it on its host")
        }
        SimulationState::STATE_NO_WORLD | SimulationState::STATE_LOADING_WORLD => coded(
            SetSimulationStateResponse::INCORRECT_TRANSITION,
            "this state follows from LoadWorld and UnloadWorld and cannot be set",
        ),
        other => refused(Cause::Failed.error(format!(
            "state must be 0 (stopped), 1 (playing), 2 (paused) or 3 (quitting), is {other}"
        ))),
    };
    SetSimulationStateResponse { result }
}

const NO_STEPS: &str = "RflySim cannot be stepped, because it cannot be paused";

/// `SimulateSteps`, which ends at once.
pub fn simulate_steps() -> SimulateSteps_Result {
    SimulateSteps_Result { result: refused(Cause::Unsupported.error(NO_STEPS)) }
}

/// `StepSimulation`.
pub fn step_simulation(_: &mut SceneCall<'_>, _: StepSimulationRequest) -> StepSimulationResponse {
    StepSimulationResponse { result: refused(Cause::Unsupported.error(NO_STEPS)) }
}

/// `ResetSimulation`.
pub fn reset_simulation(
    call: &mut SceneCall<'_>,
    request: ResetSimulationRequest,
) -> ResetSimulationResponse {
    const TIME: u8 = ResetSimulationRequest::SCOPE_TIME;
    const STATE: u8 = ResetSimulationRequest::SCOPE_STATE;
    const SPAWNED: u8 = ResetSimulationRequest::SCOPE_SPAWNED;
    let scope = match request.scope {
        ResetSimulationRequest::SCOPE_DEFAULT | ResetSimulationRequest::SCOPE_ALL => {
            TIME | STATE | SPAWNED
        }
        scope => scope,
    };
    let result = if scope & !(TIME | STATE | SPAWNED) != 0 {
        refused(Cause::Failed.error(format!(
            "scope must be 0, 255 or a sum of 1 (time), 2 (state) and 4 (spawned), is {scope}"
        )))
    } else if scope == TIME {
        refused(Cause::Unsupported.error(
            "the time of the simulation cannot be reset; its state and what was spawned can (scope 2 and 4)",
        ))
    } else {
        if scope & SPAWNED != 0 {
            call.clear();
        }
        if scope & STATE != 0 {
            call.restart();
        }
        match scope & TIME {
            0 => done(),
            _ => done_with_remark("the time of the simulation was not reset, because it cannot be"),
        }
    };
    ResetSimulationResponse { result }
}
