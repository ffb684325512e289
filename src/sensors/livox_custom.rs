//! The points of a Livox in the message of its driver, which LIO programs read instead of a cloud.
#[cfg(has_livox_ros_driver2)]
use super::layout::LIVOX_TAG;
use super::{SensorError, layout::LidarPoint, spec::Topics};
#[cfg(has_livox_ros_driver2)]
use crate::{
    msgs::livox_ros_driver2::msg::{CustomMsg, CustomPoint},
    ros::Publisher,
};
use crate::{ros::RosError, time::RosTime};

/// The topic, if its message type was built in.
pub(super) struct LivoxCustom {
    #[cfg(has_livox_ros_driver2)]
    publisher: Publisher<CustomMsg>,
    #[cfg(has_livox_ros_driver2)]
    message: CustomMsg,
}

#[cfg(has_livox_ros_driver2)]
impl LivoxCustom {
    /// Opens the topic with this suffix; `None` if built without `livox_ros_driver2`.
    pub(super) fn open(topics: &Topics<'_>, suffix: &str) -> Result<Option<Self>, RosError> {
        Ok(Some(Self {
            publisher: topics.publisher(suffix)?,
            message: CustomMsg { header: topics.header(suffix), ..CustomMsg::default() },
        }))
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    /// Publishes points, all of which have a return.
    pub(super) fn publish(
        &mut self,
        points: impl Iterator<Item = LidarPoint>,
        stamp: RosTime,
    ) -> Result<(), SensorError> {
        let Self { publisher, message } = self;
        message.points.clear();
        message.points.extend(points.map(|point| {
            let [x, y, z] = point.xyz;
            CustomPoint {
                offset_time: point.offset_ns,
                x,
                y,
                z,
                reflectivity: point.reflectivity(),
                tag: LIVOX_TAG,
                line: point.ring.min(255) as u8,
            }
        }));
        message.header.stamp = stamp.to_msg();
        message.timebase = stamp.0.unsigned_abs();
        message.point_num = message.points.len() as u32;
        publisher.publish(message)?;
        Ok(())
    }
}

#[cfg(not(has_livox_ros_driver2))]
impl LivoxCustom {
    pub(super) fn open(_: &Topics<'_>, _: &str) -> Result<Option<Self>, RosError> {
        Ok(None)
    }

    pub(super) fn is_wanted(&self) -> bool {
        false
    }

    pub(super) fn publish(
        &mut self,
        _: impl Iterator<Item = LidarPoint>,
        _: RosTime,
    ) -> Result<(), SensorError> {
        Ok(())
    }
}
