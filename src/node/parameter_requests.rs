//! Changes of live parameters that other subsystems request; `params` applies them.
use crate::config::ParamValue;
use parking_lot::Mutex;
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::Notify;

/// Pending requests: the newest of each sensor.
#[derive(Clone, Default)]
pub(super) struct ParameterRequests(Arc<SharedRequests>);

#[derive(Default)]
struct SharedRequests {
    waiting: Mutex<BTreeMap<u16, (String, ParamValue)>>,
    added: Notify,
}

impl ParameterRequests {
    pub(super) fn request(&self, seq_id: u16, name: String, value: ParamValue) {
        self.0.waiting.lock().insert(seq_id, (name, value));
        self.0.added.notify_one();
    }

    pub(super) async fn wait(&self) {
        self.0.added.notified().await;
    }

    /// Takes the requests of the sensors that are ready for a change; also returns whether others wait.
    pub(super) fn take(&self, is_ready: impl Fn(u16) -> bool) -> (Vec<(String, ParamValue)>, bool) {
        let mut waiting = self.0.waiting.lock();
        let (now, later) = std::mem::take(&mut *waiting)
            .into_iter()
            .partition::<BTreeMap<_, _>, _>(|(seq_id, _)| is_ready(*seq_id));
        *waiting = later;
        (now.into_values().collect(), !waiting.is_empty())
    }
}
