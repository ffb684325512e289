//! Changes of live parameters that other subsystems ask for; `params` makes them.
use crate::config::ParamValue;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Wishes that were not fulfilled yet: the newest of each sensor.
#[derive(Clone, Default)]
pub(super) struct Wishes(Arc<Inner>);

#[derive(Default)]
struct Inner {
    waiting: Mutex<BTreeMap<u16, (String, ParamValue)>>,
    came: Notify,
}

impl Wishes {
    /// Wishes that a parameter of a sensor had a value.
    pub(super) fn wish(&self, seq_id: u16, name: String, value: ParamValue) {
        self.lock().insert(seq_id, (name, value));
        self.0.came.notify_one();
    }

    /// Waits until there is one.
    pub(super) async fn come(&self) {
        self.0.came.notified().await;
    }

    /// Takes the wishes of sensors that are `ready` for a change; whether others wait.
    pub(super) fn take(&self, ready: impl Fn(u16) -> bool) -> (Vec<(String, ParamValue)>, bool) {
        let mut waiting = self.lock();
        let (now, later) = std::mem::take(&mut *waiting)
            .into_iter()
            .partition::<BTreeMap<_, _>, _>(|(seq_id, _)| ready(*seq_id));
        *waiting = later;
        (now.into_values().collect(), !waiting.is_empty())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u16, (String, ParamValue)>> {
        let waiting = self.0.waiting.lock();
        waiting.unwrap_or_else(PoisonError::into_inner)
    }
}
