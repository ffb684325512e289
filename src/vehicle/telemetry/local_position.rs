//! `local_position/*`: the estimator's local position.
use super::convert::{NOT_KNOWN, point, quaternion, symmetric, vector3};
use super::plugin::plugin;
use super::topic::{BestMessage, RosResult};
use crate::frames::{Attitude, Covariance3, Enu, Flu, Ned, Vector};
use crate::msgs::geometry_msgs::msg::{
    AccelWithCovarianceStamped, Pose, PoseStamped, PoseWithCovarianceStamped, Twist, TwistStamped,
    TwistWithCovarianceStamped,
};
use crate::vehicle::{Counter, Estimate, Fcu, Orientation, StampOrder};
use crate::wire::mavlink::raw::LocalPositionNedCov;
use crate::{msgs::nav_msgs::msg::Odometry, wire::mavlink::dialect::LOCAL_POSITION_NED_DATA};

/// Ranks of the messages for `odom`.
const PLAIN: u8 = 1;
const WITH_COVARIANCE: u8 = 2;

plugin! { LocalPositionPlugin(settings) {
    publish {
        pose: PoseStamped("local_position/pose", Telemetry, "estimated pose in `local_origin` (LOCAL_POSITION_NED and the last attitude)") in settings.local_frame();
        pose_cov: PoseWithCovarianceStamped("local_position/pose_cov", Telemetry, "the same with covariance (LOCAL_POSITION_NED_COV)") in settings.local_frame();
        odom: Odometry("local_position/odom", Telemetry, "estimated pose in `local_origin`, twist in `base_link`") in settings.local_frame()
            => |odom| odom.child_frame_id.clone_from(&settings.base_link);
        // The data are ENU, but mavros names the body frame.
        velocity_local: TwistStamped("local_position/velocity_local", Telemetry, "estimated velocity, ENU")
            in if settings.quirks { &*settings.base_link } else { settings.local_frame() };
        velocity_body: TwistStamped("local_position/velocity_body", Telemetry, "estimated velocity, FLU") in settings.base_link;
        velocity_body_cov: TwistWithCovarianceStamped("local_position/velocity_body_cov", Telemetry, "the same with covariance") in settings.base_link;
        accel: AccelWithCovarianceStamped("local_position/accel", Telemetry, "estimated acceleration, ENU") in settings.local_frame();
    }
    state {
        best: BestMessage;
        /// Order of the stamps for TF.
        order: StampOrder;
        /// Boot time in ns of the newest position.
        last: Option<i64>;
    }
    receive {
        dialect::LOCAL_POSITION_NED_DATA => local_position_ned,
        raw::LocalPositionNedCov => local_position_ned_cov,
    }
} }

impl LocalPositionPlugin {
    fn local_position_ned(&mut self, fcu: &mut Fcu, sample: &LOCAL_POSITION_NED_DATA) -> RosResult {
        let position = [sample.x, sample.y, sample.z];
        let velocity = [sample.vx, sample.vy, sample.vz];
        if !fcu.check_finite(position.into_iter().chain(velocity)) {
            return Ok(());
        }
        let boot_ns = fcu.boot_ns(sample.time_boot_ms);
        if !fcu.check_order(&mut self.last, boot_ns) {
            return Ok(());
        }
        fcu.height = Some(-sample.z);
        let stamp = fcu.stamp_ms(sample.time_boot_ms);
        let motion = LocalMotion::new(fcu, position, velocity);
        if let Some(known) = fcu.recent_orientation() {
            fcu.estimate = Some(Estimate {
                stamp: self.order.next(stamp),
                position: Vector::from(position),
                attitude: known.attitude,
            });
        }
        self.velocity_local.publish_if_subscribed(stamp, |m| m.twist = motion.world_twist())?;
        let is_best = self.best.accept(PLAIN, fcu.arrival());
        if !motion.check_oriented(fcu) {
            return Ok(());
        }
        self.pose.publish_if_subscribed(stamp, |m| m.pose = motion.pose())?;
        self.velocity_body.publish_if_subscribed(stamp, |m| m.twist = motion.body_twist())?;
        if !is_best {
            return Ok(());
        }
        self.odom.publish_if_subscribed(stamp, |m| motion.fill(m, [0.0; 36], [0.0; 36]))
    }

