//! Sends the bridge's own HEARTBEAT once a second.
use super::fcu::Fcu;
use crate::wire::mavlink::raw::Heartbeat;
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(1);
/// MAV_TYPE_ONBOARD_CONTROLLER.
const ONBOARD_CONTROLLER: u8 = 18;
/// MAV_TYPE_GCS.
const GROUND_STATION: u8 = 6;

/// Sends the HEARTBEATs.
#[derive(Debug, Default)]
pub(super) struct Presence {
    next: Duration,
}

impl Presence {
    /// Sends one if due; returns the time of the next.
    pub(super) fn poll(&mut self, fcu: &mut Fcu) -> Option<Duration> {
        if !fcu.abilities().heartbeat {
            return None;
        }
        if fcu.now.mono >= self.next {
            self.next = fcu.now.mono + PERIOD;
            let ground_station = fcu.settings.ground_station;
            // As mavros: no autopilot, manual and armed, active.
            let heartbeat = Heartbeat {
                custom_mode: 0,
                kind: if ground_station { GROUND_STATION } else { ONBOARD_CONTROLLER },
                autopilot: 8,
                base_mode: 192,
                system_status: 4,
                mavlink_version: 3,
            };
            // A failure is counted.
            let _counted = fcu.send(heartbeat);
        }
        Some(self.next)
    }
}
