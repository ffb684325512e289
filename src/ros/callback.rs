//! Callbacks that end with their subscription, also while another thread holds them.
//!
//! rclrs keeps the closure of a subscription or a service after its handle is gone, and drops it later, on the thread of its wait
//! set. A closure with the last clone of the node would end the node on that thread, and the node's end waits for that thread.
//! `main` would return meanwhile, and the middleware's global destructors would run during this wait.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The part for the caller of the closure.
pub(super) struct EndingCallback<F>(Arc<Mutex<Option<F>>>);

/// The part for the handle: on drop it waits for a call under way, and drops the closure.
pub(super) struct CallbackEnd<F>(Arc<Mutex<Option<F>>>);

pub(super) fn split<F>(callback: F) -> (EndingCallback<F>, CallbackEnd<F>) {
    let shared = Arc::new(Mutex::new(Some(callback)));
    (EndingCallback(shared.clone()), CallbackEnd(shared))
}

impl<F> Clone for EndingCallback<F> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<F> EndingCallback<F> {
    /// Passes the closure to `call`; returns false if its handle is gone.
    pub(super) fn run(&self, call: impl FnOnce(&mut F)) -> bool {
        lock(&self.0).as_mut().map(call).is_some()
    }
}

impl<F> Drop for CallbackEnd<F> {
    fn drop(&mut self) {
        // Dropped after the lock: the values in the closure may take locks.
        let _callback = lock(&self.0).take();
    }
}

fn lock<F>(callback: &Mutex<Option<F>>) -> MutexGuard<'_, Option<F>> {
    callback.lock().unwrap_or_else(PoisonError::into_inner)
}
