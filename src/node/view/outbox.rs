//! What one client has not taken yet: for each of its subscriptions the newest samples, so that a slow client costs bounded
//! memory and sees the present, not the past.
use crate::ros::Cdr;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// One sample, shared by all who get it.
pub(super) struct Sample {
    /// When it was published, in ns since 1970.
    pub(super) at: u64,
    pub(super) data: Data,
}

/// CDR, or a picture for the page.
#[derive(Clone)]
pub(super) enum Data {
    /// Made or copied here.
    Own(Vec<u8>),
    /// The middleware has it as well.
    Shared(Arc<Cdr>),
}

impl AsRef<[u8]> for Data {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(cdr) => (**cdr).as_ref(),
        }
    }
}

/// Queues of one client.
#[derive(Default)]
pub(super) struct Outbox {
    state: Mutex<State>,
    filled: Notify,
}

#[derive(Default)]
struct State {
    /// By the client's number of the subscription.
    queues: HashMap<u32, Queue>,
    /// Subscriptions with samples, the longest waiting first.
    turns: VecDeque<u32>,
    /// Answers to requests; as many as requests at most.
    replies: VecDeque<Vec<u8>>,
    dropped: u64,
}

struct Queue {
    samples: VecDeque<Arc<Sample>>,
    depth: usize,
}

/// What goes to the client next.
pub(super) enum Next {
    /// An answer, complete.
    Reply(Vec<u8>),
    /// A sample of this subscription.
    Sample(u32, Arc<Sample>),
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a subscription that keeps the newest `depth` samples; false if the number is in use.
    pub(super) fn open(&self, subscription: u32, depth: usize) -> bool {
        let mut state = self.lock();
        if state.queues.contains_key(&subscription) {
            return false;
        }
        let samples = VecDeque::new();
        state.queues.insert(subscription, Queue { samples, depth });
        true
    }

    /// Ends a subscription.
    pub(super) fn close(&self, subscription: u32) {
        let mut state = self.lock();
        state.queues.remove(&subscription);
        state.turns.retain(|other| *other != subscription);
    }

    /// Adds a sample, in the place of the oldest if the client is slow.
    pub(super) fn push(&self, subscription: u32, sample: &Arc<Sample>) {
        let mut state = self.lock();
        let State {
            queues,
            turns,
            dropped,
            ..
        } = &mut *state;
        let Some(queue) = queues.get_mut(&subscription) else {
            return;
        };
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

    /// Adds an answer.
    pub(super) fn reply(&self, message: Vec<u8>) {
        self.lock().replies.push_back(message);
        self.filled.notify_one();
    }

    /// Adds an answer in JSON: it is text, because it does not begin with an opcode.
    pub(super) fn say(&self, message: &Value) {
        self.reply(message.to_string().into_bytes());
    }

    /// Tells the client what went wrong.
    pub(super) fn complain(&self, message: &str) {
        self.say(&json!({"op": "status", "level": 2, "message": message}));
    }

    /// Whether the client has not taken all answers yet.
    pub(super) fn has_replies(&self) -> bool {
        !self.lock().replies.is_empty()
    }

    /// Samples that the client was too slow for.
    pub(super) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    /// Subscriptions of the client.
    pub(super) fn subscriptions(&self) -> usize {
        self.lock().queues.len()
    }

    fn take(&self) -> Option<Next> {
        let mut state = self.lock();
        if let Some(reply) = state.replies.pop_front() {
            return Some(Next::Reply(reply));
        }
        let subscription = state.turns.pop_front()?;
        let queue = state.queues.get_mut(&subscription)?;
        let sample = queue.samples.pop_front()?;
        if !queue.samples.is_empty() {
            state.turns.push_back(subscription);
        }
        Some(Next::Sample(subscription, sample))
    }

    /// Waits for what goes to the client next; each subscription in turn. Nothing is lost if the future is dropped.
    pub(super) async fn next(&self) -> Next {
        loop {
            if let Some(next) = self.take() {
                return next;
            }
            self.filled.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: u64) -> Arc<Sample> {
        let data = Data::Own(Vec::new());
        Arc::new(Sample { at, data })
    }

    fn taken(outbox: &Outbox) -> Vec<(u32, u64)> {
        std::iter::from_fn(|| match outbox.take()? {
            Next::Sample(subscription, sample) => Some((subscription, sample.at)),
            Next::Reply(_) => None,
        })
        .collect()
    }

    #[test]
    fn a_slow_client_gets_the_newest_of_each_subscription_in_turn() {
        let outbox = Outbox::default();
        assert!(outbox.open(1, 2) && outbox.open(2, 1));
        assert!(!outbox.open(1, 5), "a number is used once");
        for at in 0..10 {
            outbox.push(1, &sample(at));
            outbox.push(2, &sample(100 + at));
            outbox.push(3, &sample(at));
        }
        assert_eq!(taken(&outbox), [(1, 8), (2, 109), (1, 9)]);
        assert_eq!(outbox.dropped(), 8 + 9);
    }

    #[test]
    fn what_was_queued_for_a_closed_subscription_is_gone_and_answers_come_first() {
        let outbox = Outbox::default();
        assert!(outbox.open(1, 2) && outbox.open(2, 2));
        outbox.push(1, &sample(1));
        outbox.push(2, &sample(2));
        outbox.reply(vec![7]);
        outbox.close(1);
        assert!(matches!(outbox.take(), Some(Next::Reply(reply)) if reply == [7]));
        assert_eq!(taken(&outbox), [(2, 2)]);
        assert!(outbox.open(1, 1), "the number is free again");
        assert_eq!(taken(&outbox), []);
    }
}
