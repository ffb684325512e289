//! Sends the bridge's own HEARTBEAT once a second.
use super::fcu::Fcu;
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::Heartbeat;
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(1);

/// Sends the HEARTBEATs.
#[derive(Debug, Default)]
pub(super) struct HeartbeatSender {
    next: Duration,
}

impl HeartbeatSender {
    /// Sends one if due; returns the time of the next.
    pub(super) fn poll(&mut self, fcu: &mut Fcu) -> Option<Duration> {
        if !fcu.abilities().heartbeat {
            return None;
        }
        if fcu.now.mono >= self.next {
            self.next = fcu.now.mono + PERIOD;
            let ground_station = fcu.settings.ground_station;
            // As in mavros.
            let heartbeat = Heartbeat {
                custom_mode: 0,
                kind: if ground_station { MAV_TYPE_GCS } else { MAV_TYPE_ONBOARD_CONTROLLER },
                autopilot: MAV_AUTOPILOT_INVALID,
                base_mode: MAV_MODE_FLAG_SAFETY_ARMED | MAV_MODE_FLAG_MANUAL_INPUT_ENABLED,
                system_status: MAV_STATE_ACTIVE,
                mavlink_version: 3,
            };
            // A failure is counted.
            let _counted = fcu.send(heartbeat);
        }
        Some(self.next)
    }
}