    fn local_position_ned_cov(&mut self, fcu: &mut Fcu, sample: &LocalPositionNedCov) -> RosResult {
        let (position, velocity) = (sample.position, sample.velocity);
        let numbers = position.into_iter().chain(velocity);
        if !fcu.check_finite(numbers.chain(sample.acceleration)) {
            return Ok(());
        }
        self.best.accept(WITH_COVARIANCE, fcu.arrival()); // the best: always accepted
        let stamp = fcu.stamp_us(sample.time_usec);
        let motion = LocalMotion::new(fcu, position, velocity);
        let [pose_cov, twist_cov, accel_cov] = if fcu.settings.quirks {
            diagonals(&sample.covariance)
        } else {
            let [position, velocity, acceleration] = blocks(&sample.covariance);
            let to_body = motion.attitude.inverse();
            [
                position.to_linear_part(),
                velocity.rotate(to_body).to_linear_part(),
                acceleration.to_linear_part(),
            ]
        };
        self.accel.publish_if_subscribed(stamp, |m| {
            m.accel.accel.linear =
                vector3(Vector::<Enu>::from(Vector::<Ned>::from(sample.acceleration)));
            m.accel.covariance = accel_cov;
        })?;
        if !motion.check_oriented(fcu) {
            return Ok(());
        }
        self.pose_cov.publish_if_subscribed(stamp, |m| {
            m.pose.pose = motion.pose();
            m.pose.covariance = pose_cov;
        })?;
        self.velocity_body_cov.publish_if_subscribed(stamp, |m| {
            m.twist.twist = motion.body_twist();
            m.twist.covariance = twist_cov;
        })?;
        self.odom.publish_if_subscribed(stamp, |m| motion.fill(m, pose_cov, twist_cov))
    }
}

/// Position and velocity of one message with the attitude of another. Their sample times differ, at PX4's rates by at
/// most 20 ms.
struct LocalMotion {
    position: Vector<Enu>,
    velocity: Vector<Enu>,
    attitude: Attitude<Flu, Enu>,
    wxyz: [f64; 4],
    rates: Option<Vector<Flu>>,
    /// The attitude is recent enough.
    is_oriented: bool,
}

impl LocalMotion {
    fn new(fcu: &Fcu, position: [f32; 3], velocity: [f32; 3]) -> Self {
        let enu = |v: [f32; 3]| Vector::<Enu>::from(Vector::<Ned>::from(v));
        // mavros neither waits for the first attitude nor checks its age.
        let quirks = fcu.settings.quirks;
        let of_any_age = fcu.orientation.filter(|_| quirks);
        let known: Option<Orientation> = fcu.recent_orientation().or(of_any_age);
        let (attitude, wxyz, rates) = match known {
            Some(known) => (known.attitude.into(), known.enu_wxyz, known.known_rates()),
            None => (Attitude::identity(), [1.0, 0.0, 0.0, 0.0], Some(Vector::zero())),
        };
        Self {
            position: enu(position),
            velocity: enu(velocity),
            attitude,
            wxyz,
            rates,
            is_oriented: known.is_some() || quirks,
        }
    }

    /// Whether poses and body-frame values can be published; counts if not.
    fn check_oriented(&self, fcu: &mut Fcu) -> bool {
        if !self.is_oriented {
            fcu.count(Counter::PositionWithoutAttitude);
        }
        self.is_oriented
    }

    fn pose(&self) -> Pose {
        Pose { position: point(self.position), orientation: quaternion(self.wxyz) }
    }

    fn body_rates(&self) -> Vector<Flu> {
        self.rates.unwrap_or_default()
    }

    fn world_twist(&self) -> Twist {
        Twist {
            linear: vector3(self.velocity),
            angular: vector3(self.attitude.rotate(self.body_rates())),
        }
    }

    fn body_twist(&self) -> Twist {
        Twist {
            linear: vector3(self.attitude.inverse().rotate(self.velocity)),
            angular: vector3(self.body_rates()),
        }
    }

    fn fill(&self, odometry: &mut Odometry, pose: [f64; 36], twist: [f64; 36]) {
        odometry.pose.pose = self.pose();
        odometry.pose.covariance = pose;
        odometry.twist.twist = self.body_twist();
        odometry.twist.covariance = twist;
        if self.rates.is_none() {
            for cell in odometry.twist.covariance.iter_mut().skip(21).step_by(7) {
                *cell = NOT_KNOWN;
            }
        }
    }
}

/// Covariances of position, velocity and acceleration.
fn blocks(triangle: &[f32; 45]) -> [Covariance3<Enu>; 3] {
    let whole: [f64; 81] = symmetric::<9, 81>(triangle);
    std::array::from_fn(|block| {
        let cell = |i: usize| (3 * block + i / 3) * 9 + 3 * block + i % 3;
        let rows = std::array::from_fn(|i| whole.get(cell(i)).copied().unwrap_or(0.0));
        Covariance3::<Ned>::from_rows(rows).into_frame()
    })
}

/// mavros' conversion of the covariances: variances only, in the order of NED.
fn diagonals(triangle: &[f32; 45]) -> [[f64; 36]; 3] {
    let whole: [f64; 81] = symmetric::<9, 81>(triangle);
    std::array::from_fn(|block| {
        let variance = |i: usize| whole.get((3 * block + i) * 10).copied().unwrap_or(0.0);
        Covariance3::<Enu>::from_variances(std::array::from_fn(variance)).to_linear_part()
    })
}
