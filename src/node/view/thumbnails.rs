//! Encodes images as thumbnails for the page, on a thread of its own. A newer image of a topic replaces one that is still queued.
use super::client_queue::{SampleData, Subscribers};
use super::jpeg;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const STOP_CHECK_PERIOD: Duration = Duration::from_millis(100);

/// The images to encode: at most one for each list of subscribers.
#[derive(Default)]
pub(super) struct Thumbnails {
    pending: Mutex<VecDeque<PendingImage>>,
    filled: Condvar,
    unreadable: AtomicU64,
}

struct PendingImage {
    subscribers: Arc<Subscribers>,
    time: u64,
    image: SampleData,
}

impl Thumbnails {
    /// Queues an image; it replaces an older one for the same subscribers.
    pub(super) fn push(&self, subscribers: &Arc<Subscribers>, time: u64, image: SampleData) {
        let mut pending = self.pending.lock();
        let is_same = |queued: &&mut PendingImage| Arc::ptr_eq(&queued.subscribers, subscribers);
        match pending.iter_mut().find(is_same) {
            Some(queued) => (queued.time, queued.image) = (time, image),
            None => {
                pending.push_back(PendingImage { subscribers: subscribers.clone(), time, image })
            }
        }
        drop(pending);
        self.filled.notify_one();
    }

    pub(super) fn unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }

    pub(super) fn run(&self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let mut pending = self.pending.lock();
            let is_empty = |pending: &mut VecDeque<PendingImage>| pending.is_empty();
            self.filled.wait_while_for(&mut pending, is_empty, STOP_CHECK_PERIOD);
            let Some(queued) = pending.pop_front() else { continue };
            drop(pending);
            match jpeg::encode(queued.image.as_ref()) {
                Some(jpeg) => queued.subscribers.send(queued.time, SampleData::Owned(jpeg)),
                None => {
                    self.unreadable.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
}
