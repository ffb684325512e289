//! The state that a caller requests, and how telemetry shows it.
use crate::vehicle::Fcu;
use crate::vehicle::mode::{self, OFFBOARD};
use crate::vehicle::reasons::Reasons;
use crate::wire::mavlink::numbers::*;
use std::time::Duration;

/// Mode bits of `base_mode`.
const MODE_BITS: u8 = MAV_MODE_FLAG_MANUAL_INPUT_ENABLED
    | MAV_MODE_FLAG_STABILIZE_ENABLED
    | MAV_MODE_FLAG_GUIDED_ENABLED
    | MAV_MODE_FLAG_AUTO_ENABLED;
/// PX4's AUTO.TAKEOFF and AUTO.VTOL_TAKEOFF.
const TAKE_OFF_MODES: [u32; 2] = [4 << 16 | 2 << 24, 4 << 16 | 10 << 24];
const OFF_GROUND: [u8; 2] = [MAV_LANDED_STATE_IN_AIR, MAV_LANDED_STATE_TAKEOFF];
/// Minimum rise in m that shows a take-off; less is noise of the estimate.
const MIN_RISE: f32 = 0.5;
/// PX4's status text for a take-off altitude that is not above the vehicle.
const NOT_ABOVE: &str = "Already higher than takeoff altitude";

/// Longest time until the heartbeat, with its period of 1 s, shows an acknowledged change.
const SHOW_TIMEOUT: Duration = Duration::from_millis(2500);
/// Longest time to leave the ground: motors spin up, a fixed wing needs a runway, a simulation may run slowly.
const RISE_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, Debug)]
pub(super) enum VehicleGoal {
    Armed(bool),
    /// PX4's `custom_mode`.
    Mode(u32),
    /// For an autopilot without custom modes.
    BaseMode(u8),
    TakeOff(TakeOffStart),
}

/// State of the vehicle when take-off was commanded.
#[derive(Clone, Copy, Debug)]
pub(super) struct TakeOffStart {
    height: Option<f32>,
    may_be_on_ground: bool,
    /// The vehicle reported that it is on the ground.
    is_landed: bool,
    is_armed: bool,
}

/// Progress towards a goal, as telemetry shows it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum GoalProgress {
    Nothing,
    /// The goal will follow, unless the vehicle denies it by a status text.
    Promised,
    Reached,
    /// The goal can no longer be reached.
    Failed,
}

impl VehicleGoal {
    pub(super) fn take_off(fcu: &Fcu) -> Self {
        Self::TakeOff(TakeOffStart {
            height: fcu.height,
            // Unknown counts as on the ground: only a vehicle on the ground takes off, and its height then shows the
            // take-off.
            may_be_on_ground: fcu.landed.is_none_or(|state| state == MAV_LANDED_STATE_ON_GROUND),
            is_landed: fcu.landed == Some(MAV_LANDED_STATE_ON_GROUND),
            is_armed: fcu.is_armed(),
        })
    }

    /// Longest time from the acknowledgement until telemetry shows the goal.
    pub(super) fn time_to_show(self) -> Duration {
        if let Self::TakeOff(_) = self { RISE_TIMEOUT } else { SHOW_TIMEOUT }
    }

    /// Returns the progress that telemetry shows.
    pub(super) fn progress(self, fcu: &Fcu) -> GoalProgress {
        let Some(heartbeat) = fcu.heartbeat else { return GoalProgress::Nothing };
        let is_reached = match self {
            Self::Armed(armed) => armed == fcu.is_armed(),
            Self::Mode(custom_mode) => {
                let is_custom = heartbeat.base_mode & MAV_MODE_FLAG_CUSTOM_MODE_ENABLED != 0;
                // On the ground PX4 reports OFFBOARD also without setpoints, but cannot be armed in it.
                let is_idle = custom_mode == OFFBOARD
                    && fcu.is_px4()
                    && !fcu.is_armed()
                    // PX4 reports a lower state if it could not be armed in its present mode.
                    && heartbeat.system_status < MAV_STATE_STANDBY;
                is_custom && heartbeat.custom_mode == custom_mode && !is_idle
            }
            Self::BaseMode(base_mode) => heartbeat.base_mode & MODE_BITS == base_mode & MODE_BITS,
            Self::TakeOff(start) => return start.progress(fcu),
        };
        if is_reached { GoalProgress::Reached } else { GoalProgress::Nothing }
    }

    /// Whether a status text denies the goal although its command was acknowledged.
    pub(super) fn is_denied_by(self, texts: &Reasons) -> bool {
        matches!(self, Self::TakeOff(_)) && texts.contains(NOT_ABOVE)
    }

    /// Returns why the goal was not reached although its command was accepted.
    pub(super) fn describe_failure(self, fcu: &Fcu) -> String {
        let Some(heartbeat) = fcu.heartbeat else {
            return "accepted, but the vehicle is no longer connected".to_owned();
        };
        let name = mode::name(heartbeat.base_mode, heartbeat.custom_mode, heartbeat.autopilot);
        match self {
            Self::Armed(true) => "accepted, but the vehicle did not arm".to_owned(),
            Self::Armed(false) => "accepted, but the vehicle did not disarm".to_owned(),
            Self::Mode(OFFBOARD) if heartbeat.custom_mode == OFFBOARD => {
                "OFFBOARD is chosen but not active: setpoints must stream, and the vehicle must be ready"
                    .to_owned()
            }
            Self::Mode(_) | Self::BaseMode(_) => {
                format!("accepted, but the vehicle stays in {name}")
            }
            Self::TakeOff(start) if start.is_armed && !fcu.is_armed() => {
                "accepted, but the vehicle was disarmed before it took off".to_owned()
            }
            Self::TakeOff(_) if heartbeat.kind == MAV_TYPE_FIXED_WING => {
                "accepted, but the vehicle does not take off: a fixed wing needs a runway (RWTO_TKOFF) or a launch"
                    .to_owned()
            }
            Self::TakeOff(_) if fcu.is_px4() => {
                "accepted, but the vehicle does not take off; the requested altitude is measured from sea level"
                    .to_owned()
            }
            Self::TakeOff(_) => "accepted, but the vehicle does not take off".to_owned(),
        }
    }
}

impl TakeOffStart {
    fn progress(self, fcu: &Fcu) -> GoalProgress {
        let Some(heartbeat) = fcu.heartbeat else { return GoalProgress::Nothing };
        // On links without acknowledgements the reported mode is only the commanded one.
        let has_modes = fcu.is_px4() && fcu.abilities().acks;
        if self.height.or(fcu.height).is_none() && fcu.landed.is_none() {
            // The telemetry cannot show a take-off.
            return GoalProgress::Reached;
        }
        let rise = fcu.height.zip(self.height).map(|(now, then)| now - then);
        let took_off = self.is_landed && fcu.landed.is_some_and(|now| OFF_GROUND.contains(&now));
        let is_taking_off = TAKE_OFF_MODES.contains(&heartbeat.custom_mode);
        if took_off || rise.is_some_and(|rise| rise >= MIN_RISE) {
            GoalProgress::Reached
        } else if has_modes && self.is_armed && !fcu.is_armed() {
            // The vehicle was disarmed on the ground.
            GoalProgress::Failed
        } else if has_modes && is_taking_off && (!fcu.is_armed() || !self.may_be_on_ground) {
            // Telemetry shows no take-off: an unarmed vehicle does not move yet, and one in the air does not leave the ground.
            GoalProgress::Promised
        } else {
            GoalProgress::Nothing
        }
    }
}
