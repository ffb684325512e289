//! The odometry that comes with clouds of newer simulators.
use super::{SensorContext, SensorError};
use crate::{
    config::params::{QosGroup, WorldConvention},
    frames::{Attitude, Euler, Frd, Ned, Vector},
    msgs::{
        geometry_msgs::msg::{Point, Quaternion},
        nav_msgs::msg::Odometry,
    },
    ros::{Publisher, RosError},
    time::RosTime,
    wire::FloatCloudHeader,
};

/// Topic and frames of the odometry of a vehicle.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OdometryTopic {
    /// Full name.
    pub name: String,
    /// Frame of local poses.
    pub local: String,
    /// Frame of poses in the world.
    pub world: String,
    /// Frame whose pose it is.
    pub child: String,
}

/// Publishes the odometry of one cloud sensor.
pub(super) struct CloudOdometry {
    publisher: Publisher<Odometry>,
    topic: OdometryTopic,
    convention: WorldConvention,
    message: Odometry,
}

impl CloudOdometry {
    /// Opens the topic; `None` if the sensor has none.
    pub(super) fn open(context: &SensorContext<'_>) -> Result<Option<Self>, RosError> {
        let Some(topic) = &context.odometry else {
            return Ok(None);
        };
        let qos = (context.qos)(QosGroup::State, &topic.name);
        let mut message = Odometry {
            child_frame_id: topic.child.clone(),
            ..Odometry::default()
        };
        // The simulator sends no velocity.
        message.twist.covariance[0] = -1.0;
        Ok(Some(Self {
            publisher: context.middleware.publisher(&topic.name, qos)?,
            topic: topic.clone(),
            convention: context.options.world,
            message,
        }))
    }

    pub(super) fn wanted(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    /// Publishes the pose in a header with the stamp of its cloud.
    pub(super) fn publish(
        &mut self,
        header: &FloatCloudHeader,
        stamp: RosTime,
    ) -> Result<(), SensorError> {
        if !self.wanted() {
            return Ok(());
        }
        let frame = match header.axis_type.get() {
            FloatCloudHeader::LOCAL => &self.topic.local,
            FloatCloudHeader::WORLD => &self.topic.world,
            axis_type => return Err(SensorError::OdometryFrame { axis_type }),
        };
        let pose = header.pose.map(|x| f64::from(x.get()));
        if !pose.iter().all(|x| x.is_finite()) {
            return Err(SensorError::NotFinite { count: 1 });
        }
        let [x, y, z, roll, pitch, yaw] = pose;
        let attitude = Attitude::<Frd, Ned>::from_euler(Euler::new(roll, pitch, yaw));
        let [qw, qx, qy, qz] = self.convention.attitude(attitude);
        let [x, y, z] = self.convention.vector(Vector::new(x, y, z));
        let message = &mut self.message;
        message.header.stamp = stamp.to_msg();
        if message.header.frame_id != *frame {
            message.header.frame_id.clone_from(frame);
        }
        message.pose.pose.position = Point { x, y, z };
        message.pose.pose.orientation = Quaternion {
            x: qx,
            y: qy,
            z: qz,
            w: qw,
        };
        self.publisher.publish(message)?;
        Ok(())
    }
}
