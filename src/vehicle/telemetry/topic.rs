//! A published topic with the message that it publishes again and again.
use crate::msgs::Message;
use crate::ros::{Publisher, RosError};
use crate::vehicle::Open;
use std::time::Duration;

/// A topic and its message, which is filled again for each sample: frame names are cloned once, and lists keep their
/// memory.
pub(super) struct Topic<M: Message> {
    publisher: Publisher<M>,
    message: M,
}

impl<M: Message> Topic<M> {
    /// Opens a topic; `message` has what never changes.
    pub(super) fn open(open: &Open<'_>, name: &str, message: M) -> Result<Self, RosError> {
        Ok(Self {
            publisher: open.publisher(name)?,
            message,
        })
    }

    /// Whether somebody listens.
    pub(super) fn wanted(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    /// Publishes if somebody listens: for what comes again within a second anyway.
    pub(super) fn stream(&mut self, fill: impl FnOnce(&mut M)) -> Result<(), RosError> {
        if self.wanted() {
            self.keep(fill)
        } else {
            Ok(())
        }
    }

    /// Publishes also while nobody listens: who comes late gets it from the writer's history.
    pub(super) fn keep(&mut self, fill: impl FnOnce(&mut M)) -> Result<(), RosError> {
        fill(&mut self.message);
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
