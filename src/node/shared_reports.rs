//! Newest reports of the renderer: `reports` writes them, other subsystems read them.
use crate::reports::Descriptions;
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;

/// Whether a reader needs descriptions now.
type DemandCheck = Box<dyn Fn() -> bool + Send>;

/// The newest descriptions of vehicles, objects and cameras; empty while none are requested.
#[derive(Clone, Default)]
pub(super) struct SharedReports {
    reported: Arc<Mutex<Descriptions>>,
    readers: Arc<Mutex<Vec<DemandCheck>>>,
}

impl SharedReports {
    pub(super) fn lock(&self) -> MutexGuard<'_, Descriptions> {
        self.reported.lock()
    }

    /// Requests descriptions of vehicles and objects while `reader` returns true, even if their topics have no subscribers.
    pub(super) fn add_reader(&self, reader: impl Fn() -> bool + Send + 'static) {
        self.readers.lock().push(Box::new(reader));
    }

    pub(super) fn is_read(&self) -> bool {
        self.readers.lock().iter().any(|reader| reader())
    }
}
