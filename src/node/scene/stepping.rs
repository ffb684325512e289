//! `step_simulation` during `replay --step`: a step is a datagram or a frame of shared memory.
use crate::msgs::simulation_interfaces::msg::Result as Outcome;
use crate::msgs::simulation_interfaces::srv::{StepSimulation, StepSimulationResponse};
use crate::node::replay_steps::{ReplayStep, StepQueue};
use crate::ros::{Middleware, RosError, ServiceHandle};

/// Name of the service in the table of `services.rs`; this implementation replaces it in such a replay.
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
            let (done, mut result) = (stepped.messages, Outcome::default());
            result.result = Outcome::RESULT_OK;
            if done != steps {
                result.result = Outcome::RESULT_OPERATION_FAILED;
                result.error_message = format!("the recording ended after {done} of {steps} steps");
            }
            responder.respond(StepSimulationResponse { result });
        });
    })
}
