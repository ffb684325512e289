//! `step_simulation` in a replay in steps: a step is a datagram or a frame of shared memory.
use crate::msgs::simulation_interfaces::msg::Result as Outcome;
use crate::msgs::simulation_interfaces::srv::{StepSimulation, StepSimulationResponse};
use crate::node::replay_steps::{ReplayStep, StepQueue, StepResult};
use crate::ros::{Middleware, RosError, ServiceHandle};

/// The service that this one replaces during such a replay.
pub(super) const NAME: &str = "~/step_simulation";

/// Offers the service, which responds when the bridge has handled all steps.
pub(super) fn serve(
    queue: &'static StepQueue,
    middleware: &Middleware,
    name: &str,
) -> Result<ServiceHandle, RosError> {
    middleware.service::<StepSimulation>(name, move |request, responder| {
        let steps = request.steps;
        queue.request(ReplayStep::Messages(steps), move |stepped| {
            let result = outcome(steps, stepped);
            responder.respond(StepSimulationResponse { result });
        });
    })
}

fn outcome(wanted: u64, stepped: StepResult) -> Outcome {
    if stepped.messages == wanted {
        Outcome { result: Outcome::RESULT_OK, error_message: String::new() }
    } else {
        Outcome {
            result: Outcome::RESULT_OPERATION_FAILED,
            error_message: format!(
                "the recording ended after {} of {wanted} steps",
                stepped.messages
            ),
        }
    }
}
