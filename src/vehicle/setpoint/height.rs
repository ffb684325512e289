//! `setpoint_attitude/height`: an attitude, and a height that the bridge holds by the thrust. The vendor's client does so in
//! SendAttPX4 with AltFlg, 100 times a second.
use super::geometry::{ned_frd, stamp_ms, wxyz};
use super::position::ReportedLocalPosition;
use super::raw::{RATES, attitude_target};
use super::reject::{Checked, Reject};
use super::subscriptions::subscriptions;
use super::target::SetpointRules;
use crate::msgs::geometry_msgs::msg::PoseStamped;
use crate::vehicle::Autopilot;
use crate::wire::mavlink::MavMessage;
use crate::wire::mavlink::raw::SetAttitudeTarget;
use std::time::Duration;

/// Height error in m, and climb in m/s, for a change of the whole thrust; limit of either change, and of their sum.
const ERROR: f64 = 5.0;
const CLIMB: f64 = 2.0;
const MOST: f64 = 0.5;
/// Change of the integral per second and error. It is 0.001 in a cycle of the vendor's client.
const INTEGRAL: f64 = 0.1;
const INTEGRAL_MOST: f64 = 0.8;
/// Least thrust to begin with.
const HOVER: f64 = 0.5;
/// A pause longer than this is another flight.
const PAUSE: Duration = Duration::from_secs(1);
/// The first cycle, and the longest.
const CYCLE: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_millis(100);

/// The controller's state.
#[derive(Debug, Default)]
pub(super) struct HeightHold {
    /// As last reported.
    thrust: Option<f64>,
    integral: f64,
    last: Option<Duration>,
}

impl HeightHold {
    /// Takes the thrust that the autopilot reports.
    pub(super) fn observe(&mut self, message: &MavMessage) {
        if let MavMessage::ATTITUDE_TARGET(m) = message {
            self.thrust = Some(m.thrust.into()).filter(|thrust: &f64| thrust.is_finite());
        }
    }

    /// The thrust for a height in m above the local origin.
    fn thrust(&mut self, now: Duration, height: f64, local: &ReportedLocalPosition) -> f64 {
        let passed = self.last.map(|last| now.saturating_sub(last));
        let cycle = match passed.filter(|passed| *passed <= PAUSE) {
            Some(passed) => passed.min(LONGEST),
            None => {
                self.integral = self.thrust.map_or(HOVER, |thrust| thrust.max(HOVER));
                CYCLE
            }
        };
        self.last = Some(now);
        let ([.., down], [.., sinking]) = (local.position, local.velocity);
        let up = ((height + down) / ERROR).clamp(-MOST, MOST);
        let integral = self.integral + INTEGRAL * up * cycle.as_secs_f64();
        self.integral = integral.clamp(0.0, INTEGRAL_MOST);
        let change = (up + (sinking / CLIMB).clamp(-MOST, MOST)).clamp(-MOST, MOST);
        (self.integral + change).clamp(0.0, 1.0)
    }
}

subscriptions! {
    PoseStamped("setpoint_attitude/height", "attitude, and a height above the local origin in `position.z`, which the bridge holds by the thrust; no topic of mavros")
        => |autopilot, topic, message| {
            let converted = convert(autopilot, message);
            autopilot.setpoint(topic, converted.map(Checked::without_doubt));
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
        return Err(Reject::TooFar { distance: height.abs(), limit: rules.max_position });
    }
    let local = setpoints.here.local(fcu)?;
    let target = attitude_target(
        stamp_ms(&message.header.stamp),
        RATES,
        ned_frd(wxyz(&message.pose.orientation)),
        [0.0; 3],
        0.0,
        &rules,
    )?;
    let thrust = setpoints.hold.thrust(fcu.now.mono, height, &local) as f32;
    Ok(SetAttitudeTarget { thrust, ..target })
}
