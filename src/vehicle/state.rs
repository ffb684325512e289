//! `state`: connection, arming and mode of the vehicle.
use super::fcu::{Fcu, NO_AUTOPILOT};
use super::{Counter, Open, mode};
use crate::msgs::mavros_msgs::msg::State;
use crate::ros::{Publisher, RosError};
use crate::wire::mavlink::raw::Heartbeat;
use std::time::Duration;

/// Publishes `state` once per heartbeat, and once when heartbeats stop.
pub(super) struct StateTopic {
    publisher: Publisher<State>,
    last: Option<Duration>,
}

impl StateTopic {
    pub(super) fn open(open: &Open<'_>) -> Result<Self, RosError> {
        Ok(Self {
            publisher: open.publisher("state")?,
            last: None,
        })
    }

    pub(super) fn heartbeat(
        &mut self,
        fcu: &mut Fcu,
        heartbeat: Heartbeat,
    ) -> Result<(), RosError> {
        if heartbeat.autopilot == NO_AUTOPILOT {
            fcu.count(Counter::ForeignComponent);
            return Ok(());
        }
        if self.last.replace(fcu.now.mono).is_none() {
            tracing::info!(
                vehicle = fcu.settings.id,
                "heartbeats come: the vehicle is connected"
            );
        }
        fcu.heartbeat = Some(heartbeat);
        self.publish(fcu)
    }

    /// Publishes the loss of the connection when heartbeats have stopped.
    pub(super) fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        let lost = self.deadline(fcu).is_some_and(|at| fcu.now.mono >= at);
        if !lost {
            return Ok(());
        }
        let silence = self.last.take().map(|at| fcu.now.mono.saturating_sub(at));
        let known = fcu.heartbeat.map_or_else(String::new, |heartbeat| {
            let armed = if fcu.armed() { "armed" } else { "disarmed" };
            let mode = mode::name(
                heartbeat.base_mode,
                heartbeat.custom_mode,
                heartbeat.autopilot,
            );
            format!("; it was {armed}, {mode}")
        });
        let seconds = silence.unwrap_or_default().as_secs_f64();
        // As in mavros, `state` says "not armed" from now on; the text tells the pilot the last known state.
        let text = format!("no heartbeat for {seconds:.1} s: the vehicle is not connected{known}");
        tracing::warn!(vehicle = fcu.settings.id, "{text}");
        fcu.lost();
        fcu.notice(text);
        self.publish(fcu)
    }

    pub(super) fn deadline(&self, fcu: &Fcu) -> Option<Duration> {
        Some(self.last? + fcu.settings.timeout)
    }

    fn publish(&self, fcu: &Fcu) -> Result<(), RosError> {
        let mut state = State {
            header: fcu.header_now(""),
            ..State::default()
        };
        if let Some(heartbeat) = fcu.heartbeat {
            state.connected = true;
            state.armed = heartbeat.base_mode & 128 != 0;
            state.manual_input = heartbeat.base_mode & 64 != 0;
            state.guided = heartbeat.base_mode & 8 != 0;
            state.mode = mode::name(
                heartbeat.base_mode,
                heartbeat.custom_mode,
                heartbeat.autopilot,
            );
            state.system_status = heartbeat.system_status;
        }
        self.publisher.publish(&state).map(drop)
    }
}
