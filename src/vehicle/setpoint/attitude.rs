//! `setpoint_attitude/*`: attitude or body rates on one topic, thrust on another.
use super::geometry::{frd, ned, ned_frd, stamp_ms, vector, wxyz};
use super::pairing::{Paired, Pairing};
use super::raw::{NO_ATTITUDE, RATES as NO_RATES, attitude_target};
use super::reject::{Checked, Reject};
use super::target::Rules;
use crate::msgs::builtin_interfaces::msg::Time;
use crate::msgs::geometry_msgs::msg::{PoseStamped, TwistStamped};
use crate::msgs::mavros_msgs::msg::Thrust;
use crate::ros::RosError;
use crate::time::RosTime;
use crate::vehicle::{Autopilot, Open};
use crate::wire::mavlink::raw::SetAttitudeTarget;

const ATTITUDE: &str = "setpoint_attitude/attitude";
const RATES: &str = "setpoint_attitude/cmd_vel";
const THRUST: &str = "setpoint_attitude/thrust";

/// Halves that wait for the other topic.
pub(super) type Pairs = Pairing<Part, f64>;

/// Half of a setpoint, in ROS axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    Attitude([f64; 4]),
    Rates([f64; 3]),
}

pub(super) fn open(open: &Open<'_>) -> Result<(), RosError> {
    open.subscribe(ATTITUDE, |autopilot, message: PoseStamped| {
        let part = Part::Attitude(wxyz(&message.pose.orientation));
        autopilot.part(ATTITUDE, true, &message.header.stamp, part);
    })?;
    open.subscribe(RATES, |autopilot, message: TwistStamped| {
        let part = Part::Rates(vector(&message.twist.angular));
        autopilot.part(RATES, false, &message.header.stamp, part);
    })?;
    open.subscribe(THRUST, |autopilot, message: Thrust| {
        let thrust = f64::from(message.thrust);
        if let Err(reject) = check(thrust, autopilot.fcu.settings.reverse_thrust) {
            return autopilot.fcu.refuse(THRUST, &reject);
        }
        let paired =
            autopilot.setpoints.pairs.right(RosTime::from_msg(&message.header.stamp).0, thrust);
        autopilot.paired(THRUST, paired);
    })
}

fn check(thrust: f64, reverse: bool) -> Result<(), Reject> {
    if !(-1.0..=1.0).contains(&thrust) {
        return Err(Reject::Thrust(thrust));
    }
    if thrust < 0.0 && !reverse {
        return Err(Reject::ReverseThrust(thrust));
    }
    Ok(())
}

impl Autopilot {
    fn part(&mut self, topic: &'static str, quaternion: bool, stamp: &Time, part: Part) {
        if self.fcu.settings.use_quaternion != quaternion {
            return self.fcu.refuse(topic, &Reject::NotUsed(quaternion));
        }
        let paired = self.setpoints.pairs.left(RosTime::from_msg(stamp).0, part);
        self.paired(topic, paired);
    }

    fn paired(&mut self, topic: &'static str, paired: Paired<Part, f64>) {
        match paired {
            Paired::Waits => (),
            Paired::Full => self.fcu.refuse(topic, &Reject::Unpaired),
            Paired::Pair(stamp, part, thrust) => {
                let topic = match part {
                    Part::Attitude(_) => ATTITUDE,
                    Part::Rates(_) => RATES,
                };
                let stamp = stamp_ms(&RosTime(stamp).to_msg());
                let converted = convert(stamp, part, thrust, &Rules::of(&self.fcu));
                self.setpoint(topic, converted.map(Checked::fine));
            }
        }
    }
}

fn convert(
    time_boot_ms: u32,
    part: Part,
    thrust: f64,
    rules: &Rules,
) -> Result<SetAttitudeTarget, Reject> {
    let (mask, q, rates) = match part {
        Part::Attitude(q) => (NO_RATES, ned_frd(q), [0.0; 3]),
        // mavros swaps roll and pitch rates: it converts them with the world's axes instead of the body's.
        Part::Rates(rates) if rules.quirks => (NO_ATTITUDE, [1.0, 0.0, 0.0, 0.0], ned(rates)),
        Part::Rates(rates) => (NO_ATTITUDE, [1.0, 0.0, 0.0, 0.0], frd(rates)),
    };
    attitude_target(time_boot_ms, mask, q, rates, thrust, rules)
}
