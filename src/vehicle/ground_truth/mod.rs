//! The true state of a vehicle: pose, motion, path and collisions.
mod crash;
mod gps;
mod messages;
mod trail;

pub use crash::Crashes;
pub use gps::{GPS_TOPIC, GpsReceiver, noisy_fix};
pub use messages::{
    accel_stamped, motor_speeds, nav_sat_fix, odometry, pose_stamped, twist_stamped,
};
pub use trail::{PATH_LENGTH, PATH_STEP_M, Trail};

use crate::frames::{Geoid, Separation, VehiclePose, WorldConvention};
use crate::msgs::geometry_msgs::msg::{AccelStamped, PoseStamped, TwistStamped};
use crate::msgs::nav_msgs::msg::{Odometry, Path};
use crate::msgs::sensor_msgs::msg::{JointState, NavSatFix};
use crate::ros::{Middleware, Publisher, Qos, RosError};
use crate::wire::TrueState;
use crate::{config::params::QosGroup, msgs::Message, msgs::std_msgs::msg::Int32, time::RosTime};
use std::time::Duration;

/// A topic below the vehicle's prefix.
#[derive(Clone, Copy, Debug)]
pub struct TruthTopic {
    /// Name, relative to the vehicle.
    pub name: &'static str,
    /// Type, as ROS writes it.
    pub interface: &'static str,
    /// QoS.
    pub group: QosGroup,
    /// Content, for the documentation.
    pub doc: &'static str,
}

const fn topic<M: Message>(name: &'static str, group: QosGroup, doc: &'static str) -> TruthTopic {
    TruthTopic { name, interface: M::TYPE, group, doc }
}

macro_rules! truth_topics {
    ($($field:ident: $message:ident = $name:literal, $group:ident, $doc:literal;)+) => {
        /// All topics.
        pub const TRUTH_TOPICS: &[TruthTopic] = &[$(topic::<$message>($name, QosGroup::$group, $doc),)+];

        /// The publishers of [`TRUTH_TOPICS`].
        #[expect(missing_docs, reason = "documented in the table")]
        pub struct TruthPublishers {
            $(pub $field: Publisher<$message>,)+
        }

        impl TruthPublishers {
            /// Opens all topics; `full_name` returns the name of a vehicle's topic.
            pub fn open(
                middleware: &Middleware,
                full_name: impl Fn(&str) -> String,
                qos: impl Fn(QosGroup, &str) -> Qos,
            ) -> Result<Self, RosError> {
                Ok(Self {
                    $($field: {
                        let name = full_name($name);
                        middleware.publisher(&name, qos(QosGroup::$group, &name))?
                    },)+
                })
            }

            fn is_read(&self) -> bool {
                [$(self.$field.subscribers(),)+].iter().any(|count| *count > 0)
            }
        }
    };
}

truth_topics! {
    odometry: Odometry = "ground_truth/odom", State, "true pose in `map`, true twist in `base_link`; covariances 0, but -1 at `twist.covariance[21]` where the simulator sends no angular rate";
    path: Path = "ground_truth/path", Path, "path of the vehicle since it was last placed: a pose every 0.1 m, the newest 2000; twice a second while it moves";
    pose: PoseStamped = "ground_truth/pose", State, "true pose in `map`";
    twist: TwistStamped = "ground_truth/twist", State, "true twist in `base_link`, FLU; `angular` is NaN where the simulator sends no rate";
    accel: AccelStamped = "ground_truth/accel", State, "`AccB` of the simulator in `base_link`, FLU, m/s², values unchanged; bridge and emulator define it as specific force: at rest z is +9.81. Absent from states of 112 bytes and from HIL_ACTUATOR_CONTROLS; `angular` is NaN";
    gps: NavSatFix = "ground_truth/gps", State, "true position, covariance 0; the altitude is above the ellipsoid (`control.geoid`), as in `global_position/global`";
    motor_speeds: JointState = "ground_truth/motor_speeds", State, "speeds of the motors, `velocity` of `motor1` to `motor8` in rad/s";
    crash: Int32 = "ground_truth/crash", State, "id of the vehicle or object that the vehicle collides with, once for each collision; -1 at its end. Also counted in `/diagnostics`";
}

/// A stamp older than the last one by at least this is from a restarted simulator; by less, from a late datagram.
const RESTART: Duration = Duration::from_secs(1);
/// Shortest time between two messages on `path`; a new subscriber gets one at once.
pub const PATH_PERIOD: Duration = Duration::from_millis(500);

/// Publishes the true state of one vehicle.
pub struct GroundTruth {
    publishers: TruthPublishers,
    receiver: Option<GpsReceiver>,
    world: WorldConvention,
    map: String,
    base_link: String,
    geoid: Separation,
    trail: Trail,
    crashes: Crashes,
    last: Option<RosTime>,
    last_path: Option<RosTime>,
    path_readers: usize,
}

