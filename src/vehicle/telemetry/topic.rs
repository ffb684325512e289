//! A published topic with a reused message.
use super::stamped::Stamped;
use crate::ros::{Publisher, RosError};
use crate::vehicle::{Open, Order, Stamp};
use std::time::Duration;

/// A topic and its message, which is refilled for each sample: frame names are cloned once, and sequences keep their
/// memory. Its stamps never go back.
pub(super) struct Topic<M: Stamped> {
    publisher: Publisher<M>,
    message: M,
    order: Order,
}

impl<M: Stamped> Topic<M> {
    /// Opens a topic; `message` has the constant fields.
    pub(super) fn open(open: &Open<'_>, name: &str, message: M) -> Result<Self, RosError> {
        Ok(Self { publisher: open.publisher(name)?, message, order: Order::default() })
    }

    /// Whether the topic has a subscriber.
    pub(super) fn wanted(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    /// For content that repeats within a second.
    pub(super) fn publish_if_subscribed(
        &mut self,
        stamp: Stamp,
        fill: impl FnOnce(&mut M),
    ) -> Result<(), RosError> {
        if self.wanted() { self.publish_always(stamp, fill) } else { Ok(()) }
    }

    /// For content that a late subscriber gets from the writer's history.
    pub(super) fn publish_always(
        &mut self,
        stamp: Stamp,
        fill: impl FnOnce(&mut M),
    ) -> Result<(), RosError> {
        fill(&mut self.message);
        self.message.stamp(self.order.next(stamp).to_msg());
        self.publisher.publish(&self.message).map(drop)
    }
}

/// Chooses between messages with the same content: the best that still arrives. mavros never returns to a lesser one, so
/// a single better message silences the other for good.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Best {
    rank: u8,
    last: Duration,
}

impl Best {
    /// Silence after which a lesser message is taken again.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Whether to take a message of this rank (1 or greater) that arrived now.
    pub(super) fn take(&mut self, rank: u8, now: Duration) -> bool {
        let take = rank >= self.rank || now.saturating_sub(self.last) > Self::PATIENCE;
        if take {
            (self.rank, self.last) = (rank, now);
        }
        take
    }
}
