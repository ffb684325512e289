//! `odometry/in`: the estimator's odometry.
use super::convert::{point, quaternion, symmetric, vector3};
use super::{plugin::plugin, topic::RosResult};
use crate::frames::{Attitude, Covariance6, Enu, Flu, Frd, Ned, Vector, raw_enu_ned};
use crate::vehicle::{Counter, Fcu};
use crate::wire::mavlink::numbers::*;
use crate::{msgs::nav_msgs::msg::Odometry, wire::mavlink::raw::OdometryMessage};

plugin! { OdometryPlugin(settings) {
    publish {
        odometry: Odometry("odometry/in", Telemetry, "ODOMETRY of the autopilot, in `local_origin`") in settings.odometry_frame()
            => |odometry| odometry.child_frame_id.clone_from(&settings.base_link);
    }
    receive { raw::OdometryMessage => odometry, }
} }

impl OdometryPlugin {
    fn odometry(&mut self, fcu: &mut Fcu, m: &OdometryMessage) -> RosResult {
        // LOCAL_FRD, whose x axis is the initial heading, is read as LOCAL_NED. mavros reads every frame as LOCAL_NED.
        if !matches!(m.frame_id, MAV_FRAME_LOCAL_NED | MAV_FRAME_LOCAL_FRD) {
            fcu.count(Counter::OdometryFrame);
            return Ok(());
        }
        let numbers = m.position.into_iter().chain(m.q).chain(m.velocity);
        if !fcu.check_finite(numbers.chain(m.rates)) {
            return Ok(());
        }
        let (velocity, covariance) = match m.child_frame_id {
            MAV_FRAME_BODY_NED | MAV_FRAME_BODY_FRD => {
                let velocity = Vector::<Frd>::from(m.velocity);
                (velocity, symmetric::<6, 36>(&m.velocity_covariance))
            }
            MAV_FRAME_LOCAL_NED | MAV_FRAME_LOCAL_FRD => {
                let Some(attitude) = Attitude::<Frd, Ned>::from_wxyz(m.q.map(f64::from)) else {
                    fcu.count(Counter::BadAttitude);
                    return Ok(());
                };
                let velocity = attitude.inverse().rotate(Vector::from(m.velocity));
                (velocity, [0.0; 36])
            }
            _ => {
                fcu.count(Counter::OdometryFrame);
                return Ok(());
            }
        };
        let stamp = fcu.stamp_us(m.time_usec);
        self.odometry.publish_if_subscribed(stamp, |odometry| {
            let pose = &mut odometry.pose;
            pose.pose.position = point(Vector::<Enu>::from(Vector::<Ned>::from(m.position)));
            pose.pose.orientation = quaternion(raw_enu_ned(m.q.map(f64::from)));
            let rows = symmetric::<6, 36>(&m.pose_covariance);
            pose.covariance = Covariance6::<Ned>::from_rows(rows).into_frame::<Enu>().to_rows();
            let twist = &mut odometry.twist;
            twist.twist.linear = vector3(Vector::<Flu>::from(velocity));
            twist.twist.angular = vector3(Vector::<Flu>::from(Vector::<Frd>::from(m.rates)));
            twist.covariance =
                Covariance6::<Frd>::from_rows(covariance).into_frame::<Flu>().to_rows();
        })
    }
}
