//! `setpoint_attitude/*`: attitude or body rates on one topic, thrust on another.
use super::geometry::{frd, ned, ned_frd, stamp_ms, vector, wxyz};
use super::pairing::{Paired, Pairing};
use super::raw::{NO_ATTITUDE, RATES as NO_RATES, attitude_target};
use super::reject::{Checked, Reject};
use super::subscriptions::subscriptions;
use super::target::SetpointRules;
use crate::msgs::builtin_interfaces::msg::Time;
use crate::msgs::geometry_msgs::msg::{PoseStamped, TwistStamped};
use crate::msgs::mavros_msgs::msg::Thrust;
use crate::time::RosTime;
use crate::vehicle::Autopilot;
use crate::wire::mavlink::raw::SetAttitudeTarget;

/// Halves that wait for the other topic.
pub(super) type ThrustPairs = Pairing<AttitudeHalf, f64>;

/// Half of a setpoint, in ROS axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AttitudeHalf {
    Attitude([f64; 4]),
    Rates([f64; 3]),
}

subscriptions! {
    PoseStamped("setpoint_attitude/attitude", "attitude; sent with the thrust of about the same time")
        => |autopilot, topic, message| {
            let half = AttitudeHalf::Attitude(wxyz(&message.pose.orientation));
            autopilot.part(topic, true, &message.header.stamp, half);
        };
    TwistStamped("setpoint_attitude/cmd_vel", "body rates; sent with the thrust of about the same time")
        => |autopilot, topic, message| {
            let half = AttitudeHalf::Rates(vector(&message.twist.angular));
            autopilot.part(topic, false, &message.header.stamp, half);
        };
    Thrust("setpoint_attitude/thrust", "thrust 0 to 1") => |autopilot, topic, message| {
        let thrust = f64::from(message.thrust);
        if let Err(reject) = check(thrust, autopilot.fcu.settings.reverse_thrust) {
            return autopilot.fcu.refuse(topic, &reject);
        }
        let stamp = RosTime::from_msg(&message.header.stamp).0;
        let paired = autopilot.setpoints.pairs.right(stamp, thrust);
        autopilot.paired(topic, paired);
    };
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
    fn part(&mut self, topic: &'static str, quaternion: bool, stamp: &Time, part: AttitudeHalf) {
        if self.fcu.settings.use_quaternion != quaternion {
            return self.fcu.refuse(topic, &Reject::NotUsed(quaternion));
        }
        let paired = self.setpoints.pairs.left(RosTime::from_msg(stamp).0, part);
        self.paired(topic, paired);
    }

    fn paired(&mut self, topic: &'static str, paired: Paired<AttitudeHalf, f64>) {
        match paired {
            Paired::Waits => (),
            Paired::Full => self.fcu.refuse(topic, &Reject::Unpaired),
            Paired::Pair(stamp, part, thrust) => {
                let topic = match part {
                    AttitudeHalf::Attitude(_) => "setpoint_attitude/attitude",
                    AttitudeHalf::Rates(_) => "setpoint_attitude/cmd_vel",
                };
                let stamp = stamp_ms(&RosTime(stamp).to_msg());
                let converted = convert(stamp, part, thrust, &SetpointRules::of(&self.fcu));
                self.setpoint(topic, converted.map(Checked::without_doubt));
            }
        }
    }
}

fn convert(
    time_boot_ms: u32,
    part: AttitudeHalf,
    thrust: f64,
    rules: &SetpointRules,
) -> Result<SetAttitudeTarget, Reject> {
    let (mask, q, rates) = match part {
        AttitudeHalf::Attitude(q) => (NO_RATES, ned_frd(q), [0.0; 3]),
        // mavros swaps roll and pitch rates: it converts them with the world's axes instead of the body's.
        AttitudeHalf::Rates(rates) if rules.quirks => {
            (NO_ATTITUDE, [1.0, 0.0, 0.0, 0.0], ned(rates))
        }
        AttitudeHalf::Rates(rates) => (NO_ATTITUDE, [1.0, 0.0, 0.0, 0.0], frd(rates)),
    };
    attitude_target(time_boot_ms, mask, q, rates, thrust, rules)
}
