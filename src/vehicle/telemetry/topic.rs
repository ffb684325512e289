//! A published topic with a reused message.
use crate::ros::{Publisher, RosError};
use crate::vehicle::{Open, Stamp, StampOrder};
use crate::{msgs::Message, msgs::builtin_interfaces::msg::Time};
use std::time::Duration;

/// Result of a handler: whether the middleware accepted the messages.
pub(super) type RosResult = Result<(), RosError>;

/// A topic and its message, which is refilled for each sample: frame names are cloned once, and sequences keep their
/// memory. Its stamps never go back.
pub(super) struct Topic<M: Message> {
    publisher: Publisher<M>,
    message: M,
    set_stamp: fn(&mut M, Time),
    order: StampOrder,
}

impl<M: Message> Topic<M> {
    /// Opens a topic; `fill_constants` sets the fields that never change, `set_stamp` the stamp if the message has one.
    pub(super) fn open(
        open: &Open<'_>,
        name: &str,
        fill_constants: impl FnOnce(&mut M),
        set_stamp: fn(&mut M, Time),
    ) -> Result<Self, RosError> {
        let mut message = M::default();
        fill_constants(&mut message);
        let publisher = open.publisher(name)?;
        Ok(Self { publisher, message, set_stamp, order: StampOrder::default() })
    }

    /// Whether the topic has a subscriber.
    pub(super) fn is_subscribed(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    /// Publishes to existing subscribers: for content that repeats within a second.
    pub(super) fn publish_if_subscribed(
        &mut self,
        stamp: Stamp,
        fill: impl FnOnce(&mut M),
    ) -> RosResult {
        if self.is_subscribed() { self.publish_always(stamp, fill) } else { Ok(()) }
    }

    /// Publishes always: for content that a late subscriber gets from the writer's history.
    pub(super) fn publish_always(&mut self, stamp: Stamp, fill: impl FnOnce(&mut M)) -> RosResult {
        fill(&mut self.message);
        (self.set_stamp)(&mut self.message, self.order.next(stamp).to_msg());
        self.publisher.publish(&self.message).map(drop)
    }
}

/// Chooses between messages with the same content: the best that still arrives. In mavros a single message of a better
/// kind ends the publication of lesser kinds for ever.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BestMessage {
    rank: u8,
    last: Duration,
}

impl BestMessage {
    /// Silence of the best message after which a lesser one is accepted again.
    const TIMEOUT: Duration = Duration::from_secs(2);

    /// Whether to publish a message of this rank (1 or greater) that arrived now.
    pub(super) fn accept(&mut self, rank: u8, now: Duration) -> bool {
        let accept = rank >= self.rank || now.saturating_sub(self.last) > Self::TIMEOUT;
        if accept {
            (self.rank, self.last) = (rank, now);
        }
        accept
    }
}
