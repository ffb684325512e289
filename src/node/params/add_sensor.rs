//! The service that adds a sensor while the bridge runs.
use super::server::{ServerState, one_line};
use crate::config::Problems;
use crate::msgs::rfly_bridge_msgs::srv::{AddSensor, AddSensorResponse};
use crate::node::{context::Context, settings::topic_below, subsystem::TopicPage, tasks};
use crate::ros::{RosError, ServiceHandle};
use std::sync::Arc;

const SERVICE: &str = "sensors/add";

pub(super) fn open(
    context: &Context<'_>,
    server: &Arc<ServerState>,
) -> Result<ServiceHandle, RosError> {
    let server = server.clone();
    let name = topic_below(&context.settings.params.topic_prefix, SERVICE);
    context.middleware.service::<AddSensor>(&name, move |request, responder| {
        let server = server.clone();
        // Opening publishers takes a while.
        let answer = move || responder.respond(answer(&server, &request.row));
        if let Err(error) = tasks::spawn_once("rfly-reopen", answer) {
            tracing::error!(%error, "no sensor can be added");
        }
    })
}

fn answer(server: &ServerState, row: &str) -> AddSensorResponse {
    match server.add(row) {
        Ok((sensor, notes)) => {
            let message = one_line(&notes);
            if !message.is_empty() {
                tracing::warn!("sensor{} was added: {message}", sensor.seq_id);
            }
            AddSensorResponse { success: true, message, seq_id: sensor.seq_id }
        }
        Err(Problems(problems)) => {
            let message = one_line(&problems);
            tracing::warn!("no sensor was added: {message}");
            AddSensorResponse { message, ..AddSensorResponse::default() }
        }
    }
}

pub(super) fn topics(page: &mut TopicPage) {
    page.sensors += "\
| all but 9 | | `/rflysim/sensors/add` | `rfly_bridge_msgs/srv/AddSensor` | | | all | service: adds a sensor while the bridge runs; `row` is an \
object as in `VisionSensors` ([config_json.md](config_json.md#another-sensor-while-the-bridge-runs)) |
";
}
