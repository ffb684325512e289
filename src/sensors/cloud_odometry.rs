//! The odometry in clouds of newer simulators.
use super::{ConventionFinder, FrameHead, SensorContext, SensorError, true_attitude::TrueAttitude};
use crate::config::params::{OdometryAxes, QosGroup, WorldConvention};
use crate::frames::{Attitude, Euler, Frd, Ned, Transform, Vector, VehiclePose};
use crate::msgs::geometry_msgs::msg::{Point, Quaternion};
use crate::ros::{Publisher, RosError};
use crate::time::{RosTime, SimTime};
use crate::{msgs::nav_msgs::msg::Odometry, wire::OdometryCloudHeader};
use std::sync::Arc;

const CANDIDATES: [OdometryAxes; 2] = [OdometryAxes::Ned, OdometryAxes::Nwu];
/// Least difference between the errors of two conventions, and largest error of the right one. An error is a sum of m and rad.
const MIN_MARGIN: f64 = 0.5;
const MAX_ERROR: f64 = 3.0;

/// Topics and frames of the odometry of a vehicle.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OdometryTopic {
    /// Full name of the topic of poses relative to the first one; empty: not published.
    pub local: String,
    /// Full name of the topic of absolute poses; empty: not published.
    pub global: String,
    /// Frame of poses relative to the first one.
    pub start: String,
    /// Frame of poses that the simulator calls local.
    pub odom: String,
    /// Frame of poses in the world.
    pub world: String,
    /// Frame whose pose is published.
    pub child: String,
}

/// Publishes the odometry of one cloud sensor.
pub(super) struct CloudOdometry {
    local: Option<Publisher<Odometry>>,
    global: Option<Publisher<Odometry>>,
    topic: OdometryTopic,
    convention: WorldConvention,
    message: Odometry,
    /// The first pose of this run of the simulation, unconverted, because its axes may be found later.
    first: Option<[f64; 6]>,
    newest: SimTime,
    finder: ConventionFinder<OdometryAxes, 2>,
    true_attitude: Option<Arc<dyn TrueAttitude>>,
    reported: String,
}

impl CloudOdometry {
    /// Opens the topics; `None` if the sensor has none.
    pub(super) fn open(context: &SensorContext<'_>) -> Result<Option<Self>, RosError> {
        let Some(topic) = &context.odometry else { return Ok(None) };
        let open = |name: &str| match name {
            "" => Ok(None),
            name => {
                let qos = (context.qos)(QosGroup::State, name);
                context.middleware.publisher(name, qos).map(Some)
            }
        };
        let mut message = Odometry { child_frame_id: topic.child.clone(), ..Odometry::default() };
        // The simulator sends no velocity.
        message.twist.covariance[0] = -1.0;
        let configured = context.options.odometry_axes;
        Ok(Some(Self {
            local: open(&topic.local)?,
            global: open(&topic.global)?,
            topic: topic.clone(),
            convention: context.options.world,
            message,
            first: None,
            newest: SimTime(i64::MIN),
            finder: ConventionFinder::new(CANDIDATES, configured, OdometryAxes::Auto),
            true_attitude: context.true_attitude.clone(),
            reported: String::new(),
        }))
    }

    pub(super) fn is_wanted(&self) -> bool {
        let publishers = [&self.local, &self.global];
        let mut publishers = publishers.into_iter().flatten();
        publishers.any(|publisher| publisher.subscribers() > 0)
    }

    /// Publishes the pose in a cloud's header, with the stamp of the cloud.
    pub(super) fn publish(
        &mut self,
        header: &OdometryCloudHeader,
        frame: &FrameHead,
    ) -> Result<(), SensorError> {
        if !self.is_wanted() {
            return Ok(());
        }
        let axis_type = header.axis_type.get();
        let frame_id = match axis_type {
            OdometryCloudHeader::LOCAL => self.topic.odom.clone(),
            OdometryCloudHeader::WORLD => self.topic.world.clone(),
            axis_type => return Err(SensorError::OdometryFrame { axis_type }),
        };
        let pose = header.pose.map(|x| f64::from(x.get()));
        if !pose.iter().all(|x| x.is_finite()) {
            return Err(SensorError::NotFinite { count: 1 });
        }
        if axis_type == OdometryCloudHeader::WORLD {
            self.compare(pose, frame.sim_time);
        }
        if frame.sim_time < self.newest {
            self.first = None;
        }
        self.newest = frame.sim_time;
        let first = *self.first.get_or_insert(pose);
        let [first, pose] = [first, pose].map(|pose| {
            let (position, attitude) = read_pose(self.finder.in_use(), pose);
            self.convention.pose(position, attitude)
        });
        let start = self.topic.start.clone();
        if let Some(global) = &self.global {
            send(global, &mut self.message, (frame_id, pose), frame.stamp)?;
        }
        if let Some(local) = &self.local {
            send(local, &mut self.message, (start, first.inverse() * pose), frame.stamp)?;
        }
        Ok(())
    }

    /// Compares a pose with the true pose of its vehicle.
    fn compare(&mut self, pose: [f64; 6], at: SimTime) {
        let Some(true_attitude) = &self.true_attitude else { return };
        if let Some(truth) = true_attitude.pose(at) {
            let costs = CANDIDATES.map(|axes| error_of(read_pose(axes, pose), &truth));
            if costs.iter().any(|cost| *cost < MAX_ERROR) {
                self.finder.add_round(costs, MIN_MARGIN);
            }
        }
        let text = self.finder.text(OdometryAxes::name);
        if text != self.reported {
            true_attitude.report("odometry", self.finder.verdict(), &text);
            self.reported = text;
        }
    }
}

fn read_pose(
    axes: OdometryAxes,
    [x, y, z, roll, pitch, yaw]: [f64; 6],
) -> (Vector<Ned>, Attitude<Frd, Ned>) {
    let sign = match axes {
        OdometryAxes::Auto | OdometryAxes::Ned => 1.0,
        OdometryAxes::Nwu => -1.0,
    };
    let attitude = Attitude::from_euler(Euler::new(roll, sign * pitch, sign * yaw));
    (Vector::new(x, sign * y, sign * z), attitude)
}

fn error_of((position, attitude): (Vector<Ned>, Attitude<Frd, Ned>), truth: &VehiclePose) -> f64 {
    (position - truth.position).norm() + attitude.angle_to(truth.attitude)
}

fn send(
    publisher: &Publisher<Odometry>,
    message: &mut Odometry,
    (frame_id, pose): (String, Transform),
    stamp: RosTime,
) -> Result<(), RosError> {
    let ([x, y, z], [qw, qx, qy, qz]) = (pose.translation(), pose.rotation());
    message.header.stamp = stamp.to_msg();
    message.header.frame_id = frame_id;
    message.pose.pose.position = Point { x, y, z };
    message.pose.pose.orientation = Quaternion { x: qx, y: qy, z: qz, w: qw };
    publisher.publish(message)?;
    Ok(())
}
