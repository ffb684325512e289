//! What the renderer last reported, shared: `reports` writes it, other subsystems may read it.
use crate::reports::Descriptions;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Whether somebody needs descriptions now.
type Reader = Box<dyn Fn() -> bool + Send>;

/// The newest descriptions of vehicles, objects and cameras; empty unless they are asked for.
#[derive(Clone, Default)]
pub(super) struct SharedReports {
    reported: Arc<Mutex<Descriptions>>,
    readers: Arc<Mutex<Vec<Reader>>>,
}

impl SharedReports {
    pub(super) fn lock(&self) -> MutexGuard<'_, Descriptions> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn readers(&self) -> MutexGuard<'_, Vec<Reader>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Vehicles and objects are asked for as long as `reader` says so, besides the readers of the topics.
    pub(super) fn add_reader(&self, reader: impl Fn() -> bool + Send + 'static) {
        self.readers().push(Box::new(reader));
    }

    pub(super) fn is_read(&self) -> bool {
        self.readers().iter().any(|reader| reader())
    }
}
