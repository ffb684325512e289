//! The reasons why the autopilot would refuse to arm.
use super::{fcu::Fcu, preflight::Preflight};
use crate::wire::mavlink::dialect::MavSysStatusSensor;
use crate::{wire::mavlink::numbers::MAV_CMD_RUN_PREARM_CHECKS, wire::mavlink::raw::CommandLong};
use std::time::Duration;

/// MAV_SYS_STATUS_PREARM_CHECK: its bit in `health` reports whether the vehicle may be armed.
const PREARM: u32 = MavSysStatusSensor::MAV_SYS_STATUS_PREARM_CHECK.bits();
/// A text is a reason for this time: PX4 repeats the reasons with each attempt to arm, other autopilots from time to time.
const TEXT_LIFETIME: Duration = Duration::from_secs(60);
/// A starting autopilot is not ready for about this time, and sends its reasons without a request.
const STARTUP: Duration = Duration::from_secs(5);
/// MAV_SYS_STATUS_SENSOR in words.
#[rustfmt::skip] // a table
const SENSORS: [(u32, &str); 18] = [
    (0, "gyroscope"), (1, "accelerometer"), (2, "magnetometer"), (3, "barometer"), (4, "airspeed"), (5, "GPS"),
    (6, "optical flow"), (7, "position by vision"), (8, "laser position"), (15, "motor outputs"),
    (16, "remote control"), (20, "geofence"), (21, "attitude estimate"), (22, "terrain"), (24, "logging"),
    (25, "battery"), (26, "proximity"), (27, "satellite link"),
];
/// ESTIMATOR_STATUS_FLAGS that a flight by position needs.
const ESTIMATES: [(u16, &str); 4] =
    [(0, "attitude"), (1, "horizontal velocity"), (2, "vertical velocity"), (5, "height")];
/// One of these is sufficient: the relative or the absolute position.
const POSITIONS: u16 = 1 << 3 | 1 << 4;

impl Fcu {
    /// Returns the request for the reasons if it is due: PX4 sends them unasked only when they change.
    pub(super) fn take_reasons_request(&mut self) -> Option<CommandLong> {
        let now = self.now.mono;
        if !self.refuses_to_arm() {
            self.preflight.refuses_since = None;
            return None;
        }
        let preflight = &mut self.preflight;
        let since = *preflight.refuses_since.get_or_insert(now);
        let is_new = |at: Duration| now.saturating_sub(at) <= TEXT_LIFETIME;
        let known = preflight.texts.iter().any(|(at, _)| is_new(*at));
        if known || preflight.queried.is_some_and(is_new) || now.saturating_sub(since) < STARTUP {
            return None;
        }
        preflight.queried = Some(now);
        Some(self.command(MAV_CMD_RUN_PREARM_CHECKS, 0, [0.0; 7]))
    }

    /// Whether the vehicle is disarmed and reports that its check fails.
    fn refuses_to_arm(&self) -> bool {
        if !self.is_connected() || self.is_armed() {
            return false;
        }
        let Some([present, _, health]) = self.preflight.status else { return false };
        let is_reported = self.is_px4() || present & PREARM != 0;
        is_reported && health & PREARM == 0
    }

    /// Why the vehicle would refuse to arm; `None` if it would not, is armed, or does not report it.
    pub fn not_ready(&self) -> Option<String> {
        if !self.refuses_to_arm() {
            return None;
        }
        let Preflight { status, estimator, texts, .. } = &self.preflight;
        let [present, enabled, health] = (*status)?;
        let mut reasons = Vec::new();
        let is_recent = |at: &Duration| self.now.mono.saturating_sub(*at) <= TEXT_LIFETIME;
        let texts = texts.iter().filter(|(at, _)| is_recent(at));
        reasons.extend(texts.map(|(_, text)| text.clone()));
        let bits = present & enabled & !health;
        let unhealthy = SENSORS.iter().filter(|(bit, _)| bits >> bit & 1 != 0);
        let unhealthy: Vec<_> = unhealthy.map(|(_, name)| *name).collect();
        if !unhealthy.is_empty() {
            reasons.push(format!("unhealthy: {}", unhealthy.join(", ")));
        }
        if let Some(flags) = *estimator {
            let missing = ESTIMATES.iter().filter(|(bit, _)| flags >> bit & 1 == 0);
            let mut missing: Vec<_> = missing.map(|(_, name)| *name).collect();
            if flags & POSITIONS == 0 {
                missing.push("position");
            }
            if !missing.is_empty() {
                reasons.push(format!("not estimated: {}", missing.join(", ")));
            }
        }
        if reasons.is_empty() {
            reasons.push(
                "the autopilot gives no reason (`commander check` in PX4's console)".to_owned(),
            );
        }
        Some(reasons.join("; "))
    }
}
