//! `setpoint_attitude/*`: attitude or body rates on one topic, thrust on another.
use super::geometry::{frd, ned, stamp_ms, vector, wxyz};
use super::pairing::{Paired, Pairing};
use super::raw::{NO_ATTITUDE, NO_RATES, attitude_target};
use super::reject::{Checked, Reject};
use super::{subscriptions::subscriptions, target::SetpointRules};
use crate::frames::raw_enu_ned;
use crate::msgs::geometry_msgs::msg::{PoseStamped, TwistStamped};
use crate::vehicle::Autopilot;
use crate::wire::mavlink::raw::SetAttitudeTarget;
use crate::{msgs::builtin_interfaces::msg::Time, msgs::mavros_msgs::msg::Thrust, time::RosTime};

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
            autopilot.pair(topic, &message.header.stamp, half);
        };
    TwistStamped("setpoint_attitude/cmd_vel", "body rates; sent with the thrust of about the same time")
        => |autopilot, topic, message| {
            let half = AttitudeHalf::Rates(vector(&message.twist.angular));
            autopilot.pair(topic, &message.header.stamp, half);
        };
    Thrust("setpoint_attitude/thrust", "thrust 0 to 1") => |autopilot, topic, message| {
        let thrust = f64::from(message.thrust);
        if let Err(reject) = check_thrust(thrust, autopilot.fcu.settings.reverse_thrust) {
            return autopilot.fcu.refuse(topic, &reject);
        }
        let stamp = RosTime::from_msg(&message.header.stamp).0;
        let paired = autopilot.setpoints.pairs.add_right(stamp, thrust);
        autopilot.send_pair(topic, paired);
    };
}

fn check_thrust(thrust: f64, allows_reverse: bool) -> Result<(), Reject> {
    if !(-1.0..=1.0).contains(&thrust) {
        return Err(Reject::Thrust(thrust));
    }
    if thrust < 0.0 && !allows_reverse {
        return Err(Reject::ReverseThrust(thrust));
    }
    Ok(())
}

impl Autopilot {
    fn pair(&mut self, topic: &'static str, stamp: &Time, half: AttitudeHalf) {
        let is_attitude = matches!(half, AttitudeHalf::Attitude(_));
        if self.fcu.settings.use_quaternion != is_attitude {
            return self.fcu.refuse(topic, &Reject::NotUsed(is_attitude));
        }
        let paired = self.setpoints.pairs.add_left(RosTime::from_msg(stamp).0, half);
        self.send_pair(topic, paired);
    }

    fn send_pair(&mut self, topic: &'static str, paired: Paired<AttitudeHalf, f64>) {
        match paired {
            Paired::Waits => (),
            Paired::Full => self.fcu.refuse(topic, &Reject::Unpaired),
            Paired::Pair(stamp, half, thrust) => {
                let topic = match half {
                    AttitudeHalf::Attitude(_) => "setpoint_attitude/attitude",
                    AttitudeHalf::Rates(_) => "setpoint_attitude/cmd_vel",
                };
                let stamp = stamp_ms(&RosTime(stamp).to_msg());
                let converted = convert(stamp, half, thrust, &SetpointRules::of(&self.fcu));
                self.send_setpoint(topic, converted.map(Checked::without_warning));
            }
        }
    }
}

fn convert(
    time_boot_ms: u32,
    half: AttitudeHalf,
    thrust: f64,
    rules: &SetpointRules,
) -> Result<SetAttitudeTarget, Reject> {
    let (mask, q, rates) = match half {
        AttitudeHalf::Attitude(q) => (NO_RATES, raw_enu_ned(q), [0.0; 3]),
        // mavros swaps roll and pitch rates: it converts them as vectors of the world instead of the body.
        AttitudeHalf::Rates(rates) if rules.quirks => {
            (NO_ATTITUDE, [1.0, 0.0, 0.0, 0.0], ned(rates))
        }
        AttitudeHalf::Rates(rates) => (NO_ATTITUDE, [1.0, 0.0, 0.0, 0.0], frd(rates)),
    };
    attitude_target(time_boot_ms, mask, q, rates, thrust, rules)
}
