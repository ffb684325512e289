//! The send queue of one client. Each subscription keeps its newest samples only: a slow client costs bounded memory and sees
//! current data.
use crate::ros::Cdr;
use parking_lot::{Mutex, RwLock};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::sync::Notify;

/// One sample, shared by the queues of all its subscribers.
pub(super) struct Sample {
    /// Time of publication in ns since 1970.
    pub(super) time: u64,
    pub(super) data: SampleData,
}

#[derive(Clone)]
pub(super) enum SampleData {
    /// A copy of the CDR, or a thumbnail.
    Owned(Vec<u8>),
    /// CDR in memory shared with the middleware.
    Shared(Arc<Cdr>),
}

impl AsRef<[u8]> for SampleData {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Shared(cdr) => (**cdr).as_ref(),
        }
    }
}

/// The replies and samples that one client has not received yet.
#[derive(Default)]
pub(super) struct ClientQueue {
    state: Mutex<QueueState>,
    filled: Notify,
}

#[derive(Default)]
struct QueueState {
    /// By the client's subscription id.
    queues: HashMap<u32, SampleQueue>,
    /// Subscriptions with samples, in the order in which they are served (round robin).
    turns: VecDeque<u32>,
    /// Replies to requests. Bounded, because no request is read while a reply is queued.
    replies: VecDeque<Vec<u8>>,
    dropped: u64,
}

struct SampleQueue {
    samples: VecDeque<Arc<Sample>>,
    depth: usize,
}

pub(super) enum QueuedMessage {
    Reply(Vec<u8>),
    Sample(u32, Arc<Sample>),
}

impl ClientQueue {
    /// Opens a subscription that keeps the newest `depth` samples; false if its id is in use.
    pub(super) fn open(&self, subscription: u32, depth: usize) -> bool {
        let mut state = self.state.lock();
        if state.queues.contains_key(&subscription) {
            return false;
        }
        let samples = VecDeque::new();
        state.queues.insert(subscription, SampleQueue { samples, depth });
        true
    }

    pub(super) fn close(&self, subscription: u32) {
        let mut state = self.state.lock();
        state.queues.remove(&subscription);
        state.turns.retain(|other| *other != subscription);
    }

    /// Queues a sample; a full queue drops its oldest.
    pub(super) fn push(&self, subscription: u32, sample: &Arc<Sample>) {
        let mut state = self.state.lock();
        let QueueState { queues, turns, dropped, .. } = &mut *state;
        let Some(queue) = queues.get_mut(&subscription) else { return };
        if queue.samples.is_empty() {
            turns.push_back(subscription);
        }
        while queue.samples.len() >= queue.depth {
            queue.samples.pop_front();
            *dropped += 1;
        }
        queue.samples.push_back(sample.clone());
        drop(state);
        self.filled.notify_one();
    }

    pub(super) fn reply(&self, message: Vec<u8>) {
        self.state.lock().replies.push_back(message);
        self.filled.notify_one();
    }

    /// Queues a reply in JSON. It starts with `{`, which is no opcode, so the session sends it as text.
    pub(super) fn send_json(&self, message: &Value) {
        self.reply(message.to_string().into_bytes());
    }

    pub(super) fn send_error(&self, message: &str) {
        self.send_json(&json!({"op": "status", "level": 2, "message": message}));
    }

    pub(super) fn has_replies(&self) -> bool {
        !self.state.lock().replies.is_empty()
    }

    /// Number of samples dropped because the client was too slow.
    pub(super) fn dropped(&self) -> u64 {
        self.state.lock().dropped
    }

    pub(super) fn subscriptions(&self) -> usize {
        self.state.lock().queues.len()
    }

    fn take(&self) -> Option<QueuedMessage> {
        let mut state = self.state.lock();
        if let Some(reply) = state.replies.pop_front() {
            return Some(QueuedMessage::Reply(reply));
        }
        let subscription = state.turns.pop_front()?;
        let queue = state.queues.get_mut(&subscription)?;
        let sample = queue.samples.pop_front()?;
        if !queue.samples.is_empty() {
            state.turns.push_back(subscription);
        }
        Some(QueuedMessage::Sample(subscription, sample))
    }

    /// Waits for the next message: replies first, then samples of each subscription in turn. Cancel-safe.
    pub(super) async fn next(&self) -> QueuedMessage {
        loop {
            if let Some(next) = self.take() {
                return next;
            }
            self.filled.notified().await;
        }
    }
}

/// The subscriptions that get the same samples: client and subscription id.
#[derive(Default)]
pub(super) struct Subscribers(RwLock<Vec<(Arc<ClientQueue>, u32)>>);

impl Subscribers {
    pub(super) fn send(&self, time: u64, data: SampleData) {
        let sample = Arc::new(Sample { time, data });
        for (queue, id) in self.0.read().iter() {
            queue.push(*id, &sample);
        }
    }

    pub(super) fn add(&self, queue: &Arc<ClientQueue>, id: u32) {
        self.0.write().push((queue.clone(), id));
    }

    /// Removes a subscription; returns whether none is left.
    pub(super) fn remove(&self, queue: &Arc<ClientQueue>, id: u32) -> bool {
        let mut subscribers = self.0.write();
        subscribers.retain(|(other, number)| !Arc::ptr_eq(other, queue) || *number != id);
        subscribers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(time: u64) -> Arc<Sample> {
        let data = SampleData::Owned(Vec::new());
        Arc::new(Sample { time, data })
    }

    fn drain(queue: &ClientQueue) -> Vec<(u32, u64)> {
        std::iter::from_fn(|| match queue.take()? {
            QueuedMessage::Sample(subscription, sample) => Some((subscription, sample.time)),
            QueuedMessage::Reply(_) => None,
        })
        .collect()
    }

    #[test]
    fn a_slow_client_gets_the_newest_samples_of_each_subscription_in_turn() {
        let queue = ClientQueue::default();
        assert!(queue.open(1, 2) && queue.open(2, 1));
        assert!(!queue.open(1, 5), "an id is used once");
        for time in 0..10 {
            queue.push(1, &sample(time));
            queue.push(2, &sample(100 + time));
            queue.push(3, &sample(time));
        }
        assert_eq!(drain(&queue), [(1, 8), (2, 109), (1, 9)]);
        assert_eq!(queue.dropped(), 8 + 9);
    }

    #[test]
    fn closing_a_subscription_discards_its_samples_and_replies_are_sent_first() {
        let queue = ClientQueue::default();
        assert!(queue.open(1, 2) && queue.open(2, 2));
        queue.push(1, &sample(1));
        queue.push(2, &sample(2));
        queue.reply(vec![7]);
        queue.close(1);
        assert!(matches!(queue.take(), Some(QueuedMessage::Reply(reply)) if reply == [7]));
        assert_eq!(drain(&queue), [(2, 2)]);
        assert!(queue.open(1, 1), "the id is free again");
        assert_eq!(drain(&queue), []);
    }
}
