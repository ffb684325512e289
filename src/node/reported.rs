//! What the renderer last reported, shared: `reports` writes it, other subsystems may read it.
use crate::reports::Reported;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The newest descriptions of vehicles, objects and cameras; empty unless they are asked for.
#[derive(Clone, Default)]
pub(super) struct SharedReports(Arc<Mutex<Reported>>);

impl SharedReports {
    pub(super) fn lock(&self) -> MutexGuard<'_, Reported> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
