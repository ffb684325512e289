//! The true state of a vehicle as `nav_msgs`: where it is now, and where it has been.
use crate::config::params::Stream;
use crate::frames::{Attitude, Flu, Frd, Ned, Vector, VehiclePose, WorldConvention};
use crate::msgs::Message as _;
use crate::msgs::geometry_msgs::msg::{
    Point, Pose, PoseStamped, PoseWithCovariance, Quaternion, Twist, TwistWithCovariance, Vector3,
};
use crate::msgs::nav_msgs::msg::{Odometry, Path};
use crate::ros::{Publisher, RosError};
use crate::time::RosTime;
use crate::wire::TrueState;
use std::collections::VecDeque;
use std::time::Duration;

/// A topic below the vehicle's prefix.
#[derive(Clone, Copy, Debug)]
pub struct TruthTopic {
    /// Name, relative to the vehicle.
    pub name: &'static str,
    /// Type, as ROS writes it.
    pub interface: &'static str,
    /// QoS.
    pub stream: Stream,
    /// Content, for the documents.
    pub doc: &'static str,
}

/// Odometry and path.
pub const TRUTH_TOPICS: [TruthTopic; 2] = [
    TruthTopic {
        name: "ground_truth/odom",
        interface: Odometry::TYPE,
        stream: Stream::State,
        doc: "true pose in `map`, true twist in `base_link`; covariances 0, but -1 at `twist.covariance[21]` where the \
              simulator sends no angular rate",
    },
    TruthTopic {
        name: "ground_truth/path",
        interface: Path::TYPE,
        stream: Stream::Path,
        doc: "where the vehicle has been since it was set down: a pose each 0.1 m, the newest 2000, twice a second while \
              it moves",
    },
];

/// A pose is added to the path when the vehicle is this far from the one before.
pub const PATH_STEP_M: f64 = 0.1;
/// A vehicle that is further away than this from one state to the next was set down elsewhere.
const JUMP_M: f64 = 20.0;
/// A stamp that is further back than this is that of a simulator that was started anew; less, a late datagram.
const RESTART: Duration = Duration::from_secs(1);
/// Poses that are kept.
pub const PATH_LENGTH: usize = 2000;
/// Shortest time between two paths.
pub const PATH_PERIOD: Duration = Duration::from_millis(500);

/// Returns the true state as odometry; `pose` is what TF gets of the same state.
pub fn odometry(
    state: &TrueState,
    pose: &VehiclePose,
    world: WorldConvention,
    stamp: RosTime,
) -> Odometry {
    let body =
        |vector: Vector<Ned>| -> Vector<Flu> { pose.attitude.inverse().rotate(vector).into() };
    let mut twist = TwistWithCovariance {
        twist: Twist {
            linear: vector3(body(state.velocity.into())),
            angular: vector3(state.rate.map_or_else(Vector::default, |rate| {
                Vector::<Flu>::from(Vector::<Frd>::from(rate))
            })),
        },
        ..TwistWithCovariance::default()
    };
    if state.rate.is_none() {
        twist.covariance[21] = -1.0;
    }
    let mut message = Odometry {
        pose: PoseWithCovariance {
            pose: pose_msg(pose.position, pose.attitude, world),
            ..PoseWithCovariance::default()
        },
        twist,
        ..Odometry::default()
    };
    message.header.stamp = stamp.to_msg();
    message
}

/// Publishes the true state of one vehicle.
pub struct GroundTruth {
    odometry: Publisher<Odometry>,
    path: Publisher<Path>,
    world: WorldConvention,
    map: String,
    base_link: String,
    trail: Trail,
    last: Option<RosTime>,
    last_path: Option<RosTime>,
    path_readers: usize,
}

impl GroundTruth {
    /// `map` and `base_link` are the frames of the vehicle.
    pub fn new(
        odometry: Publisher<Odometry>,
        path: Publisher<Path>,
        world: WorldConvention,
        map: String,
        base_link: String,
    ) -> Self {
        Self {
            odometry,
            path,
            world,
            map,
            base_link,
            trail: Trail::default(),
            last: None,
            last_path: None,
            path_readers: 0,
        }
    }

