//! `setpoint_attitude/height`: an attitude, and a height that the bridge controls by the thrust, one step per message. The
//! vendor's client does the same 100 times a second (SendAttPX4 with AltFlg).
use super::geometry::{stamp_ms, wxyz};
use super::raw::{NO_RATES, attitude_target};
use super::reject::{Checked, Reject};
use super::{position::ReportedLocalPosition, subscriptions::subscriptions, target::SetpointRules};
use crate::frames::raw_enu_ned;
use crate::vehicle::Autopilot;
use crate::wire::mavlink::raw::SetAttitudeTarget;
use crate::{msgs::geometry_msgs::msg::PoseStamped, wire::mavlink::MavMessage};
use std::time::Duration;

/// Height error in m per unit of thrust.
const ERROR_SCALE: f64 = 5.0;
/// Climb rate in m/s per unit of thrust.
const CLIMB_SCALE: f64 = 2.0;
/// Limit of either term and of their sum.
const LIMIT: f64 = 0.5;
/// Gain of the integral of the scaled height error in 1/s; the vendor's client uses 0.001 per cycle of 10 ms.
const INTEGRAL_GAIN: f64 = 0.1;
const MAX_INTEGRAL: f64 = 0.8;
/// Minimum of the integral when the controller starts.
const MIN_START: f64 = 0.5;
/// A longer pause restarts the controller.
const PAUSE: Duration = Duration::from_secs(1);
/// Length of the first cycle, and limit of the others.
const FIRST_CYCLE: Duration = Duration::from_millis(10);
const MAX_CYCLE: Duration = Duration::from_millis(100);

/// The controller's state.
#[derive(Debug, Default)]
pub(super) struct HeightHold {
    /// Thrust that the autopilot reported last.
    reported: Option<f64>,
    integral: f64,
    last: Option<Duration>,
}

impl HeightHold {
    /// Stores the thrust that the autopilot reports.
    pub(super) fn observe(&mut self, message: &MavMessage) {
        if let MavMessage::ATTITUDE_TARGET(m) = message {
            self.reported = Some(m.thrust.into()).filter(|thrust: &f64| thrust.is_finite());
        }
    }

    /// Runs a cycle of the controller; returns the thrust for a height in m above the local origin.
    fn step(&mut self, now: Duration, height: f64, local: &ReportedLocalPosition) -> f64 {
        let elapsed = self.last.map(|last| now.saturating_sub(last));
        let cycle = match elapsed.filter(|elapsed| *elapsed <= PAUSE) {
            Some(elapsed) => elapsed.min(MAX_CYCLE),
            None => {
                self.integral = self.reported.map_or(MIN_START, |thrust| thrust.max(MIN_START));
                FIRST_CYCLE
            }
        };
        self.last = Some(now);
        let ([.., down], [.., sinking]) = (local.position, local.velocity);
        let error = ((height + down) / ERROR_SCALE).clamp(-LIMIT, LIMIT);
        let integral = self.integral + INTEGRAL_GAIN * error * cycle.as_secs_f64();
        self.integral = integral.clamp(0.0, MAX_INTEGRAL);
        let change = (error + (sinking / CLIMB_SCALE).clamp(-LIMIT, LIMIT)).clamp(-LIMIT, LIMIT);
        (self.integral + change).clamp(0.0, 1.0)
    }
}

subscriptions! {
    PoseStamped("setpoint_attitude/height", "attitude, and a height above the local origin in `position.z`, which the bridge holds by the thrust; no topic of mavros")
        => |autopilot, topic, message| {
            let converted = convert(autopilot, message);
            autopilot.send_setpoint(topic, converted.map(Checked::without_warning));
        };
}

fn convert(autopilot: &mut Autopilot, message: &PoseStamped) -> Result<SetAttitudeTarget, Reject> {
    let (fcu, setpoints) = (&autopilot.fcu, &mut autopilot.setpoints);
    let rules = SetpointRules::of(fcu);
    let height = message.pose.position.z;
    if height.is_nan() {
        return Err(Reject::NotANumber("position.z"));
    }
    if height.abs() > rules.max_position {
        return Err(Reject::TooHigh { height: height.abs(), limit: rules.max_position });
    }
    let local = setpoints.reported.local(fcu)?;
    let target = attitude_target(
        stamp_ms(&message.header.stamp),
        NO_RATES,
        raw_enu_ned(wxyz(&message.pose.orientation)),
        [0.0; 3],
        0.0,
        &rules,
    )?;
    let thrust = setpoints.hold.step(fcu.now.mono, height, &local) as f32;
    Ok(SetAttitudeTarget { thrust, ..target })
}
