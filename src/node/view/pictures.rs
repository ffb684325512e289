//! Small JPEG pictures of images for the page, made on a thread of their own: of each topic the newest image that is wanted.
use super::crowd::Crowd;
use super::outbox::Data;
use super::picture::picture;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Time between two looks at whether the bridge ends.
const LOOK: Duration = Duration::from_millis(100);

/// Images that wait for their picture, one of each topic.
#[derive(Default)]
pub(super) struct Pictures {
    waiting: Mutex<VecDeque<Waiting>>,
    filled: Condvar,
    unreadable: AtomicU64,
}

struct Waiting {
    readers: Arc<Crowd>,
    at: u64,
    image: Data,
}

impl Pictures {
    /// Puts an image in the queue, in place of an older one for the same readers.
    pub(super) fn offer(&self, readers: &Arc<Crowd>, at: u64, image: Data) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |one: &&mut Waiting| Arc::ptr_eq(&one.readers, readers);
        match waiting.iter_mut().find(same) {
            Some(one) => (one.at, one.image) = (at, image),
            None => waiting.push_back(Waiting {
                readers: readers.clone(),
                at,
                image,
            }),
        }
        drop(waiting);
        self.filled.notify_one();
    }

    /// Images that no picture could be made of.
    pub(super) fn unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }

    /// Makes pictures until `stop`.
    pub(super) fn work(&self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let empty = |waiting: &mut VecDeque<Waiting>| waiting.is_empty();
            let (mut waiting, _) = self
                .filled
                .wait_timeout_while(waiting, LOOK, empty)
                .unwrap_or_else(PoisonError::into_inner);
            let Some(one) = waiting.pop_front() else {
                continue;
            };
            drop(waiting);
            match picture(one.image.as_ref()) {
                Some(jpeg) => one.readers.give(one.at, Data::Own(jpeg)),
                None => {
                    self.unreadable.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
}
