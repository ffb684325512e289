//! A published topic with the message that it publishes again and again.
use super::stamped::Stamped;
use crate::ros::{Publisher, RosError};
use crate::vehicle::{Open, Order, Stamp};
use std::time::Duration;

/// A topic and its message, which is filled again for each sample: frame names are cloned once, and lists keep their
/// memory. Its stamps never go back.
pub(super) struct Topic<M: Stamped> {
    publisher: Publisher<M>,
    message: M,
    order: Order,
}

impl<M: Stamped> Topic<M> {
    /// Opens a topic; `message` has what never changes.
    pub(super) fn open(open: &Open<'_>, name: &str, message: M) -> Result<Self, RosError> {
        Ok(Self {
            publisher: open.publisher(name)?,
            message,
            order: Order::default(),
        })
    }

    /// Whether somebody listens.
    pub(super) fn wanted(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    /// Publishes if somebody listens: for what comes again within a second anyway.
    pub(super) fn stream(
        &mut self,
        stamp: Stamp,
        fill: impl FnOnce(&mut M),
    ) -> Result<(), RosError> {
        if self.wanted() {
            self.keep(stamp, fill)
        } else {
            Ok(())
        }
    }

    /// Publishes also while nobody listens: who comes late gets it from the writer's history.
    pub(super) fn keep(&mut self, stamp: Stamp, fill: impl FnOnce(&mut M)) -> Result<(), RosError> {
        fill(&mut self.message);
        self.message.stamp(self.order.next(stamp).to_msg());
        self.publisher.publish(&self.message).map(drop)
    }
}

/// Which of several messages with the same content is taken: the best of those that still come. mavros never goes back
/// to a lesser one, hence a single message of the better kind silences the other for good.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Best {
    rank: u8,
    last: Duration,
}

impl Best {
    /// Silence after which a lesser message counts again.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Says whether a message of this rank (1 or greater) is the one to take.
    pub(super) fn take(&mut self, rank: u8, now: Duration) -> bool {
        let take = rank >= self.rank || now.saturating_sub(self.last) > Self::PATIENCE;
        if take {
            (self.rank, self.last) = (rank, now);
        }
        take
    }
}
