//! Clients that get the same samples.
use super::outbox::{Data, Outbox, Sample};
use std::sync::{Arc, PoisonError, RwLock};

/// Clients that get the same samples.
#[derive(Default)]
pub(super) struct Crowd(RwLock<Vec<(Arc<Outbox>, u32)>>);

impl Crowd {
    /// Gives a sample to all.
    pub(super) fn give(&self, at: u64, data: Data) {
        let sample = Arc::new(Sample { at, data });
        let clients = self.0.read().unwrap_or_else(PoisonError::into_inner);
        for (outbox, subscription) in clients.iter() {
            outbox.push(*subscription, &sample);
        }
    }

    pub(super) fn add(&self, outbox: &Arc<Outbox>, subscription: u32) {
        let mut clients = self.0.write().unwrap_or_else(PoisonError::into_inner);
        clients.push((outbox.clone(), subscription));
    }

    /// Returns whether nobody is left.
    pub(super) fn remove(&self, outbox: &Arc<Outbox>, subscription: u32) -> bool {
        let mut clients = self.0.write().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|(other, number)| !Arc::ptr_eq(other, outbox) || *number != subscription);
        clients.is_empty()
    }
}
