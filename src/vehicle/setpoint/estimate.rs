//! `vision_pose/*`, `vision_speed/*`, `mocap/*`, `odometry/out`: external pose and velocity estimates for the autopilot.
use super::geometry::{frd, ned, point, single, vector, wxyz};
use super::{reject::Reject, subscriptions::subscriptions};
use crate::frames::{Attitude, Covariance3, Covariance6, Enu, Flu, Frd, Ned, raw_enu_ned};
use crate::msgs::geometry_msgs::msg::{
    Pose, PoseStamped, PoseWithCovarianceStamped, Quaternion, TransformStamped, TwistStamped,
    TwistWithCovarianceStamped, Vector3Stamped,
};
use crate::vehicle::Autopilot;
use crate::vehicle::stamp::stamp_us;
use crate::wire::mavlink::MavMessage;
use crate::wire::mavlink::dialect::{
    ATT_POS_MOCAP_DATA, MavEstimatorType, MavFrame, ODOMETRY_DATA, VISION_POSITION_ESTIMATE_DATA,
    VISION_SPEED_ESTIMATE_DATA,
};
use crate::{msgs::builtin_interfaces::msg::Time, msgs::nav_msgs::msg::Odometry};
use std::f64::consts::PI;

subscriptions! {
    PoseStamped("vision_pose/pose", "VISION_POSITION_ESTIMATE")
        => |autopilot, topic, m| autopilot.vision(topic, &m.header.stamp, &m.pose, &[0.0; 36]);
    PoseWithCovarianceStamped("vision_pose/pose_cov", "VISION_POSITION_ESTIMATE with covariance")
        => |autopilot, topic, m| autopilot.vision(topic, &m.header.stamp, &m.pose.pose, &m.pose.covariance);
    TwistStamped("vision_speed/speed_twist", "VISION_SPEED_ESTIMATE")
        => |autopilot, topic, m| autopilot.speed(topic, &m.header.stamp, vector(&m.twist.linear), [0.0; 9]);
    TwistWithCovarianceStamped("vision_speed/speed_twist_cov", "VISION_SPEED_ESTIMATE with covariance")
        => |autopilot, topic, m| {
            let all = m.twist.covariance;
            let linear = std::array::from_fn(|cell| all[cell / 3 * 6 + cell % 3]);
            autopilot.speed(topic, &m.header.stamp, vector(&m.twist.twist.linear), linear);
        };
    Vector3Stamped("vision_speed/speed_vector", "VISION_SPEED_ESTIMATE")
        => |autopilot, topic, m| autopilot.speed(topic, &m.header.stamp, vector(&m.vector), [0.0; 9]);
    PoseStamped("mocap/pose", "ATT_POS_MOCAP")
        => |autopilot, topic, m| autopilot.mocap(topic, &m.header.stamp, point(&m.pose.position), &m.pose.orientation);
    TransformStamped("mocap/tf", "ATT_POS_MOCAP") => |autopilot, topic, m| {
        let position = vector(&m.transform.translation);
        autopilot.mocap(topic, &m.header.stamp, position, &m.transform.rotation);
    };
    Odometry("odometry/out", "ODOMETRY for the estimator") => |autopilot, topic, m| {
        let time = autopilot.time_us(topic, &m.header.stamp);
        let body = &autopilot.fcu.settings.base_link;
        let is_other_frame = !(m.child_frame_id == *body || m.child_frame_id.ends_with("base_link"));
        let converted = odometry(m, time);
        if is_other_frame && converted.is_ok() {
            autopilot.fcu.warn_about(topic, &Reject::ChildFrame);
        }
        autopilot.pass(topic, converted.map(MavMessage::ODOMETRY));
    };
}

impl Autopilot {
    /// Returns the stamp in µs, or the current time if the stamp is 0. Warns if the stamp seems to be of another clock.
    fn time_us(&mut self, topic: &'static str, stamp: &Time) -> u64 {
        match stamp_us(stamp) {
            0 => stamp_us(&self.fcu.now.ros.to_msg()),
            time => {
                let fcu = &mut self.fcu;
                let offset = time as f64 * 1e-6 - fcu.now.ros.0 as f64 * 1e-9;
                let new = fcu.link_warnings.stamp(fcu.now.mono, topic, offset);
                fcu.log_link_warning(new);
                time
            }
        }
    }

    fn vision(&mut self, topic: &'static str, stamp: &Time, pose: &Pose, covariance: &[f64; 36]) {
        let time = self.time_us(topic, stamp);
        if self.setpoints.last_vision == Some(time) {
            return self.fcu.refuse(topic, &Reject::NotNewer);
        }
        let converted = vision(time, pose, covariance, self.fcu.settings.quirks);
        if converted.is_ok() {
            self.setpoints.last_vision = Some(time);
        }
        self.pass(topic, converted.map(MavMessage::VISION_POSITION_ESTIMATE));
    }

