//! The subscriptions that get the same samples.
use super::client_queue::{ClientQueue, Sample, SampleData};
use std::sync::{Arc, PoisonError, RwLock};

/// The subscriptions that get the same samples: client and subscription id.
#[derive(Default)]
pub(super) struct Subscribers(RwLock<Vec<(Arc<ClientQueue>, u32)>>);

impl Subscribers {
    /// Queues a sample for each subscription.
    pub(super) fn send(&self, time: u64, data: SampleData) {
        let sample = Arc::new(Sample { time, data });
        let subscribers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        for (queue, id) in subscribers.iter() {
            queue.push(*id, &sample);
        }
    }

    pub(super) fn add(&self, queue: &Arc<ClientQueue>, id: u32) {
        let mut subscribers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        subscribers.push((queue.clone(), id));
    }

    /// Removes a subscription; returns whether none is left.
    pub(super) fn remove(&self, queue: &Arc<ClientQueue>, id: u32) -> bool {
        let mut subscribers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        subscribers.retain(|(other, number)| !Arc::ptr_eq(other, queue) || *number != id);
        subscribers.is_empty()
    }
}
