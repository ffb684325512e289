//! A replay step by step: `step_simulation` takes the steps, each a datagram or a frame of shared memory.
use crate::msgs::simulation_interfaces::msg::Result as Outcome;
use crate::msgs::simulation_interfaces::srv::{StepSimulation, StepSimulationResponse};
use crate::node::steps::{Gate, Step, Stepped};
use crate::ros::{Middleware, RosError, ServiceHandle};

/// The service that another answers during a replay.
pub(super) const NAME: &str = "~/step_simulation";

/// Offers it. A request is answered when the bridge has handled all of its steps.
pub(super) fn serve(
    gate: &'static Gate,
    middleware: &Middleware,
    name: &str,
) -> Result<ServiceHandle, RosError> {
    middleware.service::<StepSimulation>(name, move |request, responder| {
        let steps = request.steps;
        gate.ask(Step::Messages(steps), move |stepped| {
            let result = outcome(steps, stepped);
            responder.respond(StepSimulationResponse { result });
        });
    })
}

fn outcome(wanted: u64, stepped: Stepped) -> Outcome {
    match stepped.messages == wanted {
        true => Outcome {
            result: Outcome::RESULT_OK,
            error_message: String::new(),
        },
        false => Outcome {
            result: Outcome::RESULT_OPERATION_FAILED,
            error_message: format!(
                "the recording ended after {} of {wanted} steps",
                stepped.messages
            ),
        },
    }
}
