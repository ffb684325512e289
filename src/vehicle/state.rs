//! `state`: connection, arming and mode of the vehicle.
use super::{Counter, Open, fcu::Fcu, mode};
use crate::ros::{Publisher, RosError};
use crate::wire::mavlink::numbers::*;
use crate::{msgs::mavros_msgs::msg::State, wire::mavlink::raw::Heartbeat};
use std::time::Duration;

/// Period of heartbeats in the vehicle's own time.
const HEARTBEAT_PERIOD: Duration = Duration::from_secs(1);
/// Limit of the factor by which a slow simulation extends the timeout.
const MAX_SLOWDOWN: f64 = 60.0;

/// Publishes `state` once per heartbeat, and once when the vehicle falls silent.
pub(super) struct StateTopic {
    publisher: Publisher<State>,
    /// Arrival of the last message, while connected.
    last_message: Option<Duration>,
    /// Arrival of the last heartbeat, and the intervals between the last ones.
    last_heartbeat: Option<Duration>,
    intervals: [Duration; 3],
}

impl StateTopic {
    pub(super) fn open(open: &Open<'_>) -> Result<Self, RosError> {
        Ok(Self {
            publisher: open.publisher("state")?,
            last_message: None,
            last_heartbeat: None,
            intervals: [HEARTBEAT_PERIOD; 3],
        })
    }

    pub(super) fn heartbeat(&mut self, fcu: &mut Fcu, beat: Heartbeat) -> Result<(), RosError> {
        if beat.autopilot == MAV_AUTOPILOT_INVALID {
            fcu.count(Counter::ForeignComponent);
            return Ok(());
        }
        let now = fcu.now.mono;
        if let Some(before) = self.last_heartbeat.replace(now) {
            self.intervals.rotate_left(1);
            let [.., last] = &mut self.intervals;
            *last = now.saturating_sub(before);
        }
        if self.last_message.replace(now).is_none() {
            tracing::info!(vehicle = fcu.settings.id, "heartbeats come: the vehicle is connected");
        }
        let text = fcu.link_warnings.check_autopilot(beat.autopilot);
        fcu.log_link_warning(text);
        fcu.heartbeat = Some(beat);
        fcu.heartbeat_count += 1;
        self.publish(fcu)
    }

    /// Records a message of the autopilot, which keeps it connected.
    pub(super) fn record_message(&mut self, fcu: &Fcu) {
        if let Some(at) = &mut self.last_message {
            *at = fcu.now.mono;
        }
    }

    /// Publishes the loss of the connection when the vehicle has fallen silent.
    pub(super) fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        let is_lost = self.deadline(fcu).is_some_and(|at| fcu.now.mono >= at);
        if !is_lost {
            return Ok(());
        }
        self.intervals = [HEARTBEAT_PERIOD; 3];
        self.last_heartbeat = None;
        let silence = self.last_message.take().map(|at| fcu.now.mono.saturating_sub(at));
        let known = fcu.heartbeat.map_or_else(String::new, |heartbeat| {
            let armed = if fcu.is_armed() { "armed" } else { "disarmed" };
            let mode = mode::name(heartbeat.base_mode, heartbeat.custom_mode, heartbeat.autopilot);
            format!("; it was {armed}, {mode}")
        });
        let seconds = silence.unwrap_or_default().as_secs_f64();
        // As in mavros, `state` reports "not armed" from now on; the text has the last known state.
        let text =
            format!("nothing from it for {seconds:.1} s: the vehicle is not connected{known}");
        fcu.lost();
        fcu.warn(text);
        self.publish(fcu)
    }

    pub(super) fn deadline(&self, fcu: &Fcu) -> Option<Duration> {
        // A simulation slower than real time sends heartbeats at longer intervals.
        let slowdown = self.intervals.iter().min().map_or(1.0, Duration::as_secs_f64);
        Some(self.last_message? + fcu.settings.timeout.mul_f64(slowdown.clamp(1.0, MAX_SLOWDOWN)))
    }

    fn publish(&self, fcu: &Fcu) -> Result<(), RosError> {
        let mut state = State { header: fcu.header_now(""), ..State::default() };
        if let Some(heartbeat) = fcu.heartbeat {
            state.connected = true;
            let has = |flag: u8| heartbeat.base_mode & flag != 0;
            state.armed = has(MAV_MODE_FLAG_SAFETY_ARMED);
            state.manual_input = has(MAV_MODE_FLAG_MANUAL_INPUT_ENABLED);
            state.guided = has(MAV_MODE_FLAG_GUIDED_ENABLED);
            state.mode =
                mode::name(heartbeat.base_mode, heartbeat.custom_mode, heartbeat.autopilot);
            state.system_status = heartbeat.system_status;
        }
        self.publisher.publish(&state).map(drop)
    }
}
