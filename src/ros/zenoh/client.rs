//! Clients of services.
use super::{NodeSession, failed, guarded, keys::EntityKind};
use crate::ros::{
    Qos, RosError,
    backend::{CdrAnswer, CdrClient},
    service::ServiceTypes,
};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};
use zenoh::{
    Wait as _,
    liveliness::LivelinessToken,
    matching::MatchingListener,
    query::{ConsolidationMode, Querier, QueryTarget, Reply},
};

type PendingAnswers = Mutex<HashMap<i64, CdrAnswer>>;

/// One client; fields are dropped in this order.
pub(super) struct ZenohClient {
    _token: LivelinessToken,
    _listener: MatchingListener<()>,
    querier: Querier<'static>,
    is_matched: Arc<AtomicBool>,
    gid: [u8; 16],
    name: String,
    sequence: AtomicI64,
    pending: Arc<PendingAnswers>,
    session: Arc<NodeSession>,
}

impl ZenohClient {
    pub(super) fn new(
        session: &Arc<NodeSession>,
        name: &str,
        service: ServiceTypes,
    ) -> Result<Self, RosError> {
        let typed = session.typed(service.service);
        let querier = session
            .session
            .declare_querier(session.key(name, &typed))
            .target(QueryTarget::AllComplete)
            .consolidation(ConsolidationMode::None)
            .wait()
            .map_err(|error| failed("declare_querier", name, &error))?;
        let is_matched = Arc::<AtomicBool>::default();
        let matched = is_matched.clone();
        let listener = querier
            .matching_listener()
            .callback(move |status| matched.store(status.matching(), Ordering::Release))
            .wait()
            .map_err(|error| failed("matching_listener", name, &error))?;
        let (token, gid) = session.endpoint(EntityKind::Client, name, &typed, Qos::SERVICE)?;
        Ok(Self {
            _token: token,
            _listener: listener,
            querier,
            is_matched,
            gid,
            name: name.to_owned(),
            sequence: AtomicI64::new(1),
            pending: Arc::default(),
            session: session.clone(),
        })
    }
}

/// One call. Zenoh drops it after the last reply: then the pending answer is removed.
struct PendingQuery {
    sequence: i64,
    pending: Weak<PendingAnswers>,
}

impl PendingQuery {
    fn take(&self) -> Option<CdrAnswer> {
        self.pending.upgrade()?.lock().remove(&self.sequence)
    }
}

impl Drop for PendingQuery {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl CdrClient for ZenohClient {
    fn is_ready(&self) -> bool {
        self.is_matched.load(Ordering::Acquire)
    }

    fn call(&self, request: &[u8], answer: CdrAnswer) -> Result<(), RosError> {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        self.pending.lock().insert(sequence, answer);
        let call = PendingQuery { sequence, pending: Arc::downgrade(&self.pending) };
        let on_reply = move |reply: Reply| {
            let Ok(sample) = reply.into_result() else { return };
            // The first server that answers counts.
            if let Some(answer) = call.take() {
                guarded(|| answer(&sample.payload().to_bytes()));
            }
        };
        let attachment = self.session.attachment(sequence, self.gid).bytes();
        let query = self.querier.get().payload(request).attachment(attachment).callback(on_reply);
        query.wait().map_err(|error| failed("call", &self.name, &error))
    }
}
