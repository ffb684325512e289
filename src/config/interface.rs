//! Rows of the tables of topics and services, from which documents and tests are generated.
use super::params::QosGroup;

/// Direction of a topic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// The bridge publishes it, with this QoS.
    Published(QosGroup),
    /// The bridge subscribes to it.
    Subscribed,
}

/// A topic.
#[derive(Clone, Copy, Debug)]
pub struct TopicRow {
    /// Name: absolute, or relative to the prefix of its table.
    pub name: &'static str,
    /// Type, as ROS writes it.
    pub interface: &'static str,
    /// Direction.
    pub direction: Direction,
    /// Content, for the documentation.
    pub doc: &'static str,
}

impl TopicRow {
    pub(crate) const fn published(
        name: &'static str,
        interface: &'static str,
        group: QosGroup,
        doc: &'static str,
    ) -> Self {
        Self { name, interface, direction: Direction::Published(group), doc }
    }

    pub(crate) const fn subscribed(
        name: &'static str,
        interface: &'static str,
        doc: &'static str,
    ) -> Self {
        Self { name, interface, direction: Direction::Subscribed, doc }
    }

    /// Whether the bridge publishes it.
    pub fn is_published(&self) -> bool {
        self.direction != Direction::Subscribed
    }
}

/// A service.
#[derive(Clone, Copy, Debug)]
pub struct ServiceRow {
    /// Name, as for a topic.
    pub name: &'static str,
    /// Type, as ROS writes it.
    pub interface: &'static str,
    /// Description, for the documentation.
    pub doc: &'static str,
}

impl ServiceRow {
    pub(crate) const fn new(
        name: &'static str,
        interface: &'static str,
        doc: &'static str,
    ) -> Self {
        Self { name, interface, doc }
    }
}
