//! The topic `model/output`: values that the author of a model defines.
use crate::node::{context::Context, error::NodeError};
use crate::wire::ModelOutputPacket;
#[cfg(has_rfly_bridge_msgs)]
use crate::{
    config::params::QosGroup, msgs::rfly_bridge_msgs::msg::ModelOutput, ros::Publisher,
    time::RosTime,
};

/// The topic; without the message type it publishes nothing.
pub(super) struct ModelOutputs {
    #[cfg(has_rfly_bridge_msgs)]
    publisher: Publisher<ModelOutput>,
    #[cfg(has_rfly_bridge_msgs)]
    frame: String,
}

#[cfg(has_rfly_bridge_msgs)]
impl ModelOutputs {
    pub(super) fn open(context: &Context<'_>, vehicle: u16) -> Result<Self, NodeError> {
        let topic = context.settings.vehicle_topic(vehicle, "model/output");
        Ok(Self {
            publisher: context.publisher(QosGroup::State, &topic)?,
            frame: context.tree.base_link(vehicle),
        })
    }

    /// Whether the topic has a subscriber.
    pub(super) fn is_read(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    /// Publishes the values; false if that failed.
    pub(super) fn publish(&self, packet: &ModelOutputPacket, arrival: RosTime) -> bool {
        let mut message = ModelOutput {
            values: packet.data.map(|value| value.get()).to_vec(),
            ..ModelOutput::default()
        };
        message.header.stamp = arrival.to_msg();
        message.header.frame_id.clone_from(&self.frame);
        self.publisher.publish(&message).is_ok()
    }
}

#[cfg(not(has_rfly_bridge_msgs))]
impl ModelOutputs {
    pub(super) fn open(_: &Context<'_>, _: u16) -> Result<Self, NodeError> {
        Ok(Self {})
    }

    pub(super) fn is_read(&self) -> bool {
        false
    }

    pub(super) fn publish(&self, _: &ModelOutputPacket, _: crate::time::RosTime) -> bool {
        true
    }
}
