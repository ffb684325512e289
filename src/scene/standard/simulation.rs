//! The simulation as a whole: what it can do, whether it runs, its restart.
use super::{done, done_but, refused};
use crate::msgs::simulation_interfaces::action::SimulateSteps_Result;
use crate::msgs::simulation_interfaces::msg::{
    Result as Outcome, SimulationState, SimulatorFeatures,
};
use crate::msgs::simulation_interfaces::srv::{
    GetSimulationStateRequest, GetSimulationStateResponse, GetSimulatorFeaturesRequest,
    GetSimulatorFeaturesResponse, ResetSimulationRequest, ResetSimulationResponse,
    SetSimulationStateRequest, SetSimulationStateResponse, StepSimulationRequest,
    StepSimulationResponse,
};
use crate::scene::refusal::{Cause, Refusal};
use crate::scene::state::{Call, Scene};

/// What is served.
const FEATURES: [u8; 22] = [
    SimulatorFeatures::SPAWNING,
    SimulatorFeatures::DELETING,
    SimulatorFeatures::NAMED_POSES,
    SimulatorFeatures::POSE_BOUNDS,
    SimulatorFeatures::ENTITY_TAGS,
    SimulatorFeatures::ENTITY_BOUNDS,
    SimulatorFeatures::ENTITY_BOUNDS_BOX,
    SimulatorFeatures::ENTITY_CATEGORIES,
    SimulatorFeatures::ENTITY_STATE_GETTING,
    SimulatorFeatures::ENTITY_STATE_SETTING,
    SimulatorFeatures::ENTITY_INFO_GETTING,
    SimulatorFeatures::ENTITY_INFO_SETTING,
    SimulatorFeatures::SPAWNABLES,
    SimulatorFeatures::SIMULATION_RESET,
    SimulatorFeatures::SIMULATION_RESET_STATE,
    SimulatorFeatures::SIMULATION_RESET_SPAWNED,
    SimulatorFeatures::SIMULATION_STATE_GETTING,
    SimulatorFeatures::WORLD_LOADING,
    SimulatorFeatures::WORLD_TAGS,
    SimulatorFeatures::WORLD_INFO_GETTING,
    SimulatorFeatures::AVAILABLE_WORLDS,
    SimulatorFeatures::SPAWNING_ENTITIES,
];

/// `GetSimulatorFeatures`.
pub fn features(
    _: &mut Scene,
    _: GetSimulatorFeaturesRequest,
    _: &mut Call<'_>,
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

fn state_of(call: &Call<'_>) -> u8 {
    match call.playing {
        true => SimulationState::STATE_PLAYING,
        false => SimulationState::STATE_STOPPED,
    }
}

/// `GetSimulationState`.
pub fn simulation_state(
    _: &mut Scene,
    _: GetSimulationStateRequest,
    call: &mut Call<'_>,
) -> GetSimulationStateResponse {
    GetSimulationStateResponse {
        state: SimulationState { state: state_of(call) },
        result: match call.playing {
            true => done(),
            false => done_but("no time of the simulator has been heard yet"),
        },
    }
}

/// `SetSimulationState`.
pub fn set_simulation_state(
    _: &mut Scene,
    request: SetSimulationStateRequest,
    call: &mut Call<'_>,
) -> SetSimulationStateResponse {
    let wanted = request.state.state;
    let coded = |result: u8, message: &str| Outcome { result, error_message: message.to_owned() };
    let unsupported = |message: &str| refused(Refusal::new(Cause::Unsupported, message));
    let result = match wanted {
        SimulationState::STATE_STOPPED | SimulationState::STATE_PLAYING
            if wanted == state_of(call) =>
        {
            coded(
                SetSimulationStateResponse::ALREADY_IN_TARGET_STATE,
                "the simulation is in this state already",
            )
        }
        SimulationState::STATE_PLAYING => coded(
            SetSimulationStateResponse::STATE_TRANSITION_ERROR,
            "no time of the simulator has been heard: start CopterSim and RflySim3D, and check that their data reach this host (docs/network.md)",
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
        other => refused(Refusal::new(
            Cause::Failed,
            format!(
                "state must be 0 (stopped), 1 (playing), 2 (paused) or 3 (quitting), is {other}"
            ),
        )),
    };
    SetSimulationStateResponse { result }
}

const NO_STEPS: &str = "RflySim cannot be stepped, because it cannot be paused";

/// `SimulateSteps`, which ends at once.
pub fn simulate_steps() -> SimulateSteps_Result {
    SimulateSteps_Result { result: refused(Refusal::new(Cause::Unsupported, NO_STEPS)) }
}

/// `StepSimulation`.
pub fn step_simulation(
    _: &mut Scene,
    _: StepSimulationRequest,
    _: &mut Call<'_>,
) -> StepSimulationResponse {
    StepSimulationResponse { result: refused(Refusal::new(Cause::Unsupported, NO_STEPS)) }
}

/// `ResetSimulation`.
pub fn reset_simulation(
    scene: &mut Scene,
    request: ResetSimulationRequest,
    call: &mut Call<'_>,
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
    if scope & !(TIME | STATE | SPAWNED) != 0 {
        let message = format!(
            "scope must be 0, 255 or a sum of 1 (time), 2 (state) and 4 (spawned), is {scope}"
        );
        return ResetSimulationResponse { result: refused(Refusal::new(Cause::Failed, message)) };
    }
    if scope == TIME {
        let message = "the time of the simulation cannot be reset; its state and what was spawned can (scope 2 and 4)";
        return ResetSimulationResponse {
            result: refused(Refusal::new(Cause::Unsupported, message)),
        };
    }
    if scope & SPAWNED != 0 {
        scene.clear(call);
    }
    if scope & STATE != 0 {
        scene.restart(call);
    }
    ResetSimulationResponse {
        result: match scope & TIME {
            0 => done(),
            _ => done_but("the time of the simulation goes on, which cannot be reset"),
        },
    }
}