impl GroundTruth {
    /// `map` and `base_link` are the frames of the vehicle.
    pub fn new(
        publishers: TruthPublishers,
        world: WorldConvention,
        map: String,
        base_link: String,
        geoid: Geoid,
    ) -> Self {
        Self {
            publishers,
            receiver: None,
            world,
            map,
            base_link,
            geoid: Separation::new(geoid),
            trail: Trail::default(),
            crashes: Crashes::default(),
            last: None,
            last_path: None,
            path_readers: 0,
        }
    }

    /// Adds a satellite receiver.
    pub fn with_receiver(self, receiver: Option<GpsReceiver>) -> Self {
        Self { receiver, ..self }
    }

    /// Whether a topic has a subscriber.
    pub fn is_read(&self) -> bool {
        self.publishers.is_read() || self.receiver.as_ref().is_some_and(GpsReceiver::is_read)
    }

    /// Whether acceleration, motor speeds and GPS position are finite. The topic of a value that is not finite is skipped.
    pub fn is_finite(&self, state: &TrueState) -> bool {
        let acc = state.acc.into_iter().flatten();
        (acc.chain(state.motor_rpm).chain(state.gps)).all(f64::is_finite)
    }

    /// Publishes a state on the topics with subscribers. Skips a late state and a repeated one, because subscribers integrate.
    pub fn publish(
        &mut self,
        state: &TrueState,
        pose: &VehiclePose,
        stamp: RosTime,
    ) -> Result<(), RosError> {
        let is_late = |last: RosTime| stamp <= last && last.0 - stamp.0 < RESTART.as_nanos() as i64;
        if self.last.is_some_and(is_late) {
            return Ok(());
        }
        self.last = Some(stamp);
        let publishers = &self.publishers;
        if publishers.odometry.subscribers() > 0 {
            let mut message = odometry(state, pose, self.world, stamp);
            message.header.frame_id.clone_from(&self.map);
            message.child_frame_id.clone_from(&self.base_link);
            publishers.odometry.publish(&message)?;
        }
        if publishers.pose.subscribers() > 0 {
            let mut message = pose_stamped(pose, self.world, stamp);
            message.header.frame_id.clone_from(&self.map);
            publishers.pose.publish(&message)?;
        }
        self.publish_body(state, pose, stamp)?;
        self.publish_path(pose, stamp)
    }

    /// Publishes the topics in the vehicle's frame, and the motor speeds.
    fn publish_body(
        &mut self,
        state: &TrueState,
        pose: &VehiclePose,
        stamp: RosTime,
    ) -> Result<(), RosError> {
        let publishers = &self.publishers;
        if publishers.twist.subscribers() > 0 {
            let mut message = twist_stamped(state, pose, stamp);
            message.header.frame_id.clone_from(&self.base_link);
            publishers.twist.publish(&message)?;
        }
        if publishers.accel.subscribers() > 0
            && let Some(mut message) = accel_stamped(state, stamp)
        {
            message.header.frame_id.clone_from(&self.base_link);
            publishers.accel.publish(&message)?;
        }
        if publishers.gps.subscribers() > 0
            && let Some(mut message) = nav_sat_fix(state, &mut self.geoid, stamp)
        {
            message.header.frame_id.clone_from(&self.base_link);
            publishers.gps.publish(&message)?;
        }
        if let Some(receiver) = &self.receiver {
            receiver.publish(state, &mut self.geoid, &self.base_link, stamp)?;
        }
        if publishers.motor_speeds.subscribers() > 0
            && let Some(message) = motor_speeds(state, stamp)
        {
            publishers.motor_speeds.publish(&message)?;
        }
        Ok(())
    }

    fn publish_path(&mut self, pose: &VehiclePose, stamp: RosTime) -> Result<(), RosError> {
        let has_changed = self.trail.extend(pose, self.world, stamp);
        let readers = self.publishers.path.subscribers();
        let has_new_reader = readers > self.path_readers;
        self.path_readers = readers;
        let period = PATH_PERIOD.as_nanos() as i64;
        let due = self.last_path.is_none_or(|last| stamp.0 < last.0 || stamp.0 - last.0 >= period);
        if has_new_reader || (readers > 0 && has_changed && due) {
            self.last_path = Some(stamp);
            self.trail.has_changed = false;
            let path = self.trail.message(&self.map, stamp);
            self.publishers.path.publish(&path)?;
        }
        Ok(())
    }

    /// Handles a datagram's report of collisions and publishes changes; returns whether a collision began. `is_periodic`: the
    /// datagram is sent periodically, also without a collision.
    pub fn collision(
        &mut self,
        with: Option<i32>,
        is_periodic: bool,
        now: RosTime,
    ) -> Result<bool, RosError> {
        let Some(data) = self.crashes.take(with, is_periodic, now) else { return Ok(false) };
        self.publishers.crash.publish(&Int32 { data })?;
        Ok(data >= 0)
    }
}
