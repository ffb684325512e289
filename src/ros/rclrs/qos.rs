//! Conversion of QoS to rclrs.
use crate::ros::{Durability, History, Qos, Reliability};
use rclrs::{QoSDurabilityPolicy, QoSHistoryPolicy, QoSProfile, QoSReliabilityPolicy};

/// Topic and QoS of a publisher or a subscription.
pub(super) fn options<'a, O: From<rclrs::PrimitiveOptions<'a>>>(topic: &'a str, qos: Qos) -> O {
    use rclrs::IntoPrimitiveOptions as _;
    O::from(topic.qos(profile(qos)))
}

fn profile(qos: Qos) -> QoSProfile {
    QoSProfile {
        history: match qos.history {
            History::KeepLast => QoSHistoryPolicy::KeepLast { depth: u32::from(qos.depth.max(1)) },
            History::KeepAll => QoSHistoryPolicy::KeepAll,
        },
        reliability: match qos.reliability {
            Reliability::Reliable => QoSReliabilityPolicy::Reliable,
            Reliability::BestEffort => QoSReliabilityPolicy::BestEffort,
        },
        durability: match qos.durability {
            Durability::Volatile => QoSDurabilityPolicy::Volatile,
            Durability::TransientLocal => QoSDurabilityPolicy::TransientLocal,
        },
        ..QoSProfile::topics_default()
    }
}
