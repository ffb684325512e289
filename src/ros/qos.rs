//! Quality of service of one topic, as rclcpp names it.
pub use crate::config::params::{Durability, History, Qos, Reliability};
use std::fmt;

impl Qos {
    /// `rmw_qos_profile_default`: reliable, volatile, depth 10.
    pub const DEFAULT: Self = Self::reliable(10);
    /// `rmw_qos_profile_sensor_data`: best effort, volatile, depth 5.
    pub const SENSOR_DATA: Self =
        Self { reliability: Reliability::BestEffort, ..Self::reliable(5) };
    /// Reliable, transient local, depth 1: late readers get the newest value.
    pub const LATCHED: Self = Self::latched(1);
    /// QoS of images and clouds: reliable, because default RViz and image_transport readers request it, and shallow, because
    /// each sample has megabytes.
    pub const IMAGE: Self = Self::reliable(2);
    /// Both topics of a service: as rclcpp's parameter services, deep enough for a burst of requests.
    pub const SERVICE: Self = Self::reliable(1000);

    /// The reliability and durability that both offer.
    #[must_use]
    pub fn weaker(self, other: Self) -> Self {
        Self {
            reliability: match (self.reliability, other.reliability) {
                (Reliability::Reliable, offered) => offered,
                (Reliability::BestEffort, _) => Reliability::BestEffort,
            },
            durability: match (self.durability, other.durability) {
                (Durability::TransientLocal, offered) => offered,
                (Durability::Volatile, _) => Durability::Volatile,
            },
            ..self
        }
    }

    /// The same with another depth; 0 counts as 1.
    #[must_use]
    pub const fn with_depth(self, depth: u16) -> Self {
        Self { depth: if depth == 0 { 1 } else { depth }, ..self }
    }
}

impl Default for Qos {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for Qos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.reliability {
            Reliability::BestEffort => "best effort",
            Reliability::Reliable => "reliable",
        })?;
        f.write_str(match self.durability {
            Durability::Volatile => ", volatile",
            Durability::TransientLocal => ", transient local",
        })?;
        match self.history {
            History::KeepLast => write!(f, ", keep last {}", self.depth),
            History::KeepAll => f.write_str(", keep all"),
        }
    }
}

/// A policy that made a reader and a writer incompatible.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Policy {
    /// The reader requests RELIABLE, the writer offers BEST_EFFORT.
    Reliability,
    /// The reader requests TRANSIENT_LOCAL, the writer offers VOLATILE.
    Durability,
    /// Another policy, by its number in the DDS specification.
    Other(u32),
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reliability => f.write_str("RELIABILITY"),
            Self::Durability => f.write_str("DURABILITY"),
            Self::Other(id) => write!(f, "policy {id}"),
        }
    }
}
