//! Steps of a replay, requested on the standard input.
use crate::node::replay_steps::{ReplayStep, StepQueue};
use crate::node::{error::NodeError, tasks};
use std::{io, time::Duration};

const HELP: &str = "Enter plays one datagram or frame, 20 plays 20, 0.5s plays 0.5 s, go plays the rest, Ctrl-C ends";

/// Requests a step for each line of the standard input. Errors: the thread cannot be started.
pub fn read_steps(step_queue: &'static StepQueue) -> Result<(), NodeError> {
    tracing::info!("step by step: {HELP}");
    tasks::spawn_once("rfly-keys", move || {
        for line in io::stdin().lines().map_while(Result::ok) {
            let Some(step) = parse_step(&line) else {
                tracing::warn!("{line:?} is not a step: {HELP}");
                continue;
            };
            step_queue.request(step, |stepped| {
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

/// Parses a line of input.
pub fn parse_step(line: &str) -> Option<ReplayStep> {
    match line.trim() {
        "" => Some(ReplayStep::Messages(1)),
        "go" => Some(ReplayStep::Rest),
        word => match word.strip_suffix('s') {
            Some(seconds) => {
                let seconds = seconds.trim_end().parse().ok()?;
                Duration::try_from_secs_f64(seconds).ok().map(ReplayStep::Time)
            }
            None => word.parse().ok().map(ReplayStep::Messages),
        },
    }
}