    fn speed(
        &mut self,
        topic: &'static str,
        stamp: &Time,
        velocity: [f64; 3],
        covariance: [f64; 9],
    ) {
        let usec = self.time_us(topic, stamp);
        let converted = check_finite("velocity", velocity).map(|velocity| {
            let [x, y, z] = single(ned(velocity));
            let covariance = Covariance3::<Enu>::from_rows(covariance).into_frame::<Ned>();
            let covariance = single(covariance.to_rows());
            let rest = VISION_SPEED_ESTIMATE_DATA::default();
            VISION_SPEED_ESTIMATE_DATA { usec, x, y, z, covariance, ..rest }
        });
        self.pass(topic, converted.map(MavMessage::VISION_SPEED_ESTIMATE));
    }

    fn mocap(
        &mut self,
        topic: &'static str,
        stamp: &Time,
        position: [f64; 3],
        orientation: &Quaternion,
    ) {
        let time_usec = self.time_us(topic, stamp);
        let converted = check_finite("position", position).and_then(|position| {
            let [x, y, z] = single(ned(position));
            let q = single(raw_enu_ned(attitude(orientation)?.wxyz()));
            let rest = ATT_POS_MOCAP_DATA::default();
            Ok(ATT_POS_MOCAP_DATA { time_usec, q, x, y, z, ..rest })
        });
        self.pass(topic, converted.map(MavMessage::ATT_POS_MOCAP));
    }
}

/// Refuses a position or velocity unless all its axes are finite: the autopilot uses it as a whole.
fn check_finite(name: &'static str, values: [f64; 3]) -> Result<[f64; 3], Reject> {
    if values.iter().any(|value| value.is_nan()) {
        return Err(Reject::NotANumber(name));
    }
    if values.iter().any(|value| value.is_infinite()) {
        return Err(Reject::Infinite(name));
    }
    Ok(values)
}

fn attitude(orientation: &Quaternion) -> Result<Attitude<Flu, Enu>, Reject> {
    Attitude::from_wxyz(wxyz(orientation)).ok_or(Reject::Orientation)
}

fn vision(
    usec: u64,
    pose: &Pose,
    covariance: &[f64; 36],
    quirks: bool,
) -> Result<VISION_POSITION_ESTIMATE_DATA, Reject> {
    let [x, y, z] = single(ned(check_finite("position", point(&pose.position))?));
    let mut angles = Attitude::<Frd, Ned>::from(attitude(&pose.orientation)?).euler();
    if quirks && angles.yaw < 0.0 {
        // mavros uses Eigen's Euler angles, with yaw from 0 to π.
        let (sin, cos) = angles.pitch.sin_cos();
        angles.yaw += PI;
        angles.pitch = sin.atan2(-cos);
        angles.roll += if angles.roll > 0.0 { -PI } else { PI };
    }
    Ok(VISION_POSITION_ESTIMATE_DATA {
        usec,
        x,
        y,
        z,
        roll: angles.roll as f32,
        pitch: angles.pitch as f32,
        yaw: angles.yaw as f32,
        covariance: triangle(&world_covariance(covariance)),
        ..VISION_POSITION_ESTIMATE_DATA::default()
    })
}

fn odometry(message: &Odometry, time_usec: u64) -> Result<ODOMETRY_DATA, Reject> {
    let Pose { position, orientation, .. } = &message.pose.pose;
    let twist = &message.twist.twist;
    let [x, y, z] = single(ned(check_finite("position", point(position))?));
    let [vx, vy, vz] = single(frd(check_finite("velocity", vector(&twist.linear))?));
    let rates = single(frd(check_finite("angular velocity", vector(&twist.angular))?));
    let velocity_covariance =
        Covariance6::<Flu>::from_rows(message.twist.covariance).into_frame::<Frd>();
    Ok(ODOMETRY_DATA {
        time_usec,
        x,
        y,
        z,
        q: single(raw_enu_ned(attitude(orientation)?.wxyz())),
        vx,
        vy,
        vz,
        rollspeed: rates[0],
        pitchspeed: rates[1],
        yawspeed: rates[2],
        pose_covariance: triangle(&world_covariance(&message.pose.covariance)),
        velocity_covariance: triangle(&velocity_covariance.to_rows()),
        frame_id: MavFrame::MAV_FRAME_LOCAL_FRD,
        child_frame_id: MavFrame::MAV_FRAME_BODY_FRD,
        estimator_type: MavEstimatorType::MAV_ESTIMATOR_TYPE_VISION,
        ..ODOMETRY_DATA::default()
    })
}

fn world_covariance(rows: &[f64; 36]) -> [f64; 36] {
    let covariance = Covariance6::<Enu>::from_rows(*rows);
    covariance.into_frame::<Ned>().to_rows()
}

/// The 21 numbers of a symmetric matrix, from the lower triangle as in mavros.
fn triangle(rows: &[f64; 36]) -> [f32; 21] {
    let mut cells = (0..6).flat_map(|row| (row..6).map(move |column| rows[column * 6 + row]));
    std::array::from_fn(|_| cells.next().unwrap_or(0.0) as f32)
}
