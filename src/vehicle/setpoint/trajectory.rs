//! `setpoint_trajectory/*`: sends each point of a trajectory at its time.
use super::geometry::{stamp_ms, vector, wxyz, yaw};
use super::target::{ACCELERATION, POSITION, SetpointTarget, VELOCITY, YAW, YAW_RATE};
use super::{reject::Reject, subscriptions::subscriptions};
use crate::msgs::geometry_msgs::msg::{Point, Pose, PoseStamped};
use crate::msgs::trajectory_msgs::msg::{MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint};
use crate::ros::{Publisher, RosError};
use crate::vehicle::{Autopilot, Fcu, Open, SetpointFrame};
use crate::{msgs::builtin_interfaces::msg, msgs::nav_msgs::msg::Path};
use std::{collections::VecDeque, time::Duration};

const MAX_POINTS: usize = 10_000;

subscriptions! {
    MultiDOFJointTrajectory("setpoint_trajectory/local", "trajectory, flown point by point")
        => |autopilot, topic, message| {
            let result = autopilot.setpoints.trajectory.begin(&autopilot.fcu, message);
            match result {
                Ok(published) => autopilot.count_unpublished(published),
                Err(reject) => autopilot.fcu.refuse(topic, &reject),
            }
        };
}

/// The active trajectory.
pub(super) struct Trajectory {
    desired: Publisher<Path>,
    pub(super) frame: SetpointFrame,
    start: Duration,
    pub(super) points: VecDeque<MultiDOFJointTrajectoryPoint>,
}

impl Trajectory {
    pub(super) fn open(open: &Open<'_>) -> Result<Self, RosError> {
        Ok(Self {
            desired: open.publisher("setpoint_trajectory/desired")?,
            frame: SetpointFrame::LocalNed,
            start: Duration::ZERO,
            points: VecDeque::new(),
        })
    }

    fn begin(
        &mut self,
        fcu: &Fcu,
        message: &MultiDOFJointTrajectory,
    ) -> Result<Result<(), RosError>, Reject> {
        match message.points.len() {
            0 => return Err(Reject::NoPoints),
            n if n > MAX_POINTS => return Err(Reject::ManyPoints(n)),
            _ => (),
        }
        self.start = fcu.now.mono;
        self.points = message.points.iter().cloned().collect();
        let poses = self.points.iter().filter_map(|point| point.transforms.first());
        let path = Path {
            header: fcu.header_now(fcu.settings.local_frame()),
            poses: poses
                .map(|transform| PoseStamped {
                    pose: Pose {
                        position: Point {
                            x: transform.translation.x,
                            y: transform.translation.y,
                            z: transform.translation.z,
                        },
                        orientation: transform.rotation.clone(),
                    },
                    ..PoseStamped::default()
                })
                .collect(),
        };
        Ok(self.desired.publish(&path).map(drop))
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        let point = self.points.front()?;
        Some(self.start.saturating_add(from_start(point)))
    }

    /// Takes all points that are due; returns the newest.
    fn take_due(&mut self, now: Duration) -> Option<MultiDOFJointTrajectoryPoint> {
        let mut due = None;
        while self.deadline().is_some_and(|at| at <= now) {
            due = self.points.pop_front();
        }
        due
    }
}

impl Autopilot {
    /// Sends the due point.
    pub(super) fn fly_trajectory(&mut self) {
        let fcu = &self.fcu;
        let trajectory = &mut self.setpoints.trajectory;
        if let Some(point) = trajectory.take_due(fcu.now.mono) {
            let stamp = stamp_ms(&fcu.now.ros.to_msg());
            let target = convert(&point, stamp, trajectory.frame, fcu.settings.quirks);
            self.send_local_setpoint("setpoint_trajectory/local", &target);
        }
    }
}

fn from_start(point: &MultiDOFJointTrajectoryPoint) -> Duration {
    let msg::Duration { sec, nanosec, .. } = point.time_from_start;
    u64::try_from(sec).map_or(Duration::ZERO, |sec| {
        Duration::from_secs(sec) + Duration::from_nanos(nanosec.into())
    })
}

fn convert(
    point: &MultiDOFJointTrajectoryPoint,
    stamp_ms: u32,
    frame: SetpointFrame,
    quirks: bool,
) -> SetpointTarget {
    let mut target =
        SetpointTarget { stamp_ms, frame: frame.number(), ..SetpointTarget::default() };
    match point.transforms.first() {
        Some(transform) => {
            let yaw = yaw(wxyz(&transform.rotation));
            target.position = vector(&transform.translation);
            // mavros does not convert the yaw from FLU to FRD.
            target.yaw = Some(if quirks && frame.is_body() { -yaw } else { yaw });
        }
        None => target.mask |= POSITION | YAW,
    }
    match point.velocities.first() {
        Some(twist) => {
            target.velocity = vector(&twist.linear);
            // mavros does not convert the yaw rate.
            target.yaw_rate = twist.angular.z * if quirks { -1.0 } else { 1.0 };
        }
        None => target.mask |= VELOCITY | YAW_RATE,
    }
    match point.accelerations.first() {
        Some(twist) => target.acceleration = vector(&twist.linear),
        None => target.mask |= ACCELERATION,
    }
    target
}
