//! Rows of the tables of topics and services, from which documents and tests are generated.
use super::params::QosGroup;

/// A text of a table.
type Text = &'static str;

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
    pub name: Text,
    /// Type, as ROS writes it.
    pub interface: Text,
    /// Direction.
    pub direction: Direction,
    /// Content, for the documentation.
    pub doc: Text,
}

impl TopicRow {
    pub(crate) const fn published(name: Text, interface: Text, group: QosGroup, doc: Text) -> Self {
        Self { name, interface, direction: Direction::Published(group), doc }
    }

    pub(crate) const fn subscribed(name: Text, interface: Text, doc: Text) -> Self {
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
    pub name: Text,
    /// Type, as ROS writes it.
    pub interface: Text,
    /// Description, for the documentation.
    pub doc: Text,
}

impl ServiceRow {
    pub(crate) const fn new(name: Text, interface: Text, doc: Text) -> Self {
        Self { name, interface, doc }
    }
}
