//! Steps of a replay that are asked for on the standard input.
use crate::node::error::NodeError;
use crate::node::replay_steps::{ReplayStep, StepQueue};
use crate::node::tasks;
use std::io;
use std::time::Duration;

/// What can be typed.
const HELP: &str =
    "Enter: one datagram or frame; 20: so many; 0.5s: so long; go: the rest; Ctrl-C ends";

/// Asks for a step with each line, until the input ends.
///
/// # Errors
/// Of the system, if the thread cannot be started.
pub fn follow_input(gate: &'static StepQueue) -> Result<(), NodeError> {
    tracing::info!("step by step: {HELP}");
    tasks::spawn_once("rfly-keys", move || {
        for line in io::stdin().lines().map_while(Result::ok) {
            let Some(step) = parse(&line) else {
                tracing::warn!("{line:?} is no step; {HELP}");
                continue;
            };
            gate.request(step, |stepped| {
                let end = if stepped.ended { ", the end" } else { "" };
                tracing::info!(
                    "played {}, at {:.6} s of the recording{end}",
                    stepped.messages,
                    stepped.at.as_secs_f64()
                );
            });
        }
    })
}

/// What a line asks for.
pub fn parse(line: &str) -> Option<ReplayStep> {
    match line.trim() {
        "" => Some(ReplayStep::Messages(1)),
        "go" => Some(ReplayStep::Rest),
        word => match word.strip_suffix('s') {
            Some(seconds) => {
                let seconds = seconds.trim_end().parse().ok()?;
                Duration::try_from_secs_f64(seconds)
                    .ok()
                    .map(ReplayStep::Time)
            }
            None => word.parse().ok().map(ReplayStep::Messages),
        },
    }
}