    /// Publishes a state, as far as somebody subscribes. One that is older than the last is left out: who integrates
    /// odometry cannot use it.
    pub fn publish(
        &mut self,
        state: &TrueState,
        pose: &VehiclePose,
        stamp: RosTime,
    ) -> Result<(), RosError> {
        let late = |last: RosTime| stamp <= last && last.0 - stamp.0 < RESTART.as_nanos() as i64;
        if self.last.is_some_and(late) {
            return Ok(());
        }
        self.last = Some(stamp);
        let changed = self.trail.extend(pose, self.world, stamp);
        if self.odometry.subscribers() > 0 {
            let mut message = odometry(state, pose, self.world, stamp);
            message.header.frame_id.clone_from(&self.map);
            message.child_frame_id.clone_from(&self.base_link);
            self.odometry.publish(&message)?;
        }
        let readers = self.path.subscribers();
        let joined = readers > self.path_readers;
        self.path_readers = readers;
        let period = PATH_PERIOD.as_nanos() as i64;
        let due = self
            .last_path
            .is_none_or(|last| stamp.0 < last.0 || stamp.0 - last.0 >= period);
        if joined || (readers > 0 && changed && due) {
            self.last_path = Some(stamp);
            self.trail.changed = false;
            self.path.publish(&self.trail.message(&self.map, stamp))?;
        }
        Ok(())
    }
}

/// Where a vehicle has been: bounded, and thinned by distance.
#[derive(Debug, Default)]
pub struct Trail {
    poses: VecDeque<(RosTime, Pose)>,
    changed: bool,
}

impl Trail {
    /// Adds the pose if the vehicle has moved; returns whether there is something that was not published yet.
    ///
    /// A vehicle that jumps, or whose clock goes back, was set down anew: its path begins there.
    pub fn extend(&mut self, pose: &VehiclePose, world: WorldConvention, stamp: RosTime) -> bool {
        let [x, y, z] = world.vector(pose.position);
        let distance = self.poses.back().map(|(before, last)| {
            let p = &last.position;
            let moved = ((p.x - x).powi(2) + (p.y - y).powi(2) + (p.z - z).powi(2)).sqrt();
            (moved, stamp < *before)
        });
        match distance {
            Some((moved, false)) if moved < PATH_STEP_M => return self.changed,
            Some((moved, back)) if back || moved > JUMP_M => self.poses.clear(),
            _ => {}
        }
        if self.poses.len() == PATH_LENGTH {
            self.poses.pop_front();
        }
        let pose = pose_msg(pose.position, pose.attitude, world);
        self.poses.push_back((stamp, pose));
        self.changed = true;
        true
    }

    /// Returns the path in `frame`.
    pub fn message(&self, frame: &str, stamp: RosTime) -> Path {
        let stamped = |(stamp, pose): &(RosTime, Pose)| {
            let mut message = PoseStamped {
                pose: pose.clone(),
                ..PoseStamped::default()
            };
            frame.clone_into(&mut message.header.frame_id);
            message.header.stamp = stamp.to_msg();
            message
        };
        let mut path = Path {
            poses: self.poses.iter().map(stamped).collect(),
            ..Path::default()
        };
        frame.clone_into(&mut path.header.frame_id);
        path.header.stamp = stamp.to_msg();
        path
    }
}

fn pose_msg(position: Vector<Ned>, attitude: Attitude<Frd, Ned>, world: WorldConvention) -> Pose {
    let [x, y, z] = world.vector(position);
    let [qw, qx, qy, qz] = world.attitude(attitude);
    Pose {
        position: Point { x, y, z },
        orientation: Quaternion {
            x: qx,
            y: qy,
            z: qz,
            w: qw,
        },
    }
}

fn vector3(vector: Vector<Flu>) -> Vector3 {
    let [x, y, z] = vector.to_array();
    Vector3 { x, y, z }
}
